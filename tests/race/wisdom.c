/*
 * Tests of wisdom entries: what is stored is recalled, by its own key alone; an entry that is damaged,
 * foreign or forged is never believed. Folders, processes and faults are in wisdom_folder.c and faults.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "race/wisdom.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
#include "race/planned_op.h"
#include "tests/support/fake_race.h"
#include "tests/support/given.h"

#define PROBLEM "linear_fwd:n2:b4:c5,6:k7,8"
#define KEY "build=1;problem=" PROBLEM
#define FORGED_ENTRIES 10000
#define ENTRY_BYTES 8192

static braid_context *context;
static char folder[256];

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    context = given_context(folder, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    braid_context_destroy(context);
    given_folder_remove(folder);
    assert_int_equal(memory_live(), 0);
    return 0;
}

/* A listed race without times, to read into. */
static race listed(const char *text) {
    race r;
    const braid_problem p = given_problem(text);
    race_list(context, &p, &r);
    return r;
}

static race timed(const char *text, double seconds, int64_t mark) {
    race r;
    const braid_problem p = given_problem(text);
    fake_race(context, &p, seconds, mark, &r);
    return r;
}

/* ---- Entries as text ---------------------------------------------------------------------- */

/* An entry of PROBLEM. Returns its length; the race that it holds is in *held. */
static size_t entry_text(char entry[ENTRY_BYTES], race *held) {
    char *text = NULL;
    size_t bytes = 0;
    *held = timed(PROBLEM, 1e-4, 77);
    assert_int_equal(wisdom_write(KEY, held, &text, &bytes), BRAID_OK);
    assert_int_equal(bytes, strlen(text));
    assert_in_range(bytes, 100, ENTRY_BYTES - 1);
    memcpy(entry, text, bytes + 1);
    memory_free(text);
    return bytes;
}

static void an_entry_reads_back(void **state) {
    char entry[ENTRY_BYTES];
    race held, read = listed(PROBLEM);
    (void)state;
    size_t bytes = entry_text(entry, &held);
    assert_int_equal(wisdom_read(entry, bytes, KEY, &read), BRAID_OK);
    assert_true(fake_race_equal(&held, &read));
    assert_true(entry[bytes - 1] == '\n');
    assert_null(strchr(entry, '\r'));
}

/* Either refused, and then the race is untouched, or it means the same. */
static int believes(const char *entry, size_t bytes, const race *held, const race *empty) {
    race read = *empty;
    if (wisdom_read(entry, bytes, KEY, &read) != BRAID_OK) {
        if (!fake_race_equal(&read, empty)) fail_msg("a refused entry left something behind");
        return 0;
    }
    if (!fake_race_equal(&read, held)) fail_msg("believed a damaged entry: %s", entry);
    return 1;
}

static void every_byte_changed(void **state) {
    char entry[ENTRY_BYTES];
    race held;
    const race empty = listed(PROBLEM);
    int64_t damaged = 0, believed = 0;
    size_t bytes = entry_text(entry, &held);
    (void)state;
    for (size_t at = 0; at < bytes; at++) {
        const char was = entry[at];
        for (int change = 1; change < 256; change++) {
            entry[at] = (char)(was ^ change);
            believed += believes(entry, bytes, &held, &empty);
            damaged++;
        }
        entry[at] = was;
    }
    assert_int_equal(believed, 0);
    assert_true(damaged >= 10000);
}

static void every_truncation_and_shift(void **state) {
    char entry[ENTRY_BYTES], other[2 * ENTRY_BYTES];
    race held;
    const race empty = listed(PROBLEM);
    size_t bytes = entry_text(entry, &held);
    (void)state;
    for (size_t length = 0; length < bytes; length++) assert_false(believes(entry, length, &held, &empty));
    for (size_t from = 1; from < bytes; from++) assert_false(believes(entry + from, bytes - from, &held, &empty));
    for (size_t at = 0; at <= bytes; at++) { /* a byte more, a byte less */
        memcpy(other, entry, at);
        other[at] = ' ';
        memcpy(other + at + 1, entry + at, bytes - at + 1);
        assert_false(believes(other, bytes + 1, &held, &empty));
        if (at == bytes) continue;
        memcpy(other + at, entry + at + 1, bytes - at);
        assert_false(believes(other, bytes - 1, &held, &empty));
    }
    memcpy(other, entry, bytes);
    memcpy(other + bytes, entry, bytes + 1);
    assert_false(believes(other, 2 * bytes, &held, &empty));
}

/* ---- Entries with a right checksum and wrong contents --------------------------------------- */

static size_t sign(char entry[ENTRY_BYTES], const char *body, size_t bytes) {
    size_t signed_bytes = fake_entry(entry, ENTRY_BYTES, body, bytes);
    assert_true(signed_bytes > 0);
    return signed_bytes;
}

static void forged_entries_cannot_choose_what_cannot_run(void **state) {
    char entry[ENTRY_BYTES], forged[ENTRY_BYTES];
    race held;
    rng r = {.seed = 11};
    const braid_problem p = given_problem(PROBLEM);
    const race empty = listed(PROBLEM);
    int believed = 0;
    size_t body = entry_text(entry, &held) - strlen("\nxxh3 0123456789abcdef\n");
    (void)state;
    for (int j = 0; j < FORGED_ENTRIES; j++) {
        race read = empty;
        memcpy(forged, entry, body);
        for (int64_t changes = rng_between(&r, 1, 3); changes > 0; changes--) {
            static const char likely[] = "0123456789eE+-.,:\"[]{}\\ntf\xff";
            forged[rng_between(&r, 0, (int64_t)body - 1)] = likely[rng_between(&r, 0, (int64_t)sizeof likely - 2)];
        }
        if (wisdom_read(forged, sign(forged, forged, body), KEY, &read) != BRAID_OK) continue;
        assert_true(fake_race_sane(&p, &read)); /* whatever was believed */
        believed++;
    }
    assert_true(believed > 0); /* or the checksum was never right, and nothing was tested */
}

/* One candidate as JSON, for forging. */
#define CANDIDATE(name, low, median, high, rest) \
    "{\"kernel\":\"" name "\",\"low_s\":" low ",\"median_s\":" median ",\"high_s\":" high rest "}"
#define OVER(ratio, error, freedom) ",\"over_log\":" ratio ",\"over_error\":" error ",\"over_freedom\":" freedom
#define FIELDS ",\"max_err\":0.5,\"compared\":9,\"workspace_bytes\":0"
#define REST OVER("0", "0.01", "7") FIELDS
#define FLOORED(floor, candidates) "{\"key\":\"" KEY "\",\"floor\":" floor ",\"candidates\":[" candidates "]}"
#define ENTRY(candidates) FLOORED("0.01", candidates)
#define REF "linear_fwd__ref"

static const char *const forgeries[][2] = {
    {ENTRY(""), "at least one candidate"},
    {FLOORED("-0.1", CANDIDATE(REF, "1", "2", "3", REST)), "floor from 0 to 1"},
    {FLOORED("1", CANDIDATE(REF, "1", "2", "3", REST)), "floor from 0 to 1"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", FIELDS)), "over_log"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", OVER("101", "0", "7") FIELDS)), "ratio that can be"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", OVER("0", "-1", "7") FIELDS)), "ratio that can be"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", OVER("0", "0", "-1") FIELDS)), "ratio that can be"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", OVER("0", "0", "1001") FIELDS)), "ratio that can be"},
    {ENTRY(CANDIDATE("linear_fwd__cpu_warp", "1", "2", "3", REST)), "candidate of this problem|linear_fwd__cpu_warp"},
    {ENTRY(CANDIDATE("conv2d_fwd__ref", "1", "2", "3", REST)), "candidate of this problem|conv2d_fwd__ref"},
    {ENTRY(CANDIDATE("", "1", "2", "3", REST)), "candidate of this problem"},
    {ENTRY(CANDIDATE(REF, "0", "2", "3", REST)), "times in order"},
    {ENTRY(CANDIDATE(REF, "-1", "2", "3", REST)), "times in order"},
    {ENTRY(CANDIDATE(REF, "-3", "-2", "-1", REST)), "times in order"},
    {ENTRY(CANDIDATE(REF, "2.5", "2", "3", REST)), "times in order"},
    {ENTRY(CANDIDATE(REF, "1", "2", "1.5", REST)), "times in order"},
    {ENTRY(CANDIDATE(REF, "1", "0", "3", REST)), "times in order"},
    {ENTRY(CANDIDATE(REF, "NaN", "2", "3", REST)), "JSON"},
    {ENTRY(CANDIDATE(REF, "1", "2", "Infinity", REST)), "JSON"},
    {ENTRY(CANDIDATE(REF, "1", "2", "1e999", REST)), "JSON"},
    {ENTRY(CANDIDATE(REF, "\"1\"", "2", "3", REST)), "low_s"},
    {ENTRY(CANDIDATE(REF, "1", "null", "3", REST)), "median_s"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", ",\"max_err\":1.5,\"compared\":9,\"workspace_bytes\":0")), "no error"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", ",\"max_err\":0,\"compared\":-9,\"workspace_bytes\":0")), "times in order"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", ",\"max_err\":0,\"compared\":9,\"workspace_bytes\":-1")), "times in order"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", ",\"max_err\":0,\"compared\":9.5,\"workspace_bytes\":1")), "compared"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", ",\"max_err\":0,\"compared\":9")), "workspace_bytes"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", REST ",\"compared\":9")), "JSON"},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", REST) "," CANDIDATE(REF, "4", "5", "6", REST)), "once|" REF},
    {ENTRY(CANDIDATE(REF, "1", "2", "3", REST)), "no time for"},
    {ENTRY("7"), "kernel"},
    {ENTRY("[]"), "kernel"},
    {"{\"key\":\"" KEY "\",\"floor\":0}", "candidates"},
    {"{\"key\":\"" KEY "\",\"floor\":0,\"candidates\":{}}", "candidates"},
    {"{\"candidates\":[]}", "key"},
    {"{\"key\":7,\"candidates\":[]}", "key"},
    {"{\"key\":\"" KEY "x\",\"candidates\":[]}", "key of this problem"},
    {"{\"key\":\"" KEY "\\u0000x\",\"candidates\":[]}", ""},
    {"[]", "key"},
    {"null", "key"},
    {"", "JSON|empty"},
    {"{", "JSON"},
};

static void forged_entries_are_refused_in_words(void **state) {
    const race empty = listed(PROBLEM);
    (void)state;
    for (size_t j = 0; j < sizeof forgeries / sizeof forgeries[0]; j++) {
        char entry[ENTRY_BYTES];
        race read = empty;
        size_t bytes = sign(entry, forgeries[j][0], strlen(forgeries[j][0]));
        assert_refused(wisdom_read(entry, bytes, KEY, &read), BRAID_ERROR_DATA, forgeries[j][1]);
        assert_true(fake_race_equal(&read, &empty));
    }
}

static void an_entry_nested_to_death(void **state) {
    char entry[ENTRY_BYTES];
    race read = listed(PROBLEM);
    (void)state;
    memset(entry, '[', ENTRY_BYTES / 2);
    size_t bytes = sign(entry, entry, ENTRY_BYTES / 2);
    assert_refused(wisdom_read(entry, bytes, KEY, &read), BRAID_ERROR_DATA, "nested");
}

/* ---- Keys --------------------------------------------------------------------------------- */

static int recalls(const braid_context *c, const char *text) {
    race read;
    const braid_problem p = given_problem(text);
    race_list(c, &p, &read);
    int known = wisdom_recall(c, &p, &read);
    assert_int_equal(known, read.from_wisdom);
    return known;
}

static void store(const char *text, double seconds) {
    const braid_problem p = given_problem(text);
    const race r = timed(text, seconds, 5);
    wisdom_store(context, &p, &r);
}

static void what_is_stored_is_recalled(void **state) {
    const braid_problem p = given_problem(PROBLEM);
    race read = listed(PROBLEM), stored = timed(PROBLEM, 3e-4, 1234);
    (void)state;
    assert_false(wisdom_recall(context, &p, &read));
    wisdom_store(context, &p, &stored);
    assert_true(wisdom_recall(context, &p, &read));
    assert_true(fake_race_equal(&read, &stored));
    assert_int_equal(given_entries(folder, ".wisdom"), 1);
    stored = timed(PROBLEM, 5e-4, 99);
    wisdom_store(context, &p, &stored); /* replaces */
    read = listed(PROBLEM);
    assert_true(wisdom_recall(context, &p, &read));
    assert_true(fake_race_equal(&read, &stored));
    assert_int_equal(given_entries(folder, ""), 1);
}

/* A race in which a candidate had no memory says what was fastest then, not what is. */
static void a_race_for_want_of_memory_is_not_stored(void **state) {
    const braid_problem p = given_problem(PROBLEM);
    race lacking = timed(PROBLEM, 3e-4, 7);
    (void)state;
    lacking.racers[lacking.count - 1].lacks_memory = 1;
    wisdom_store(context, &p, &lacking);
    assert_false(recalls(context, PROBLEM));
    assert_int_equal(given_entries(folder, ""), 0);
}

static void another_problem_is_not_used(void **state) {
    static const char *const others[] = {
        "linear_fwd:n2:b5:c5,6:k7,8",     "linear_fwd:n2:b4:c6,5:k7,8",       "linear_fwd:n2:b4:c5,6:k8,7",
        "linear_fwd:n1:b4:c5:k7",         "linear_fwd:n2:b4:c5,6:k7,8:bias1", "linear_fwd:n2:b4:c5,6:k7,8:mask1",
        "linear_fwd:n2:b4:c5,6:k7,8:cp8", "linear_fwd:n2:b4:c5,6:k7,8:kp8",   "linear_fwd:f64:n2:b4:c5,6:k7,8",
        "linear_fwd:f16:n2:b4:c5,6:k7,8", "linear_bwd_data:n2:b4:c5,6:k7,8",  "linear_bwd_weight:n2:b4:c5,6:k7,8",
        "linear_fwd:n3:b4:c5,6,1:k7,8,1", "bn_stats:n2:b4:c5,6:hw1",
    };
    (void)state;
    store(PROBLEM, 1e-4);
    assert_true(recalls(context, PROBLEM));
    for (size_t j = 0; j < sizeof others / sizeof others[0]; j++) assert_false(recalls(context, others[j]));
}

/* The same folder seen by a context with one thing changed. */
static void assert_foreign(const braid_context_options *options, const char *identity) {
    braid_context *other = NULL;
    assert_int_equal(braid_context_create(options, &other), BRAID_OK);
    if (identity) snprintf(other->device->identity, sizeof other->device->identity, "%s", identity);
    int known = recalls(other, PROBLEM);
    race read;
    const braid_problem p = given_problem(PROBLEM);
    race_list(other, &p, &read);
    int nearest = wisdom_recall_nearest(other, &p, &read);
    braid_context_destroy(other);
    assert_false(known);
    assert_false(nearest);
}

static void another_key_is_not_used(void **state) {
    (void)state;
    store(PROBLEM, 1e-4);
    assert_foreign(&(braid_context_options){"cpu", 3, BRAID_REPRO_RUN, folder, ""}, NULL);
    assert_foreign(&(braid_context_options){"cpu", 1, BRAID_REPRO_THREADS, folder, ""}, NULL);
    assert_foreign(&(braid_context_options){"cpu", 1, BRAID_REPRO_RUN, folder, "openblas"}, NULL);
    assert_foreign(&(braid_context_options){"cpu", 1, BRAID_REPRO_RUN, folder, ""}, "another machine");
    assert_foreign(&(braid_context_options){"cpu", 1, BRAID_REPRO_RUN, "", ""}, NULL);
    assert_true(recalls(context, PROBLEM));
}

/* The only file of the folder. */
static void only_file(const char *suffix, char path[512]) {
    char command[512];
    snprintf(command, sizeof command, "ls '%s'/*%s", folder, suffix);
    FILE *names = popen(command, "r");
    assert_non_null(names);
    assert_non_null(fgets(path, 512, names));
    pclose(names);
    path[strcspn(path, "\n")] = 0;
}

static void only_entry(char path[512]) { only_file(".wisdom", path); }

/* An entry of another build in the place of ours: the name is a hash and may collide, the key may not. */
static void another_build_is_not_used(void **state) {
    static const char *const parts[] = {"build=", "kernels=", "device=", "threads=", "repro=", "disable=", "problem="};
    char path[512], *text, entry[ENTRY_BYTES];
    size_t bytes;
    (void)state;
    store(PROBLEM, 1e-4);
    only_entry(path);
    assert_int_equal(files_read(path, ENTRY_BYTES, BRAID_ERROR_DATA, &text, &bytes), BRAID_OK);
    size_t body = bytes - strlen("\nxxh3 0123456789abcdef\n");
    for (size_t j = 0; j < sizeof parts / sizeof parts[0]; j++) {
        char *at = strstr(text, parts[j]);
        assert_non_null(at);
        at += strlen(parts[j]);
        at -= *at == ';'; /* an empty part: spoil the sign before it */
        const char was = *at;
        *at = was == '7' ? '8' : '7';
        bytes = sign(entry, text, body);
        *at = was;
        assert_int_equal(files_replace(path, entry, bytes), BRAID_OK);
        assert_false(recalls(context, PROBLEM));
    }
    bytes = sign(entry, text, body);
    assert_int_equal(files_replace(path, entry, bytes), BRAID_OK);
    assert_true(recalls(context, PROBLEM));
    memory_free(text);
}

/* ---- Nearest ------------------------------------------------------------------------------ */

/* The batch whose times an unknown batch takes; 0: none. */
static int64_t nearest_to(int64_t batch) {
    char text[128];
    snprintf(text, sizeof text, "linear_fwd:b%" PRId64 ":c5:k7", batch);
    const braid_problem p = given_problem(text);
    race read = listed(text);
    if (!wisdom_recall_nearest(context, &p, &read)) return 0;
    assert_int_equal(read.from_wisdom, 1);
    return llround(read.racers[0].median * 1e6);
}

static void an_unknown_batch_takes_the_nearest(void **state) {
    (void)state;
    assert_int_equal(nearest_to(4), 0);
    store("linear_fwd:b2:c5:k7", 2e-6);
    store("linear_fwd:b8:c5:k7", 8e-6);
    store("linear_fwd:b32:c5:k7", 32e-6);
    store("linear_fwd:b5:c6:k7", 5e-6);       /* another family */
    store("linear_fwd:f16:b5:c5:k7", 5e-6);   /* another family */
    store("linear_fwd:b5:c5:k7:bias1", 5e-6); /* another family */
    const int64_t expected[][2] = {{0, 2},  {1, 2},   {2, 2},   {3, 2},   {6, 8},     {8, 8},
                                   {19, 8}, {21, 32}, {32, 32}, {33, 32}, {1000, 32}, {2147483, 32}};
    for (size_t j = 0; j < sizeof expected / sizeof expected[0]; j++) {
        assert_int_equal(nearest_to(expected[j][0]), expected[j][1]);
    }
    assert_int_equal(nearest_to(5), 2); /* as near as 8: the smaller one, whatever the order of the folder */
    assert_int_equal(nearest_to(20), 8);
}

static void strange_names_in_the_folder(void **state) {
    static const char *const names[] = {
        "-b4.wisdom",    "b4.wisdom",     ".wisdom",     "x",
        "%s-b-4.wisdom", "%s-b+4.wisdom", "%s-b4",       "%s-b4.wisdom.tmp",
        "%s-b04.wisdom", "%s-b 4.wisdom", "%s-b.wisdom", "%s-b99999999999999999999.wisdom",
        "%s-b4x.wisdom"};
    char path[512], family[17], name[128], full[512];
    (void)state;
    store("linear_fwd:b32:c5:k7", 32e-6);
    only_entry(path);
    snprintf(family, sizeof family, "%.16s", strrchr(path, '/') + 1);
    for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
        const char *hole = strstr(names[j], "%s");
        if (hole)
            snprintf(name, sizeof name, "%s%s", family, hole + 2);
        else
            snprintf(name, sizeof name, "%s", names[j]);
        snprintf(full, sizeof full, "%s/%s", folder, name);
        assert_int_equal(files_replace(full, "nonsense", 8), BRAID_OK);
        assert_int_equal(nearest_to(4), 32);
    }
}

/* ---- Through the public interface ----------------------------------------------------------- */

static const braid_race *planned(braid_op *op, const braid_plan_options *options) {
    if (braid_op_plan(op, options) != BRAID_OK) fail_msg("%s", braid_message());
    return braid_op_explain(op);
}

static ino_t inode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_ino;
}

static void plan_uses_wisdom_and_again_measures(void **state) {
    const braid_plan_options quick = {.seconds = 1e-3}, again = {.seconds = 1e-3, .again = 1};
    const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};
    braid_op *op = given_op(context, "linear_fwd:f16:b2:c3:k4"), *near = given_op(context, "linear_fwd:f16:b3:c3:k4");
    char path[512];
    (void)state;
    assert_int_equal(planned(op, &estimate)->from_wisdom, 0);
    assert_int_equal(given_entries(folder, ""), 0); /* an estimate stores nothing */
    assert_int_equal(planned(op, &quick)->from_wisdom, 0);
    only_entry(path);
    ino_t first = inode_of(path);
    const double median = braid_op_explain(op)->candidates[braid_op_explain(op)->winner].median_s;
    assert_true(median > 0);
    assert_int_equal(planned(op, &quick)->from_wisdom, 1);
    assert_true(braid_op_explain(op)->candidates[braid_op_explain(op)->winner].median_s == median);
    assert_true(inode_of(path) == first);
    assert_int_equal(planned(op, &estimate)->from_wisdom, 1);
    assert_int_equal(planned(near, &estimate)->from_wisdom, 1);
    assert_int_equal(planned(near, &quick)->from_wisdom, 0); /* the nearest serves an estimate only */
    assert_int_equal(planned(op, &again)->from_wisdom, 0);
    assert_true(inode_of(path) != first);
    braid_op_destroy(op);
    braid_op_destroy(near);
}

/* What the races of a plan or of a chain's steps left serves the next of them, not whoever asks for a whole race. */
static void a_brief_race_does_not_stand_for_a_whole_one(void **state) {
    const braid_plan_options quick = {.seconds = 1e-3}, again = {.seconds = 1e-3, .again = 1};
    const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};
    const struct {
        int is_brief;
        const braid_plan_options *options;
        int from_wisdom, is_replaced; /* the entry, by this race */
    } turns[] = {{1, &quick, 0, 1}, {1, &quick, 1, 0}, {0, &estimate, 1, 0}, {0, &quick, 0, 1},
                 {0, &quick, 1, 0}, {1, &quick, 1, 0}, {1, &again, 0, 0},    {0, &again, 0, 1}};
    int got[sizeof turns / sizeof turns[0]][2];
    char path[512];
    ino_t before = 0;
    (void)state;
    for (size_t j = 0; j < sizeof turns / sizeof turns[0]; j++) {
        braid_op *op = given_op(context, "linear_fwd:f16:b2:c3:k4");
        op->is_brief = turns[j].is_brief;
        got[j][0] = planned(op, turns[j].options)->from_wisdom;
        braid_op_destroy(op);
        only_entry(path);
        got[j][1] = inode_of(path) != before;
        before = inode_of(path);
    }
    for (size_t j = 0; j < sizeof turns / sizeof turns[0]; j++) {
        assert_int_equal(got[j][0], turns[j].from_wisdom);
        assert_int_equal(got[j][1], turns[j].is_replaced);
    }
}

/* The steps of a chain race briefly: asked for by itself, such a step races anew. */
static void a_step_of_a_chain_races_again_by_itself(void **state) {
    static const char *const problems[] = {"linear_act_fwd:b4:c8:k8", "linear_fwd:b4:c8:k8", "linear_fwd:b4:c8:k8",
                                           "linear_act_fwd:b4:c8:k8"};
    int from_wisdom[4], entries = 0;
    (void)state;
    for (int j = 0; j < 4; j++) {
        braid_op *op = given_op(context, problems[j]);
        from_wisdom[j] = planned(op, &(braid_plan_options){.seconds = 1e-3})->from_wisdom;
        braid_op_destroy(op);
        if (j == 0) entries = given_entries(folder, ".wisdom");
    }
    assert_in_range(entries, 2, 9); /* its own, and of its steps */
    assert_true(!from_wisdom[0] && !from_wisdom[1] && from_wisdom[2] && from_wisdom[3]);
}

/* ---- Races that were left out ------------------------------------------------------------------ */

static void a_note_of_a_race_left_out(void **state) {
    braid_problem p = given_problem("linear_fwd:f16:b2:c3:k4"), other = given_problem("linear_fwd:f16:b3:c3:k4");
    char path[512];
    (void)state;
    assert_true(wisdom_left_out(context, &p) == 0);
    wisdom_leave_out(context, &p, 5);
    assert_true(wisdom_left_out(context, &p) == 5);
    wisdom_leave_out(context, &p, 20);
    assert_true(wisdom_left_out(context, &p) == 20);
    assert_true(wisdom_left_out(context, &other) == 0);
    assert_int_equal(given_entries(folder, ".left"), 1);
    assert_int_equal(given_entries(folder, ".wisdom"), 0);
    only_file(".left", path);
    assert_int_equal(files_replace(path, "nonsense", 8), BRAID_OK);
    assert_true(wisdom_left_out(context, &p) == 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(an_entry_reads_back),
        CASE(every_byte_changed),
        CASE(every_truncation_and_shift),
        CASE(forged_entries_cannot_choose_what_cannot_run),
        CASE(forged_entries_are_refused_in_words),
        CASE(an_entry_nested_to_death),
        CASE(what_is_stored_is_recalled),
        CASE(a_race_for_want_of_memory_is_not_stored),
        CASE(another_problem_is_not_used),
        CASE(another_key_is_not_used),
        CASE(another_build_is_not_used),
        CASE(an_unknown_batch_takes_the_nearest),
        CASE(strange_names_in_the_folder),
        CASE(plan_uses_wisdom_and_again_measures),
        CASE(a_brief_race_does_not_stand_for_a_whole_one),
        CASE(a_step_of_a_chain_races_again_by_itself),
        CASE(a_note_of_a_race_left_out),
    };
    return cmocka_run_group_tests_name("wisdom", tests, NULL, NULL);
}
