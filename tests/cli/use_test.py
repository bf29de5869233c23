# SPDX-License-Identifier: Apache-2.0
"""What `tw` prints when all is well, and that Ctrl-C stops it wherever it is."""
import json
import os
import pty
import select
import signal
import subprocess
import time

import command_line
import tiny_gguf
from command_line import CANCELLED, Cli


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
        done = subprocess.run([self.program, "generate", "-m", self.model, "-f", f"/dev/fd/{read}", "-n", "1",
                               "--device", "cpu", "--json"], pass_fds=(read,), capture_output=True,
                              timeout=60)
        os.close(read)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["prompt_tokens"], 3)

    def test_a_path_that_is_no_text_is_still_printed(self):
        done = self.tw("info", "--json", env={"TILEWRIGHT_CACHE": b"/tmp/\xff"})
        self.assertEqual(done.returncode, 0, done.stderr)
        json.loads(done.stdout)


class Interrupts(Cli):
    def test_interrupt_stops_an_answer(self):
        meta = tiny_gguf.metadata()
        meta["llama.context_length"] = (tiny_gguf.U32, 200_000)
        tiny_gguf.write(self.path("long.gguf"), meta=meta)
        process = subprocess.Popen(
            [self.program, "generate", "-m", self.path("long.gguf"), "-p", "abc", "--device", "cpu",
             "--ignore-eos", "--context", "200000"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(process.stdout.read(1))  # it has begun to answer
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, CANCELLED, error)
        self.assertIn(b"tokens/s", error)

    def interrupt(self, *arguments, ready, cache="cold"):
        process = subprocess.Popen([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
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
            os.execv(self.program, [self.program, "chat", "-m", self.model, "--device", "cpu", "-n", "8"])
        try:
            self.read_until(terminal, b"> ")
            os.write(terminal, b"hello\n")
            self.read_until(terminal, b"> ")
            for _ in range(20):  # at once after the prompt, so that some come before its read
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
            if not select.select([terminal], [], [], max(0, end - time.time()))[0]:
                break
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
    command_line.main()
