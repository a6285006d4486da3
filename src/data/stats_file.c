/*
 * The file of statistics: JSON that says of which manifest it is, so that no set is ever normalised with the numbers of
 * another one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "data/stats.h"

static json_t *numbers(const double *from, int count) {
    json_t *list = json_array();
    for (int c = 0; c < count; c++) json_array_append_new(list, json_real(from[c]));
    return list;
}

/* Mean and deviation are those of the channels that the stream has, also where a split has only grey images. */
static json_t *describe(const stats_stream *s, int channels) {
    json_t *sizes = json_array();
    for (int j = 0; j < s->sizes && j < STATS_SIZES; j++)
        json_array_append_new(sizes, json_pack("[I,I,I]", (json_int_t)s->size[j].height, (json_int_t)s->size[j].width,
                                               (json_int_t)s->size[j].files));
    json_t *one = json_pack("{s:I, s:f, s:i, s:o, s:o, s:o}", "files", (json_int_t)s->files, "holes",
                            s->values ? (double)s->holes / (double)s->values : 0, "levels", s->levels, "mean",
                            numbers(s->mean, channels), "std", numbers(s->std, channels), "sizes", sizes);
    if (one && s->least <= s->most) {
        json_object_set_new(one, "least", json_real(s->least));
        json_object_set_new(one, "most", json_real(s->most));
    }
    return one;
}

static json_t *describe_stream(const stats_set *s, const manifest *m, int i) {
    json_t *stream = json_pack("{s:s}", "name", m->stream[i].name);
    for (int split = 0; split < BRAID_SPLIT_COUNT && stream; split++)
        if (s->of[split][i].files)
            json_object_set_new(stream, braid_split_name((braid_split)split),
                                describe(&s->of[split][i], m->stream[i].channels));
    return stream;
}

braid_status stats_write(const stats_set *s, const manifest *m, uint32_t sum, char **text, size_t *bytes) {
    json_t *list = json_array(), *all;
    for (int i = 0; i < m->streams; i++) json_array_append_new(list, describe_stream(s, m, i));
    all = json_pack("{s:I, s:o}", "manifest", (json_int_t)sum, "streams", list);
    *text = NULL;
    if (!all) return fail(BRAID_ERROR_MEMORY, "no memory for statistics");
    braid_status status = json_write(all, text, bytes);
    json_decref(all);
    return status;
}

static braid_status read_numbers(const json_t *from, const char *field, int count, double least, double *out) {
    json_t *list;
    TRY(json_get_array(from, field, &list));
    for (int c = 0; c < count; c++) {
        const json_t *number = json_array_get(list, (size_t)c);
        out[c] = json_number_value(number);
        if (!json_is_number(number) || !(out[c] >= least && out[c] <= 1))
            return fail(BRAID_ERROR_DATA, "%s: expected %d numbers from %g to 1", field, count, least);
    }
    return BRAID_OK;
}

static braid_status read_all(const json_t *all, uint32_t sum, const manifest *m, double mean[][3], double std[][3],
                             int *is_its_own) {
    json_t *list;
    int64_t of;
    TRY(json_get_integer(all, "manifest", &of));
    TRY(json_get_array(all, "streams", &list));
    if (of != (int64_t)sum) return BRAID_OK;
    for (int i = 0; i < m->streams; i++) {
        const json_t *train = json_object_get(json_array_get(list, (size_t)i), "train");
        if (!train) return BRAID_OK;
        TRY(read_numbers(train, "mean", m->stream[i].channels, 0, mean[i]));
        TRY(read_numbers(train, "std", m->stream[i].channels, 1e-6, std[i]));
    }
    *is_its_own = 1;
    return BRAID_OK;
}

braid_status stats_read(const char *text, size_t bytes, uint32_t sum, const manifest *m, double mean[][3],
                        double std[][3], int *is_its_own) {
    json_t *all;
    *is_its_own = 0;
    TRY(json_read(text, bytes, "statistics", BRAID_ERROR_DATA, &all));
    braid_status status = read_all(all, sum, m, mean, std, is_its_own);
    json_decref(all);
    return status;
}
