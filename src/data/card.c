/*
 * Cards, written and read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/card.h"

#include <math.h>
#include <string.h>

#include "core/crc32c.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "data/image.h"
#include "data/lists.h"

/* ---- Writing ------------------------------------------------------------------------------ */

/* Text that is not UTF-8 keeps its ASCII. */
static json_t *any_text(const char *text) {
    json_t *value = json_string(text);
    char *copy;
    if (value || memory_copy_text(text, &copy) != BRAID_OK) return value;
    for (char *c = copy; *c; c++)
        if (*c & 0x80) *c = '?';
    value = json_string(copy);
    memory_free(copy);
    return value;
}

static json_t *numbers(const double *from, int64_t count) {
    json_t *list = json_array();
    for (int64_t c = 0; c < count; c++) json_array_append_new(list, json_real(from[c]));
    return list;
}

static json_t *describe_streams(const braid_data *d) {
    json_t *list = json_array();
    for (int i = 0; i < d->info.streams; i++) {
        json_t *stream =
            json_pack("{s:s, s:I}", "name", d->stream_names[i], "channels", (json_int_t)d->info.channels[i]);
        if (d->kind != &data_mimii && stream) {
            json_object_set_new(stream, "mean", numbers(d->info.mean[i], d->info.channels[i]));
            json_object_set_new(stream, "std", numbers(d->info.std[i], d->info.channels[i]));
        }
        json_array_append_new(list, stream);
    }
    return list;
}

static json_t *describe_classes(const braid_data *d) {
    json_t *list = json_array();
    for (int c = 0; c < d->info.classes; c++) json_array_append_new(list, any_text(d->class_names[c]));
    return list;
}

/* How many samples a split has, and a checksum of their labels: whoever goes on with a run can tell another set. */
static json_t *describe_samples(const braid_data *d) {
    json_t *list = json_object();
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) {
        int64_t count = d->info.samples[s];
        const int32_t *labels = d->split[s].labels;
        size_t bytes = 0;
        if (size_array((size_t)count, sizeof *labels, "labels", &bytes) != BRAID_OK) bytes = 0;
        uint32_t sum = labels ? crc32c(labels, bytes) : 0;
        json_object_set_new(list, braid_split_name((braid_split)s),
                            json_pack("[I,I]", (json_int_t)count, (json_int_t)sum));
    }
    return list;
}

braid_status card_write(const braid_data *d, char **text) {
    size_t bytes;
    json_t *card = json_pack("{s:s, s:[I,I], s:o, s:o, s:o}", "kind", d->kind->name, "size",
                             (json_int_t)d->info.size[0], (json_int_t)d->info.size[1], "streams", describe_streams(d),
                             "classes", describe_classes(d), "samples", describe_samples(d));
    *text = NULL;
    if (!card || json_array_size(json_object_get(card, "streams")) != (size_t)d->info.streams ||
        json_object_size(json_object_get(card, "samples")) != BRAID_SPLIT_COUNT ||
        json_array_size(json_object_get(card, "classes")) != (size_t)d->info.classes) {
        json_decref(card);
        return fail(BRAID_ERROR_MEMORY, "no memory for the card of a set");
    }
    d->kind->describe(d, card);
    braid_status status = json_write(card, text, &bytes);
    json_decref(card);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static braid_status read_numbers(const json_t *stream, const char *field, int64_t count, double least, double *out) {
    json_t *list;
    TRY(json_get_array(stream, field, &list));
    for (int64_t c = 0; c < count; c++) {
        const json_t *number = json_array_get(list, (size_t)c);
        out[c] = json_number_value(number);
        if (!json_is_number(number) || !isfinite(out[c]) || out[c] < least || (int64_t)json_array_size(list) != count)
            return fail(BRAID_ERROR_DATA, "card of the data: %s: expected %lld numbers of %g or more", field,
                        (long long)count, least);
    }
    return BRAID_OK;
}

static braid_status read_stream(braid_data *d, const json_t *stream, int i) {
    const char *name;
    int images = d->kind != &data_mimii;
    TRY(json_get_text(stream, "name", &name));
    if (!*name || strlen(name) >= sizeof d->stream_names[i] || strpbrk(name, "/="))
        return fail(BRAID_ERROR_DATA, "card of the data: expected a stream's name of 1 to 31 letters, got \"%.40s\"",
                    name);
    memcpy(d->stream_names[i], name, strlen(name) + 1);
    TRY(json_get_integer(stream, "channels", &d->info.channels[i]));
    if (d->info.channels[i] < 1 || (images && d->info.channels[i] > BRAID_DATA_CHANNELS))
        return fail(BRAID_ERROR_DATA, "card of the data: expected 1 to %d channels in %s, got %lld",
                    BRAID_DATA_CHANNELS, name, (long long)d->info.channels[i]);
    if (!images) return BRAID_OK;
    TRY(read_numbers(stream, "mean", d->info.channels[i], 0, d->info.mean[i]));
    return read_numbers(stream, "std", d->info.channels[i], 1e-6, d->info.std[i]);
}

static braid_status read_classes(braid_data *d, const json_t *list) {
    size_t count = json_array_size(list);
    void *names = NULL;
    if (count > LISTS_MAX_CLASSES)
        return fail(BRAID_ERROR_DATA, "card of the data: expected at most %d classes, got %zu", LISTS_MAX_CLASSES,
                    count);
    TRY(memory_calloc(count, sizeof(char *), "class names", &names));
    braid_status status = BRAID_OK;
    for (size_t c = 0; c < count && !status; c++) {
        ((const char **)names)[c] = json_string_value(json_array_get(list, c));
        if (!((const char **)names)[c])
            status = fail(BRAID_ERROR_DATA, "card of the data: expected the names of classes to be texts");
    }
    d->info.classes = (int)count;
    if (!status) status = class_names_copy(names, (int)count, &d->class_names);
    memory_free(names);
    return status;
}

braid_status card_read(braid_data *d, const json_t *card) {
    json_t *streams, *classes, *size;
    TRY(json_get_array(card, "streams", &streams));
    TRY(json_get_array(card, "classes", &classes));
    TRY(json_get_array(card, "size", &size));
    d->info.size[0] = json_integer_value(json_array_get(size, 0));
    d->info.size[1] = json_integer_value(json_array_get(size, 1));
    TRY(image_check_size("card of the data", d->info.size[0], d->info.size[1]));
    if (json_array_size(streams) < 1 || json_array_size(streams) > BRAID_MAX_STREAMS)
        return fail(BRAID_ERROR_DATA, "card of the data: expected 1 to %d streams, got %zu", BRAID_MAX_STREAMS,
                    json_array_size(streams));
    d->info.has_statistics = 1;
    for (; d->info.streams < (int)json_array_size(streams); d->info.streams++)
        TRY(read_stream(d, json_array_get(streams, (size_t)d->info.streams), d->info.streams));
    return read_classes(d, classes);
}
