# SPDX-License-Identifier: Apache-2.0
"""Writes a tiny Llama-shaped GGUF with random weights, whole or damaged on purpose.

Only the standard library is used. The tokenizer is the byte-level alphabet (256 tokens) and three
special ones, with no merges.
"""
import random
import struct

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
DIM, FFN, HEADS, KV_HEADS, LAYERS, CONTEXT = 64, 96, 2, 1, 2, 64

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def byte_alphabet():
    """The 256 printable characters that stand for bytes in byte-level BPE, by byte."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {}, 0
    for byte in range(256):
        if byte in plain:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return [table[byte] for byte in range(256)]


def _string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(kind, value):
    if kind == STRING:
        return _string(value)
    if kind == ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(_value(inner, i) for i in items)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], value)


def metadata():
    """The key/value pairs of a good file, by key: (type, value)."""
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + byte_alphabet()
    return {
        "general.architecture": (STRING, "llama"),
        "general.name": (STRING, "tiny"),
        "llama.block_count": (U32, LAYERS),
        "llama.context_length": (U32, CONTEXT),
        "llama.embedding_length": (U32, DIM),
        "llama.feed_forward_length": (U32, FFN),
        "llama.attention.head_count": (U32, HEADS),
        "llama.attention.head_count_kv": (U32, KV_HEADS),
        "llama.attention.layer_norm_rms_epsilon": (F32, 1e-5),
        "llama.rope.freq_base": (F32, 10000.0),
        "llama.rope.dimension_count": (U32, DIM // HEADS),
        "tokenizer.ggml.model": (STRING, "gpt2"),
        "tokenizer.ggml.pre": (STRING, "gpt-2"),
        "tokenizer.ggml.tokens": (ARRAY, (STRING, tokens)),
        "tokenizer.ggml.token_type": (ARRAY, (I32, [3] * 3 + [1] * 256)),
        "tokenizer.ggml.merges": (ARRAY, (STRING, [])),
        "tokenizer.ggml.bos_token_id": (U32, 0),
        "tokenizer.ggml.eos_token_id": (U32, 2),
        "tokenizer.chat_template": (STRING, CHATML),
    }


def tensors():
    """Shapes of a good file, innermost extent first, by name."""
    head = DIM // HEADS
    result = {"token_embd.weight": (DIM, 259), "output_norm.weight": (DIM,)}
    for i in range(LAYERS):
        block = f"blk.{i}."
        result[block + "attn_norm.weight"] = (DIM,)
        result[block + "attn_q.weight"] = (DIM, DIM)
        result[block + "attn_k.weight"] = (DIM, KV_HEADS * head)
        result[block + "attn_v.weight"] = (DIM, KV_HEADS * head)
        result[block + "attn_output.weight"] = (DIM, DIM)
        result[block + "ffn_norm.weight"] = (DIM,)
        result[block + "ffn_gate.weight"] = (DIM, FFN)
        result[block + "ffn_up.weight"] = (DIM, FFN)
        result[block + "ffn_down.weight"] = (FFN, DIM)
    return result


def write(path, meta=None, shapes=None, tensor_type=0, offset_shift=0, truncate=None):
    """Writes the file; `tensor_type` is the GGML type id of matrices, `offset_shift` damages
    every tensor offset, `truncate` cuts the file to that many bytes."""
    meta = metadata() if meta is None else meta
    shapes = tensors() if shapes is None else shapes
    rng = random.Random(5)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(meta))
    for key, (kind, value) in meta.items():
        head += _string(key) + struct.pack("<I", kind) + _value(kind, value)
    data, infos = b"", b""
    for name, shape in shapes.items():
        count = 1
        for extent in shape:
            count *= extent
        values = [1.0] * count if len(shape) == 1 else [rng.gauss(0, 0.1) for _ in range(count)]
        infos += _string(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", extent) for extent in shape)
        kind = tensor_type if len(shape) == 2 else 0
        infos += struct.pack("<IQ", kind, len(data) + offset_shift)
        data += struct.pack(f"<{count}f", *values)
        data += b"\0" * (-len(data) % 32)
    head += infos
    head += b"\0" * (-len(head) % 32)
    whole = head + data
    with open(path, "wb") as file:
        file.write(whole if truncate is None else whole[:truncate])
    return len(head), len(whole)
