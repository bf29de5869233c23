#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs test programs on a machine with a GPU: tools/gpu_check.sh [-q] PROGRAM…
#
#   tools/gpu_check.sh build/release/tilewright/ops_test build/release/tilewright/runtime_test
#
# Every program runs whole; then compute-sanitizer, where there is one, runs memcheck and racecheck
# on a few small cuda tests of each. -q leaves the sanitizer out. Logs go to $LOGS (or a temporary
# folder); the summary comes last. FILTER restricts the first part, SANITIZE the second (GoogleTest
# patterns), LIMIT is the seconds that one program may take.
set -u
cd "$(dirname "$0")/.." || exit 2

quick=0
if [ "${1:-}" = "-q" ]; then quick=1; shift; fi
[ $# -gt 0 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; }
logs=${LOGS:-$(mktemp -d)}/gpu_check
mkdir -p "$logs"
limit=${LIMIT:-240}
filter=${FILTER:-*}
small="*Nan*:*RowsThat*:*LaterTokens*:*Ties*:*SameBits*:*MatchesReference*"
small="$small:MemoryCuda.Strided*:MemoryCuda.Blocks*:KernelCuda.AUsers*:KernelCuda.AllShared*"
sanitize=${SANITIZE:-$small}
summary=()
status=0

report() {  # name, exit status, log
  local line
  line=$(grep -E '^\[  (PASSED|FAILED) +\] [0-9]+ test|ERROR SUMMARY|RACECHECK SUMMARY' "$3" |
         sed 's/^=*  *//' | paste -sd ' ' -)
  case $2 in
    0) summary+=("ok    $1: $line") ;;
    124) summary+=("TIME  $1: over $limit s, see $3"); status=1 ;;
    *) summary+=("FAIL  $1 (exit $2): $line"); status=1 ;;
  esac
  if [ "$2" -ne 0 ]; then
    grep -E '^\[  FAILED  \]|Failure$|=========' "$3" | sort -u | head -25
  fi
}

if command -v nvidia-smi > /dev/null; then
  nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader
fi
sanitizer=$(command -v compute-sanitizer ||
            ls /usr/local/cuda*/bin/compute-sanitizer 2> /dev/null | tail -1)

for program in "$@"; do
  name=$(basename "$program")
  if [ ! -x "$program" ]; then
    summary+=("FAIL  $name: $program is no program"); status=1
    continue
  fi
  log=$logs/$name.log
  begin=$SECONDS
  timeout "$limit" "$program" --gtest_brief=1 --gtest_filter="$filter" > "$log" 2>&1
  report "$name, $((SECONDS - begin)) s" $? "$log"
done

if [ "$quick" = 0 ] && [ -n "$sanitizer" ]; then
  for program in "$@"; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    # An empty choice would pass without having looked at anything.
    chosen=$("$program" --gtest_list_tests --gtest_filter="$sanitize" | grep -c '^  ')
    if [ "$chosen" = 0 ]; then
      summary+=("none  $name: no test matches $sanitize")
      continue
    fi
    for tool in memcheck racecheck; do
      log=$logs/$name.$tool.log
      timeout "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 \
        "$program" --gtest_brief=1 --gtest_filter="$sanitize" > "$log" 2>&1
      report "$name $tool ($chosen tests)" $? "$log"
    done
  done
elif [ "$quick" = 0 ]; then
  summary+=("none  compute-sanitizer is not installed here")
fi

echo "--- summary (logs in $logs)"
printf '%s\n' "${summary[@]}"
exit $status
