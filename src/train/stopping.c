/*
 * Early stopping: one comparison and one counter, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/stopping.h"

#include <math.h>
#include <string.h>

#include "core/json.h"

static const char *const monitor_names[] = {[STOPPING_VAL_LOSS] = "val_loss", [STOPPING_VAL_ACCURACY] = "val_accuracy"};

#define MONITORS ((int)(sizeof monitor_names / sizeof *monitor_names))

const char *stopping_monitor_name(stopping_monitor monitor) {
    return (int)monitor < MONITORS ? monitor_names[monitor] : NULL;
}

braid_status stopping_monitor_read(const char *text, stopping_monitor *monitor) {
    for (int i = 0; text && i < MONITORS; i++) {
        if (strcmp(text, monitor_names[i]) != 0) continue;
        *monitor = (stopping_monitor)i;
        return BRAID_OK;
    }
    return fail(BRAID_ERROR_ARGUMENT, "monitor: expected val_loss or val_accuracy, got \"%s\"", text ? text : "");
}

static bool better(const stopping_options *o, const stopping_state *s, double metric) {
    if (!isfinite(metric)) return false;
    if (!s->seen) return true;
    return o->monitor == STOPPING_VAL_LOSS ? metric < s->best - o->min_delta : metric > s->best + o->min_delta;
}

bool stopping_observe(const stopping_options *options, stopping_state *state, int64_t epoch, double metric) {
    if (better(options, state, metric)) {
        *state = (stopping_state){.seen = true, .best_epoch = epoch, .best = metric};
        return true;
    }
    if (++state->bad > options->patience) state->stopped = true;
    return false;
}

json_t *stopping_save(const stopping_options *options, const stopping_state *state) {
    json_t *best = state->seen ? json_real(state->best) : json_null();
    return json_pack("{s:b, s:I, s:o, s:s, s:I, s:f, s:I}", "stopped_early", (int)state->stopped, "best_epoch",
                     (json_int_t)state->best_epoch, "best_metric", best, "monitor",
                     stopping_monitor_name(options->monitor), "patience", (json_int_t)options->patience, "min_delta",
                     options->min_delta, "bad_epochs", (json_int_t)state->bad);
}

braid_status stopping_load(const json_t *saved, stopping_state *state) {
    const json_t *stopped = json_object_get(saved, "stopped_early");
    stopping_state read = {.seen = !json_is_null(json_object_get(saved, "best_metric"))};
    if (!json_is_boolean(stopped))
        return fail(BRAID_ERROR_DATA, "early stopping: expected \"stopped_early\" to be true or false");
    read.stopped = json_is_true(stopped);
    TRY(json_get_integer(saved, "best_epoch", &read.best_epoch));
    TRY(json_get_integer(saved, "bad_epochs", &read.bad));
    if (read.seen) TRY(json_get_number(saved, "best_metric", &read.best));
    if (read.bad < 0 || read.bad > JSON_MOST_COUNT)
        return fail(BRAID_ERROR_DATA, "early stopping: expected \"bad_epochs\" from 0 to 2^40, got %lld",
                    (long long)read.bad);
    *state = read;
    return BRAID_OK;
}
