# SPDX-License-Identifier: Apache-2.0
"""What a user sees when something is wrong: `tw` on bad input, message and exit code of each.

Usage: cli_test.py PATH_OF_TW FOLDER_OF_FAKE_LIBRARIES
"""
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tiny_gguf  # noqa: E402

TW = FAKES = ""
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
        return subprocess.run([TW, *arguments], capture_output=True, env=environment, input=input,
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


class GoodInput(Cli):
    def test_generates_and_reports(self):
        done = self.tw(*self.generate(self.model, "--json", "--ignore-eos"))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["prompt_tokens"], 3)
        self.assertEqual(len(result["tokens"]), 4)
        self.assertEqual(result["finish_reason"], "length")

    def test_graph_and_eager_agree(self):
        answers = [json.loads(self.tw(*self.generate(self.model, "--json", *more)).stdout)["tokens"]
                   for more in ([], ["--no-graph"])]
        self.assertEqual(answers[0], answers[1])

    def test_same_seed_same_answer(self):
        def run(seed):
            return json.loads(self.tw("generate", "-m", self.model, "-p", "abc", "-n", "16",
                                      "--device", "cpu", "--json", "--temp", "1.5", "--ignore-eos",
                                      "--seed", seed).stdout)

        self.assertEqual(run("7")["tokens"], run("7")["tokens"])
        self.assertNotEqual(run("7")["tokens"], run("8")["tokens"])

    def test_summary_line_comes_last(self):
        done = self.tw(*self.generate(self.model))
        last = done.stderr.decode().strip().splitlines()[-1]
        for word in ("prompt", "decode", "tokens/s", "GB/s", "%"):
            self.assertIn(word, last)

    def test_help_and_version(self):
        for arguments in (["--help"], ["generate", "--help"], ["--version"]):
            self.assertEqual(self.tw(*arguments).returncode, 0)

    def test_chat_reads_lines(self):
        done = self.tw("chat", "-m", self.model, "--device", "cpu", "-n", "4",
                       input=b"hello\n/clear\nagain\n/exit\n")
        self.assertEqual(done.returncode, 0, done.stderr)


    def test_tokens_past_the_tokenizer_have_no_text(self):
        shapes = tiny_gguf.tensors()
        shapes["token_embd.weight"] = (tiny_gguf.DIM, 400)  # padded, as many models are
        tiny_gguf.write(self.path("padded.gguf"), shapes=shapes)
        done = self.tw("generate", "-m", self.path("padded.gguf"), "-p", "abc", "-n", "40", "--temp",
                       "100", "--seed", "1", "--device", "cpu", "--ignore-eos", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(max(json.loads(done.stdout)["tokens"]), 258)

    def test_chat_forgets_a_message_that_the_template_refuses(self):
        meta = tiny_gguf.metadata()
        meta["tokenizer.chat_template"] = (
            tiny_gguf.STRING, "{% for m in messages %}{% if m.content == 'bad' %}"
            "{{ raise_exception('no bad words') }}{% endif %}{{ m.content }}{% endfor %}")
        tiny_gguf.write(self.path("strict.gguf"), meta=meta)
        done = self.tw("chat", "-m", self.path("strict.gguf"), "--device", "cpu", "-n", "2",
                       input=b"bad\ngood\n/exit\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(b"no bad words"), 1, done.stderr)
        self.assertIn(b"tokens/s", done.stderr)

    def test_info_doctor_and_list_give_one_json_object(self):
        for arguments, key in ((["info"], "devices"), (["doctor"], "findings"),
                               (["precompile", "--list"], "kernels")):
            done = self.tw(*arguments, "--json", env={"TW_CUDA": "", "TW_NVRTC": ""})
            self.assertGreater(len(json.loads(done.stdout)[key]), 0, arguments)

    def test_prompt_from_a_pipe(self):
        read, write = os.pipe()
        os.write(write, b"abc")
        os.close(write)
        done = subprocess.run([TW, "generate", "-m", self.model, "-f", f"/dev/fd/{read}", "-n", "1",
                               "--device", "cpu", "--json"], pass_fds=(read,), capture_output=True,
                              timeout=60)
        os.close(read)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["prompt_tokens"], 3)

    def test_a_path_that_is_no_text_is_still_printed(self):
        done = self.tw("info", "--json", env={"TILEWRIGHT_CACHE": b"/tmp/\xff"})
        self.assertEqual(done.returncode, 0, done.stderr)
        json.loads(done.stdout)


class BadModel(Cli):
    def test_no_such_model(self):
        self.expect(NOT_FOUND, "no-such", "tw pull", arguments=self.generate("no-such"))

    def test_not_a_model(self):
        with open(self.path("text.gguf"), "w") as file:
            file.write("just some text, long enough to hold a header " * 4)
        self.expect(FORMAT, "text.gguf", arguments=self.generate(self.path("text.gguf")))

    def test_empty_file_and_empty_folder(self):
        open(self.path("empty.gguf"), "w").close()
        self.expect(FORMAT, "empty.gguf", arguments=self.generate(self.path("empty.gguf")))
        os.makedirs(self.path("hollow"), exist_ok=True)
        done = self.tw(*self.generate(self.path("hollow")))
        self.assertIn(done.returncode, (FORMAT, NOT_FOUND))
        self.assertIn(b"hollow", done.stderr)

    def test_truncated_at_every_section(self):
        path = self.path("cut.gguf")
        cuts = [3, 4, 7, 8, 15, 16, 23, 24, 30, 100, 1000, self.head_bytes // 2,
                self.head_bytes - 1, self.head_bytes, self.head_bytes + 1000, self.file_bytes - 32]
        for cut in cuts:
            with self.subTest(cut=cut):
                tiny_gguf.write(path, truncate=cut)
                self.expect(FORMAT, "cut.gguf", arguments=self.generate(path))

    def test_offsets_past_the_end(self):
        path = self.path("offset.gguf")
        for shift in (32 * 10**9, 2**63 - 64):
            tiny_gguf.write(path, offset_shift=shift)
            self.expect(FORMAT, "offset.gguf", arguments=self.generate(path))

    def test_counts_that_overflow(self):
        path = self.path("counts.gguf")
        with open(self.model, "rb") as file:
            good = file.read()
        for position in (8, 16):
            with open(path, "wb") as file:
                file.write(good[:position] + b"\xff" * 8 + good[position + 8:])
            self.expect(FORMAT, "counts.gguf", arguments=self.generate(path))

    def test_unknown_architecture(self):
        meta = tiny_gguf.metadata()
        meta["general.architecture"] = (tiny_gguf.STRING, "mamba")
        tiny_gguf.write(self.path("arch.gguf"), meta=meta)
        self.expect(UNSUPPORTED, "mamba", arguments=self.generate(self.path("arch.gguf")))

    def test_unknown_quantisation(self):
        tiny_gguf.write(self.path("quant.gguf"), tensor_type=99)
        text = self.expect(UNSUPPORTED, "99", arguments=self.generate(self.path("quant.gguf")))
        self.assertIn("weight", text)

    def test_missing_tensor(self):
        shapes = tiny_gguf.tensors()
        del shapes["blk.1.ffn_down.weight"]
        tiny_gguf.write(self.path("missing.gguf"), shapes=shapes)
        self.expect(NOT_FOUND, "blk.1.ffn_down.weight",
                    arguments=self.generate(self.path("missing.gguf")))

    def test_wrong_shape(self):
        shapes = tiny_gguf.tensors()
        shapes["blk.0.attn_q.weight"] = (tiny_gguf.DIM, tiny_gguf.DIM - 1)
        tiny_gguf.write(self.path("shape.gguf"), shapes=shapes)
        self.expect(FORMAT, "blk.0.attn_q.weight", "63",
                    arguments=self.generate(self.path("shape.gguf")))

    def test_missing_tokenizer(self):
        meta = {key: value for key, value in tiny_gguf.metadata().items()
                if not key.startswith("tokenizer.")}
        meta["llama.vocab_size"] = (tiny_gguf.U32, 259)
        tiny_gguf.write(self.path("mute.gguf"), meta=meta)
        self.expect(NOT_FOUND, "tokenizer", arguments=self.generate(self.path("mute.gguf")))

    def test_unsupported_template_construct(self):
        meta = tiny_gguf.metadata()
        meta["tokenizer.chat_template"] = (
            tiny_gguf.STRING, "one\n{% import 'other.jinja' as other %}")
        tiny_gguf.write(self.path("template.gguf"), meta=meta)
        self.expect(UNSUPPORTED, "import", "line 2",
                    arguments=self.generate(self.path("template.gguf"), "--chat"))


class BadUse(Cli):
    def test_prompt_longer_than_the_context(self):
        arguments = ["generate", "-m", self.model, "-p", "x" * 100, "--device", "cpu"]
        self.expect(USAGE, "100", "64", arguments=arguments)

    def test_context_beyond_the_model(self):
        self.expect(USAGE, "64", arguments=self.generate(self.model, "--context", "65"))

    def test_invalid_utf8(self):
        arguments = ["generate", "-m", self.model, "--device", "cpu", "-f", "-", "-n", "1"]
        self.expect(USAGE, "UTF-8", arguments=arguments, input=b"caf\xe9 \xff")

    def test_empty_prompt(self):
        arguments = ["generate", "-m", self.model, "--device", "cpu"]
        self.expect(USAGE, "prompt", arguments=arguments)

    def test_unknown_device(self):
        for device in ("gpu", "cuda:x", "cpu:1x"):
            arguments = ["generate", "-m", self.model, "-p", "a", "--device", device]
            self.expect(USAGE, device, arguments=arguments)

    def test_device_that_is_not_there(self):
        arguments = ["generate", "-m", self.model, "-p", "a", "--device", "cuda:63"]
        done = self.tw(*arguments)
        self.assertIn(done.returncode, (NOT_FOUND, LIBRARY), done.stderr)
        self.assertIn(b"cuda:63", done.stderr)

    def test_no_libcuda(self):
        arguments = ["generate", "-m", self.model, "-p", "a", "--device", "cuda:0"]
        done = self.tw(*arguments, env={"TW_CUDA": self.path("no-libcuda.so")})
        self.assertIn(done.returncode, (NOT_FOUND, LIBRARY), done.stderr)
        self.assertIn(b"libcuda", done.stderr)

    def test_no_nvrtc(self):
        arguments = ["precompile", "--arch", "sm_80", "--out", self.path("x.pack")]
        self.expect(LIBRARY, "NVRTC is not there", "TW_NVRTC", arguments=arguments,
                    env={"TW_NVRTC": self.path("no-nvrtc.so")})
        self.expect(LIBRARY, "lacks", "pip install", arguments=arguments,
                    env={"TW_NVRTC": FAKES + "/fake_nvrtc11.so"})

    def doctor(self, **fakes):
        done = self.tw("doctor", "--json", env={f"TW_{name.upper()}": f"{FAKES}/{fake}.so"
                                                for name, fake in fakes.items()})
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["healthy"]), (LIBRARY, False))
        return {f["subject"]: f["state"] + "; " + f["remedy"]
                for f in found["findings"] if not f["ok"]}

    def test_driver_older_than_nvrtc(self):
        bad = self.doctor(cuda="fake_cuda12", nvrtc="fake_nvrtc13")
        self.assertIn("driver is for CUDA 12.4, older than NVRTC 13.0", bad["fit"])
        self.assertIn("nvidia-cuda-nvrtc-cu12", bad["fit"])

    def test_driver_that_is_too_old(self):
        bad = self.doctor(cuda="fake_cuda11", nvrtc="fake_nvrtc13")
        self.assertEqual(list(bad), ["driver"])  # no advice to take an NVRTC that is too old
        self.assertIn("update the NVIDIA driver", bad["driver"])
        arguments = ["generate", "-m", self.model, "-p", "a", "--device", "cuda:0"]
        self.expect(NOT_FOUND, "wants 12.0 or later", arguments=arguments,
                    env={"TW_CUDA": FAKES + "/fake_cuda11.so"})

    def test_numbers_out_of_range(self):
        for option, value in (("--temp", "nan"), ("--temp", "-1"), ("--top-p", "1.5"),
                              ("--min-p", "-0.1"), ("--top-k", "-1"), ("-n", "-2"),
                              ("--threads", "-1"), ("--context", "x"), ("--seed", "-2")):
            with self.subTest(option=option, value=value):
                self.expect(USAGE, value, "takes",
                            arguments=["generate", "-m", self.model, "-p", "a", option, value])

    def test_settings_that_are_no_numbers(self):
        self.expect(USAGE, "TW_THREADS", "two", arguments=["info"], env={"TW_THREADS": "two"})
        self.expect(USAGE, "TW_ISA", "sse", arguments=self.generate(self.model),
                    env={"TW_ISA": "sse"})

    def test_token_ids_that_are_none(self):
        path = self.path("ids.json")
        for text in ("[1, 4294967297]", "[-1]", "[1.5]", "{}", "[1"):
            with open(path, "w") as file:
                file.write(text)
            self.expect(FORMAT, "ids.json",
                        arguments=["logits", "-m", self.model, "--tokens", path, "--device", "cpu"])

    def test_output_to_a_full_disk(self):
        for arguments in (["info"], ["info", "--json"], self.generate(self.model),
                          self.generate(self.model, "--json")):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TW, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      timeout=60)
            self.assertEqual(done.returncode, IO, arguments)
            self.assertIn(b"standard output", done.stderr)

    def test_pack_in_a_folder_that_is_not_there(self):
        self.expect(NOT_FOUND, "no folder",
                    arguments=["precompile", "--arch", "sm_80", "--out", self.path("none/x.pack")])

    def test_names_cannot_steer_the_terminal(self):
        text = self.expect(NOT_FOUND, "no-such", arguments=self.generate("\x1b[2Jno-such"))
        self.assertNotIn("\x1b", text)

    def test_unknown_command_and_option(self):
        self.expect(USAGE, arguments=["frobnicate"])
        self.expect(USAGE, arguments=["generate", "--no-such-option"])
        self.expect(USAGE, arguments=[])

    def test_unwritable_cache_is_no_obstacle(self):
        with open(self.path("file"), "w") as file:
            file.write("a file where a folder should be")
        done = self.tw(*self.generate(self.model, "--json"),
                       env={"TILEWRIGHT_CACHE": self.path("file")})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_memory_limit(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
        shape = ["bench", "llm.decode", "--shape", "llama-3.2-1b", "--device", "cpu"]
        self.expect(OUT_OF_MEMORY, "memory", arguments=shape, limit=limit)


class Interrupts(Cli):
    def test_interrupt_stops_an_answer(self):
        meta = tiny_gguf.metadata()
        meta["llama.context_length"] = (tiny_gguf.U32, 200_000)
        tiny_gguf.write(self.path("long.gguf"), meta=meta)
        process = subprocess.Popen(
            [TW, "generate", "-m", self.path("long.gguf"), "-p", "abc", "--device", "cpu",
             "--ignore-eos", "--context", "200000"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(process.stdout.read(1))  # it has begun to answer
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, CANCELLED, error)
        self.assertIn(b"tokens/s", error)

    def interrupt(self, *arguments, ready, cache="cold"):
        process = subprocess.Popen([TW, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, TILEWRIGHT_CACHE=self.path(cache)))
        ready(process)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, CANCELLED, error)
        self.assertIn(b"stopped while", error)

    def test_interrupt_stops_a_measurement(self):
        self.interrupt("bench", "add", "--device", "cpu", "--size", ",".join(["64x64"] * 10000),
                       ready=lambda process: process.stdout.readline())

    def need_nvrtc(self):
        libraries = json.loads(self.tw("info", "--json").stdout)["libraries"]
        if not any(each["loaded"] for each in libraries if each["name"] == "NVRTC"):
            self.skipTest("NVRTC is not installed")

    def test_a_cache_that_cannot_be_written_is_a_warning(self):
        self.need_nvrtc()
        open(self.path("blocked"), "w").close()
        self.interrupt("precompile", "--arch", "sm_80", "--out", self.path("x.pack"),
                       cache="blocked", ready=lambda process: self.assertIn(
                           b"tw: warning: kernel cache: ", process.stderr.readline()))

    def test_interrupt_stops_compiling(self):
        def cold_has_entries(process):
            until = time.time() + 60
            while not os.path.isdir(self.path("cold/kernels")) and time.time() < until:
                time.sleep(0.05)

        self.need_nvrtc()
        self.interrupt("precompile", "--arch", "sm_80", "--out", self.path("x.pack"),
                       ready=cold_has_entries)
        self.assertFalse(os.path.exists(self.path("x.pack")))

    def test_interrupt_at_the_prompt_of_chat_does_not_end_it(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(TW, [TW, "chat", "-m", self.model, "--device", "cpu", "-n", "8"])
        try:
            self.read_until(terminal, b"> ")
            os.write(terminal, b"hello\n")
            self.read_until(terminal, b"> ")
            os.write(terminal, b"\x03")
            self.read_until(terminal, b"> ")
            os.write(terminal, b"/exit\n")
            self.read_until(terminal, None)
        finally:
            os.close(terminal)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def read_until(self, terminal, word):
        seen, end = b"", time.time() + 30
        while time.time() < end:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                part = b""
            if not part:
                self.assertIsNone(word, seen)
                return
            seen += part
            if word and seen.endswith(word):
                return
        self.fail(f"waited for {word!r}, saw {seen!r}")


if __name__ == "__main__":
    TW, FAKES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main()
