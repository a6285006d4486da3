/*
 * A run whose power goes. Runs that save are written down call by call; then a model of ext4 and of ext2 draws what the
 * disk may hold when the power goes after any call (tests/support/disk.h). That is written as a folder, and a run goes
 * on from it: at the step that was last promised or a later one, without a word of damage, and in the end with the bits
 * of a run that was never stopped. The same holds where a sync fails once. Where syncs lie, steps may be lost, but no
 * weights are wrong: the run goes on to the same bits, or says why not.
 *
 * BRAID_STATES different states in all, 320 where it is not set, 2000 in make test-full. The states of one recorded
 * run again; of one that is not fine the calls are printed:
 *
 *     build/tests/train/power_cuts ext2 17
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/safetensors.h"
#include "tests/support/disk.h"
#include "tests/support/disk_log.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

#define PARENT "runs"
#define RUN PARENT "/one"
#define FOLDERS 2  /* these, which are there when a run begins */
#define MENDING 24 /* calls in which a run that goes on looks at what it found */
#define FEW 320
#define SHARES 8      /* of all states; a plan has some of them */
#define CUTS 8        /* of one recorded run, at most */
#define MOST_RUNS 200 /* for one state that is new */
#define LATE_SYNC 30  /* the one that fails is among so many */
#define LONGEST_S 60  /* of one state; it takes milliseconds */
#define PATH_BYTES 96
#define TENSOR_BYTES 4096 /* more than any of the network has */

/* Steps; an epoch has 6. The best epoch of the end is the second, so that its file is not written once more. */
#define FIRST_ENDS 14
#define SECOND_ENDS 16
#define END 17

typedef enum way { EVERY_STEP, EVERY_EPOCH, GOES_ON, IN_A_NEW_FOLDER, WITHOUT_LINKS, WAYS } way;

typedef struct plan {
    const char *name;
    int shares;
    disk_kind kind;
    bool lies;          /* syncs do */
    disk_faults faults; /* one sync of a run fails, if failing_sync is set */
    int ways;           /* the first so many */
} plan;

/* ---- Runs that are written down ------------------------------------------------------------- */

static const char *const checkpoints[] = {RUN "/last.safetensors", RUN "/last.previous.safetensors",
                                          RUN "/best.safetensors", RUN "/best.previous.safetensors"};

static braid_train_options options(void) {
    braid_train_options o = small_run_options();
    o.folder = RUN;
    o.monitor = "val_loss"; /* which falls: each epoch is the best so far */
    o.steps = END;
    for (int i = 0; i < 4; i++) o.resume = o.resume || access(checkpoints[i], F_OK) == 0;
    return o;
}

static char base[PATH_BYTES]; /* here each test begins: it has the folders work, state and whole */

static void enter(const char *folder) {
    if (chdir(folder) != 0) fail_msg("cannot enter %s", folder);
}

static disk_log *promises; /* of the process that is written down */
static int64_t every, last_step;
static bool was_refused;

/* An update is told before it is saved, an epoch after it. */
static int promise(void *user, const braid_train_event *e) {
    bool is_epoch = e->kind == BRAID_TRAIN_EVENT_EPOCH;
    int64_t saved = is_epoch ? e->step : e->step - 1;
    (void)user;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) {
        was_refused = true;
    } else if (is_epoch || every) {
        if (!was_refused) disk_log_promise(promises, saved);
        was_refused = false;
    }
    return e->step >= last_step;
}

/* In a child, in the folder that is written down. */
static _Noreturn void work(disk_log *log, way how, int64_t steps, const disk_faults *faults) {
    small_run r;
    braid_train_options o = options();
    promises = log;
    last_step = steps;
    every = o.save_steps = how != EVERY_EPOCH;
    o.event = promise;
    disk_log_start(log, faults);
    braid_status status = small_run_open(&r, &o);
    if (!status) {
        disk_log_promise(log, small_run_step(&r));
        status = braid_trainer_run(r.trainer);
    }
    if (status) fprintf(stderr, "the run that is written down: %s\n", braid_message());
    if (!status) disk_log_promise(log, small_run_step(&r));
    small_run_close(&r);
    _exit((int)status);
}

/* The model of a disk that got everything is the folder: no call is missing from the log. */
static void compare_model(const disk_log *log) {
    enter("work");
    uint64_t real = disk_tree();
    enter("../state");
    for (int kind = DISK_EXT4; kind <= DISK_EXT2; kind++) {
        const disk_cut all = {.kind = (disk_kind)kind, .calls = disk_log_count(log), .everything = true};
        disk_clear();
        if (disk_write(log, &all) != real) fail_msg("the model of a disk that got everything differs from the folder");
    }
    enter("..");
}

static void write_down(disk_log *log, way how, int64_t steps, const disk_faults *faults) {
    int ended;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir("work") != 0) _exit(99);
        work(log, how, steps, faults);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) fail_msg("the run that is written down ended with %d", ended);
    compare_model(log);
}

/* Any call; where the run goes on, often one of its first, in which it mends what it found. */
static int draw_calls(rng *r, const disk_log *log) {
    int first = disk_log_count_of(log, DISK_FOUND), last = disk_log_count(log);
    if (first > FOLDERS && last > first + MENDING && rng_between(r, 0, 1)) last = first + MENDING;
    return (int)rng_between(r, first, last);
}

#define ROW "{\"kind\":\""

/* Up to the call that writes the row of the first epoch; the checkpoint that knows of it comes later. */
static int first_row(const disk_log *log) {
    int i = 0;
    while (i < disk_log_count(log)) {
        const disk_call *call = disk_log_at(log, i++);
        if (call->kind == DISK_WRITE && call->bytes >= sizeof ROW && !memcmp(call->data, ROW, sizeof ROW - 1)) break;
    }
    return i;
}

/* What a run finds that goes on: any state, or a row that no checkpoint knows of. */
static void write_what_goes_on(const disk_log *log, disk_kind kind, rng *r) {
    disk_cut cut = {.kind = kind, .calls = draw_calls(r, log), .seed = rng_u32(r)};
    cut.everything = rng_between(r, 0, 1);
    if (cut.everything) cut.calls = first_row(log);
    enter("work");
    disk_clear();
    disk_write(log, &cut);
    enter("..");
}

static void record(disk_log *log, const plan *p, way how, rng *r) {
    disk_faults faults = {.no_links = how == WITHOUT_LINKS};
    enter("work");
    disk_clear();
    if (how != IN_A_NEW_FOLDER && (mkdir(PARENT, 0755) != 0 || mkdir(RUN, 0755) != 0)) fail_msg("no folder to work in");
    enter("..");
    if (how == GOES_ON) {
        write_down(log, EVERY_STEP, FIRST_ENDS, &faults);
        write_what_goes_on(log, p->kind, r);
    }
    faults = p->faults;
    faults.no_links = how == WITHOUT_LINKS;
    int begins = how == IN_A_NEW_FOLDER ? FOLDERS : 0; /* it does not, if the syncs of what it makes fail */
    if (p->faults.failing_sync) faults.failing_sync = begins + (int)rng_between(r, 1, p->faults.failing_sync);
    write_down(log, how, SECOND_ENDS, &faults);
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* What a state that is not fine has to say. */
static char said[4096];

static void say(const char *format, const char *text) {
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, format, text);
}

#define WHOLE "../whole/" RUN /* of the run that was never stopped */

/* Sectors of ext2 that hold what another file had can bring lines that are no rows: braid leaves those to people. */
static size_t keep_rows(char *text, size_t bytes) {
    size_t used = 0;
    for (char *at = text, *end = text + bytes, *next; at < end; at = next) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline ? newline + 1 : end;
        if ((size_t)(next - at) < sizeof ROW || memcmp(at, ROW, sizeof ROW - 1) != 0) continue;
        memmove(text + used, at, (size_t)(next - at));
        used += (size_t)(next - at);
    }
    return used;
}

static bool is_same(const char *name, bool rows_alone) {
    char paths[2][PATH_BYTES], *data[2] = {NULL, NULL};
    size_t bytes[2] = {0, 1};
    snprintf(paths[0], PATH_BYTES, RUN "/%s", name);
    snprintf(paths[1], PATH_BYTES, WHOLE "/%s", name);
    for (int i = 0; i < 2; i++)
        if (files_read(paths[i], 1 << 24, BRAID_ERROR_DATA, &data[i], &bytes[i])) say("%s\n", braid_message());
    if (data[0] && rows_alone) bytes[0] = keep_rows(data[0], bytes[0]);
    bool same = data[0] && data[1] && bytes[0] == bytes[1] && memcmp(data[0], data[1], bytes[0]) == 0;
    if (!same) say("%s differs from that of a run that was never stopped\n", name);
    for (int i = 0; i < 2; i++) memory_free(data[i]);
    return same;
}

static bool is_same_tensor(const safetensors *a, const safetensors *b, size_t index) {
    char data[2][TENSOR_BYTES];
    const safetensors_entry *x = safetensors_at(a, index), *y = safetensors_at(b, index);
    size_t bytes = x->end - x->begin;
    if (strcmp(x->name, y->name) != 0 || bytes != y->end - y->begin || bytes > TENSOR_BYTES) return false;
    return !safetensors_read(a, x, data[0]) && !safetensors_read(b, y, data[1]) && !memcmp(data[0], data[1], bytes);
}

/* The tensors alone: parameters, moments and statistics. */
static bool has_weights_of(const char *name, const char *whole) {
    safetensors *ours = NULL, *theirs = NULL;
    bool same = !safetensors_open(name, &ours) && !safetensors_open(whole, &theirs) &&
                safetensors_count(ours) == safetensors_count(theirs);
    for (size_t i = 0; same && i < safetensors_count(ours); i++) same = is_same_tensor(ours, theirs, i);
    safetensors_close(ours);
    safetensors_close(theirs);
    return same;
}

/* ---- Going on ------------------------------------------------------------------------------- */

/* What the power has left of a run. */
typedef struct remains {
    const plan *plan;
    way how;
    int64_t promised;
    bool may_lose_rows;
} remains;

/* Exit codes of the child that goes on. */
typedef enum verdict { SAME = 10, LATE, REFUSED, WRONG } verdict;

static char noted[1024];

static int note(void *user, const braid_train_event *e) {
    (void)user;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) snprintf(noted, sizeof noted, "%s", e->text);
    return 0;
}

static verdict refused(void) {
    const char *why = braid_message();
    say("refused: %s\n", why);
    return strstr(why, RUN) && strstr(why, "expected") ? REFUSED : WRONG;
}

/* On a disk that lies the last weights are those of the run, and the best those of its best epoch so far, or of the one
 * before, where that file alone came through; a note tells of a best epoch that is gone. */
static bool has_right_weights(void) {
    bool last = has_weights_of(RUN "/last.safetensors", WHOLE "/last.safetensors");
    bool best = noted[0] || has_weights_of(RUN "/best.safetensors", WHOLE "/best.safetensors") ||
                has_weights_of(RUN "/best.safetensors", WHOLE "/best.previous.safetensors");
    if (!last) say("%s\n", "last.safetensors has other weights than the run that was never stopped");
    if (!best) say("%s\n", "best.safetensors has weights of no epoch that was the best");
    return last && best;
}

/* On one that keeps its word every file has its bits, and nothing is told of damage. */
static bool ends_well(const remains *s) {
    bool may_go_back = s->promised == 0 || s->how == WITHOUT_LINKS; /* to best, or to the older generation */
    if (s->plan->lies) return has_right_weights();
    if (noted[0] && !may_go_back) return false;
    return is_same("last.safetensors", false) && is_same("best.safetensors", false) &&
           (s->may_lose_rows || is_same("metrics.jsonl", s->plan->kind == DISK_EXT2));
}

static bool is_clean(void) {
    if (memory_live()) say("%s\n", "memory is left");
    if (folder_begin_with(RUN, ".braid.")) say("%s\n", "a temporary file of the dead run is left");
    return !memory_live() && !folder_begin_with(RUN, ".braid.");
}

static verdict go_on(const remains *s) {
    small_run r;
    braid_train_options o = options();
    o.event = note;
    if (small_run_open(&r, &o)) return refused();
    int64_t step = small_run_step(&r);
    if (braid_trainer_run(r.trainer)) return refused();
    small_run_close(&r);
    if (noted[0]) say("note: %s\n", noted);
    if (!ends_well(s) || !is_clean()) return WRONG;
    return step < s->promised ? LATE : SAME;
}

static bool is_fine(const remains *s, verdict v) {
    if (v == REFUSED) return s->promised == 0 || s->plan->lies;
    return v == SAME || (v == LATE && s->plan->lies);
}

/* In a child, in the folder of a state. */
static verdict look_at(const remains *s) {
    int ended;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(LONGEST_S);
        verdict v = go_on(s);
        if (!is_fine(s, v)) fputs(said, stderr);
        _exit((int)v);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    return WIFEXITED(ended) ? (verdict)WEXITSTATUS(ended) : WRONG;
}

/* ---- States --------------------------------------------------------------------------------- */

/* The last step of which it was told before the call, or the one that the run began with. */
static int64_t promised_before(const disk_log *log, int calls) {
    int64_t step = -1;
    for (int i = 0; i < disk_log_count(log); i++) {
        const disk_call *call = disk_log_at(log, i);
        if (call->kind == DISK_PROMISE && (i < calls || step < 0)) step = call->number;
    }
    return step;
}

/* Is the power gone between giving metrics.jsonl another file and bringing that name to the disk? ext2 may then have
 * removed the old file and not have the name of the new one. A checkpoint has a second name meanwhile. Before the first
 * promise ext2 may have the name of the first checkpoint, and not that of the metrics. */
static bool is_replacing_metrics(const disk_log *log, int calls) {
    bool replaces = false;
    for (int i = 0; i < calls; i++) {
        const disk_call *call = disk_log_at(log, i);
        if (call->kind == DISK_RENAME) replaces = strcmp(call->to, RUN "/metrics.jsonl") == 0;
        if (call->kind == DISK_SYNC && !call->failed) replaces = false;
    }
    return replaces;
}

typedef struct counts {
    int states, verdicts[WRONG + 1], without_rows;
    uint64_t *seen;
} counts;

static bool is_new(counts *c, uint64_t sum) {
    for (int i = 0; i < c->states; i++)
        if (c->seen[i] == sum) return false;
    c->seen[c->states++] = sum;
    return true;
}

/* One state of a recorded run, if it is another than those before. */
static void try_cut(counts *c, const disk_log *log, remains *s, rng *r, int recording) {
    const plan *p = s->plan;
    disk_cut cut = {.kind = p->kind, .calls = draw_calls(r, log), .seed = rng_u32(r)};
    if (p->lies) cut.lies = (disk_lies)rng_between(r, DISK_LIES_AT_TIMES, DISK_LIES_OF_FOLDERS);
    s->promised = promised_before(log, cut.calls);
    s->may_lose_rows = p->kind == DISK_EXT2 && !p->lies && (s->promised == 0 || is_replacing_metrics(log, cut.calls));
    enter("state");
    disk_clear();
    if (is_new(c, disk_write(log, &cut) + (uint64_t)s->promised)) {
        verdict v = look_at(s);
        if (!is_fine(s, v)) {
            disk_log_print(log, cut.calls);
            fail_msg("%s %d: after these %d calls of %d, step %lld promised: %s", p->name, recording, cut.calls,
                     disk_log_count(log), (long long)s->promised, v == LATE ? "it is lost" : "wrong or refused");
        }
        c->verdicts[v]++;
        c->without_rows += s->may_lose_rows;
    }
    enter("..");
}

static int only = -1; /* the states of this recorded run; of all where it is negative */

static int states_of(const plan *p) {
    const char *wanted = getenv("BRAID_STATES");
    return (wanted ? (int)strtol(wanted, NULL, 10) : FEW) * p->shares / SHARES;
}

static void cut_power(const plan *p) {
    int wanted = states_of(p), recording = only < 0 ? 0 : only;
    counts c = {.seen = calloc((size_t)wanted + 1, sizeof *c.seen)};
    disk_log *log = disk_log_create();
    assert_non_null(c.seen);
    enter(base);
    for (; c.states < wanted && recording < wanted * MOST_RUNS; recording++) {
        rng r = {.seed = 23, .stream = (uint64_t)recording};
        remains s = {.plan = p, .how = (way)(recording % p->ways)};
        record(log, p, s.how, &r);
        for (int i = 0; i < CUTS && c.states < wanted; i++) try_cut(&c, log, &s, &r, recording);
        if (only >= 0) break;
    }
    int lost = c.verdicts[LATE];
    print_message("%s: %d states of %d runs: %d the same bits, %d of them from an earlier step; %d refused\n", p->name,
                  c.states, recording, c.verdicts[SAME] + lost, lost, c.verdicts[REFUSED]);
    if (c.without_rows) print_message("%s: rows of metrics.jsonl may be gone in %d\n", p->name, c.without_rows);
    assert_true(only >= 0 || c.states == wanted);
    assert_true(only >= 0 || !p->lies || lost + c.verdicts[REFUSED] > 0); /* a lie is seen */
    disk_log_destroy(log);
    free(c.seen);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void ext4(void **state) {
    (void)state;
    cut_power(&(plan){.name = "ext4", .kind = DISK_EXT4, .shares = 2, .ways = WAYS});
}

/* ext2 has links. */
static void ext2(void **state) {
    (void)state;
    cut_power(&(plan){.name = "ext2", .kind = DISK_EXT2, .shares = 2, .ways = WITHOUT_LINKS});
}

/* One of the first syncs of a run fails. */
#define FAILING 30

static void ext4_fails(void **state) {
    (void)state;
    cut_power(&(plan){
        .name = "ext4_fails", .kind = DISK_EXT4, .faults = {.failing_sync = FAILING}, .shares = 1, .ways = WAYS});
}

/* Syncs of files: a folder's that fails can cost a promised step, see the limits in docs/faults.md. */
static void ext2_fails(void **state) {
    (void)state;
    cut_power(&(plan){.name = "ext2_fails",
                      .kind = DISK_EXT2,
                      .faults = {.failing_sync = FAILING, .spare_folders = true},
                      .shares = 1,
                      .ways = WITHOUT_LINKS});
}

static void ext4_lies(void **state) {
    (void)state;
    cut_power(&(plan){.name = "ext4_lies", .kind = DISK_EXT4, .lies = true, .shares = 1, .ways = WAYS});
}

static void ext2_lies(void **state) {
    (void)state;
    cut_power(&(plan){.name = "ext2_lies", .kind = DISK_EXT2, .lies = true, .shares = 1, .ways = WAYS});
}

/* The run that is never stopped. */
static int begin(void **state) {
    small_run r;
    *state = NULL;
    if (folder_enter(state) != 0 || !getcwd(base, sizeof base)) return -1;
    if (mkdir("work", 0755) != 0 || mkdir("state", 0755) != 0 || mkdir("whole", 0755) != 0) return -1;
    if (chdir("whole") != 0) return -1;
    braid_train_options o = options();
    if (small_run_open(&r, &o) || braid_trainer_run(r.trainer)) return -1;
    small_run_close(&r);
    return 0;
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ext4),       cmocka_unit_test(ext2),      cmocka_unit_test(ext4_fails),
        cmocka_unit_test(ext2_fails), cmocka_unit_test(ext4_lies), cmocka_unit_test(ext2_lies),
    };
    if (count == 3) {
        cmocka_set_test_filter(arguments[1]);
        only = (int)strtol(arguments[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, begin, folder_leave);
}
