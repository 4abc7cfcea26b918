// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/report.hpp"

namespace sluice::simt::emulated {

const char* name_of(Hazard hazard) {
  switch (hazard) {
    case Hazard::kReadAfterWrite:
      return "read after write";
    case Hazard::kWriteAfterRead:
      return "write after read";
    case Hazard::kWriteAfterWrite:
      return "write after write";
    case Hazard::kBarrierDivergence:
      return "barrier divergence";
    case Hazard::kPartialWarp:
      return "partial warp";
    case Hazard::kUninitialised:
      return "uninitialised memory";
    case Hazard::kMissingBlockOffset:
      return "missing block offset";
    case Hazard::kUnorderedBlocks:
      return "blocks without release and acquire";
    case Hazard::kOutOfBounds:
      return "out of bounds";
    case Hazard::kInclusiveForExclusive:
      return "inclusive for exclusive";
    case Hazard::kWrongValue:
      return "wrong value";
    case Hazard::kCopyNotDone:
      return "copy not done";
    case Hazard::kMisaligned:
      return "misaligned access";
    case Hazard::kNoProgress:
      return "no progress";
    case Hazard::kHostMemory:
      return "memory of the other side";
  }
  return "unknown";
}

std::string Report::text() const {
  std::string out = std::string(name_of(hazard)) + " in " + kernel;
  if (!variable.empty()) out += " at " + variable;
  for (const Actor& actor : actors) {
    out += "; block " + std::to_string(actor.block) + " thread " + std::to_string(actor.thread) + " " + actor.what;
    if (actor.file.empty()) continue;
    out += " (" + actor.file + ":" + std::to_string(actor.line);
    for (const std::string& caller : actor.callers) out += " < " + caller;
    out += ")";
  }
  return out;
}

}  // namespace sluice::simt::emulated
