# SPDX-License-Identifier: Apache-2.0
"""Decode and prefill on the CPU, llama.cpp and Tilewright in turns in one run.

Tilewright's figure is read from the last JSON line that its command prints, under any of the
names in KEYS. A measurement during which other programs took more than a few percent of a core
is repeated, and marked if it never was quiet.
"""

import contextlib
import ctypes
import datetime
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import threading
import time

from llama_cpp_session import LlamaCpp

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPT, TOKENS, PREFILL = 128, 128, 512
QUIET = 0.08  # of a core, taken by others
KEYS = {"llm.decode": ("decode_tokens_per_second", "tokens_per_second"),
        "llm.prefill": ("prompt_tokens_per_second", "tokens_per_second")}
GENERATE = ("{tw} generate -m {model} -p {prompt} -n COUNT --temp 0 --ignore-eos --device cpu "
            "--json")
COMMANDS = {"llm.decode": GENERATE.replace("COUNT", "{count}"),
            "llm.prefill": GENERATE.replace("COUNT", "1")}


def add_options(parser):
    group = parser.add_argument_group("speed")
    group.add_argument("--repeats", type=int, default=7)
    group.add_argument("--patience", type=int, default=10,
                       help="further tries for a measurement that others disturbed")
    group.add_argument("--tw", default=str(ROOT / "build/release/tw"))
    group.add_argument("--tw-decode", default=COMMANDS["llm.decode"], metavar="COMMAND",
                       help="with {tw} {model} {prompt} {count}; default: %(default)s")
    group.add_argument("--tw-prefill", default=COMMANDS["llm.prefill"], metavar="COMMAND")
    group.add_argument("--only-llama-cpp", action="store_true")
    group.add_argument("--out", type=pathlib.Path, metavar="FILE.jsonl",
                       help="append rows here (bench/results/cpu/llama_cpp.jsonl is the kept one)")


def busy_seconds():
    """CPU seconds that all programs of this machine have used."""
    fields = [int(v) for v in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def undisturbed(measure, patience):
    """(value, share of a core that others took): the quietest of up to 1 + patience tries."""
    tries = []
    for _ in range(1 + patience):
        busy, own, start = busy_seconds(), own_seconds(), time.monotonic()
        value = measure()
        used = (busy_seconds() - busy) - (own_seconds() - own)
        tries.append((max(0.0, used) / (time.monotonic() - start), value))
        if tries[-1][0] <= QUIET:
            break
        time.sleep(1)
    others, value = min(tries, key=lambda item: item[0])
    return value, others


def copy_gbps(threads, size=1 << 30):
    """Copy bandwidth, bytes read and written: memcpy, which streams its stores at this size."""
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    part = size // threads

    def copy(i):
        ctypes.memmove(ctypes.addressof(target) + i * part,
                       ctypes.addressof(source) + i * part, part)

    times = []
    for _ in range(6):
        workers = [threading.Thread(target=copy, args=(i,)) for i in range(threads)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        times.append(time.perf_counter() - start)
    return 2 * size / min(times[1:]) / 1e9


def text_of(session, count):
    """A text of exactly `count` tokens."""
    words = "The quick survey of the northern coast took most of a long and windy summer".split()
    text = words[0]
    i = 0
    while len(session.tokenize(text)) < count:
        i += 1
        text += " " + words[i % len(words)]
    while len(session.tokenize(text)) > count:
        text = text[:-1]
    assert len(session.tokenize(text)) == count
    return text


def last_json(output):
    for line in reversed(output.splitlines()):
        with contextlib.suppress(json.JSONDecodeError):
            value = json.loads(line)
            if isinstance(value, dict):
                return value
    raise SystemExit(f"no JSON object in the output:\n{output[-2000:]}")


def tw_rate(op, command, options, prompt):
    """Tokens a second as Tilewright's own command reports them."""
    words = [word.format(tw=options.tw, model=options.model, prompt=prompt, count=TOKENS + 1)
             for word in shlex.split(command)]
    result = subprocess.run(words, capture_output=True, text=True,
                            env={**os.environ, "TW_THREADS": str(options.threads)})
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: exit code {result.returncode}\n{result.stderr}")
    row = last_json(result.stdout)
    for key in KEYS[op]:
        if key in row:
            return float(row[key])
    raise SystemExit(f"{op}: none of {KEYS[op]} in {row}")


def peers(options, prompts):
    """impl -> op -> a function that gives tokens a second."""
    sessions = {name: LlamaCpp(options.model, options.threads, flash_attention=name)
                for name in ("off", "on")}
    first = sessions["off"]
    ids = {op: first.tokenize(text) for op, text in prompts.items()}
    found = {}
    for name, session in sessions.items():
        found[f"llama.cpp, flash attention {name}"] = {
            "llm.decode": lambda s=session: TOKENS / s.time_decode(ids["llm.decode"], TOKENS),
            "llm.prefill": lambda s=session: PREFILL / s.time_prefill(ids["llm.prefill"])}
    if not options.only_llama_cpp:
        commands = {"llm.decode": options.tw_decode, "llm.prefill": options.tw_prefill}
        found["tilewright"] = {
            op: lambda op=op: tw_rate(op, commands[op], options, prompts[op]) for op in commands}
    return found


def cpu_name():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    name = next(line.split(":")[1].strip() for line in info.splitlines()
                if line.startswith("model name"))
    flags = " avx512" if " avx512f" in info else " avx2" if " avx2" in info else ""
    return name + flags


def commit():
    result = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT,
                            capture_output=True, text=True)
    return result.stdout.strip()


def row(op, impl, rate, options, peak):
    decode = op == "llm.decode"
    gbps = options.model.stat().st_size * rate / 1e9 if decode else 0
    tokens = PROMPT if decode else PREFILL
    return {"op": op, "variant": f"{options.threads} threads", "impl": impl,
            "device": cpu_name(), "dtype": "stored",
            "size": f"1x{tokens} model={options.model.stem}",
            "us": round(1e6 / rate if decode else 1e6 * PREFILL / rate, 1),
            "gbps": round(gbps, 2), "tflops": 0, "frac": round(gbps / peak, 4),
            "peak_gbps": round(peak, 2), "peak_tflops": 0,
            "mode": "graph" if impl == "tilewright" and decode else "stream",
            "commit": commit(), "date": datetime.date.today().isoformat(),
            "tokens_per_second": round(rate, 2)}


def measure_all(found, options):
    """(op, impl) -> [(rate, share of others)]; one of each in turns, a warm-up round first."""
    results = {}
    for repeat in range(options.repeats + 1):
        for op in COMMANDS:
            for impl in found:
                sample = undisturbed(found[impl][op], options.patience if repeat else 0)
                if repeat:
                    results.setdefault((op, impl), []).append(sample)
    return results


def run(options):
    session = LlamaCpp(options.model, options.threads)
    prompts = {"llm.decode": text_of(session, PROMPT), "llm.prefill": text_of(session, PREFILL)}
    session.close()
    peak = copy_gbps(options.threads)
    results = measure_all(peers(options, prompts), options)
    rates = {key: statistics.median(rate for rate, _ in samples)
             for key, samples in results.items()}
    print(f"{cpu_name()}, {options.threads} threads, copy {peak:.1f} GB/s; median of "
          f"{options.repeats}, taken in turns\n")
    print(f"{'op':12} {'impl':30} {'tokens/s':>9} {'best':>8} {'others':>7}")
    for (op, impl), samples in results.items():
        print(f"{op:12} {impl:30} {rates[op, impl]:9.1f} {max(r for r, _ in samples):8.1f} "
              f"{max(share for _, share in samples):6.0%}")
    report_ratios(rates)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with open(options.out, "a", encoding="utf-8") as file:
            for (op, impl), rate in rates.items():
                file.write(json.dumps(row(op, impl, rate, options, peak)) + "\n")


def report_ratios(rates):
    for op in COMMANDS:
        ours = rates.get((op, "tilewright"))
        best = max(rate for (o, impl), rate in rates.items() if o == op and impl != "tilewright")
        if ours:
            print(f"{op}: tilewright / the better llama.cpp = {ours / best:.2f}")
