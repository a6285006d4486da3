/*
 * The card of an imported set: a model reads its files by the ranges that it was trained with, whatever range another
 * set was measured to have.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/imported.h"

braid_status imported_parse_fit(const char *text, braid_fit *fit) {
    for (int f = 0; f < BRAID_FIT_COUNT; f++)
        if (!strcmp(text, fit_name((braid_fit)f))) {
            *fit = (braid_fit)f;
            return BRAID_OK;
        }
    return fail(BRAID_ERROR_ARGUMENT, "fit: expected stretch, crop or pad, got \"%.40s\"", text);
}

void imported_describe(const braid_data *d, json_t *card) {
    const imported *state = d->state;
    json_object_set_new(card, "resize", json_boolean(state->resizes));
    json_object_set_new(card, "fit", json_string(fit_name(state->fit)));
    json_object_set_new(card, "dtype", json_string(d->info.dtype == BRAID_DTYPE_U8 ? "u8" : "f32"));
    for (int i = 0; i < d->info.streams; i++) {
        const manifest_stream *s = &state->stream[i];
        json_t *stream = json_array_get(json_object_get(card, "streams"), (size_t)i);
        json_object_set_new(stream, "bits", json_integer(s->bits));
        if (!s->has_range) continue;
        json_object_set_new(stream, "range", json_pack("[f,f]", s->low, s->high));
        json_object_set_new(stream, "unit", json_string(s->unit));
        json_object_set_new(stream, "scale", json_real(s->scale));
        json_object_set_new(stream, "mask", json_boolean(s->mask));
    }
}

static braid_status read_range(const json_t *from, manifest_stream *s) {
    const json_t *range = json_object_get(from, "range");
    const char *unit;
    s->scale = 1;
    if (!range) return BRAID_OK;
    TRY(json_get_text(from, "unit", &unit));
    TRY(json_get_number(from, "scale", &s->scale));
    s->low = json_number_value(json_array_get(range, 0));
    s->high = json_number_value(json_array_get(range, 1));
    s->has_range = 1;
    s->mask = json_is_true(json_object_get(from, "mask"));
    if (!isfinite(s->low) || !isfinite(s->high - s->low) || !(s->high > s->low) || !(s->scale > 0) ||
        strlen(unit) >= sizeof s->unit)
        return fail(BRAID_ERROR_DATA, "card of the data: expected a range [low, high] with low below high, in a unit");
    snprintf(s->unit, sizeof s->unit, "%s", unit);
    return BRAID_OK;
}

static braid_status read_stream(const json_t *from, manifest_stream *s) {
    const char *name;
    int64_t bits, channels;
    *s = (manifest_stream){0};
    TRY(json_get_text(from, "name", &name));
    TRY(json_get_integer(from, "bits", &bits));
    TRY(json_get_integer(from, "channels", &channels));
    TRY(read_range(from, s));
    snprintf(s->name, sizeof s->name, "%s", name);
    s->bits = (int)bits;
    s->channels = (int)channels - s->mask;
    if ((bits != 8 && bits != 16 && bits != 32) || (bits != 8 && !s->has_range) ||
        (s->channels != 1 && s->channels != 3))
        return fail(BRAID_ERROR_DATA,
                    "card of the data: expected 8 bits, or 16 or 32 with a range, in 1 or 3 channels");
    return BRAID_OK;
}

braid_status imported_read_card(const json_t *card, int streams, imported *out) {
    json_t *list;
    const char *fit;
    TRY(json_get_array(card, "streams", &list));
    TRY(json_get_text(card, "fit", &fit));
    if (imported_parse_fit(fit, &out->fit)) return fail(BRAID_ERROR_DATA, "card of the data: %s", fail_message());
    for (int i = 0; i < streams; i++) TRY(read_stream(json_array_get(list, (size_t)i), &out->stream[i]));
    return BRAID_OK;
}

/* In the values of the set's own files: a range in millimetres holds for files in metres, too. Files of other bits
 * whose values have no common unit mean something else. */
static braid_status take_stream(const braid_data *d, manifest_stream *to, const manifest_stream *from) {
    const int has_units = to->has_range && from->has_range && to->unit[0] != '-' && !strcmp(to->unit, from->unit);
    const double factor = has_units ? from->scale / to->scale : 1;
    if (to->bits != from->bits && !has_units)
        return fail(
            BRAID_ERROR_DATA,
            "%s: expected %d bits in stream %s as in training, got %d; a range in the same unit, such as --range "
            "%s=LOW..HIGHm at both imports, makes them comparable",
            d->folder, from->bits, to->name, to->bits, to->name);
    to->has_range = from->has_range;
    to->mask = from->mask;
    to->low = from->low * factor;
    to->high = from->high * factor;
    return BRAID_OK;
}

static braid_status take(braid_data *d, const json_t *card) {
    imported *state = d->state;
    imported like = {.fit = state->fit};
    const char *kind, *dtype;
    TRY(json_get_text(card, "kind", &kind));
    if (strcmp(kind, d->kind->name) != 0) return BRAID_OK; /* it says nothing of this one */
    const int streams = (int)json_array_size(json_object_get(card, "streams"));
    if (streams > BRAID_MAX_STREAMS) return fail(BRAID_ERROR_DATA, "card of the data: expected at most 8 streams");
    TRY(imported_read_card(card, streams, &like));
    TRY(json_get_text(card, "dtype", &dtype));
    state->fit = like.fit;
    d->info.dtype = strcmp(dtype, "f32") ? BRAID_DTYPE_U8 : BRAID_DTYPE_F32;
    for (int i = 0; i < d->info.streams; i++)
        for (int j = 0; j < streams; j++)
            if (!strcmp(state->stream[i].name, like.stream[j].name))
                TRY(take_stream(d, &state->stream[i], &like.stream[j]));
    return BRAID_OK;
}

braid_status imported_take_card(braid_data *d, const char *text) {
    json_t *card;
    TRY(json_read(text, strlen(text), "the card of the data", BRAID_ERROR_DATA, &card));
    braid_status status = take(d, card);
    json_decref(card);
    return status;
}
