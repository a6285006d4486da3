# The front door. `make demo` and `make test` do everything, from a fresh machine on: tools/setup installs
# what is missing (once), CMake builds into $(BUILD), and then it runs. CMakeLists.txt does the work.
#
# SPDX-License-Identifier: MIT

BUILD  ?= build
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
SUITE  ?= linet3
GPUS   ?= $(if $(CI),all,native)
WERROR ?= $(if $(CI),ON,OFF)

# build(preset, folder, stage, targets): configures where that is needed and builds what changed, one line for each.
build = @JOBS=$(JOBS) WERROR=$(WERROR) GPUS=$(GPUS) tools/build $(1) $(2) $(3) $(4)
release = $(call build,release,$(BUILD),$(1),$(2))
program = $(call release,program,braid_program)

.DEFAULT_GOAL := help
.PHONY: help all demo test test-full fuzz test-cuda bench lint fmt docs bundle install clean setup setup-lint setup-docs

help: ## This list
	@echo "braid: neural networks with several input streams, on the CPU and on NVIDIA GPUs"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  make \1#/p' Makefile | awk -F'#' '{printf "%-18s%s\n", $$1, $$2}'
	@echo
	@echo "  BUILD=build  build folder      JOBS=$(JOBS)  parallel jobs      WERROR=ON  warnings are errors"
	@echo "  GPUS=all  CUDA kernels for all GPUs, not only those of this machine (as bundle, install and CI do)"
	@echo "  PREFIX=/usr/local  DESTDIR=  for install      BUNDLE_VENDOR=1  bundle oneDNN and OpenBLAS, too"
	@echo "  Other builds: cmake --list-presets"

all: setup ## Build the libraries, the program and the tests
	$(program)
	$(call release,tests,)

demo: setup ## Build the program; a tour: make data, train, interrupt and resume, evaluate, predict, race kernels
	$(program)
	@$(BUILD)/braid demo --out $(BUILD)/demo

test: all ## Build and run all tests (at most 18 minutes on two cores)
	@tests/run $(BUILD) --jobs $(JOBS)

test-full: all setup-lint ## test, then power cuts, sanitizers, fuzzing, mutated kernels and the walk through docs/add_a_kernel.md
	@cmake -B $(BUILD) -DBRAID_ALL_FAULTS=ON >/dev/null
	$(call release,faults,)
	@tests/run $(BUILD) --jobs $(JOBS)
	@BRAID_STEPS=100000 $(BUILD)/tests/train/long_run
	@BRAID_STATES=2000 $(BUILD)/tests/train/power_cuts
	@BRAID_KILLS=1000 $(BUILD)/tests/train/kills
	$(call build,asan,build-asan,asan,)
	@tests/run build-asan --jobs $(JOBS)
	$(call build,tsan,build-tsan,tsan,)
	@tests/run build-tsan --jobs 1
	@for part in docs fuzz mutants; do \
	    if [ -x tests/$$part/run ]; then echo "tests/$$part/run" && tests/$$part/run $(BUILD) || exit 1; fi; \
	done

fuzz: all ## Look for inputs that crash, hang or cost too much: HOURS=n, else 200,000 of each kind
	@HOURS=$(HOURS) tests/fuzz/run $(BUILD)

test-cuda: setup ## Check kernels and training steps on the GPU of this machine (8 minutes at most)
	$(program)
	@tools/test_cuda $(BUILD)/braid

bench: setup ## Race our kernels and the vendors' on LINet's layers (SUITE=linet3)
	$(program)
	@$(BUILD)/braid bench $(SUITE)

lint: setup setup-lint setup-docs ## Format, static analysis, include directions, layout, sizes, spelling
	$(program)
	@tools/lint $(BUILD)

fmt: setup-lint ## Format all C and CUDA sources in place
	@git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

docs: setup-docs ## The reference of the C interface as pages: build/docs/api/index.html
	@tools/reference $(BUILD)/docs

bundle install: GPUS = all
bundle: setup ## Gather program, libraries and licences into bundle/, a folder that runs on any newer Linux, GPU or not
	$(call release,program,braid_program braid_pages)
	@BUNDLE_VENDOR=$(BUNDLE_VENDOR) tools/bundle $(BUILD) bundle

install: setup ## Install under PREFIX: program, libraries, headers, pkg-config and CMake files
	$(call release,program,braid_program braid_pages)
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## Remove everything that was built
	rm -rf build build-* bundle

setup:
	@tools/setup build

setup-lint:
	@tools/setup lint

setup-docs:
	@tools/setup docs
