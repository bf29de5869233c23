// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/shape.h"

int main() {
  const tilewright::Shape shape{2, 3};
  std::printf("%lld elements, %s\n", static_cast<long long>(tilewright::element_count(shape)),
              tilewright::sha256_hex("abc").substr(0, 8).c_str());
  try {
    TW_FAIL(Unsupported, "thrown across the installed library");
  } catch (const tilewright::Unsupported& error) {
    std::printf("%s\n", error.what());
  }
}
