# SPDX-License-Identifier: Apache-2.0
"""llama.cpp through the low-level part of the package llama-cpp-python, as a measuring tool."""

import ctypes
import time

import llama_cpp as lib
import numpy as np

FLASH_ATTENTION = {"off": 0, "on": 1}
TYPES = {"f32": 0, "f16": 1}  # of the key/value cache: ggml's numbers


@lib.llama_log_callback
def _silent(_level, _text, _data):
    pass


class LlamaCpp:
    """One model and one context. Times are wall-clock seconds."""

    def __init__(self, model, threads=2, context=1024, batch=512, flash_attention="off",
                 cache="f16"):
        lib.llama_log_set(_silent, ctypes.c_void_p(0))
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(
            str(model).encode(), lib.llama_model_default_params())
        if not self.model:
            raise SystemExit(f"llama.cpp cannot load {model}")
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.vocab_size = lib.llama_vocab_n_tokens(self.vocab)
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context, batch, batch
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = FLASH_ATTENTION[flash_attention]
        params.type_k = params.type_v = TYPES[cache]
        self.context = lib.llama_init_from_model(self.model, params)
        if not self.context:
            raise SystemExit("llama.cpp cannot make a context with these settings")

    def close(self):
        lib.llama_free(self.context)
        lib.llama_model_free(self.model)

    @staticmethod
    def version():
        return lib.__version__

    @staticmethod
    def system():
        return lib.llama_print_system_info().decode().strip(" |")

    def tokenize(self, text):
        data = text.encode()
        ids = (ctypes.c_int32 * (len(data) + 8))()
        count = lib.llama_tokenize(self.vocab, data, len(data), ids, len(ids), True, True)
        return list(ids[:count])

    def ends_text(self, token):
        return lib.llama_vocab_is_eog(self.vocab, token)

    def clear(self):
        lib.llama_memory_clear(lib.llama_get_memory(self.context), True)

    def feed(self, ids):
        """Appends to the context; the logits are those of the last token."""
        array = (ctypes.c_int32 * len(ids))(*ids)
        if lib.llama_decode(self.context, lib.llama_batch_get_one(array, len(ids))) != 0:
            raise RuntimeError("llama_decode failed")

    def last_logits(self):
        """A view: valid until the next feed."""
        pointer = lib.llama_get_logits_ith(self.context, -1)
        return np.ctypeslib.as_array(pointer, (self.vocab_size,))

    def all_logits(self, ids):
        """[tokens, vocab] from an empty cache, in one batch."""
        self.clear()
        batch = lib.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i] = token, i
            batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = 1, 0, 1
        if lib.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        rows = [np.ctypeslib.as_array(lib.llama_get_logits_ith(self.context, i),
                                      (self.vocab_size,)).copy() for i in range(len(ids))]
        lib.llama_batch_free(batch)
        return np.stack(rows)

    def time_prefill(self, ids):
        self.clear()
        start = time.perf_counter()
        self.feed(ids)
        lib.llama_synchronize(self.context)
        return time.perf_counter() - start

    def time_decode(self, prompt, count):
        """Greedy; each step ends when its token is known."""
        self.clear()
        self.feed(prompt)
        token = int(self.last_logits().argmax())
        start = time.perf_counter()
        for _ in range(count):
            self.feed([token])
            token = int(self.last_logits().argmax())
        return time.perf_counter() - start
