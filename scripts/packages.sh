# SPDX-License-Identifier: Apache-2.0
# Sourced by demo.sh and test.sh: installs from Debian what is missing, and nothing where nothing is.

# need COMMAND_OR_EMPTY:PACKAGE...
# A package counts as there when its command is on PATH (whoever installed it) or dpkg knows it as installed.
need() {
  local entry command package missing=()
  for entry in "$@"; do
    command=${entry%%:*}
    package=${entry#*:}
    if [[ -n $command ]] && command -v "$command" >/dev/null; then continue; fi
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]]; then continue; fi
    missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return 0; fi

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    </dev/null >/dev/null
}

need_build_packages() {
  need cmake:cmake ninja:ninja-build g++:g++ git:git \
    :libtbb-dev :libcli11-dev :libfmt-dev :libspdlog-dev :nlohmann-json3-dev
}

# Compile through ccache where it is installed.
launcher_arguments() {
  if command -v ccache >/dev/null; then
    echo -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    echo -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
}

# architecture_arguments [ELSE]: the CUDA architecture to build for when the user has not set CUDAARCHS: this machine's
# where it has a GPU, else ELSE (Hopper's). One, because this build is for trying out, not for shipping.
architecture_arguments() {
  if [[ -n ${CUDAARCHS:-} ]]; then return 0; fi
  if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; then
    echo -DCMAKE_CUDA_ARCHITECTURES=native
  else
    echo -DCMAKE_CUDA_ARCHITECTURES="${1:-90}"
  fi
}
