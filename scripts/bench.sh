#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/bench.sh DEVICE: every op at its own sizes and the language models, on cpu or cuda:0,
# then the peers whose scripts can run here. Rows (docs/performance.md says how they are measured)
# go to bench/results/NAME/, one file a run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly device=${1:-cpu} tw=build/release/tw
TW_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export TW_COMMIT

# "NVIDIA H200" becomes nvidia-h200.
name=$("$tw" info --json | python3 -c '
import json, re, sys
wanted = sys.argv[1]
def walk(node):
    if isinstance(node, dict):
        if node.get("device") == wanted and "name" in node:
            return node["name"]
        node = list(node.values())
    for item in node if isinstance(node, list) else []:
        found = walk(item)
        if found:
            return found
found = walk(json.load(sys.stdin)) or wanted
print(re.sub(r"[^a-z0-9]+", "-", found.lower()).strip("-"))' "$device")
rows=bench/results/$name/$(date +%Y-%m-%d-%H%M).jsonl
mkdir -p "$(dirname "$rows")"

measure() {
  printf 'bench: %s\n' "$*" >&2
  "$tw" bench "$@" --device "$device" --json >>"$rows" || printf 'bench: failed: %s\n' "$*" >&2
}

for op in $("$tw" bench --help | sed -n '/^Subcommands:/,$p' | awk '/^  [a-z]/ {print $1}'); do
  case $op in
    llm.*) ;;
    *) if [[ $device == cpu ]]; then measure "$op"; else measure "$op" --mode both; fi ;;
  esac
done

"$tw" pull smollm2-135m-instruct --quiet
models=("--model smollm2-135m-instruct")
[[ $device == cpu ]] || models+=("--shape llama-3.1-8b" "--shape llama-3.2-1b")
for model in "${models[@]}"; do
  # shellcheck disable=SC2086 # an option and its value
  measure llm.prefill $model --prompt 512
  for batch in 1 2 4 8 16; do
    # shellcheck disable=SC2086
    measure llm.decode $model --batch "$batch" --both
    [[ $device != cpu ]] || break
  done
done

for peer in bench/peers/*.py; do
  [[ -e $peer ]] || continue
  printf 'bench: %s\n' "$peer" >&2
  python3 "$peer" --device "$device" >>"$rows" || printf 'bench: cannot run here: %s\n' "$peer" >&2
done
echo "$(wc -l <"$rows") rows in $rows"
