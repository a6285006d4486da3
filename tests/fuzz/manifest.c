/*
 * Fuzz target: manifests. What is read is written to a text that reads as the same, and all numbers are in range.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "data/manifest.h"
#include "tests/support/mutate.h"

static void must_be_whole(const manifest *m) {
    MUTATE_MUST(m->samples > 0 && m->streams > 0 && m->streams <= BRAID_MAX_STREAMS && m->fit < BRAID_FIT_COUNT);
    for (int64_t k = 0; k < m->samples; k++) {
        MUTATE_MUST(m->sample[k].label >= 0 && m->sample[k].label < m->classes);
        MUTATE_MUST(m->sample[k].split >= 0 && m->sample[k].split < BRAID_SPLIT_COUNT);
        for (int i = 0; i < m->streams; i++) MUTATE_MUST(*m->paths[k * m->streams + i]);
    }
    for (int i = 0; i < m->streams; i++) MUTATE_MUST(!m->stream[i].has_range || m->stream[i].high > m->stream[i].low);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    manifest m, again;
    char *text, *other;
    size_t length, other_length;
    if (manifest_read((const char *)data, bytes, &m) == BRAID_OK) {
        must_be_whole(&m);
        MUTATE_MUST(manifest_write(&m, &text, &length) == BRAID_OK);
        MUTATE_MUST(manifest_read(text, length, &again) == BRAID_OK);
        MUTATE_MUST(manifest_write(&again, &other, &other_length) == BRAID_OK);
        MUTATE_MUST(length == other_length && !memcmp(text, other, length));
        memory_free(text);
        memory_free(other);
        manifest_free(&again);
    }
    manifest_free(&m);
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "braid set\t1\nroot\t/photos\nsize\t48\t64\tcrop\nstream\trgb\t3\t8\n"
    "stream\tdepth\t1\t16\trange\t300\t8000\tm\t0.001\tmask\nclass\tcat\nclass\tdog\n"
    "train\t0\ta.png\tb.png\nval\t1\t/c d.png\te.npy\n",
    "braid set\t1\r\nstream\theat\t1\t32\trange\t-5.5\t1e3\t-\t1\r\nclass\tx\r\ntest\t0\ta.npy\r\n", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
