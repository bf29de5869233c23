#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/lint.sh BUILD [FILE…]: every static check, clang-tidy last and on FILEs if any are named.
set -uo pipefail
build=$1
shift
failed=0
python3 tools/check_layers.py || failed=1
python3 tools/check_format.py || failed=1
python3 tools/check_headers.py g++ "$build/headers.json" || failed=1
if command -v shellcheck >/dev/null; then
  shellcheck --severity=warning scripts/*.sh tools/*.sh .ci/run || failed=1
fi
files=("$@")
if [[ ${#files[@]} == 0 ]]; then
  # The *_simd.cpp are compiled three times with flags that only their compiler knows.
  mapfile -t files < <(git ls-files 'tilewright/*.cpp' 'cli/*.cpp' | grep -v '_simd\.cpp$')
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' || failed=1
exit "$failed"
