#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decode of Hugging Face transformers as fast as its documentation makes it: random bf16 weights,
static cache, one torch.compile(mode="reduce-overhead", fullgraph=True) of the whole step, the
choice of the next token included. Rows as `tw bench llm.decode --json` prints them.

The time of a step is from one token to the next on the GPU's clock, while the host runs ahead as
far as it can; prompt, compilation and warm-up are not in it. About two minutes a shape and batch,
most of it compilation.
"""

import argparse
import datetime
import json
import os
import statistics
import sys
import time

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

SHAPES = {
    "llama-3.1-8b": dict(num_hidden_layers=32, hidden_size=4096, intermediate_size=14336,
                         num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
                         tie_word_embeddings=False),
    "llama-3.2-1b": dict(num_hidden_layers=16, hidden_size=2048, intermediate_size=8192,
                         num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
                         tie_word_embeddings=True),
    "smollm2-135m": dict(num_hidden_layers=30, hidden_size=576, intermediate_size=1536,
                         num_attention_heads=9, num_key_value_heads=3, vocab_size=49152,
                         tie_word_embeddings=True),
    "tiny": dict(num_hidden_layers=2, hidden_size=128, intermediate_size=256,
                 num_attention_heads=4, num_key_value_heads=2, vocab_size=512,
                 tie_word_embeddings=True),
}
WARM_UP = 20


def log(text):
    print(text, file=sys.stderr, flush=True)


class Clock:
    """Marks on the GPU's clock, or on the host's when there is no GPU."""

    def __init__(self, device):
        self.on_gpu = device.startswith("cuda")
        self.marks = []

    def mark(self):
        if self.on_gpu:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append(event)
        else:
            self.marks.append(time.perf_counter())

    def microseconds(self):
        pairs = zip(self.marks, self.marks[1:])
        if not self.on_gpu:
            return [1e6 * (b - a) for a, b in pairs]
        torch.cuda.synchronize()
        return [1e3 * a.elapsed_time(b) for a, b in pairs]


def copy_gbps(device, size):
    """Bytes read and written a second by a copy of `size` bytes: the median of seven."""
    source = torch.zeros(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    clock = Clock(device)
    for _ in range(9):
        clock.mark()
        target.copy_(source)
    clock.mark()
    return 2 * size / statistics.median(clock.microseconds()[2:]) / 1e3


def make_model(shape, device):
    config = LlamaConfig(**SHAPES[shape], max_position_embeddings=8192, rms_norm_eps=1e-5,
                         rope_parameters={"rope_type": "default", "rope_theta": 500000.0})
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = LlamaForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)
    return model


def bytes_per_step(model, batch, length):
    """What a step must read: every weight but the embedding that only looks rows up, and the
    keys and values of the tokens so far."""
    config = model.config
    weights = sum(p.numel() for p in model.parameters())
    if not config.tie_word_embeddings:
        weights -= config.vocab_size * config.hidden_size
    head = config.hidden_size // config.num_attention_heads
    cached = 2 * config.num_hidden_layers * config.num_key_value_heads * head * length * batch
    return 2 * (weights + cached)


def time_steps(model, batch, options):
    """Microseconds of each measured step."""
    capacity = options.prompt + WARM_UP + options.steps + 8
    cache = StaticCache(config=model.config, max_cache_len=-(-capacity // 64) * 64)

    def step(token):
        logits = model(token, past_key_values=cache, use_cache=True).logits
        return logits[:, -1].argmax(-1, keepdim=True)

    torch._dynamo.reset()
    how = {"mode": "reduce-overhead"} if options.backend == "inductor" else {}
    compiled = torch.compile(step, fullgraph=True, dynamic=False, backend=options.backend, **how)
    token = step(torch.randint(model.config.vocab_size, (batch, options.prompt),
                               device=options.device))
    clock = Clock(options.device)
    for i in range(WARM_UP + options.steps + 1):
        if i >= WARM_UP:
            clock.mark()
        torch.compiler.cudagraph_mark_step_begin()
        token = compiled(token).clone()
    return clock.microseconds()


def row(shape, batch, model, times, peak, options):
    times = sorted(times)
    p50 = statistics.median(times)
    read = bytes_per_step(model, batch, options.prompt + WARM_UP + options.steps // 2)
    gbps = read / p50 / 1e3
    on_gpu = options.device.startswith("cuda")
    return {"op": "llm.decode", "variant": "graph", "impl":
            f"transformers {transformers.__version__}, static cache, torch "
            f"{torch.__version__.split('+')[0]} compile reduce-overhead",
            "device": torch.cuda.get_device_name() if on_gpu else "cpu", "dtype": "bf16",
            "size": f"{batch}x{options.prompt} model={shape}", "us": round(p50, 2),
            "gbps": round(gbps, 1), "tflops": 0, "frac": round(gbps / peak, 4),
            "peak_gbps": round(peak, 1), "peak_tflops": 0, "mode": "graph",
            "commit": os.environ.get("TW_COMMIT", "unknown"),
            "date": datetime.date.today().isoformat(),
            "p99_us": round(times[int(0.99 * (len(times) - 1))], 2), "max_us": round(times[-1], 2),
            "steps": len(times), "tokens_per_second": round(1e6 * batch / p50, 2)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--shape", nargs="+", choices=SHAPES,
                        default=["llama-3.1-8b", "llama-3.2-1b"])
    parser.add_argument("--batch", nargs="+", type=int, default=[1])
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--steps", type=int, default=256)
    parser.add_argument("--backend", default="inductor", help="of torch.compile")
    parser.add_argument("--try-on-cpu", action="store_true", help="to test this script")
    options = parser.parse_args()
    if not options.try_on_cpu and not (options.device.startswith("cuda") and
                                       torch.cuda.is_available()):
        sys.exit("hf_decode.py needs a GPU")
    return options


@torch.no_grad()
def main():
    options = parse()
    peak = copy_gbps(options.device, 1 << (32 if options.device.startswith("cuda") else 26))
    for shape in options.shape:
        model = make_model(shape, options.device)
        for batch in options.batch:
            start = time.monotonic()
            times = time_steps(model, batch, options)
            log(f"{shape} batch {batch}: {time.monotonic() - start:.0f} s in all")
            print(json.dumps(row(shape, batch, model, times, peak, options)), flush=True)
        del model


if __name__ == "__main__":
    main()
