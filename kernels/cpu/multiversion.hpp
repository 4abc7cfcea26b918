// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loops built for several vector units, of which the program takes the best that the processor has when it starts.
#pragma once

// Sanitizers run their own code before the choice could be made. Contraction is off for every version, so all of them
// round alike.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
/// Before a function that is not a template and not inlined: builds it for AVX-512, AVX2 and the baseline.
#define SLUICE_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SLUICE_MULTIVERSION
#endif
