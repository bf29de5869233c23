#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kernel_check.py must refuse, and `tw precompile --only`. Usage: kernel_check_test.py TW"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import kernel_check
from kernel_check import Limits

TW = ""


def row(expression, registers=0, spill=0, file="a.cuh"):
    return {"file": file, "expression": expression, "registers": registers, "spill_bytes": spill}


class Sample(unittest.TestCase):
    ROWS = ([row(f"tw::f<{t}, {n}>") for t in ("float", "half") for n in (1, 8, 64, 2)] +
            [row("tw::g<3>"), row("tw::g<2>", file="b.cuh")])

    def names(self, count):
        return [r["expression"] for r in kernel_check.sample(self.ROWS, count)]

    def test_every_template_has_its_widest(self):
        self.assertEqual(self.names(1), ["tw::f<float, 64>", "tw::g<3>", "tw::g<2>"])

    def test_first_and_last_come_next(self):
        self.assertEqual(self.names(5)[3:], ["tw::f<float, 1>", "tw::f<half, 2>"])

    def test_never_one_twice_and_all_when_there_is_room(self):
        self.assertEqual(sorted(self.names(99)), sorted(r["expression"] for r in self.ROWS))

    def test_nothing_of_nothing(self):
        self.assertEqual(kernel_check.sample([], 5), [])


class Complaints(unittest.TestCase):
    LIMITS = Limits({"tw::f<1>": [30, 0], "tw::f<2>": [60, 16]})

    def complaint(self, *values):
        return self.LIMITS.complaint(row(*values))

    def test_within(self):
        self.assertIsNone(self.complaint("tw::f<1>", 32, 0))  # 30 and 32: as many are handed out
        self.assertIsNone(self.complaint("tw::f<2>", 10, 16))

    def test_too_many_registers(self):
        self.assertIn("33 registers; the limit is 32", self.complaint("tw::f<1>", 33, 0))

    def test_any_more_spill(self):
        self.assertIn("spills 4 bytes; the limit is 0", self.complaint("tw::f<1>", 8, 4))

    def test_a_new_instance_is_held_against_its_template(self):
        self.assertIsNone(self.complaint("tw::f<3>", 64, 16))
        self.assertIsNotNone(self.complaint("tw::f<3>", 65, 16))
        self.assertIsNotNone(self.complaint("tw::f<3>", 64, 17))

    def test_without_limits_only_large_spills(self):
        self.assertIsNone(self.complaint("tw::g<1>", 255, 256))
        self.assertIn("257", self.complaint("tw::g<1>", 1, 257))

    def test_another_version_may_spill_what_a_recorded_one_does_and_some(self):
        known = {"13.0": {"sm_80": {"tw::f<1>": [30, 40]}, "sm_75": {"tw::f<1>": [30, 999]}}}
        limits = kernel_check.limits_of(known, "12.9", "sm_80")
        self.assertFalse(limits.own)
        self.assertIsNone(limits.complaint(row("tw::f<1>", 255, 296)))
        self.assertIsNotNone(limits.complaint(row("tw::f<1>", 255, 297)))
        self.assertIsNotNone(limits.complaint(row("tw::g<1>", 255, 257)))


class Files(unittest.TestCase):
    def test_limits_are_read_as_written(self):
        limits = {"13.0": {"sm_80": {"tw::f<1>": [3, 0]}, "sm_90a": {"b": [4, 8], "a": [5, 0]}},
                  "12.9": {"sm_80": {"tw::f<1>": [2, 0]}}}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "limits.json")
            kernel_check.write_limits(limits, path)
            self.assertEqual(kernel_check.read_limits(path), limits)
            self.assertEqual(kernel_check.read_limits(path + "x"), {})

    def test_recording_forgets_kernels_that_are_gone(self):
        limits = {"13.0": {"sm_80": {"gone": [1, 0], "kept": [2, 0]}}}
        kernel_check.record(limits, "13.0", "sm_80", [row("new", 7, 8)], [row("kept"), row("new")])
        self.assertEqual(limits["13.0"]["sm_80"], {"kept": [2, 0], "new": [7, 8]})

    def test_a_kernel_for_newer_architectures_is_left_out(self):
        with tempfile.TemporaryDirectory() as root:
            for name, guard in (("a.cuh", "800"), ("b.cuh", "900")):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(f"#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= {guard}\n#endif\n")
            rows = [row("a"), row("b", file="b.cuh")]
            for arch, wanted in (("sm_75", 0), ("sm_80", 1), ("sm_90a", 2)):
                self.assertEqual(len(kernel_check.meant_for(rows, arch, root)), wanted, arch)


class Failures(unittest.TestCase):
    """A program that refuses every list with `bad` in it, as a compiler error does."""

    class Fake(kernel_check.Program):
        def __init__(self):
            super().__init__("tw", "cache")

        def run(self, *arguments):
            names = [a[len("--only=^"):-1] for a in arguments if a.startswith("--only=")]
            code = kernel_check.COMPILE_ERROR if any("bad" in n for n in names) else 0
            kernels = json.dumps({"kernels": [row(n) for n in names]})
            return subprocess.CompletedProcess(arguments, code, kernels, "log of " + names[0])

    def test_each_is_named_and_the_others_are_still_checked(self):
        rows = [row(n) for n in ("a", "b", "bad1", "c", "d", "bad2", "e")]
        built, failed = self.Fake().compile_all(rows, "sm_80")
        self.assertEqual([r["expression"] for r in built], ["a", "b", "c", "d", "e"])
        self.assertEqual([(r["expression"], log) for r, log in failed],
                         [("bad1", "log of bad1"), ("bad2", "log of bad2")])


class Only(unittest.TestCase):
    def tw(self, *arguments):
        return subprocess.run([TW, "precompile", *arguments], capture_output=True, text=True)

    def listed(self, *patterns):
        done = self.tw("--list", "--json", *(f"--only={p}" for p in patterns))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [r["expression"] for r in json.loads(done.stdout)["kernels"]]

    def test_chooses_by_expression(self):
        merge, argmax = self.listed("attention_merge<"), self.listed("argmax_rows<.*bf16")
        self.assertGreater(len(merge), 0)
        self.assertTrue(all("attention_merge<" in e for e in merge))
        self.assertTrue(all("argmax_rows<" in e and "bf16" in e for e in argmax))
        self.assertEqual(sorted(self.listed("attention_merge<", "argmax_rows<.*bf16")),
                         sorted(merge + argmax))
        self.assertEqual(len(self.listed(".")), len(self.listed()))

    def test_a_pattern_that_matches_nothing_is_named(self):
        for more in (["--list"], ["--arch", "sm_80", "--out", os.devnull]):
            done = self.tw(*more, "--only=rows", "--only=no_such_kernel")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("'no_such_kernel'", done.stderr)

    def test_a_broken_pattern_is_named(self):
        done = self.tw("--list", "--only=rows<(")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'rows<('", done.stderr)


if __name__ == "__main__":
    TW = sys.argv.pop(1)
    unittest.main()
