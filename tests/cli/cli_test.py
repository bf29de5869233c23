# SPDX-License-Identifier: Apache-2.0
"""What a user sees when something is wrong: `tw` on bad input, message and exit code of each."""
import json
import os
import resource
import subprocess

import command_line
import tiny_gguf
from command_line import FORMAT, IO, LIBRARY, NOT_FOUND, OUT_OF_MEMORY, UNSUPPORTED, USAGE, Cli


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
                    env={"TW_NVRTC": self.fakes + "/fake_nvrtc11.so"})

    def doctor(self, **fakes):
        done = self.tw("doctor", "--json", env={f"TW_{name.upper()}": f"{self.fakes}/{fake}.so"
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
                    env={"TW_CUDA": self.fakes + "/fake_cuda11.so"})

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
                done = subprocess.run([self.program, *arguments], stdout=full, stderr=subprocess.PIPE,
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
        self.expect(USAGE, "tw: ", "'frobnicate'", "--help", arguments=["frobnicate"])
        self.expect(USAGE, "tw: ", "'--no-such'", arguments=["generate", "--no-such"])
        self.expect(USAGE, "tw: ", "'nothing'", arguments=["bench", "nothing"])
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


if __name__ == "__main__":
    command_line.main()
