/*
 * A small data set for fuzz targets, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/fuzz_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "braid_lab.h"
#include "core/memory.h"
#include "tests/support/fuzz_file.h"

static char folder[64];
static char *card; /* of the set as it was made */

static void remove_folder(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
    free(card);
}

const char *fuzz_set_folder(int kind) {
    int is_sound = kind == BRAID_DATA_MIMII;
    const braid_data_make_options small = {.size = {is_sound ? 1 : 16, is_sound ? 0 : 16}, .count = 2, .seed = 1};
    braid_data *data = NULL;
    if (folder[0]) return folder;
    snprintf(folder, sizeof folder, "%s/braid_set_XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MUTATE_MUST(mkdtemp(folder));
    atexit(remove_folder);
    MUTATE_MUST(braid_data_make((braid_data_kind)kind, folder, &small) == BRAID_OK);
    MUTATE_MUST(braid_data_open(folder, NULL, &data) == BRAID_OK && braid_data_card(data, &card) == BRAID_OK);
    braid_data_destroy(data);
    return folder;
}

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void fuzz_set_put(const char *name, const char *other, const void *data, size_t bytes) {
    if (other) unlink(path_of(other));
    fuzz_file_write(path_of(name), data, bytes);
}

static void must_say(braid_status status) { MUTATE_MUST(status == BRAID_OK || *braid_lab_message()); }

static void check_and_print(void) {
    braid_data_check_result found;
    char *text = NULL;
    braid_status status = braid_data_check(folder, NULL, NULL, NULL, &found);
    must_say(status);
    if (status) return;
    MUTATE_MUST(found.problem_count >= braid_table_rows(found.problems));
    MUTATE_MUST(braid_table_print(found.problems, NULL, &text) == BRAID_OK);
    braid_text_destroy(text);
    braid_table_destroy(found.problems);
    braid_table_destroy(found.counts);
    braid_table_destroy(found.warnings);
}

static void read_all(const braid_data *data, braid_split split) {
    braid_loader *loader = NULL;
    braid_batch batch = {.count = 1};
    const braid_loader_options all = {.split = split, .batch = 4};
    braid_status status = braid_loader_create(data, &all, &loader);
    if (!status) status = braid_loader_start(loader, 0, 0);
    while (!status && batch.count > 0) status = braid_loader_next(loader, &batch);
    must_say(status);
    braid_loader_destroy(loader);
}

void fuzz_set_read(const char *file) {
    braid_data *data = NULL;
    check_and_print();
    must_say(braid_data_open(folder, NULL, &data));
    if (data) read_all(data, BRAID_SPLIT_TRAIN);
    braid_data_destroy(data);
    data = NULL;
    if (file) {
        const char *const words[] = {path_of(file)};
        must_say(braid_data_open_files(card, &(braid_data_files){.words = words, .count = 1, .resize = 1}, &data));
        if (data) read_all(data, BRAID_SPLIT_TEST);
        braid_data_destroy(data);
    }
    MUTATE_MUST(memory_live() == 0);
}

mutate_seed fuzz_set_seed(int kind, const char *name) {
    mutate_seed seed = {0};
    fuzz_set_folder(kind);
    FILE *file = fopen(path_of(name), "r");
    void *data = malloc(MUTATE_MOST);
    MUTATE_MUST(file && data);
    seed.bytes = fread(data, 1, MUTATE_MOST, file);
    seed.data = data;
    fclose(file);
    return seed;
}
