/*
 * Fuzzing without a fuzzer: a target in the form that libFuzzer wants, run on mutations of good inputs
 * that are the same on every machine. tests/fuzz/run builds the same targets for libFuzzer itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_MUTATE_H
#define BRAID_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* The target, which each program defines under the name that libFuzzer calls: traps where something is wrong. */
typedef int mutate_target(const uint8_t *data, size_t bytes);
mutate_target LLVMFuzzerTestOneInput;

#define MUTATE_MOST ((size_t)65536) /* bytes of an input */

/*
 * The main of a plain build: PROGRAM [RUNS], by default `runs` mutations of the seeds (texts, NULL behind
 * the last) and of the inputs that are kept in tests/fuzz/corpus/PROGRAM, or PROGRAM --corpus FOLDER, which writes the
 * seeds as files for libFuzzer. An input that takes longer than a second of the CPU is a failure. Returns the exit
 * status.
 */
int mutate_main(int count, char **arguments, mutate_target *target, const char *const *seeds, int64_t runs);

/* The same for seeds that hold zero bytes; the last has no data. */
typedef struct mutate_seed {
    const void *data;
    size_t bytes;
} mutate_seed;
int mutate_bytes_main(int count, char **arguments, mutate_target *target, const mutate_seed *seeds, int64_t runs);

/* Ends the process in a way that fuzzers and test runners notice. */
#define MUTATE_MUST(condition)              \
    do {                                    \
        if (!(condition)) __builtin_trap(); \
    } while (0)

#endif
