/*
 * A run in place of a network: its network, and the batch, image size and dtype that it was trained with.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/stat.h>

#include "train_options.h"

#define PATH_BYTES 4096
#define SIZE_BYTES 48

int network_is_run(const char *word) {
    static const char ending[] = ".safetensors";
    struct stat info;
    size_t length = strlen(word);
    if (network_is_name(word) || stat(word, &info) != 0) return 0;
    return S_ISDIR(info.st_mode) || (length > strlen(ending) && !strcmp(word + length - strlen(ending), ending));
}

/* What a model file tells of the run that wrote it. */
typedef struct run_facts {
    char size[SIZE_BYTES], options[TRAIN_OPTIONS_BYTES];
} run_facts;

static void take_fact(void *user, const char *key, const char *value) {
    run_facts *facts = user;
    long long height, width;
    const char *size = strcmp(key, BRAID_DATA_KEY) ? NULL : strstr(value, "\"size\":[");
    if (size && sscanf(size, "\"size\":[%lld,%lld]", &height, &width) == 2)
        snprintf(facts->size, SIZE_BYTES, "%lldx%lld", height, width);
    if (!strcmp(key, TRAIN_OPTIONS_KEY)) snprintf(facts->options, sizeof facts->options, "%s", value);
}

static int is_given(const arguments *words, const option *o) {
    for (int j = 0; j < words->given_count; j++)
        if (words->given[j] == o) return 1;
    return 0;
}

/* Batch and dtype as the run had them; of a file that no run wrote, as of a network that is typed. */
static int take_options(const verb *v, const arguments *words, const run_facts *facts, common_options *values) {
    static const char *const names[] = {"batch", "dtype"};
    const char *const normals[] = {facts->options[0] ? TRAIN_BATCH_TEXT : NULL, NULL};
    int code = 0;
    for (size_t j = 0; j < 2 && !code; j++) {
        const option *o = option_find(v, names[j], strlen(names[j]), 0);
        const char *value = train_options_value(facts->options, names[j]);
        if (!value) value = normals[j];
        if (o && value && !is_given(words, o)) code = option_set(v, o, value, values);
    }
    return code;
}

int network_take_run(const verb *v, const char *word, const arguments *words, common_options *values) {
    static char path[PATH_BYTES];
    static run_facts facts;
    network_options *o = (network_options *)(void *)(values + 1); /* as options_parse has it */
    braid_net *net = NULL;
    char kind[64];
    if (!network_is_run(word)) return 0;
    int code = network_refuse_description(o, "expected none: the run has its own network");
    if (code) return code;
    code = network_check_model(word);
    if (code) return code;
    network_find_file(word, 0, path, sizeof path);
    braid_status status = braid_net_from_file(path, &net);
    if (status) return complain_braid(status);
    network_kind(net, kind, sizeof kind);
    braid_net_destroy(net);
    facts = (run_facts){0};
    status = braid_file_describe(path, take_fact, NULL, &facts, NULL);
    if (status) return complain_braid(status);
    o->file = path;
    int has_images = network_takes_set(kind) || !strcmp(kind, "lenet86");
    if (!o->size && facts.size[0] && has_images) o->size = facts.size;
    return take_options(v, words, &facts, values);
}
