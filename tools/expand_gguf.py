#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file anew with every quantised tensor expanded to float32 (pip install gguf):
expand_gguf.py SOURCE.gguf TARGET.gguf. The numbers are the same; what reads them needs no rounded
activations, so that its logits are exact up to float32."""

import sys

import gguf
import numpy as np


def expand(source, target):
    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(target, architecture)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        kind = field.types[0]
        value = int(gguf.LlamaFileType.ALL_F32) if field.name == "general.file_type" \
            else field.contents()
        writer.add_key_value(field.name, value, kind, sub_type=(
            field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None))
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, np.asarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    expand(sys.argv[1], sys.argv[2])
