#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty prefix and builds strangers' projects against it.

tests/install/install_test.py BUILD [unittest options]
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
BUILD = ""


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def install(prefix, *components):
    for component in components:
        done = run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
        assert done.returncode == 0, done.stdout + done.stderr


def configure(project, build, prefix, *options):
    return run("cmake", "-S", project, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
               "-DCMAKE_BUILD_TYPE=Release", *options)


class Prefix(unittest.TestCase):
    """Each test has its own empty prefix and build folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix, self.build = folder.name + "/prefix", folder.name + "/build"

    def configured(self, project, *options):
        done = configure(project, self.build, self.prefix, *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def built(self):
        done = run("cmake", "--build", self.build)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def refused(self, wanted, *options):
        done = configure(HERE + "/consumer", self.build, self.prefix, *options)
        self.assertNotEqual(done.returncode, 0, "was accepted")
        self.assertIn(wanted, re.sub(r"\s+", " ", done.stderr))

    def linked_libraries(self, program):
        lines = run("ldd", os.path.join(self.build, program)).stdout.splitlines()
        return {re.sub(r"[-.].*", "", os.path.basename(line.split()[0])) for line in lines}


class Runtime(Prefix):
    def test_alone_and_without_third_party_libraries(self):
        install(self.prefix, "runtime")
        installed = os.listdir(self.prefix + "/include/tilewright")
        self.assertEqual(sorted(installed), ["base", "device", "runtime"])
        self.configured(HERE + "/consumer", "-DWANTED=runtime")
        self.built()
        done = run(self.build + "/use_runtime")
        self.assertEqual(done.stdout,
                         "6 elements, ba7816bf\nthrown across the installed library\n")
        self.assertLessEqual(self.linked_libraries("use_runtime"),
                             {"linux", "ld", "libc", "libm", "libstdc++", "libgcc_s", "libdl",
                              "libpthread"})

    def test_a_component_that_is_not_installed_is_named(self):
        install(self.prefix, "runtime")
        self.refused("component 'ops' is not installed", "-DWANTED=ops")
        self.refused("component 'emu' is not installed", "-DWANTED=runtime;emu")
        self.refused("component 'kernels' is none of runtime, ops, emu, llm", "-DWANTED=kernels")

    def test_what_a_component_needs_is_named(self):
        install(self.prefix, "runtime", "llm")
        self.refused("component 'ops' is not installed below", "-DWANTED=llm")

    def test_the_installed_tree_can_be_moved(self):
        install(self.prefix, "runtime")
        os.rename(self.prefix, self.prefix + "_moved")
        self.prefix += "_moved"
        self.configured(HERE + "/consumer", "-DWANTED=runtime")
        self.built()


class Headers(Prefix):
    def test_installed_headers_include_only_installed_ones(self):
        install(self.prefix, "runtime", "ops", "llm")
        root, missing = self.prefix + "/include/", []
        for folder, _, names in os.walk(root):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    for target in re.findall(r'#include "(tilewright/[^"]+)"', file.read()):
                        if not os.path.exists(root + target):
                            missing.append(f"{folder}/{name}: {target}")
        self.assertEqual(missing, [])


class FirstKernel(Prefix):
    def test_builds_against_the_runtime_alone_and_runs(self):
        install(self.prefix, "runtime")
        self.configured(EXAMPLES + "/first_kernel")
        self.built()
        done = run(self.build + "/first_kernel")
        if done.returncode == 0:
            self.assertEqual(done.stdout, "y[0] = 3, y[999] = 3\n")
        else:  # no GPU, or no NVRTC for it
            self.assertIn(done.returncode, (5, 7), done.stderr)
            self.assertRegex(done.stderr, "^first_kernel: .*(no usable GPU|NVRTC)")

    def test_is_short(self):
        with open(EXAMPLES + "/first_kernel/main.cpp", encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 25)


class Everything(Prefix):
    def test_all_components_build_and_run(self):
        install(self.prefix, "runtime", "ops", "llm")
        self.configured(HERE + "/consumer", "-DWANTED=runtime;ops;llm")
        self.built()
        self.assertEqual(run(self.build + "/use_ops").stdout, "add: [11, 22, 33]\n")
        self.assertIn("no/such/model", run(self.build + "/use_llm").stdout)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
