#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tree with one fault of each kind must be refused, and the same tree without it accepted."""

import os
import tempfile
import unittest

from check_layers import check_tree, find_cycle

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = LICENCE + "#pragma once\n"


def problems_of(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return check_tree(root)[0]


class Refused(unittest.TestCase):
    def refuse(self, path, text, wanted, header=True):
        found = problems_of({path: (HEADER if header else "") + text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(path), found[0])
        self.assertIn(wanted, found[0])

    def test_upward(self):
        self.refuse("tilewright/base/a.h", '#include "tilewright/runtime/tensor.h"\n',
                    "base has rank 0 and may not include runtime")

    def test_sideways(self):
        self.refuse("tilewright/dist/a.h", '#include "tilewright/harness/case.h"\n',
                    "dist has rank 4 and may not include harness of rank 4")

    def test_library_includes_program(self):
        self.refuse("tilewright/llm/a.cpp", '#include "cli/pull.h"\n', "above the library")

    def test_spaces_do_not_hide_it(self):
        self.refuse("tilewright/base/a.cpp", '  #  include "tilewright/llm/x.h"\n', "rank 8")

    def test_unknown_folder(self):
        self.refuse("tilewright/extras/a.h", '#include "tilewright/base/text.h"\n', "no rank")

    def test_relative_include(self):
        self.refuse("tilewright/base/a.cpp", '#include "text.h"\n', "from the root")

    def test_kernels_of_another_op(self):
        self.refuse("tilewright/ops/linear/a.cuh", '#include "tilewright/ops/gelu/gelu.cuh"\n',
                    "not its .cuh")

    def test_core_knows_no_op(self):
        self.refuse("tilewright/ops/_core/a.h", '#include "tilewright/ops/gelu/gelu.h"\n', "_core")

    def test_third_party_in_public_header(self):
        self.refuse("tilewright/llm/a.h", "#include <nlohmann/json.hpp>\n", "third-party")

    def test_highway_in_public_header(self):
        self.refuse("tilewright/ops/add/add.h", '#include "hwy/highway.h"\n', "third-party")

    def test_standard_header_for_the_gpu(self):
        for path in ("tilewright/device/core/a.h", "tilewright/ops/add/add.cuh",
                     "tilewright/ops/add/add_args.h"):
            self.refuse(path, "#include <cstdint>\n", "what a GPU compiles")

    def test_host_header_for_the_gpu(self):
        self.refuse("tilewright/ops/add/add.cuh", '#include "tilewright/runtime/tensor.h"\n',
                    "what a GPU compiles")

    def test_what_a_kernel_reaches_is_a_kernels(self):
        found = problems_of({
            "tilewright/ops/add/add.cuh": HEADER + '#include "tilewright/ops/_core/layout.h"\n',
            "tilewright/ops/_core/layout.h": HEADER + "#include <vector>\n"})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("tilewright/ops/_core/layout.h:3"), found[0])

    def test_wrong_half_of_a_guard(self):
        self.refuse("tilewright/device/core/a.h",
                    "#if defined(__CUDACC_RTC__)\n#include <cstdint>\n#else\n#endif\n",
                    "what a GPU compiles")

    def test_licence(self):
        self.refuse("tilewright/base/a.cpp", "int a;\n", "SPDX", header=False)

    def test_pragma_once(self):
        self.refuse("tilewright/base/a.h", LICENCE, "#pragma once", header=False)

    def test_length(self):
        self.refuse("tilewright/base/a.cpp", "int a;\n" * 801, "limit")

    def test_machine_path(self):
        self.refuse("docs/a.md", "see /ho" + "me/alice/notes\n", "path of one machine",
                    header=False)


class Accepted(unittest.TestCase):
    def accept(self, files):
        self.assertEqual(problems_of({path: HEADER + text for path, text in files.items()}), [])

    def test_downward_and_own_folder(self):
        self.accept({"tilewright/llm/a.h": '#include "tilewright/base/text.h"\n'
                                           '#include "tilewright/llm/b.h"\n#include <vector>\n'})

    def test_core_includes_lower_folders(self):
        self.accept({"tilewright/ops/_core/a.cpp": '#include "tilewright/runtime/tensor.h"\n'})

    def test_other_op_by_public_header(self):
        self.accept({"tilewright/ops/linear/a.cpp": '#include "tilewright/ops/gelu/gelu.h"\n'})

    def test_third_party_in_source_or_internal_header(self):
        self.accept({"tilewright/llm/a.cpp": "#include <nlohmann/json.hpp>\n",
                     "tilewright/ops/add/add_simd.h": "#include <hwy/highway.h>\n",
                     "tilewright/ops/_core/simd.h": '#include "hwy/highway.h"\n'})

    def test_guarded_standard_header(self):
        self.accept({"tilewright/device/core/a.h":
                     "#if defined(__CUDACC_RTC__)\n#else\n#include <stdint.h>\n#endif\n",
                     "tilewright/device/core/b.h":
                     "#ifndef __CUDACC_RTC__\n#include <stdint.h>\n#endif\n"})


class Cycles(unittest.TestCase):
    def test_ops_in_a_circle(self):
        found = problems_of({
            "tilewright/ops/a/a.h": HEADER + '#include "tilewright/ops/b/b.h"\n',
            "tilewright/ops/b/b.cpp": LICENCE + '#include "tilewright/ops/c/c.h"\n',
            "tilewright/ops/c/c.h": HEADER + '#include "tilewright/ops/a/a.h"\n'})
        self.assertEqual(found, ["ops include one another in a circle: a -> b -> c -> a"])

    def test_diamond_is_no_cycle(self):
        self.assertIsNone(find_cycle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}))


if __name__ == "__main__":
    unittest.main()
