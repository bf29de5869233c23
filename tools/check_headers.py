#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each header compiles alone: tools/check_headers.py COMPILER STAMPS

A header that some source includes first has been shown to by the build, and is left out; so are
those of device/ that only a GPU's compiler takes, which the kernels' own tests compile.
STAMPS is a file that remembers which contents (of a header and of all that it includes from this
tree) have passed, so that a second run compiles only what changed.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from check_layers import is_public, module_of
from source_files import includes, paths, read


def tree_of(path, texts, seen):
    """Adds path and whatever it includes from this tree, at any depth."""
    if path in texts and path not in seen:
        seen.add(path)
        for _, _, target in includes(texts[path]):
            tree_of(target, texts, seen)
    return seen


def key_of(path, texts, compiler):
    digest = hashlib.sha256(compiler.encode())
    for part in sorted(tree_of(path, texts, set())):
        digest.update(part.encode() + b"\0" + texts[part].encode())
    return digest.hexdigest()


def is_for_the_host(path):
    return module_of(path) != "device" or path.startswith("tilewright/device/core/")


def first_includes():
    """Headers that a source of the build includes before anything else."""
    found = set()
    for path in paths(".", (".cpp",)):
        if path.startswith(("tilewright/", "cli/")):
            found.update(target for _, _, target in includes(read(".", path))[:1])
    return found


def compile_alone(compiler, path):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-I.", "-xc++", "-"]
    source = f'#include "{path}"\n#include "{path}"\n'
    return subprocess.run(command, input=source, capture_output=True, text=True)


def load_stamps(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def main():
    compiler, stamps_path = sys.argv[1:3]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    texts = {p: read(".", p) for p in paths(".", (".h", ".cuh"))}
    proven = first_includes()
    headers = [p for p in texts if p.startswith(("tilewright/", "cli/")) and p.endswith(".h")
               and is_public(p) and is_for_the_host(p) and p not in proven]
    stamps, keys = load_stamps(stamps_path), {p: key_of(p, texts, version) for p in headers}
    stale = [p for p in headers if stamps.get(p) != keys[p]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda p: compile_alone(compiler, p), stale))
    bad = {p for p, result in zip(stale, results) if result.returncode != 0 or result.stderr}
    for path, result in zip(stale, results):
        if path in bad:
            print(f"error: {path} does not compile alone, without warnings:\n{result.stderr}")
    os.makedirs(os.path.dirname(stamps_path) or ".", exist_ok=True)
    with open(stamps_path, "w", encoding="utf-8") as file:
        json.dump({p: keys[p] for p in headers if p not in bad}, file, indent=1)
    print(f"headers: {len(headers)} that no source includes first, {len(stale)} compiled anew, "
          f"{len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
