/*
 * Fuzz target: a whole model file, through all that eval and predict read of one: the network that it describes, a
 * model of it, its tensors, and its card, by which a file is opened.
 *
 * SPDX-License-Identifier: MIT
 */
#include "braid_lab.h"
#include "core/memory.h"
#include "tests/support/fuzz_file.h"
#include "tests/support/mutate.h"

static braid_context *context;

static void make_once(void) {
    const braid_context_options o = {.device = "cpu", .threads = 1, .cache_dir = ""};
    if (!context) MUTATE_MUST(braid_context_create(&o, &context) == BRAID_OK);
}

/* A sample of numbers as the card wants it; most cards want something else. */
static void open_by_card(const char *card) {
    const char *const words[] = {fuzz_file_path(".png")};
    braid_data *data = NULL;
    if (!card) return;
    braid_status status = braid_data_open_files(card, &(braid_data_files){.words = words, .count = 1}, &data);
    MUTATE_MUST(status == BRAID_OK || *braid_lab_message());
    braid_data_destroy(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file_path(".safetensors");
    braid_net *net = NULL;
    braid_model *model = NULL;
    make_once();
    int64_t live = memory_live();
    fuzz_file_write(path, data, bytes);
    fuzz_file_write(fuzz_file_path(".png"), "none", 4);
    braid_status status = braid_net_from_file(path, &net);
    if (!status) {
        MUTATE_MUST((size_t)braid_net_parameter_count(net) <= bytes);
        status = braid_model_create(context, net, NULL, &model);
    }
    if (!status) status = braid_model_load(model, path);
    if (!status) open_by_card(braid_model_text(model, BRAID_DATA_KEY));
    MUTATE_MUST(status == BRAID_OK || *braid_message());
    braid_model_destroy(model);
    braid_net_destroy(net);
    MUTATE_MUST(memory_live() == live);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARD                                                                                                     \
    "{\"kind\":\"sunrgbd\",\"size\":[2,2],\"streams\":[{\"name\":\"rgb\",\"channels\":1,\"mean\":[0.5],\"std\":" \
    "[0.5],\"bits\":8}],\"classes\":[\"a\",\"b\"],\"resize\":false}"

/* A small file without checksums: of files with them, hardly a mutation comes past the first look. */
static mutate_seed make_seed(const char *kind, const braid_net_options *options) {
    const char *path = fuzz_file_path(".seed");
    braid_net *net = NULL;
    braid_model *model = NULL;
    make_once();
    MUTATE_MUST(braid_net_create(kind, options, &net) == BRAID_OK);
    MUTATE_MUST(braid_model_create(context, net, NULL, &model) == BRAID_OK);
    MUTATE_MUST(braid_model_set_text(model, BRAID_DATA_KEY, CARD) == BRAID_OK);
    MUTATE_MUST(braid_model_save(model, path) == BRAID_OK);
    braid_model_destroy(model);
    braid_net_destroy(net);
    FILE *file = fopen(path, "r");
    char *data = calloc(MUTATE_MOST, 1);
    MUTATE_MUST(file && data);
    size_t bytes = fread(data, 1, MUTATE_MOST, file);
    fclose(file);
    char *key = memmem(data, bytes, "braid.checksum", 14), *mark = memmem(data, bytes, "braid.written", 13);
    MUTATE_MUST(key && mark);
    key[13] = mark[12] = 'x'; /* a file of somebody else's */
    fuzz_file_write(path, data, bytes);
    MUTATE_MUST(braid_net_from_file(path, &net) == BRAID_OK);
    MUTATE_MUST(braid_model_create(context, net, NULL, &model) == BRAID_OK);
    MUTATE_MUST(braid_model_load(model, path) == BRAID_OK && braid_model_text(model, BRAID_DATA_KEY));
    braid_model_destroy(model);
    braid_net_destroy(net);
    return (mutate_seed){data, bytes};
}

int main(int count, char **arguments) {
    const braid_net_options small = {.layers = {4, 3, 2}}, wide = {.layers = {4, 8, 8, 8, 2}};
    mutate_seed seeds[3] = {make_seed("mlp", &small), make_seed("mlp", &wide), {0}};
    int code = mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 20000);
    for (int k = 0; k < 2; k++) free((void *)seeds[k].data);
    braid_context_destroy(context);
    return code;
}
#endif
