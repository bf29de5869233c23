# SPDX-License-Identifier: Apache-2.0
# The front door: `make help` lists what there is. Everything real is CMake's and scripts/'s.
SHELL := /bin/bash
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
MODEL ?= smollm2-135m-instruct
PROMPT ?= Explain in two sentences why the sky is blue.
FUZZ_SECONDS ?= 60
BUILD := build/release
TW := $(BUILD)/tw
# Reconfigures by itself afterwards, when a CMake file changes.
CONFIGURE = test -f build/$(1)/build.ninja || cmake --preset $(1)
NINJA = cmake --build build/$(1) -j $(JOBS)
CTEST = ctest --preset $(1) -j $(JOBS)

.PHONY: help demo build test test-all test-asan test-tsan install bench gpu-bench format lint \
        fuzz fuzz-build setup setup-dev clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo "Variables: JOBS=$(JOBS) PREFIX=$(PREFIX) PROMPT='…' FUZZ_SECONDS=$(FUZZ_SECONDS)"

demo: setup ## set up, build, fetch SmolLM2 and answer PROMPT (on the GPU when there is one)
	@$(call CONFIGURE,release) >/dev/null
	@$(call NINJA,release) --target tw
	@$(TW) pull $(MODEL)
	@echo "> $(PROMPT)"
	@$(TW) generate -m $(MODEL) --chat -p "$(PROMPT)"

build: setup ## the release build: program at build/release/tw, libraries and tests
	@$(call CONFIGURE,release)
	@$(call NINJA,release)

test: build ## every test and check that fits in 20 minutes on two cores
	@$(TW) pull $(MODEL) --quiet || echo "make test: without $(MODEL) its tests are skipped"
	@$(call CTEST,release)

test-all: fuzz-build test-asan test-tsan ## also sanitizers, the fuzz corpora and every kernel
	@scripts/fuzz.sh build/fuzz 0
	@$(MAKE) --no-print-directory test
	@python3 tests/kernels/kernel_check.py $(TW) $(BUILD)/kernel_cache --all || [ $$? = 77 ]

test-asan test-tsan: test-%: setup-dev
	@$(call CONFIGURE,$*)
	@$(call NINJA,$*)
	@$(call CTEST,$*) -LE 'lint|install'

install: setup ## into PREFIX (DESTDIR is respected)
	@$(call CONFIGURE,release)
	@$(call NINJA,release) --target tw
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

bench: build ## benchmarks on the CPU; rows go to bench/results/
	@scripts/bench.sh cpu

gpu-bench: build ## benchmarks on the GPU beside its peers, likewise
	@scripts/bench.sh cuda:0

format: setup ## reformat every source in place
	@python3 tools/check_format.py --fix

lint: setup-dev ## layers, format, headers, shell scripts and clang-tidy
	@$(call CONFIGURE,release) >/dev/null
	@tools/lint.sh $(BUILD)

fuzz: fuzz-build ## every fuzz target for FUZZ_SECONDS
	@scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

fuzz-build: setup-dev
	@$(call CONFIGURE,fuzz)
	@$(call NINJA,fuzz) --target fuzzers

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh --dev

clean: ## remove build/ (downloaded models stay in the user's cache)
	rm -rf build
