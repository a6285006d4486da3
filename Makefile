# The front door. `make demo` and `make test` do everything, from a fresh machine on: tools/setup installs
# what is missing (once), CMake builds into $(BUILD), and then it runs. CMakeLists.txt does the work.
#
# SPDX-License-Identifier: MIT

BUILD  ?= build
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
SUITE  ?= linet3
WERROR ?= $(if $(CI),ON,OFF)

# braid_build(preset, folder): configures once, then builds what changed.
define braid_build
	@test -f $(2)/Makefile || cmake --preset $(1) -B $(2) -DBRAID_WERROR=$(WERROR)
	@cmake --build $(2) -j $(JOBS) -- --no-print-directory --quiet
endef

.DEFAULT_GOAL := help
.PHONY: help all demo test test-full test-cuda bench lint fmt bundle install clean setup setup-lint

help: ## This list
	@echo "braid: neural networks with several input streams, on the CPU and on NVIDIA GPUs"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  make \1#/p' Makefile | awk -F'#' '{printf "%-18s%s\n", $$1, $$2}'
	@echo
	@echo "  BUILD=build  build folder      JOBS=$(JOBS)  parallel jobs      WERROR=ON  warnings are errors"
	@echo "  PREFIX=/usr/local  DESTDIR=  for install      BUNDLE_VENDOR=1  bundle oneDNN and OpenBLAS, too"
	@echo "  Other builds: cmake --list-presets"

all: setup ## Build the libraries, the program and the tests
	$(call braid_build,release,$(BUILD))

demo: all ## A tour in under a minute: make data, train, interrupt and resume, evaluate, predict, race kernels
	@$(BUILD)/braid demo --out $(BUILD)/demo

test: all ## Build and run all tests (about 18 minutes on two cores)
	@tests/run $(BUILD) --jobs $(JOBS)

test-full: all setup-lint ## test, then sanitizers, fuzzing, mutated kernels and the walk through docs/add_a_kernel.md
	@cmake -B $(BUILD) -DBRAID_ALL_FAULTS=ON >/dev/null && cmake --build $(BUILD) -j $(JOBS) -- --quiet
	@tests/run $(BUILD) --jobs $(JOBS)
	@BRAID_STEPS=100000 $(BUILD)/tests/train/long_run
	$(call braid_build,asan,build-asan)
	@tests/run build-asan --jobs $(JOBS)
	$(call braid_build,tsan,build-tsan)
	@tests/run build-tsan --jobs 1
	@for part in docs fuzz mutants; do \
	    if [ -x tests/$$part/run ]; then echo "tests/$$part/run" && tests/$$part/run $(BUILD) || exit 1; fi; \
	done

test-cuda: all ## Check kernels and training steps on the GPU of this machine (8 minutes at most)
	@tools/test_cuda $(BUILD)/braid

bench: all ## Race our kernels and the vendors' on LINet's layers (SUITE=linet3)
	@$(BUILD)/braid bench $(SUITE)

lint: setup setup-lint ## Format, static analysis, include directions, layout, sizes, spelling
	$(call braid_build,release,$(BUILD))
	@tools/lint $(BUILD)

fmt: setup-lint ## Format all C and CUDA sources in place
	@git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

bundle: all ## Gather program, libraries and licences into bundle/, a folder that runs on any newer Linux
	@BUNDLE_VENDOR=$(BUNDLE_VENDOR) tools/bundle $(BUILD) bundle

install: all ## Install under PREFIX: program, libraries, headers, pkg-config and CMake files
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## Remove everything that was built
	rm -rf build build-* bundle

setup:
	@tools/setup build

setup-lint:
	@tools/setup lint
