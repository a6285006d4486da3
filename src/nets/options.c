/*
 * The options of networks: limits, defaults that are the same everywhere, and their JSON. One list of names serves
 * the refusals, the writing and the reading, so that a description holds exactly the options that its network has.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/json.h"
#include "nets/net.h"
#include "ops/problem.h"

#define MAX_DESCRIPTION 4096 /* bytes */
#define MAX_CHANNELS 65536
#define MAX_CLASSES 1048576
#define MAX_LAYERS 16
#define MIN_WIDTH (1.0 / 64)
#define MAX_WIDTH 16.0

static const struct {
    const char *name;
    net_option bit;
} names[] = {
    {"streams", NET_STREAMS},
    {"channels", NET_CHANNELS},
    {"classes", NET_CLASSES},
    {"width", NET_WIDTH},
    {"dropout", NET_DROPOUT},
    {"zero_init_residual", NET_ZERO_INIT_RESIDUAL},
    {"dilate", NET_DILATE},
    {"init", NET_INIT},
    {"fusion", NET_FUSION},
    {"layers", NET_LAYERS},
    {"stream_names", NET_STREAM_NAMES},
};

#define NAME_COUNT (sizeof names / sizeof *names)

static const char *const inits[] = {"head", "seed", NULL};

/* The index of a word in a list that NULL ends; -1: it is not there. */
static int find_word(const char *const *words, const char *word) {
    for (int j = 0; words[j]; j++) {
        if (strcmp(words[j], word) == 0) return j;
    }
    return -1;
}

/* ---- Names of streams ---------------------------------------------------------------------- */

static int names_are_set(const braid_net_options *o) {
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) {
        if (o->stream_names[i][0]) return 1;
    }
    return 0;
}

static const char *const usual_names[BRAID_MAX_STREAMS] = {"rgb",     "depth",   "orth",    "stream3",
                                                           "stream4", "stream5", "stream6", "stream7"};

const char *options_stream_name(const braid_net_options *options, int stream) {
    return names_are_set(options) ? options->stream_names[stream] : usual_names[stream];
}

/* A name that a list, a word STREAM=FILE, a folder and a group of an optimiser can have. */
static int is_stream_name(const char *name) {
    if (!memchr(name, 0, BRAID_STREAM_NAME) || !name[0] || strpbrk(name, ",=/\"\\")) return 0;
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) return 0;
    }
    json_t *text = json_string(name); /* NULL: it is not UTF-8 */
    json_decref(text);
    return text != NULL && strcmp(name, "integration") != 0 && strcmp(name, "shared") != 0;
}

/* One for each stream, or none. The usual names are as none: networks that are the same have the same description. */
static braid_status check_stream_names(const net_kind *kind, braid_net_options *o) {
    int usual = 1;
    if (!names_are_set(o)) return BRAID_OK;
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) {
        char *name = o->stream_names[i];
        if ((name[0] != 0) != (i < o->streams))
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: stream_names: expected %d, one for each stream, got %s for stream %d", kind->name,
                        o->streams, name[0] ? "one" : "none", i);
        if (i < o->streams && !is_stream_name(name))
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: stream_names: expected 1 to %d letters of UTF-8 without , = / \" and \\, and neither "
                        "integration nor shared, got \"%.*s\"",
                        kind->name, BRAID_STREAM_NAME - 1, BRAID_STREAM_NAME, name);
        usual = usual && (i >= o->streams || strcmp(name, usual_names[i]) == 0);
    }
    if (usual) memset(o->stream_names, 0, sizeof o->stream_names);
    return BRAID_OK;
}

/* ---- Limits -------------------------------------------------------------------------------- */

static int any_set(const int64_t *list, int count) {
    for (int i = 0; i < count; i++) {
        if (list[i]) return 1;
    }
    return 0;
}

static int is_set(const braid_net_options *o, net_option bit) {
    switch (bit) {
        case NET_STREAMS: return o->streams != 0;
        case NET_CHANNELS: return any_set(o->channels, BRAID_MAX_STREAMS);
        case NET_CLASSES: return o->classes != 0;
        case NET_WIDTH: return o->width != 0;
        case NET_DROPOUT: return o->dropout != 0;
        case NET_ZERO_INIT_RESIDUAL: return o->zero_init_residual != 0;
        case NET_DILATE: return o->dilate[0] || o->dilate[1] || o->dilate[2];
        case NET_INIT: return o->init != NULL;
        case NET_FUSION: return o->fusion != BRAID_FUSION_CONCAT;
        case NET_LAYERS: return any_set(o->layers, MAX_LAYERS);
        case NET_STREAM_NAMES: return names_are_set(o);
    }
    return 0;
}

static braid_status check_integer(const net_kind *kind, const char *option, int64_t value, int64_t most) {
    if (value >= 0 && value <= most) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: %s: expected 1 to %lld, got %lld", kind->name, option, (long long)most,
                (long long)value);
}

static braid_status check_switch(const net_kind *kind, const char *option, int value) {
    if (value == 0 || value == 1) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: %s: expected 0 or 1, got %d", kind->name, option, value);
}

/* The widths of layers: none, or at least two, without a gap. */
static braid_status check_layers(const net_kind *kind, const int64_t *layers) {
    int count = 0;
    while (count < MAX_LAYERS && layers[count]) TRY(check_integer(kind, "layers", layers[count++], MAX_CLASSES));
    if (count == 1 || any_set(layers + count, MAX_LAYERS - count))
        return fail(BRAID_ERROR_ARGUMENT, "%s: layers: expected 2 to %d widths and zeros after them, got %d widths%s",
                    kind->name, MAX_LAYERS, count, count == 1 ? "" : " and a gap");
    return BRAID_OK;
}

static braid_status check_limits(const net_kind *kind, const braid_net_options *o) {
    TRY(check_integer(kind, "streams", o->streams, BRAID_MAX_STREAMS));
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) TRY(check_integer(kind, "channels", o->channels[i], MAX_CHANNELS));
    TRY(check_integer(kind, "classes", o->classes, MAX_CLASSES));
    if (o->width != 0 && !(o->width >= MIN_WIDTH && o->width <= MAX_WIDTH))
        return fail(BRAID_ERROR_ARGUMENT, "%s: width: expected %g to %g, got %g", kind->name, MIN_WIDTH, MAX_WIDTH,
                    o->width);
    if (!(o->dropout >= 0 && o->dropout < 1))
        return fail(BRAID_ERROR_ARGUMENT, "%s: dropout: expected a rate from 0 to below 1, got %g", kind->name,
                    o->dropout);
    TRY(check_switch(kind, "zero_init_residual", o->zero_init_residual));
    for (int i = 0; i < 3; i++) TRY(check_switch(kind, "dilate", o->dilate[i]));
    if (o->init && find_word(inits, o->init) < 0)
        return fail(BRAID_ERROR_ARGUMENT, "%s: init: expected head or seed, got \"%.64s\"", kind->name, o->init);
    if ((int)o->fusion < 0 || o->fusion >= BRAID_FUSION_COUNT)
        return fail(BRAID_ERROR_ARGUMENT, "%s: fusion: expected concat, weighted or gated, got number %d", kind->name,
                    (int)o->fusion);
    return check_layers(kind, o->layers);
}

braid_status options_complete(const net_kind *kind, braid_net_options *options) {
    for (size_t j = 0; j < NAME_COUNT; j++) {
        if (!(kind->has & names[j].bit) && is_set(options, names[j].bit))
            return fail(BRAID_ERROR_ARGUMENT, "%s: expected no option %s, which this network does not have, got one",
                        kind->name, names[j].name);
    }
    TRY(check_limits(kind, options));
    if (kind->has & NET_WIDTH && options->width == 0) options->width = 1;
    if (kind->has & NET_INIT) options->init = inits[options->init ? find_word(inits, options->init) : 0];
    TRY(kind->complete(kind, options));
    for (int i = options->streams; kind->has & NET_CHANNELS && i < BRAID_MAX_STREAMS; i++) {
        if (options->channels[i])
            return fail(BRAID_ERROR_ARGUMENT, "%s: channels: expected %d, one for each stream, got one for stream %d",
                        kind->name, options->streams, i);
    }
    return check_stream_names(kind, options);
}

/* ---- Writing ------------------------------------------------------------------------------- */

static json_t *write_list(const int64_t *list, int count) {
    json_t *array = json_array();
    for (int i = 0; array && i < count && list[i]; i++) {
        if (json_array_append_new(array, json_integer(list[i])) == 0) continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *write_names(const braid_net_options *o) {
    json_t *array = json_array();
    for (int i = 0; array && i < o->streams; i++) {
        if (json_array_append_new(array, json_string(o->stream_names[i])) == 0) continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

/* NULL: no memory. */
static json_t *write_option(const braid_net_options *o, net_option bit) {
    switch (bit) {
        case NET_STREAMS: return json_integer(o->streams);
        case NET_CHANNELS: return write_list(o->channels, o->streams);
        case NET_CLASSES: return json_integer(o->classes);
        case NET_WIDTH: return json_real(o->width);
        case NET_DROPOUT: return json_real(o->dropout);
        case NET_ZERO_INIT_RESIDUAL: return json_boolean(o->zero_init_residual);
        case NET_DILATE: return json_pack("[b,b,b]", o->dilate[0], o->dilate[1], o->dilate[2]);
        case NET_INIT: return json_string(o->init);
        case NET_FUSION: return json_string(field_words(FIELD_KIND_FUSION)[o->fusion]);
        case NET_LAYERS: return write_list(o->layers, MAX_LAYERS);
        case NET_STREAM_NAMES: return write_names(o);
    }
    return NULL;
}

braid_status options_describe(const net_kind *kind, const braid_net_options *options, char **text) {
    json_t *object = json_pack("{s:s}", "kind", kind->name);
    size_t bytes;
    for (size_t j = 0; object && j < NAME_COUNT; j++) {
        if (!(kind->has & names[j].bit)) continue;
        if (names[j].bit == NET_STREAM_NAMES && !names_are_set(options)) continue;
        if (json_object_set_new(object, names[j].name, write_option(options, names[j].bit)) == 0) continue;
        json_decref(object);
        object = NULL;
    }
    braid_status status = json_write(object, text, &bytes);
    json_decref(object);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static braid_status refuse(const net_kind *kind, const char *option, const char *expected) {
    return fail(BRAID_ERROR_MODEL, "description of %s: %s: expected %s, got something else", kind->name, option,
                expected);
}

/* An integer from 1 to `most`. */
static int read_integer(const json_t *value, int64_t most, int64_t *out) {
    *out = json_is_integer(value) ? json_integer_value(value) : 0;
    return *out >= 1 && *out <= most;
}

static int read_list(const json_t *value, int64_t most, int room, int64_t *list) {
    int fits = json_is_array(value) && json_array_size(value) >= 1 && json_array_size(value) <= (size_t)room;
    for (size_t i = 0; fits && i < json_array_size(value); i++)
        fits = read_integer(json_array_get(value, i), most, &list[i]);
    return fits;
}

static int read_dilate(const json_t *value, int dilate[3]) {
    int fits = json_is_array(value) && json_array_size(value) == 3;
    for (size_t i = 0; fits && i < 3; i++) {
        fits = json_is_boolean(json_array_get(value, i));
        dilate[i] = json_is_true(json_array_get(value, i));
    }
    return fits;
}

/* Not the borrowed text but the word of the list. */
static int read_word(const json_t *value, const char *const *words, int *index) {
    *index = json_is_string(value) ? find_word(words, json_string_value(value)) : -1;
    return *index >= 0;
}

static int read_names(const json_t *value, char out[BRAID_MAX_STREAMS][BRAID_STREAM_NAME]) {
    int fits = json_is_array(value) && json_array_size(value) >= 1 && json_array_size(value) <= BRAID_MAX_STREAMS;
    for (size_t i = 0; fits && i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        fits = name && name[0] && strlen(name) < BRAID_STREAM_NAME;
        if (fits) memcpy(out[i], name, strlen(name) + 1);
    }
    return fits;
}

/* The rest of the limits is checked with the options as a whole. */
static braid_status read_option(const net_kind *kind, const json_t *value, net_option bit, braid_net_options *o) {
    int64_t integer = 0;
    int index = 0;
    switch (bit) {
        case NET_STREAMS:
            if (!read_integer(value, BRAID_MAX_STREAMS, &integer)) return refuse(kind, "streams", "1 to 8");
            o->streams = (int)integer;
            return BRAID_OK;
        case NET_CHANNELS:
            if (read_list(value, MAX_CHANNELS, BRAID_MAX_STREAMS, o->channels)) return BRAID_OK;
            return refuse(kind, "channels", "an array of 1 to 8 integers from 1 to 65536");
        case NET_CLASSES:
            if (read_integer(value, MAX_CLASSES, &o->classes)) return BRAID_OK;
            return refuse(kind, "classes", "an integer from 1 to 1048576");
        case NET_WIDTH:
            o->width = json_number_value(value);
            return json_is_number(value) && o->width > 0 ? BRAID_OK : refuse(kind, "width", "a number above 0");
        case NET_DROPOUT:
            o->dropout = json_number_value(value);
            return json_is_number(value) ? BRAID_OK : refuse(kind, "dropout", "a number");
        case NET_ZERO_INIT_RESIDUAL:
            o->zero_init_residual = json_is_true(value);
            return json_is_boolean(value) ? BRAID_OK : refuse(kind, "zero_init_residual", "true or false");
        case NET_DILATE:
            return read_dilate(value, o->dilate) ? BRAID_OK : refuse(kind, "dilate", "three of true or false");
        case NET_INIT:
            if (!read_word(value, inits, &index)) return refuse(kind, "init", "\"head\" or \"seed\"");
            o->init = inits[index];
            return BRAID_OK;
        case NET_FUSION:
            if (!read_word(value, field_words(FIELD_KIND_FUSION), &index))
                return refuse(kind, "fusion", "\"concat\", \"weighted\" or \"gated\"");
            o->fusion = (braid_fusion)index;
            return BRAID_OK;
        case NET_LAYERS:
            if (read_list(value, MAX_CLASSES, MAX_LAYERS, o->layers)) return BRAID_OK;
            return refuse(kind, "layers", "an array of 2 to 16 integers from 1 to 1048576");
        case NET_STREAM_NAMES:
            if (read_names(value, o->stream_names)) return BRAID_OK;
            return refuse(kind, "stream_names", "an array of 1 to 8 texts of 1 to 31 letters");
    }
    return BRAID_OK;
}

static braid_status read_field(const net_kind *kind, const char *option, const json_t *value, braid_net_options *o) {
    if (strcmp(option, "kind") == 0) return BRAID_OK;
    for (size_t j = 0; j < NAME_COUNT; j++) {
        if (strcmp(option, names[j].name) == 0 && kind->has & names[j].bit)
            return read_option(kind, value, names[j].bit, o);
    }
    return fail(BRAID_ERROR_MODEL, "description of %s: expected an option of this network, got \"%.64s\"", kind->name,
                option);
}

static braid_status read_object(json_t *object, const net_kind **kind, braid_net_options *options, int *counted) {
    const char *name = NULL, *option;
    json_t *value;
    if (json_get_text(object, "kind", &name) != BRAID_OK || !(*kind = net_kind_find(name)))
        return fail(BRAID_ERROR_MODEL, "description: %s", braid_message());
    json_object_foreach(object, option, value) TRY(read_field(*kind, option, value, options));
    *counted = (int)json_array_size(json_object_get(object, "channels"));
    return BRAID_OK;
}

braid_status options_read(const char *text, size_t bytes, const net_kind **kind, braid_net_options *options,
                          int *counted) {
    json_t *object = NULL;
    if (bytes > MAX_DESCRIPTION)
        return fail(BRAID_ERROR_MODEL, "description: expected at most %d bytes, got %zu", MAX_DESCRIPTION, bytes);
    TRY(json_read(text, bytes, "description", BRAID_ERROR_MODEL, &object));
    braid_status status = read_object(object, kind, options, counted);
    json_decref(object);
    return status;
}
