// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tilewright/ops/attention/attention_decode.cuh"
#include "tilewright/ops/attention/attention_tiles.cuh"
