#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md from bench/results/**/*.jsonl; with --check it only says whether the
committed file is what it would write."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"
TARGET = ROOT / "docs/performance.md"
OURS = "tilewright"

HEAD = """\
# Performance

Made by `tools/make_performance_doc.py` from the rows under `bench/results/`; do not edit it.
`make bench` and `make gpu-bench` add rows, `tw bench OP --json` prints one.

## Method

- A speed is a fraction of a limit that was measured in the same run. The limit of memory is a copy,
  bytes read and written: 4 GiB by cudaMemcpy on a GPU; on a CPU the better of memcpy and a copy
  with streaming stores, on all threads.
- Bytes are what the operation must move: operands and results once. A decode step moves every
  weight but the embedding, from which it only looks up rows (unless it is the output matrix too),
  and the keys and values of the tokens so far.
- Times are medians. Operands of a kernel rotate over more memory than the caches hold, so that it
  finds them cold, as a model's weights are. `graph` replays a captured graph, `stream` launches
  each time; ours and a peer are compared in the mode that each is fastest in.
- Decode is one token to the next, its choice included, for the whole batch; tokens/s are the
  batch's. p99 and the largest step stand beside the median where enough steps were taken.
- Peers run in the same run, on the same data, in their best setting:
  llama.cpp (`tools/compare_llama_cpp.py --speed`) with flash attention off and on, batch 512, as
  many threads as ours, in turns with ours, and again when other programs took CPU time; Hugging
  Face transformers (`bench/peers/hf_decode.py`) with static cache and the whole step compiled with
  `reduce-overhead`.
- `ratio` is the peer's time over ours: above 1, ours is faster.

## Agreement with llama.cpp

{agreement}
"""

AGREEMENT = """\
SmolLM2-135M-Instruct (Q4_1), 20 prompts of 64 positions, teacher forcing
(`tests/golden/llama_cpp_test.cpp`, expected numbers in `tests/fixtures/llama_cpp/`). llama.cpp
rounds activations to 8 bits where it multiplies this file's layers: against its own result on the
same weights expanded to float32 its argmax agrees at {agrees:.1%} of the positions and its top
logits differ by {rms:.2f} (root mean square). Two engines that round so differ from each other as
much, so the strict comparison is with the result on the expanded weights. Ours has to agree with
that everywhere but in near-ties (a top-two gap below 0.1), from the file as stored and from
expanded weights, and with `--activations 8` be no further from it than llama.cpp is."""


def read_rows():
    """folder -> rows of its files, in the order of the files' names."""
    folders = {}
    for path in sorted(RESULTS.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                row = json.loads(line)
                row["run"] = path.name
                folders.setdefault(path.parent.relative_to(RESULTS).as_posix(), []).append(row)
    return folders


def key(row):
    return tuple(row.get(k) for k in ("op", "size", "dtype", "variant", "mode", "impl"))


def latest(rows):
    """One row for each thing measured: the one of the last run."""
    return list({key(row): row for row in rows}.values())


def ratio(row, rows):
    """The peer's time over ours, for a peer's row with ours of the same run beside it."""
    if row["impl"] == OURS:
        return ""
    ours = [r["us"] for r in rows if r["impl"] == OURS and
            all(r[k] == row[k] for k in ("op", "size", "dtype", "run"))]
    return f"{row['us'] / min(ours):.2f}" if ours else ""


def number(value, digits):
    return f"{value:,.{digits}f}" if value else ""


def percent(value):
    return f"{100 * value:.0f} %" if value else ""


COLUMNS = [("size", lambda r, _: r["size"]), ("dtype", lambda r, _: r["dtype"]),
           ("variant", lambda r, _: r.get("variant") or ""), ("mode", lambda r, _: r["mode"]),
           ("by", lambda r, _: r["impl"]), ("µs", lambda r, _: number(r["us"], 1)),
           ("p99", lambda r, _: number(r.get("p99_us"), 1)),
           ("largest", lambda r, _: number(r.get("max_us"), 1)),
           ("tokens/s", lambda r, _: number(r.get("tokens_per_second"), 1)),
           ("GB/s", lambda r, _: number(r.get("gbps"), 1)),
           ("TFLOP/s", lambda r, _: number(r.get("tflops"), 2)),
           ("of the limit", lambda r, _: percent(r.get("frac"))), ("ratio", ratio)]


def table(rows, everything):
    cells = [[make(row, everything) for _, make in COLUMNS] for row in rows]
    kept = [i for i in range(len(COLUMNS)) if any(line[i] for line in cells)]
    lines = [[COLUMNS[i][0] for i in kept], ["---"] * len(kept)]
    lines += [[line[i] for i in kept] for line in cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(folder, rows):
    rows = latest(rows)
    devices = sorted({row["device"] for row in rows})
    peaks = [row["peak_gbps"] for row in rows if row.get("peak_gbps")]
    runs = sorted({f"{row['date']} at {row['commit']}" for row in rows})
    copy = f"Copy: {min(peaks):,.1f} to {max(peaks):,.1f} GB/s over the runs. " if peaks else ""
    text = [f"## {folder}\n",
            f"Device: {'; '.join(devices)}. {copy}Runs: {'; '.join(runs)}."]
    for op in sorted({row["op"] for row in rows}, key=lambda o: (not o.startswith("llm"), o)):
        text.append(f"\n### {op}\n\n" + table([r for r in rows if r["op"] == op], rows))
    return "\n".join(text)


def agreement():
    path = ROOT / "tests/fixtures/llama_cpp/smollm2_q4_1.json"
    found = json.loads(path.read_text(encoding="utf-8"))["as_shipped_against_exact"]
    return AGREEMENT.format(agrees=found["argmax_agrees"], rms=found["rms_difference_of_logits"])


def make():
    sections = [section(folder, rows) for folder, rows in sorted(read_rows().items())]
    return "\n\n".join([HEAD.format(agreement=agreement()).rstrip()]
                       + (sections or ["No rows yet."])) + "\n"


def main():
    text = make()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit("docs/performance.md is not up to date: run tools/make_performance_doc.py")
        return
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {text.count(chr(10))} lines")


if __name__ == "__main__":
    main()
