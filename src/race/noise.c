/*
 * The floor of noise.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/noise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/files.h"
#include "core/json.h"
#include "core/log.h"
#include "core/memory.h"
#include "race/load.h"
#include "race/measure.h"
#include "race/race.h"

#define RUNS 8
#define ROUNDS 16
#define LEAST_SECONDS 1.0 /* of a race that may begin with this measurement */
#define MOST_WAIT 0.2
#define MOST_BYTES 4096
#define KEY_TEXT 512
#define SHARE 0.95

/* Nothing is claimed below these, whatever a quiet minute showed; and what holds where nothing was measured. */
#define LEAST_WITHIN 0.003
#define LEAST_BETWEEN 0.01
#define USUAL_WITHIN 0.01
#define USUAL_BETWEEN 0.05

/* ---- From measurements -------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that SHARE of them do not exceed. Sorts them. */
static double most_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    const int index = (int)ceil(SHARE * count) - 1;
    return count ? values[index] : 0;
}

noise noise_of(const double *logs, const double *seconds, int count) {
    double within[RUNS], pairs[RUNS * RUNS];
    int used = 0;
    if (count > RUNS) count = RUNS;
    for (int i = 0; i < count; i++) {
        within[i] = fabs(logs[i]);
        for (int k = 0; k < i; k++) pairs[used++] = fabs(log(seconds[i] / seconds[k]));
    }
    return (noise){.within = fmax(LEAST_WITHIN, expm1(most_of(within, count))),
                   .between = fmax(LEAST_BETWEEN, expm1(most_of(pairs, used))),
                   .is_measured = 1};
}

/* ---- The file ----------------------------------------------------------------------------- */

braid_status noise_write(const char *key, const noise *n, char **text, size_t *bytes) {
    json_t *json = json_pack("{s:s, s:f, s:f}", "key", key, "within", n->within, "between", n->between);
    if (!json) return fail(BRAID_ERROR_MEMORY, "noise: no memory for an entry");
    braid_status status = json_write(json, text, bytes);
    json_decref(json);
    return status;
}

static braid_status read_json(const json_t *json, const char *key, noise *n) {
    const char *stored;
    noise found = {.is_measured = 1};
    TRY(json_get_text(json, "key", &stored));
    TRY(json_get_number(json, "within", &found.within));
    TRY(json_get_number(json, "between", &found.between));
    if (strcmp(stored, key) != 0) return fail(BRAID_ERROR_DATA, "noise: expected the key of this machine, got another");
    if (!(found.within >= LEAST_WITHIN && found.within < 1 && found.between >= LEAST_BETWEEN && found.between < 1))
        return fail(BRAID_ERROR_DATA, "noise: expected shares from %g and %g to 1, got %g and %g", LEAST_WITHIN,
                    LEAST_BETWEEN, found.within, found.between);
    *n = found;
    return BRAID_OK;
}

braid_status noise_read(const char *text, size_t bytes, const char *key, noise *n) {
    json_t *json = NULL;
    TRY(json_read(text, bytes, "noise", BRAID_ERROR_DATA, &json));
    braid_status status = read_json(json, key, n);
    json_decref(json);
    return status;
}

static void make_key(const braid_context *context, char key[KEY_TEXT]) {
    snprintf(key, KEY_TEXT, "device=%s;threads=%d", context->device->identity, context->threads);
}

/* "noise-0123456789abcdef.json" in the folder of wisdom. */
static braid_status make_path(const braid_context *context, const char *key, char **path) {
    char name[64];
    snprintf(name, sizeof name, "noise-%016" PRIx64 ".json", (uint64_t)XXH3_64bits(key, strlen(key)));
    return files_join(context->cache_dir, name, path);
}

static braid_status recall(const braid_context *context, noise *n) {
    char key[KEY_TEXT], *path = NULL, *text = NULL;
    size_t bytes = 0;
    make_key(context, key);
    TRY(make_path(context, key, &path));
    braid_status status = files_read(path, MOST_BYTES, BRAID_ERROR_DATA, &text, &bytes);
    if (status == BRAID_OK) status = noise_read(text, bytes, key, n);
    memory_free(text);
    memory_free(path);
    return status;
}

static braid_status store(const braid_context *context, const noise *n) {
    char key[KEY_TEXT], *path = NULL, *text = NULL;
    size_t bytes = 0;
    make_key(context, key);
    TRY(files_make_private_folder(context->cache_dir));
    TRY(make_path(context, key, &path));
    braid_status status = noise_write(key, n, &text, &bytes);
    if (status == BRAID_OK) status = files_replace(path, text, bytes);
    memory_free(text);
    memory_free(path);
    return status;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

/* The kernel that the cost model takes for a matrix product of some hundred microseconds. */
static const kernel *choose_kernel(const braid_context *context, const braid_problem *p, race *r) {
    race_list(context, p, r);
    race_decide(p, r);
    return r->winner < 0 ? NULL : r->racers[r->winner].kernel;
}

static braid_status race_itself(const braid_context *context, const braid_problem *p, const kernel *k,
                                double *ratio_log, double *seconds) {
    const measure_options how = {.min_rounds = ROUNDS, .seed = 1};
    runner *runners = NULL;
    TRY(memory_calloc(2, sizeof *runners, "runners", (void **)&runners));
    runners[0].kernel = runners[1].kernel = k;
    braid_status status = measure_runners(p, context->device, runners, 2, &how);
    if (status == BRAID_OK && (runners[0].failure[0] || runners[1].failure[0]))
        status = fail(BRAID_ERROR_DEVICE, "noise: %s", runners[runners[0].failure[0] ? 0 : 1].failure);
    *ratio_log = ratio_of_rounds(runners[1].seconds, runners[0].seconds, runners[0].rounds).log;
    *seconds = interval_of(runners[0].seconds, runners[0].rounds).median;
    memory_free(runners);
    return status;
}

static braid_status measure(const braid_context *context, noise *n) {
    const int64_t rows = context->device->backend->has_own_memory ? 4096 : 256;
    const braid_problem wanted = {
        .op = BRAID_OP_LINEAR, .streams = 1, .batch = rows, .in_channels = {1008}, .out_channels = {rows}};
    braid_problem p = wanted;
    double logs[RUNS], seconds[RUNS];
    race *r = NULL;
    TRY(braid_problem_check(&p));
    TRY(memory_alloc(1, sizeof *r, "race", (void **)&r));
    const kernel *k = choose_kernel(context, &p, r);
    memory_free(r);
    if (!k) return fail(BRAID_ERROR_DEVICE, "noise: no kernel to measure with");
    for (int i = 0; i < RUNS; i++) TRY(race_itself(context, &p, k, &logs[i], &seconds[i]));
    *n = noise_of(logs, seconds, RUNS);
    return BRAID_OK;
}

/* Nothing is measured, or kept, of a busy machine. */
static void measure_and_keep(braid_context *context) {
    const int threads = context_threads(context);
    noise n;
    if (!load_wait(threads, context->device, MOST_WAIT)) return;
    const load_mark mark = load_now();
    if (measure(context, &n) != BRAID_OK) return;
    const load l = load_since(&mark, context->device);
    if (load_is_heavy(&l, threads)) return;
    context->floors = n;
    if (context->cache_dir && store(context, &n) != BRAID_OK) log_write(LOG_WISDOM, "not stored: %s", braid_message());
}

noise noise_floor(braid_context *context, double seconds) {
    const fail_kept kept = fail_keep();
    noise *known = &context->floors;
    if (known->within <= 0) {
        *known = (noise){.within = USUAL_WITHIN, .between = USUAL_BETWEEN};
        if (context->cache_dir) (void)recall(context, known);
    }
    if (!known->is_measured && seconds >= LEAST_SECONDS && !context->is_noise_tried) {
        context->is_noise_tried = 1;
        measure_and_keep(context);
    }
    fail_put_back(&kept);
    return *known;
}
