/*
 * Wisdom files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/wisdom.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "braid_build.h"
#include "core/files.h"
#include "core/json.h"
#include "core/log.h"
#include "core/memory.h"
#include "ops/problem.h"

#define MAX_ENTRY_BYTES 65536
#define KEY_TEXT 2048
#define NAME_TEXT 64
#define LEFT_OUT "left_out_s"
#define BRIEF "brief"
#define FLOOR "floor"
#define MOST_LOG 100.0 /* of one time over another */
#define MOST_FREEDOM 1000
#define LEAST_SECONDS 1e-9     /* of a launch */
#define MOST_FLOPS_THREAD 3e13 /* a second: four times what AMX does in bf16, for Winograd's savings */
#define MOST_BYTES_THREAD 4e12 /* twice what an L1 cache gives */
#define MOST_FLOPS_AFAR 1e16   /* of a GPU: ten times those of an H200 in f16 */
#define MOST_BYTES_AFAR 1e14   /* of its L2 cache */
#define CHECKSUM_LINE_BYTES 22 /* "xxh3 " + 16 digits + newline */

/* ---- Entries as text ---------------------------------------------------------------------- */

static uint64_t checksum(const char *text, size_t bytes) { return XXH3_64bits(text, bytes); }

/* One timed candidate. Reasons are not stored: they follow from the machine. */
static json_t *candidate_to_json(const racer *r) {
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:i, s:f, s:I, s:I}", "kernel", r->kernel->name, "median_s",
                     r->median, "low_s", r->low, "high_s", r->high, "over_log", r->over.log, "over_error",
                     r->over.error, "over_freedom", r->over.freedom, "max_err", r->max_err, "compared",
                     (json_int_t)r->compared, "workspace_bytes", (json_int_t)r->workspace_bytes);
}

static json_t *race_to_json(const char *key, const race *r) {
    json_t *candidates = json_array();
    for (int j = 0; candidates && j < r->count; j++) {
        if (r->racers[j].reason[0] || r->racers[j].median <= 0) continue;
        if (json_array_append_new(candidates, candidate_to_json(&r->racers[j])) != 0) {
            json_decref(candidates);
            candidates = NULL;
        }
    }
    if (!candidates) return NULL;
    return json_pack("{s:s, s:b, s:f, s:o}", "key", key, BRIEF, r->is_brief, FLOOR, r->floor, "candidates", candidates);
}

/* The entry with its checksum. Takes the entry; NULL: there was no memory for it. */
static braid_status entry_to_text(json_t *entry, char **text, size_t *bytes) {
    char *body = NULL;
    size_t body_bytes = 0;
    if (!entry) return fail(BRAID_ERROR_MEMORY, "wisdom: no memory for an entry");
    braid_status status = json_write(entry, &body, &body_bytes);
    json_decref(entry);
    if (status == BRAID_OK)
        status = memory_alloc(body_bytes + 1 + CHECKSUM_LINE_BYTES + 1, 1, "wisdom entry", (void **)text);
    if (status == BRAID_OK) {
        int written = snprintf(*text, body_bytes + 1 + CHECKSUM_LINE_BYTES + 1, "%s\nxxh3 %016" PRIx64 "\n", body,
                               checksum(body, body_bytes));
        *bytes = (size_t)written;
    }
    memory_free(body);
    return status;
}

braid_status wisdom_write(const char *key, const race *r, char **text, size_t *bytes) {
    return entry_to_text(race_to_json(key, r), text, bytes);
}

/* Splits off and verifies the last line. */
static braid_status verify_checksum(const char *text, size_t bytes, size_t *body_bytes) {
    uint64_t stored;
    char line[CHECKSUM_LINE_BYTES + 1], again[CHECKSUM_LINE_BYTES + 1];
    if (bytes < CHECKSUM_LINE_BYTES + 1)
        return fail(BRAID_ERROR_DATA, "wisdom: expected a checksum line, got %zu bytes", bytes);
    memcpy(line, text + bytes - CHECKSUM_LINE_BYTES, CHECKSUM_LINE_BYTES);
    line[CHECKSUM_LINE_BYTES] = 0;
    *body_bytes = bytes - CHECKSUM_LINE_BYTES - 1;
    if (text[*body_bytes] != '\n' || sscanf(line, "xxh3 %16" SCNx64, &stored) != 1)
        return fail(BRAID_ERROR_DATA, "wisdom: expected a checksum line");
    snprintf(again, sizeof again, "xxh3 %016" PRIx64 "\n", checksum(text, *body_bytes));
    if (strcmp(line, again) != 0) return fail(BRAID_ERROR_DATA, "wisdom: the checksum does not match");
    return BRAID_OK;
}

static racer *find_racer(race *r, const char *name) {
    for (int j = 0; j < r->count; j++) {
        if (strcmp(r->racers[j].kernel->name, name) == 0) return &r->racers[j];
    }
    return NULL;
}

static braid_status read_ratio(const json_t *from, const char *name, ratio *over) {
    int64_t freedom;
    TRY(json_get_number(from, "over_log", &over->log));
    TRY(json_get_number(from, "over_error", &over->error));
    TRY(json_get_integer(from, "over_freedom", &freedom));
    if (!(fabs(over->log) <= MOST_LOG && over->error >= 0 && over->error <= MOST_LOG) || freedom < 0 ||
        freedom > MOST_FREEDOM)
        return fail(BRAID_ERROR_DATA, "wisdom: expected a ratio that can be for %.64s", name);
    over->freedom = (int)freedom;
    return BRAID_OK;
}

static braid_status read_candidate(const json_t *from, race *r) {
    const char *name;
    double median, low, high, max_err;
    int64_t compared, workspace;
    TRY(json_get_text(from, "kernel", &name));
    TRY(json_get_number(from, "median_s", &median));
    TRY(json_get_number(from, "low_s", &low));
    TRY(json_get_number(from, "high_s", &high));
    TRY(json_get_number(from, "max_err", &max_err));
    TRY(json_get_integer(from, "compared", &compared));
    TRY(json_get_integer(from, "workspace_bytes", &workspace));
    racer *to = find_racer(r, name);
    if (!to) return fail(BRAID_ERROR_DATA, "wisdom: expected a candidate of this problem, got \"%.64s\"", name);
    if (to->median > 0) return fail(BRAID_ERROR_DATA, "wisdom: expected %.64s once, got it twice", name);
    if (!(median > 0) || !(low > 0) || low > median || median > high || max_err > 1 || compared < 0 || workspace < 0) {
        return fail(BRAID_ERROR_DATA, "wisdom: expected times in order and no error for %.64s", name);
    }
    TRY(read_ratio(from, name, &to->over));
    to->median = median;
    to->low = low;
    to->high = high;
    to->max_err = max_err;
    to->compared = compared;
    to->workspace_bytes = (size_t)workspace;
    return BRAID_OK;
}

static braid_status read_entry(const json_t *entry, const char *key, race *r) {
    const char *stored;
    json_t *candidates;
    TRY(json_get_text(entry, "key", &stored));
    if (strcmp(stored, key) != 0)
        return fail(BRAID_ERROR_DATA, "wisdom: expected the key of this problem and machine, got another");
    r->is_brief = json_is_true(json_object_get(entry, BRIEF));
    TRY(json_get_number(entry, FLOOR, &r->floor));
    if (!(r->floor >= 0 && r->floor < 1)) return fail(BRAID_ERROR_DATA, "wisdom: expected a floor from 0 to 1");
    TRY(json_get_array(entry, "candidates", &candidates));
    for (size_t j = 0; j < json_array_size(candidates); j++) TRY(read_candidate(json_array_get(candidates, j), r));
    if (json_array_size(candidates) == 0)
        return fail(BRAID_ERROR_DATA, "wisdom: expected at least one candidate, got none");
    return BRAID_OK;
}

/* Every candidate that can take part here must have a time, or the race was another one. One that was not asked and has
 * none could not. */
static braid_status verify_complete(race *r) {
    for (int j = 0; j < r->count; j++) {
        racer *one = &r->racers[j];
        if (one->is_open && one->median <= 0) snprintf(one->reason, sizeof one->reason, "took no part in that race");
        if (!r->racers[j].reason[0] && r->racers[j].median <= 0 && kernel_kind(r->racers[j].kernel) != BRAID_KIND_REF) {
            return fail(BRAID_ERROR_DATA, "wisdom: no time for %s", r->racers[j].kernel->name);
        }
    }
    return BRAID_OK;
}

static braid_status text_to_entry(const char *text, size_t bytes, json_t **entry) {
    size_t body_bytes = 0;
    TRY(verify_checksum(text, bytes, &body_bytes));
    return json_read(text, body_bytes, "wisdom", BRAID_ERROR_DATA, entry);
}

braid_status wisdom_read(const char *text, size_t bytes, const char *key, race *r) {
    json_t *entry = NULL;
    race filled = *r;
    TRY(text_to_entry(text, bytes, &entry));
    braid_status status = read_entry(entry, key, &filled);
    json_decref(entry);
    if (status == BRAID_OK) status = verify_complete(&filled);
    if (status == BRAID_OK) *r = filled;
    return status;
}

/* ---- Keys and files ----------------------------------------------------------------------- */

/* Everything a time depends on. */
static braid_status make_key(const braid_context *context, const braid_problem *p, char key[KEY_TEXT]) {
    char problem[BRAID_PROBLEM_TEXT];
    TRY(braid_problem_print(p, problem, sizeof problem));
    int used =
        snprintf(key, KEY_TEXT, "build=%s;kernels=%016" PRIx64 ";device=%s;threads=%d;repro=%d;disable=%s;problem=%s",
                 BRAID_BUILD_ID, kernel_list_hash(), context->device->identity, context->threads, (int)context->repro,
                 context->disable, problem);
    if (used < 0 || used >= KEY_TEXT)
        return fail(BRAID_ERROR_ARGUMENT, "wisdom: the key is too long; is BRAID_DISABLE meant?");
    return BRAID_OK;
}

/* What all batches share. */
static braid_status hash_family(const braid_context *context, const braid_problem *p, uint64_t *family) {
    char key[KEY_TEXT];
    braid_problem one = *p;
    one.batch = 0;
    TRY(make_key(context, &one, key));
    *family = XXH3_64bits(key, strlen(key));
    return BRAID_OK;
}

/* The part of the name that all batches share. */
static void name_family(uint64_t hash, char family[NAME_TEXT]) {
    snprintf(family, NAME_TEXT, "%016" PRIx64 "-b", hash);
}

static braid_status make_family(const braid_context *context, const braid_problem *p, char family[NAME_TEXT]) {
    uint64_t hash;
    TRY(hash_family(context, p, &hash));
    name_family(hash, family);
    return BRAID_OK;
}

/* The name of an entry. */
static void make_name(const char *family, int64_t batch, char name[2 * NAME_TEXT]) {
    snprintf(name, 2 * NAME_TEXT, "%s%" PRId64 ".wisdom", family, batch);
}

/* The path of an entry, or of a note (is_note), which no search for the nearest batch finds. */
static braid_status make_path(const braid_context *context, const braid_problem *p, int is_note, char **path) {
    char family[NAME_TEXT], name[2 * NAME_TEXT];
    TRY(make_family(context, p, family));
    make_name(family, p->batch, name);
    if (is_note) snprintf(name, sizeof name, "%s%" PRId64 ".left", family, p->batch);
    return files_join(context->cache_dir, name, path);
}

/* No launch is faster than its operations at a rate that no processor of its kind reaches, or than its bytes. */
static braid_status refuse_impossible(const braid_context *context, const braid_problem *p, const race *r) {
    const int afar = context->device->backend->has_own_memory;
    const double flops_s = afar ? MOST_FLOPS_AFAR : MOST_FLOPS_THREAD * context->threads;
    const double bytes_s = afar ? MOST_BYTES_AFAR : MOST_BYTES_THREAD * context->threads;
    const double least = fmax(LEAST_SECONDS, fmax(op_of(p)->flops(p) / flops_s, op_bytes(p) / bytes_s));
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->reason[0] || one->median <= 0 || one->low >= least) continue;
        return fail(BRAID_ERROR_DATA, "wisdom: expected at least %.3g s for %.64s, got %.3g s, which no processor does",
                    least, one->kernel->name, one->low);
    }
    return BRAID_OK;
}

/* One that is not used is told to the log alone. */
static braid_status recall(const braid_context *context, const braid_problem *p, race *r) {
    char key[KEY_TEXT], *path = NULL, *text = NULL;
    size_t bytes = 0;
    const fail_kept kept = fail_keep();
    TRY(make_key(context, p, key));
    TRY(make_path(context, p, 0, &path));
    braid_status status = files_check_private(context->cache_dir);
    if (status == BRAID_OK) status = files_read(path, MAX_ENTRY_BYTES, BRAID_ERROR_DATA, &text, &bytes);
    race filled = *r;
    if (status == BRAID_OK) status = wisdom_read(text, bytes, key, &filled);
    if (status == BRAID_OK) status = refuse_impossible(context, p, &filled);
    if (status == BRAID_OK) *r = filled;
    if (status != BRAID_OK) {
        log_write(LOG_WISDOM, "not used: %s: %s", path, braid_message());
        fail_put_back(&kept);
    }
    memory_free(text);
    memory_free(path);
    return status;
}

/* An entry of a brief race lacks the times of candidates that were predicted slow. */
int wisdom_recall(const braid_context *context, const braid_problem *p, race *r) {
    if (!context->cache_dir) return 0;
    if (recall(context, p, r) != BRAID_OK) {
        race brief = *r;
        race_spare_slow(p, &brief);
        if (recall(context, p, &brief) != BRAID_OK) return 0;
        *r = brief;
    }
    r->from_wisdom = 1;
    return 1;
}

/* Whether batch a is nearer to `wanted` than b; of two as near, the smaller one, in whatever order they come. */
static int is_nearer(int64_t wanted, int64_t a, int64_t b) {
    long long to_a = llabs(a - wanted), to_b = llabs(b - wanted);
    return to_a < to_b || (to_a == to_b && a < b);
}

/* An entry by its name. */
struct wisdom_listed {
    uint64_t family;
    int64_t batch;
};

/* The family and the batch in a name. False: it is that of no entry. */
static int read_name(const char *name, struct wisdom_listed *listed) {
    char family[NAME_TEXT], again[2 * NAME_TEXT];
    if (sscanf(name, "%16" SCNx64 "-b%" SCNd64 ".", &listed->family, &listed->batch) != 2) return 0;
    name_family(listed->family, family);
    make_name(family, listed->batch, again);
    return strcmp(name, again) == 0;
}

static braid_status list_folder(wisdom_listing *l, DIR *folder) {
    l->count = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        struct wisdom_listed listed;
        if (!read_name(entry->d_name, &listed)) continue;
        TRY(memory_grow((void **)&l->names, l->count, &l->room, sizeof *l->names, "the names of the wisdom"));
        l->names[l->count++] = listed;
    }
    return BRAID_OK;
}

/* Lists the folder once, and again after it was changed: it may hold hundreds of thousands of entries. */
static const wisdom_listing *list_entries(braid_context *context) {
    wisdom_listing *l = &context->listing;
    struct stat info;
    const fail_kept kept = fail_keep();
    if (stat(context->cache_dir, &info) != 0) return NULL;
    if (l->is_known && info.st_mtim.tv_sec == l->changed.tv_sec && info.st_mtim.tv_nsec == l->changed.tv_nsec) return l;
    l->changed = info.st_mtim;
    DIR *folder = opendir(context->cache_dir);
    l->is_known = folder && list_folder(l, folder) == BRAID_OK;
    if (folder) closedir(folder);
    if (!l->is_known) fail_put_back(&kept);
    return l->is_known ? l : NULL;
}

int wisdom_recall_nearest(braid_context *context, const braid_problem *p, race *r) {
    uint64_t family;
    braid_problem nearest = *p;
    int found = 0;
    if (!context->cache_dir || hash_family(context, p, &family) != BRAID_OK) return 0;
    const wisdom_listing *l = list_entries(context);
    for (size_t i = 0; l && i < l->count; i++) {
        const int64_t batch = l->names[i].batch;
        if (l->names[i].family != family || batch < 0 || (found && !is_nearer(p->batch, batch, nearest.batch)))
            continue;
        nearest.batch = batch;
        found = 1;
    }
    return found && wisdom_recall(context, &nearest, r);
}

static braid_status store_text(const braid_context *context, const braid_problem *p, int is_note, const char *text,
                               size_t bytes) {
    char *path = NULL;
    TRY(files_make_private_folder(context->cache_dir));
    TRY(make_path(context, p, is_note, &path));
    braid_status status = files_replace(path, text, bytes);
    memory_free(path);
    return status;
}

static braid_status store(const braid_context *context, const braid_problem *p, const race *r) {
    char key[KEY_TEXT], *text = NULL;
    size_t bytes = 0;
    race known = *r;
    race_forget_times(&known);
    if (r->is_brief && recall(context, p, &known) == BRAID_OK && !known.is_brief) return BRAID_OK;
    TRY(make_key(context, p, key));
    braid_status status = wisdom_write(key, r, &text, &bytes);
    if (status == BRAID_OK) status = store_text(context, p, 0, text, bytes);
    memory_free(text);
    return status;
}

void wisdom_store(const braid_context *context, const braid_problem *p, const race *r) {
    const fail_kept kept = fail_keep();
    const racer *lacking = race_lacking(r);
    if (lacking) log_write(LOG_WISDOM, "not stored: there was no memory for %s", lacking->kernel->name);
    if (lacking || !context->cache_dir || store(context, p, r) == BRAID_OK) return;
    log_write(LOG_WISDOM, "not stored: %s", braid_message());
    fail_put_back(&kept);
}

/* ---- Races that were left out --------------------------------------------------------------- */

static braid_status store_left_out(const braid_context *context, const braid_problem *p, double seconds) {
    char key[KEY_TEXT], *text = NULL;
    size_t bytes = 0;
    TRY(make_key(context, p, key));
    TRY(entry_to_text(json_pack("{s:s, s:f}", "key", key, LEFT_OUT, seconds), &text, &bytes));
    braid_status status = store_text(context, p, 1, text, bytes);
    memory_free(text);
    return status;
}

void wisdom_leave_out(const braid_context *context, const braid_problem *p, double seconds) {
    const fail_kept kept = fail_keep();
    if (!context->cache_dir || store_left_out(context, p, seconds) == BRAID_OK) return;
    log_write(LOG_WISDOM, "not stored: %s", braid_message());
    fail_put_back(&kept);
}

static braid_status read_left_out(const json_t *entry, const char *key, double *seconds) {
    const char *stored;
    TRY(json_get_text(entry, "key", &stored));
    if (strcmp(stored, key) != 0) return fail(BRAID_ERROR_DATA, "wisdom: expected the key of this problem");
    return json_get_number(entry, LEFT_OUT, seconds);
}

double wisdom_left_out(const braid_context *context, const braid_problem *p) {
    char key[KEY_TEXT], *path = NULL, *text = NULL;
    size_t bytes = 0;
    double seconds = 0;
    json_t *entry = NULL;
    const fail_kept kept = fail_keep();
    if (!context->cache_dir || make_key(context, p, key) || make_path(context, p, 1, &path)) return 0;
    braid_status status = files_check_private(context->cache_dir);
    if (status == BRAID_OK) status = files_read(path, MAX_ENTRY_BYTES, BRAID_ERROR_DATA, &text, &bytes);
    if (status == BRAID_OK) status = text_to_entry(text, bytes, &entry);
    if (status == BRAID_OK) status = read_left_out(entry, key, &seconds);
    json_decref(entry);
    memory_free(text);
    memory_free(path);
    if (status != BRAID_OK) fail_put_back(&kept);
    return status == BRAID_OK ? seconds : 0;
}
