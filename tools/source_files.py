# SPDX-License-Identifier: Apache-2.0
"""The files that the checks look at, read once."""

import os
import re

SKIPPED_FOLDERS = {"build", "out", "__pycache__"}
HIDDEN_FOLDERS = {".ci"}  # of the hidden ones only these belong to the tree
TEXT_ENDINGS = (".h", ".cpp", ".cuh", ".cu", ".py", ".sh", ".cmake", ".md", ".txt", ".json",
                ".toml", ".yml", ".java")
TEXT_NAMES = {"Makefile", "run", ".clang-format", ".clang-tidy", ".gitignore"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def paths(root, endings=TEXT_ENDINGS):
    """Paths below root, relative and with forward slashes, in a fixed order."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and
                            (not f.startswith(".") or f in HIDDEN_FOLDERS))
        for name in sorted(names):
            if name.endswith(endings) or (endings is TEXT_ENDINGS and name in TEXT_NAMES):
                found.append(os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))
    return found


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def includes(text):
    """(line number, '<' or '"', what is included)."""
    return [(text.count("\n", 0, m.start(1)) + 1, m[1], m[2]) for m in INCLUDE.finditer(text)]


def host_only_lines(text):
    """Numbers of the lines that NVRTC never sees, as #if on __CUDACC_RTC__ says."""
    hidden, stack = set(), []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"^\s*#\s*", "#", line)
        if words.startswith("#if"):
            about = "__CUDACC_RTC__" in words
            negated = words.startswith("#ifndef") or "!defined" in words
            stack.append((about, about and negated))
        elif words.startswith(("#else", "#elif")) and stack:
            about, off = stack.pop()
            stack.append((about, about and not off))
        elif words.startswith("#endif") and stack:
            stack.pop()
        elif any(off for _, off in stack):
            hidden.add(number)
    return hidden
