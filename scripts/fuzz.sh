#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/fuzz.sh BUILD SECONDS: each fuzz target of BUILD over its seeds and whatever earlier
# runs found, for SECONDS each; 0 replays what there is and stops. A finding stays in
# BUILD/fuzz/findings/; make it a seed once it is mended.
set -euo pipefail
build=$1 seconds=$2
list=$build/fuzz/targets.txt
[[ -s $list ]] || { echo "fuzz: no target in $build" >&2; exit 1; }
mkdir -p "$build/fuzz/findings"
failed=0
while read -r name seeds; do
  grown=$build/fuzz/corpus/$name
  mkdir -p "$grown"
  limits=(-timeout=10 -rss_limit_mb=2048 "-artifact_prefix=$build/fuzz/findings/$name-")
  if [[ $seconds == 0 ]]; then limits+=(-runs=0); else limits+=("-max_total_time=$seconds"); fi
  echo "fuzz: $name"
  if ! "$build/fuzz/$name" "${limits[@]}" "$grown" "$seeds" >"$build/fuzz/$name.log" 2>&1; then
    echo "fuzz: $name FAILED; the end of $build/fuzz/$name.log:"
    tail -40 "$build/fuzz/$name.log"
    failed=1
  fi
done <"$list"
exit "$failed"
