#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels for their architectures and holds registers and spills against limits.json.

Usage: kernel_check.py TW CACHE_FOLDER [--all] [--record] [--arch sm_90a,sm_80,sm_75]

Without --all: of every template its widest, first and last instance, and more while they fit.
Limits are recorded per NVRTC version and architecture; registers count in steps of 8, the unit in
which a multiprocessor hands them out. An instance without limits of its own is held against the
worst of its template; with an NVRTC that no limits are recorded for, a kernel must compile and
spill little more than with others. CACHE_FOLDER keeps what was compiled: unchanged kernels are
not compiled again. Exit code 77: NVRTC is not installed, nothing was checked.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limits.json")
SAMPLES = {"sm_90a": 160, "sm_80": 54, "sm_75": 54}  # instances without --all
UNRECORDED_SPILL = 256  # bytes more than with other versions; the only limit of an unknown one
REGISTER_STEP = 8
BATCH = 64
COMPILE_ERROR, SKIPPED = 9, 77
# How a kernel that needs an architecture leaves its body out elsewhere.
WHOLE_BODY = re.compile(r"#if !defined\(__CUDA_ARCH__\) \|\| __CUDA_ARCH__ >= (\d+)")


def template_of(row):
    return row["file"], row["expression"].split("<")[0]


def groups_of(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[template_of(row)].append(row)
    return [groups[key] for key in sorted(groups)]


def width(row):
    """Grows with what an instance holds: its numbers first, then the bytes of its types."""
    arguments = row["expression"].partition("<")[2]
    numbers = [int(n) for n in re.findall(r"\b\d+", arguments)]
    return (math.prod(n for n in numbers if n), arguments.count("float"), arguments.count("true"))


def sample(rows, count):
    """At least one of each template; the same for the same manifest."""
    orders = []
    for group in groups_of(rows):
        widest = sorted(group, key=width, reverse=True)
        order = [widest[0], group[0], group[-1], *widest]
        orders.append(list({row["expression"]: row for row in order}.values()))
    chosen = [order[0] for order in orders]
    for turn in range(1, max(map(len, orders), default=0)):
        for order in orders:
            if turn < len(order) and len(chosen) < count:
                chosen.append(order[turn])
    return chosen


def least_arch(file, root=ROOT):
    with open(os.path.join(root, file), encoding="utf-8") as source:
        found = WHOLE_BODY.findall(source.read())
    return max((int(n) // 10 for n in found), default=0)


def meant_for(rows, arch, root=ROOT):
    number = int(re.search(r"\d+", arch).group())
    least = {file: least_arch(file, root) for file in {row["file"] for row in rows}}
    return [row for row in rows if least[row["file"]] <= number]


class Program:
    def __init__(self, path, cache):
        self.path = path
        self.environment = {**os.environ, "TILEWRIGHT_CACHE": os.path.abspath(cache)}
        self.environment.pop("TW_PACK", None)

    def run(self, *arguments):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True,
                              env=self.environment)

    def json(self, *arguments):
        done = self.run(*arguments, "--json")
        if done.returncode != 0:
            sys.exit(f"kernels: {self.path} {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout)

    def nvrtc(self):
        """Its version, or None when it is not installed."""
        info = self.json("info")
        if info["pack"]:
            sys.exit(f"kernels: {info['pack']} would answer instead of the compiler; move it away")
        library = next(row for row in info["libraries"] if row["name"] == "NVRTC")
        return library["version"] if library["loaded"] else None

    def manifest(self):
        rows = self.json("precompile", "--list")["kernels"]
        return list({(row["file"], row["expression"]): row for row in rows}.values())

    def compile(self, rows, arch):
        """Rows with registers and spills, and (row, message) of those that failed."""
        with tempfile.TemporaryDirectory() as folder:
            only = [f"--only=^{re.escape(row['expression'])}$" for row in rows]
            done = self.run("precompile", "--json", "--arch", arch, "--out",
                            os.path.join(folder, "kernels.pack"), *only)
        if done.returncode == 0:
            return json.loads(done.stdout)["kernels"], []
        if done.returncode != COMPILE_ERROR:
            sys.exit(f"kernels: {arch}: tw precompile: exit code {done.returncode}: {done.stderr}")
        if len(rows) == 1:
            return [], [(rows[0], done.stderr.strip())]
        half = len(rows) // 2  # those that compiled come from the cache now
        first, second = self.compile(rows[:half], arch), self.compile(rows[half:], arch)
        return first[0] + second[0], first[1] + second[1]

    def compile_all(self, rows, arch):
        built, failed = [], []
        for begin in range(0, len(rows), BATCH):
            more = self.compile(rows[begin:begin + BATCH], arch)
            built += more[0]
            failed += more[1]
        return built, failed


def worst_of_templates(tables):
    worst = defaultdict(lambda: [0, 0])
    for table in tables:
        for expression, limit in table.items():
            name = expression.split("<")[0]
            worst[name] = [max(pair) for pair in zip(worst[name], limit)]
    return dict(worst)


class Limits:
    """Of one NVRTC version and architecture: [registers, spill bytes] by expression."""

    def __init__(self, by_expression, other_versions=()):
        self.own = by_expression
        self.template = worst_of_templates([by_expression])
        self.elsewhere = worst_of_templates(other_versions)

    def of(self, expression):
        return self.own.get(expression) or self.template.get(expression.split("<")[0])

    def complaint(self, row):
        """What is wrong with a compiled kernel, or None."""
        limit = self.of(row["expression"])
        if limit is None:
            most = UNRECORDED_SPILL + self.elsewhere.get(template_of(row)[1], [0, 0])[1]
            spilled = row["spill_bytes"]
            return f"spills {spilled} bytes, more than {most}" if spilled > most else None
        registers = -(-limit[0] // REGISTER_STEP) * REGISTER_STEP
        if row["spill_bytes"] > limit[1]:
            return f"spills {row['spill_bytes']} bytes; the limit is {limit[1]}"
        if row["registers"] > registers:
            return f"takes {row['registers']} registers; the limit is {registers}"
        return None


def limits_of(limits, version, arch):
    others = [archs.get(arch, {}) for known, archs in limits.items() if known != version]
    return Limits(limits.get(version, {}).get(arch, {}), others)


def read_limits(path=LIMITS):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_limits(limits, path=LIMITS):
    """One kernel a line, so that a change of limits reads well."""
    versions = []
    for version in sorted(limits):
        archs = []
        for arch, rows in sorted(limits[version].items()):
            lines = ",\n".join(f"   {json.dumps(name)}: {json.dumps(rows[name])}"
                               for name in sorted(rows))
            archs.append(f"  {json.dumps(arch)}: {{\n{lines}\n  }}")
        versions.append(f" {json.dumps(version)}: {{\n" + ",\n".join(archs) + "\n }")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(versions) + "\n}\n")


def record(limits, version, arch, built, manifest):
    """Takes the new figures; forgets kernels that are no more."""
    known = {row["expression"] for row in manifest}
    rows = limits.setdefault(version, {}).setdefault(arch, {})
    for gone in set(rows) - known:
        del rows[gone]
    rows.update({row["expression"]: [row["registers"], row["spill_bytes"]] for row in built})


def check_arch(arch, built, failed, limits, version):
    """Prints what is wrong; the number of such kernels."""
    recorded = limits_of(limits, version, arch)
    if not recorded.own:
        print(f"kernels: {arch}: no limits are recorded for NVRTC {version}: checked only that "
              f"every kernel compiles and spills at most {UNRECORDED_SPILL} bytes more than "
              "with a recorded version")
    for row, message in failed:
        print(f"kernels: {arch}: {row['expression']} does not compile:\n{message}")
    wrong = [(row, text) for row in built if (text := recorded.complaint(row))]
    for row, text in wrong:
        print(f"kernels: {arch}: {row['expression']} {text}")
    new = [row for row in built if recorded.own and recorded.of(row["expression"]) is None]
    if new:
        print(f"kernels: {arch}: no limits for {len(new)} kernels of new templates, such as "
              f"{new[0]['expression']}: record them with --record")
    return len(failed) + len(wrong)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tw")
    parser.add_argument("cache")
    parser.add_argument("--all", action="store_true", help="the whole manifest")
    parser.add_argument("--record", action="store_true", help="write limits.json")
    parser.add_argument("--arch", default=",".join(SAMPLES), help="commas separate several")
    return parser.parse_args()


def main():
    options = parse_arguments()
    program = Program(options.tw, options.cache)
    version = program.nvrtc()
    if version is None:
        print("kernels: NVRTC is not installed, nothing was checked")
        return SKIPPED
    manifest = program.manifest()
    limits, wrong = read_limits(), 0
    for arch in options.arch.split(","):
        rows = meant_for(manifest, arch)
        if not options.all:
            rows = sample(rows, SAMPLES.get(arch, min(SAMPLES.values())))
        begin = time.monotonic()
        built, failed = program.compile_all(rows, arch)
        print(f"kernels: {arch}: {len(built)} of {len(manifest)} compiled in "
              f"{time.monotonic() - begin:.0f} s", flush=True)
        if options.record:
            record(limits, version, arch, built, manifest)
        wrong += check_arch(arch, built, failed, limits, version)
    if options.record:
        write_limits(limits)
    if wrong:
        print(f"kernels: {wrong} kernels are over their limits or do not compile; limits that are "
              "meant to change are written by tests/kernels/kernel_check.py --record")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
