#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Tilewright with llama.cpp on the same GGUF file. llama.cpp comes from the package
llama-cpp-python (pip install llama-cpp-python==0.3.36 gguf) and is a measuring tool only.

  compare_llama_cpp.py MODEL.gguf --fixture FILE.json   writes what tests/golden expects
  compare_llama_cpp.py MODEL.gguf --speed               times both, one after the other in turns
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import tempfile

import numpy as np

import llama_cpp_speed
from expand_gguf import expand
from llama_cpp_session import LlamaCpp

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPTS = ROOT / "tests/fixtures/llama_cpp/prompts.json"
POSITIONS = 64
GREEDY = 32  # at least so many of the recorded positions follow text that the model wrote
TOP = 5

METHOD = (
    "Each prompt is tokenised by llama.cpp and extended by its own greedy choice (never an end "
    "token) by at least 32 tokens and to at least 64 in all. The sequence is then fed anew in one "
    "batch from an empty cache, and the last 64 positions are recorded: the five largest logits "
    "and their token ids, the first being the argmax. Flash attention off, float32 "
    "key/value cache. `exact`: the same weights expanded to float32 (tools/expand_gguf.py), so "
    "that llama.cpp rounds nothing below float32. `as_shipped`: the file itself, whose layers "
    "llama.cpp multiplies by activations rounded to 8 bits; logits of the ids of `exact`, and its "
    "own argmax.")


def extend(session, ids):
    """The prompt and the greedy continuation that teacher forcing will feed."""
    tokens = list(ids)
    session.clear()
    session.feed(tokens)
    while len(tokens) < max(POSITIONS, len(ids) + GREEDY):
        order = np.argsort(-session.last_logits(), kind="stable")
        tokens.append(next(int(t) for t in order if not session.ends_text(int(t))))
        session.feed(tokens[-1:])
    return tokens


def rounded(logits, ids):
    values = np.take_along_axis(logits, ids, axis=1)
    return [[round(float(v), 4) for v in row] for row in values]


def top_ids(logits, count):
    return np.argsort(-logits, axis=1, kind="stable")[:, :count]


def record(shipped, exact, prompt):
    ids = shipped.tokenize(prompt["text"])
    tokens = extend(shipped, ids)
    print(f"{prompt['name']}: {len(ids)} tokens of {len(tokens)}", flush=True)
    logits = exact.all_logits(tokens)[-POSITIONS:]
    coarse = shipped.all_logits(tokens)[-POSITIONS:]
    top, pair = top_ids(logits, TOP), top_ids(coarse, 2)
    gaps = np.array(rounded(coarse, pair))
    return {"name": prompt["name"], "text": prompt["text"], "prompt_tokens": len(ids),
            "tokens": tokens, "first_position": len(tokens) - POSITIONS,
            "top_ids": top.tolist(), "exact": rounded(logits, top),
            "as_shipped": rounded(coarse, top), "as_shipped_argmax": pair[:, 0].tolist(),
            "as_shipped_gap": [round(float(g), 4) for g in gaps[:, 0] - gaps[:, 1]]}


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def summary(prompts):
    """How far llama.cpp on the file as shipped is from llama.cpp on the expanded weights."""
    exact = np.array([p["exact"] for p in prompts])
    error = np.array([p["as_shipped"] for p in prompts]) - exact
    same = [row[0] == got for p in prompts
            for row, got in zip(p["top_ids"], p["as_shipped_argmax"])]
    return {"argmax_agrees": round(sum(same) / len(same), 4),
            "rms_difference_of_logits": round(float(np.sqrt((error ** 2).mean())), 4)}


def write_fixture(model, path, threads):
    with tempfile.TemporaryDirectory() as folder:
        expanded = pathlib.Path(folder) / "expanded.gguf"
        expand(model, expanded)
        shipped = LlamaCpp(model, threads, cache="f32")
        exact = LlamaCpp(expanded, threads, cache="f32")
        prompts = [record(shipped, exact, p)
                   for p in json.loads(PROMPTS.read_text(encoding="utf-8"))]
    head = {"made_by": "tools/compare_llama_cpp.py", "method": METHOD,
            "llama_cpp": f"llama-cpp-python {LlamaCpp.version()}", "build": LlamaCpp.system(),
            "date": datetime.date.today().isoformat(),
            "model": {"file": model.name, "sha256": sha256(model)},
            "vocab": shipped.vocab_size, "positions": POSITIONS,
            "as_shipped_against_exact": summary(prompts)}
    rows = [json.dumps(p, ensure_ascii=False, separators=(",", ":")) for p in prompts]
    text = json.dumps(head, indent=1)[:-2] + ',\n "prompts": [\n' + ",\n".join(rows) + "\n]}\n"
    json.loads(text)
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {len(rows)} prompts, {len(text.encode())} bytes, "
          f"as shipped against exact: {head['as_shipped_against_exact']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--fixture", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    llama_cpp_speed.add_options(parser)
    options = parser.parse_args()
    if options.fixture:
        write_fixture(options.model, options.fixture, options.threads)
    if options.speed:
        llama_cpp_speed.run(options)
    if not options.fixture and not options.speed:
        parser.error("nothing to do: give --fixture FILE, --speed or both")


if __name__ == "__main__":
    main()
