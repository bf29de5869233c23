# SPDX-License-Identifier: Apache-2.0
"""What the tests of `tw` share: running it on a tiny model, and its exit codes."""
import os
import subprocess
import sys
import tempfile
import unittest

import tiny_gguf

USAGE, FORMAT, IO, NOT_FOUND, UNSUPPORTED, LIBRARY = 2, 3, 4, 5, 6, 7
OUT_OF_MEMORY, CANCELLED = 10, 130


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tw-cli-")
        cls.model = os.path.join(cls.folder.name, "tiny.gguf")
        cls.head_bytes, cls.file_bytes = tiny_gguf.write(cls.model)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def tw(self, *arguments, env=None, input=None, limit=None):
        environment = dict(os.environ, TILEWRIGHT_CACHE=self.path("cache"))
        environment.update(env or {})
        return subprocess.run([self.program, *arguments], capture_output=True, env=environment, input=input,
                              timeout=120, preexec_fn=limit)

    def expect(self, code, *words, arguments, **options):
        done = self.tw(*arguments, **options)
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, text)
        for word in words:
            self.assertIn(word, text)
        self.assertNotIn("terminate called", text)
        return text

    def generate(self, model, *more):
        return ["generate", "-m", model, "-p", "abc", "-n", "4", "--device", "cpu", *more]


def main():
    """Usage: …_test.py PATH_OF_TW FOLDER_OF_FAKE_LIBRARIES"""
    Cli.program, Cli.fakes = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")
