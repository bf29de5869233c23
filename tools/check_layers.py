#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layers and the plain rules of the tree: tools/check_layers.py [ROOT]

A folder includes only folders of a lower rank; an op may include another op's public header,
without cycles, and never its .cuh; third-party headers stay out of public headers; what a GPU
compiles includes no standard header. Every source names its licence, stays short, and knows no
path of the machine it was written on.
"""

import re
import sys

from source_files import host_only_lines, includes, paths, read

RANKS = {"base": 0, "device": 1, "emu": 2, "runtime": 3, "harness": 4, "dist": 4, "ops": 5,
         "fusion": 6, "autograd": 6, "nn": 7, "llm": 8, "capi": 9}
SOURCES = (".h", ".cpp", ".cuh", ".cu")
WARN_LINES, MAX_LINES = 400, 800
MACHINE_PATH = re.compile(
    r"(?<![\w.$}])/(?:work|opt/peers|tmp/dl|root|home/[a-z]\w*)/[\w.]")

# Headers of C++20, C and POSIX, and the compilers' intrinsics: anything else is third-party.
STANDARD = set("""
algorithm any array atomic barrier bit bitset charconv chrono cmath codecvt compare complex
concepts condition_variable coroutine deque exception execution filesystem forward_list fstream
functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges
ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack
stdexcept stop_token streambuf string string_view syncstream system_error thread tuple type_traits
typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
cassert cctype cerrno cfenv cfloat cinttypes climits clocale csetjmp csignal cstdarg cstddef
cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype
""".split())
POSIX = re.compile(r"(sys|netinet|arpa|linux)/\w+\.h$|"
                   r"(assert|errno|float|inttypes|limits|math|std\w+|string|time)\.h$|"
                   r"(unistd|fcntl|dlfcn|pthread|sched|signal|poll|termios|link|spawn|elf|"
                   r"immintrin|arm_neon|x86intrin|cpuid)\.h$")


def module_of(path):
    """'ops' of tilewright/ops/add/add.h; None outside tilewright/."""
    parts = path.split("/")
    return parts[1] if parts[0] == "tilewright" and len(parts) > 2 else None


def op_of(path):
    parts = path.split("/")
    return parts[2] if module_of(path) == "ops" and len(parts) > 3 else None


def is_public(path):
    """Installed headers. *simd.h and *_internal.h are for the .cpp files beside them."""
    return path.endswith((".h", ".cuh")) and not path.endswith(("simd.h", "_internal.h"))


def gpu_sources(texts):
    """What a GPU compiles: device/, *.cuh, *_args.h, and whatever they include."""
    found = set()
    waiting = [p for p in texts if module_of(p) == "device" or p.endswith((".cuh", "_args.h"))]
    while waiting:
        path = waiting.pop()
        if path in texts and path not in found:
            found.add(path)
            hidden = host_only_lines(texts[path])
            waiting += [t for line, _, t in includes(texts[path]) if line not in hidden]
    return found


def check_angle(path, target, for_gpu):
    if for_gpu:
        return f"<{target}>: what a GPU compiles includes no standard header"
    known = target in STANDARD or POSIX.match(target)
    if module_of(path) and is_public(path) and not known:
        return f"<{target}>: third-party headers belong in .cpp files or *_internal.h"
    return None


def check_quoted(path, target, for_gpu):
    ours, theirs = module_of(path), module_of(target)
    in_program = ours is None and "/" not in target  # a program's file beside this one
    if not in_program and not target.startswith(("tilewright/", "cli/", "tests/", "bench/")):
        return f'"{target}": include by the path from the root of the tree'
    if ours is None:
        return None
    if theirs is None:
        return f'"{target}": {ours} may not include what stands above the library'
    if ours not in RANKS or theirs not in RANKS:
        unknown = ours if ours not in RANKS else theirs
        return f"folder '{unknown}' has no rank; give it one in tools/check_layers.py"
    if ours != theirs and RANKS[theirs] >= RANKS[ours]:
        return (f'"{target}": {ours} has rank {RANKS[ours]} and may not include {theirs} of rank '
                f"{RANKS[theirs]}")
    if for_gpu and theirs not in ("device", "ops", ours):
        return f'"{target}": what a GPU compiles includes only headers of device/ and ops/'
    if ours == theirs == "ops" and op_of(target) != op_of(path):
        return check_other_op(path, target)
    return None


def check_other_op(path, target):
    if op_of(path) == "_core":
        return f'"{target}": ops/_core may not know an op'
    if op_of(target) != "_core" and target.endswith(".cuh"):
        return f'"{target}": another op is used through its public header, not its .cuh'
    return None


def find_cycle(edges):
    """One cycle of a graph {node: set of nodes}, as a list that ends where it starts, or None."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        trail.append(node)
        for following in sorted(edges.get(node, ())):
            cycle = visit(following)
            if cycle:
                return cycle
        trail.pop()
        done.add(node)
        return None

    return next((cycle for node in sorted(edges) if (cycle := visit(node))), None)


def check_source(path, text, for_gpu, op_edges):
    hidden = host_only_lines(text)
    for line, kind, target in includes(text):
        quoted = kind == '"' and not target.startswith("hwy/")  # as Highway itself writes it
        check = check_quoted if quoted else check_angle
        problem = check(path, target, for_gpu and line not in hidden)
        if problem:
            yield f"{path}:{line}: {problem}"
        ours, theirs = op_of(path), op_of(target)
        if ours and theirs and ours != theirs and not path.endswith("_test.cpp"):
            op_edges.setdefault(ours, set()).add(theirs)
    if path.endswith((".h", ".cuh")) and "#pragma once" not in text:
        yield f"{path}: a header starts with #pragma once"


def check_text(path, text):
    head = "\n".join(text.splitlines()[:3])
    wants_licence = path.endswith(SOURCES + (".py", ".sh", ".cmake")) or \
        path.endswith(("CMakeLists.txt", "Makefile"))
    if wants_licence and "SPDX-License-Identifier: Apache-2.0" not in head:
        yield f"{path}:1: no line 'SPDX-License-Identifier: Apache-2.0' among the first three"
    lines = text.count("\n")
    if path.endswith(SOURCES + (".py", ".sh")) and lines > MAX_LINES:
        yield f"{path}: {lines} lines; {MAX_LINES} is the limit, split it"
    for match in MACHINE_PATH.finditer(text):
        yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: path of one machine: {match[0]}…"


def check_tree(root):
    """(problems, warnings), each a list of lines 'path:line: what is wrong'."""
    problems, warnings, op_edges = [], [], {}
    texts = {path: read(root, path) for path in paths(root)}
    gpu = gpu_sources(texts)
    for path, text in texts.items():
        problems += check_text(path, text)
        if path.endswith(SOURCES):
            problems += check_source(path, text, path in gpu, op_edges)
            if WARN_LINES < text.count("\n") <= MAX_LINES:
                warnings.append(f"{path}: {text.count(chr(10))} lines; think of splitting it")
    cycle = find_cycle(op_edges)
    if cycle:
        problems.append("ops include one another in a circle: " + " -> ".join(cycle))
    return problems, warnings


def main():
    problems, warnings = check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")
    for line in warnings:
        print("warning:", line)
    for line in problems:
        print("error:", line)
    print(f"layers: {len(problems)} problems, {len(warnings)} warnings")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
