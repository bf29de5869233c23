#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks (or with --fix, makes) the format of every C++ and CUDA source with clang-format 19.

Exit code 77 says that clang-format 19 is not installed: a skipped test, not a passed one.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from source_files import paths

FOLDERS = ("tilewright/", "cli/", "tests/", "examples/", "bench/", "tools/")


def find_clang_format():
    for name in ("clang-format-19", "clang-format"):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], capture_output=True, text=True)
            if "version 19." in version.stdout:
                return program
    return None


def main():
    program = find_clang_format()
    if program is None:
        print("format: clang-format 19 is not installed, nothing was checked")
        return 77
    files = [p for p in paths(".", (".h", ".cpp", ".cuh", ".cu")) if p.startswith(FOLDERS)]
    mode = ["-i"] if "--fix" in sys.argv else ["--dry-run", "-Werror"]
    groups = [files[i:i + 20] for i in range(0, len(files), 20)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(
            lambda group: subprocess.run([program, "--style=file", *mode, *group]).returncode,
            groups))
    print(f"format: {len(files)} files, " + ("formatted" if mode == ["-i"] else
          "all well" if not any(results) else "some are not formatted: run `make format`"))
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
