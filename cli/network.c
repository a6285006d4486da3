/*
 * Networks on the command line: from a name and options to a braid_net.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

int network_is_name(const char *word) {
    for (int i = 0; braid_net_name(i); i++) {
        if (!strcmp(braid_net_name(i), word)) return 1;
    }
    return 0;
}

void network_kind(const braid_net *net, char *name, size_t size) {
    static const char key[] = "\"kind\":\"";
    const char *kind = strstr(braid_net_describe(net), key);
    kind = kind ? kind + strlen(key) : "";
    snprintf(name, size, "%.*s", (int)strcspn(kind, "\""), kind);
}

const char *network_nearest(const char *word) {
    char names[1024] = "";
    for (int i = 0; braid_net_name(i); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", braid_net_name(i));
    }
    return nearest_word(word, names, " ");
}

int network_unknown(const char *word) {
    const char *nearest = network_nearest(word);
    if (nearest) return complain(BRAID_ERROR_ARGUMENT, "unknown network \"%s\"; did you mean %s?", word, nearest);
    return complain(
        BRAID_ERROR_ARGUMENT,
        "unknown network \"%s\"; expected linet, mcresnet with 18, 34, 50, 101 or 152, lenet86, ssae or mlp", word);
}

/* The first option that describes a network and was given; NULL: none was. */
static const char *given_option(const network_options *o) {
    return o->streams        ? "--streams"
           : o->channels     ? "--channels"
           : o->classes      ? "--classes"
           : o->width > 0    ? "--width"
           : o->dropout >= 0 ? "--dropout"
           : o->zero_init    ? "--zero-init"
           : o->dilate       ? "--dilate"
           : o->init         ? "--init"
           : o->fusion       ? "--fusion"
           : o->layers       ? "--layers"
                             : NULL;
}

int network_refuse_description(const network_options *options, const char *why) {
    const char *given = given_option(options);
    return given ? complain(BRAID_ERROR_ARGUMENT, "%s: %s", given, why) : 0;
}

int network_is_described(const network_options *options) { return given_option(options) != NULL; }

int network_refuse(const network_options *options, const char *why) {
    const char *given = options->batch   ? "--batch"
                        : options->size  ? "--size"
                        : options->dtype ? "--dtype"
                        : options->seed  ? "--seed"
                                         : NULL;
    return given ? complain(BRAID_ERROR_ARGUMENT, "%s: %s", given, why) : network_refuse_description(options, why);
}

/* Whole numbers separated by commas, at most `most`. Returns 0, or an exit code after a message. */
static int parse_list(const char *name, const char *text, int64_t *list, int most) {
    for (int i = 0; text && *text; i++) {
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (i == most || end == text || errno || value < 0 || value > 1000000 || (*end && *end != ','))
            return complain(BRAID_ERROR_ARGUMENT,
                            "--%s: expected at most %d whole numbers separated by commas, got \"%s\"", name, most,
                            text);
        list[i] = value;
        text = *end ? end + 1 : end;
    }
    return 0;
}

#define NUMBER "0123456789.+-" /* what is made of these alone is meant as one */

int network_stream_count(const network_options *options) {
    const char *text = options->streams;
    return text && strspn(text, NUMBER) == strlen(text) ? atoi(text) : 0;
}

/* A number from 1 on, or at most 8 names. */
static int parse_streams(const char *text, braid_net_options *wanted) {
    size_t length;
    int is_number = strspn(text, NUMBER) == strlen(text), fits = *text != 0, count = 0;
    if (is_number) fits = *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 8 && atoi(text) > 0;
    for (const char *c = text; !is_number && fits && *c; c += length + (c[length] == ',')) {
        length = strcspn(c, ",");
        fits = length > 0 && length < BRAID_STREAM_NAME && count < BRAID_MAX_STREAMS;
        if (fits) memcpy(wanted->stream_names[count++], c, length);
    }
    wanted->streams = is_number ? atoi(text) : count;
    if (fits) return 0;
    return complain(BRAID_ERROR_ARGUMENT,
                    "--streams: expected a whole number from 1 to %d, or as many names of 1 to %d letters with commas "
                    "between them, got \"%s\"",
                    BRAID_MAX_STREAMS, BRAID_STREAM_NAME - 1, text);
}

static int is_linet(const char *name) { return !strncmp(name, "linet", 5); }

static int is_mcresnet(const char *name) { return !strncmp(name, "mcresnet", 8); }

int network_takes_set(const char *name) { return is_linet(name) || is_mcresnet(name); }

/* What was not typed is as the set has it: of images, as many streams as the network can have. */
static void take_set(const char *name, const network_options *options, braid_net_options *wanted) {
    const braid_data_info *set = options->set;
    int streams = is_mcresnet(name) ? 2 : options->streams ? wanted->streams : set->streams;
    int is_named = wanted->stream_names[0][0] != 0;
    if (!wanted->classes) wanted->classes = set->classes;
    if (set->kind == BRAID_DATA_MIMII || set->streams != streams) return;
    if (is_linet(name)) wanted->streams = streams;
    for (int i = 0; i < streams; i++) {
        if (!is_named) snprintf(wanted->stream_names[i], BRAID_STREAM_NAME, "%s", set->stream_names[i]);
        if (!options->channels) wanted->channels[i] = set->channels[i];
    }
}

/* A channel for each stream, or none at all: of what is not typed nothing is guessed. */
static int check_channels(const char *name, const char *text, const braid_net *net) {
    int streams = braid_net_stream_count(net), count = 0;
    for (const char *c = text; c && *c; c++) count += *c != ',' && (c == text || c[-1] == ',');
    if (count == 0 || count == streams) return 0;
    return complain(
        BRAID_ERROR_ARGUMENT,
        "--channels: expected %d numbers, one for each stream of %s, got %d: \"%s\"; --streams %d asks for a "
        "network of that many streams",
        streams, name, count, text, count);
}

int network_open(const char *name, const network_options *options, braid_net **net) {
    braid_net_options wanted = {.classes = options->classes,
                                .width = options->width,
                                .dropout = options->dropout < 0 ? 0 : options->dropout,
                                .zero_init_residual = options->zero_init,
                                .init = options->init,
                                .fusion = (braid_fusion)options->fusion};
    int64_t dilate[3] = {0};
    if (options->file) {
        braid_status read = braid_net_from_file(options->file, net);
        return read ? complain_braid(read) : 0;
    }
    if (!network_is_name(name)) return network_unknown(name);
    int code = options->streams ? parse_streams(options->streams, &wanted) : 0;
    if (!code) code = parse_list("channels", options->channels, wanted.channels, BRAID_MAX_STREAMS);
    if (!code) code = parse_list("dilate", options->dilate, dilate, 3);
    if (!code) code = parse_list("layers", options->layers, wanted.layers, 15);
    if (code) return code;
    for (int i = 0; i < 3; i++) wanted.dilate[i] = dilate[i] != 0;
    if (is_mcresnet(name) && !network_stream_count(options)) wanted.streams = 0; /* which follows from the names */
    if (options->set && network_takes_set(name)) take_set(name, options, &wanted);
    braid_status status = braid_net_create(name, &wanted, net);
    if (status) return complain_braid(status);
    code = check_channels(name, options->channels, *net);
    if (!code) return 0;
    braid_net_destroy(*net);
    *net = NULL;
    return code;
}

/* The checkpoint of a run, or its older generation where that alone is whole. 0: there is neither. */
static int find_generation(const char *run, const char *stem, char *path, size_t size) {
    struct stat about;
    char previous[4096], why[1024];
    snprintf(path, size, "%s/%s.safetensors", run, stem);
    snprintf(previous, sizeof previous, "%s/%s.previous.safetensors", run, stem);
    int there = stat(path, &about) == 0;
    if (stat(previous, &about) != 0 || braid_file_describe(path, NULL, NULL, NULL, NULL) != BRAID_ERROR_MODEL)
        return there;
    snprintf(why, sizeof why, "%s", braid_message());
    if (braid_file_describe(previous, NULL, NULL, NULL, NULL)) return there; /* whoever loads it says what it has */
    complain(0, "%s; went back to %s", why, previous);
    snprintf(path, size, "%s", previous);
    return 1;
}

int network_check_model(const char *word) {
    struct stat about;
    char path[4096];
    if (stat(word, &about) != 0)
        return complain(BRAID_ERROR_MODEL, "%s: could not open: %s; expected the folder of a run or a model file", word,
                        strerror(errno));
    if (!S_ISDIR(about.st_mode) || find_generation(word, "best", path, sizeof path) ||
        find_generation(word, "last", path, sizeof path))
        return 0;
    return complain(BRAID_ERROR_MODEL,
                    "%s: expected the folder of a run, got one without best.safetensors and last.safetensors", word);
}

int network_refuse_last(const char *word, int last) {
    struct stat about;
    if (!last || stat(word, &about) != 0 || S_ISDIR(about.st_mode)) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "--last: expected the folder of a run, got the file %s", word);
}

void network_find_file(const char *word, int last, char *path, size_t size) {
    struct stat about;
    if (stat(word, &about) != 0 || !S_ISDIR(about.st_mode))
        snprintf(path, size, "%s", word);
    else if (last || !find_generation(word, "best", path, size))
        find_generation(word, "last", path, size);
}

enum { WORD_TF32 = 4 }; /* of --dtype */

braid_dtype network_dtype(const network_options *options) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F16, BRAID_DTYPE_F64,
                                         BRAID_DTYPE_F32};
    return dtypes[options->dtype];
}

int network_tf32(const network_options *options) { return options->dtype == WORD_TF32; }

const char *network_dtype_name(const network_options *options) {
    return network_tf32(options) ? "tf32" : braid_dtype_name(network_dtype(options));
}

braid_model_options network_model(const network_options *options) {
    return (braid_model_options){.dtype = network_dtype(options), .tf32 = network_tf32(options), .seed = options->seed};
}

int network_size(const network_options *options, int64_t size[2]) {
    char *end, *after;
    if (!options->size) return 0;
    errno = 0;
    long long height = strtoll(options->size, &end, 10), width = *end == 'x' ? strtoll(end + 1, &after, 10) : 0;
    if (errno || end == options->size || *end != 'x' || after == end + 1 || *after || height < 1 || width < 1 ||
        height > 1000000 || width > 1000000)
        return complain(BRAID_ERROR_ARGUMENT, "--size: expected a height and a width such as 416x544, got \"%s\"",
                        options->size);
    size[0] = height;
    size[1] = width;
    return 0;
}
