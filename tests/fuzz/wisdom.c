/*
 * Fuzz target: the reader of wisdom entries, on the bytes as they are and on the bytes with a right
 * checksum behind them. Whatever is believed has sane times and chooses a candidate that can take part;
 * what is refused leaves no trace.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "race/wisdom.h"
#include "tests/support/fake_race.h"
#include "tests/support/mutate.h"

#define KEY "k"
#define ROOM 8192

/* Made once and never freed: the problem, and its race without times. */
static braid_problem problem;
static race listed;

static void make_once(void) {
    braid_context *context = NULL;
    if (listed.count > 0) return;
    MUTATE_MUST(braid_problem_parse("linear_fwd:f16:b2:c3:k4", &problem) == BRAID_OK);
    MUTATE_MUST(braid_context_create(&(braid_context_options){"cpu", 1, BRAID_REPRO_RUN, "", ""}, &context) ==
                BRAID_OK);
    race_list(context, &problem, &listed);
    braid_context_destroy(context);
}

static void read_one(const char *text, size_t bytes) {
    race read = listed;
    if (wisdom_read(text, bytes, KEY, &read) == BRAID_OK)
        MUTATE_MUST(fake_race_sane(&problem, &read));
    else
        MUTATE_MUST(fake_race_equal(&read, &listed));
    MUTATE_MUST(memory_live() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static char entry[ROOM];
    make_once();
    read_one((const char *)data, bytes);
    size_t signed_bytes = bytes ? fake_entry(entry, sizeof entry, (const char *)data, bytes) : 0;
    if (signed_bytes) read_one(entry, signed_bytes);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define TIMES                                                                                                   \
    "\"low_s\":1e-4,\"median_s\":2e-4,\"high_s\":3e-4,\"over_log\":0.1,\"over_error\":1e-3,\"over_freedom\":7," \
    "\"max_err\":0.5,\"compared\":9,\"workspace_bytes\":64"
static const char *const seeds[] = {
    "{\"floor\":0.01,\"candidates\":[{\"kernel\":\"linear_fwd__ref\"," TIMES "}],\"key\":\"" KEY "\"}",
    "{\"floor\":0.01,\"candidates\":[{\"kernel\":\"linear_fwd__cpu_openblas\"," TIMES
    "},{\"kernel\":\"linear_fwd__ref\"," TIMES "}],\"key\":\"" KEY "\"}",
    "{\"floor\":0.01,\"candidates\":[{\"kernel\":\"linear_fwd__ref\"," TIMES "}],\"key\":\"" KEY
    "\"}\nxxh3 0123456789abcdef\n",
    "{\"floor\":0.01,\"candidates\":[],\"key\":\"" KEY "\"}",
    "[[[[]]]]",
    NULL,
};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
