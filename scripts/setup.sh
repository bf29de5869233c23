#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs on Debian and Ubuntu, and NVRTC where no CUDA toolkit has it.
# Says what it does; does nothing, quickly, when nothing is missing.
#
#   scripts/setup.sh          what `make demo` and `make test` need
#   scripts/setup.sh --dev    also what `make lint`, `make fuzz` and `make test-all` need
#   scripts/setup.sh --check  install nothing; exit 1 and say what is missing
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Debian package = what to look for elsewhere: a command, or a header (<…>).
readonly BUILD=(
  "g++=g++" "cmake=cmake" "ninja-build=ninja" "ccache=ccache" "python3=python3" "python3-pip=pip3"
  "libcli11-dev=<CLI/CLI.hpp>" "nlohmann-json3-dev=<nlohmann/json.hpp>"
  "libhwy-dev=<hwy/highway.h>" "libpcre2-dev=<pcre2.h>" "libutf8proc-dev=<utf8proc.h>"
  "libgtest-dev=<gtest/gtest.h>" "zlib1g-dev=<zlib.h>" "libcurl4-openssl-dev=<curl/curl.h>"
)
readonly FORMAT=("clang-format-19=clang-format-19")
readonly DEV=("clang-19=clang-19" "clang-tidy-19=clang-tidy-19"
  "libclang-rt-19-dev=/usr/lib/llvm-19/lib/clang/19/lib")
# NVRTC kernels of this major version run on drivers of the same major or later.
readonly NVRTC_FOLDER="${TILEWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tilewright}/nvrtc"

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

# A package counts as there when what it gives is there, wherever that came from.
is_there() {
  local package=${1%%=*} gives=${1#*=}
  case $gives in
    "<"*) if is_debian; then is_installed "$package"; else has_header "$gives"; fi ;;
    /*) [[ -e $gives ]] ;;
    *) command -v "$gives" >/dev/null ;;
  esac
}

is_installed() { [[ " $installed " == *" $1 "* ]]; }
has_header() { echo "#include $1" | g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }

missing_of() {
  local entry
  for entry in "$@"; do is_there "$entry" || printf '%s ' "${entry%%=*}"; done
}

# How to run apt-get as root: nothing, sudo, or not at all.
find_root() {
  if [[ $(id -u) == 0 ]]; then
    as_root=(env)
  elif command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo env)
  else
    fail "these packages are missing: $*" \
      "you are not root and cannot use sudo here. Ask whoever administers this machine to run" \
      "  apt-get update && apt-get install -y --no-install-recommends $*" \
      "and then run this again."
  fi
}

has_candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; }

update_lists() {
  say "reading the package lists (apt-get update)"
  "${as_root[@]}" apt-get update -q >/dev/null || say "apt-get update reported an error; going on"
}

apt_install() {
  say "installing $*"
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends "$@" >/dev/null
}

install_packages() {
  local package
  find_root "$@"
  for package in "$@"; do
    has_candidate "$package" || { update_lists; break; }
  done
  # An old list names files that the mirror no longer has: read it anew and try once more.
  apt_install "$@" || { update_lists; apt_install "$@"; } ||
    fail "apt-get could not install: $*" "its messages above say why"
}

require() {
  local missing
  missing=$(missing_of "$@")
  [[ -z $missing ]] && return 0
  [[ $mode == check ]] && fail "missing: $missing"
  is_debian || fail "this is not Debian or Ubuntu, so nothing is installed for you." \
    "Missing, by Debian's package names: $missing" \
    "Needed in all: a C++20 compiler (g++ 12 or later), CMake 3.25, Ninja, ccache, Python 3.9," \
    "and the headers of CLI11, nlohmann-json, Highway 1.0, PCRE2 and utf8proc (with their static" \
    "libraries), GoogleTest, zlib (with its static library) and libcurl. Install them and run this again."
  # shellcheck disable=SC2086
  install_packages $missing
  changed=1
}

# clang-format 19 is not in every release: without it the format check is skipped, not failed.
require_if_offered() {
  local missing
  missing=$(missing_of "$@")
  [[ -z $missing || $mode == check ]] && return 0
  if is_debian && has_candidate "${missing%% *}" && (require "$@"); then
    changed=1
  else
    say "going on without $missing(not offered here, or not installable)"
  fi
}

has_nvrtc() {
  compgen -G "$NVRTC_FOLDER/libnvrtc.so.1[23]" >/dev/null ||
    { /sbin/ldconfig -p 2>/dev/null | grep 'libnvrtc\.so\.1[23] ' >/dev/null; } ||
    compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib64/libnvrtc.so.1[23]" >/dev/null ||
    [[ -n ${TW_NVRTC:-} ]]
}

# Only kernels for a GPU need NVRTC, so that whatever goes wrong here is told and not fatal.
take_nvrtc() {
  has_nvrtc || [[ $mode == check || ${TW_SETUP_NVRTC:-1} == 0 ]] && return 0
  if ! python3 -m pip --version >/dev/null 2>&1; then
    if ! is_debian || ! (require "python3-pip=/nonexistent"); then
      say "no NVRTC and no pip: kernels cannot be compiled for a GPU. Install a CUDA 12 or 13"
      say "toolkit, or pip and run this again. Everything on the CPU works without."
      return 0
    fi
  fi
  say "no CUDA toolkit with NVRTC: taking NVRTC from PyPI into $NVRTC_FOLDER (90 MB)"
  local aside
  mkdir -p "$(dirname "$NVRTC_FOLDER")"
  aside=$(mktemp -d "$NVRTC_FOLDER.XXXXXX")
  if python3 -m pip download -q --no-deps --only-binary :all: --require-hashes \
      -r scripts/nvrtc-requirements.txt -d "$aside" && unpack_nvrtc "$aside"; then
    mkdir -p "$NVRTC_FOLDER"
    mv -f "$aside"/lib/* "$NVRTC_FOLDER/"
    changed=1
  else
    say "pip could not fetch NVRTC: kernels cannot be compiled for a GPU until it is there."
    say "Everything on the CPU works without. Run this again to retry."
  fi
  rm -rf "$aside"
}

unpack_nvrtc() {
  mkdir "$1/lib"
  python3 - "$1" <<'PYTHON'
import glob, os, shutil, sys, zipfile
folder = sys.argv[1]
wheel = zipfile.ZipFile(glob.glob(folder + "/*.whl")[0])
for member in wheel.namelist():
    name = os.path.basename(member)
    if name.startswith("libnvrtc") and ".alt." not in name or name == "License.txt":
        with wheel.open(member) as source, open(f"{folder}/lib/{name}", "wb") as out:
            shutil.copyfileobj(source, out)
PYTHON
}

main() {
  mode=build changed=0 as_root=() installed=""
  case ${1:-} in
    "") ;;
    --dev) mode=dev ;;
    --check) mode=check ;;
    *) fail "unknown option '$1'; the options are --dev and --check" ;;
  esac
  if is_debian; then
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
      sed -n 's/^installed //p' | tr '\n' ' ')
  fi
  require "${BUILD[@]}"
  require_if_offered "${FORMAT[@]}"
  if [[ $mode == dev ]]; then require "${DEV[@]}"; fi
  take_nvrtc
  [[ $changed == 0 ]] || say "done"
}

main "$@"
