/*
 * Listing, checking, timing, deciding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/race.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/threads.h"
#include "race/measure.h"
#include "race/noise.h"
#include "race/verify.h"

#define DEFAULT_SECONDS 2.0
#define EXHAUSTIVE_SECONDS 20.0
#define WAIT_SHARE 0.2 /* of the budget, to wait for a quiet machine */
#define MOST_WAIT 1.0
#define SLOW_FACTOR 2.5             /* predicted so much slower than our best: not worth a race where time is short */
#define SLOW_REFERENCE_SECONDS 0.05 /* a reference predicted slower than this is not timed beside others */

/* Of the shortest race: small problems of the check, filling operands, launches of a candidate. */
#define FIXED_SECONDS 0.1
#define SECONDS_PER_BYTE 4e-8
#define SECONDS_PER_BYTE_AFAR 2e-9 /* of a GPU, whose host only fills and compares */
#define LAUNCHES 24
#define QUICK_BYTES 3e7 /* of the operands of a check where time is short */

/* A shorter launch is mostly the call and the waking of threads, and more times as fast than this is a launch that was
 * disturbed: then times are told, and no ratio of them. */
#define CLAIM_SECONDS 2e-5
#define CLAIM_RATIO 50.0

static void set_reason(racer *r, const char *reason) { snprintf(r->reason, sizeof r->reason, "%s", reason); }

void race_ask_one(const braid_context *context, const braid_problem *p, racer *one) {
    if (!one->is_open) return;
    one->is_open = 0;
    const refusal refused = kernel_refusal(one->kernel, p, context->device);
    if (refused.kind) set_reason(one, refused.text);
    one->lacks_memory = refused.kind == REFUSAL_NO_MEMORY;
}

void race_ask(const braid_context *context, const braid_problem *p, race *r) {
    for (int j = 0; j < r->count; j++) race_ask_one(context, p, &r->racers[j]);
}

void race_list(const braid_context *context, const braid_problem *p, race *out) {
    race_list_quick(context, p, out);
    race_ask(context, p, out);
}

void race_list_quick(const braid_context *context, const braid_problem *p, race *out) {
    *out = (race){.winner = -1, .device = context->device};
    for (int j = 0; j < kernel_count() && out->count < RACE_MAX_CANDIDATES; j++) {
        const kernel *k = kernel_at(j);
        if (k->op != p->op || k->pass != p->pass || !kernel_runs_on(k, context->device)) continue;
        racer *r = &out->racers[out->count++];
        *r = (racer){.kernel = k, .max_err = -1};
        const char *reason = context_excludes(context, k);
        if (reason)
            set_reason(r, reason);
        else
            r->is_open = 1;
        if (!k->vendor || k->backend != KERNEL_CUDA) race_ask_one(context, p, r);
    }
}

/* Predicted seconds of a candidate, by all threads that it would be given. */
static double predict(const race *r, const kernel *k, const braid_problem *p) {
    return k->functions->cost(p, &(machine){r->device, threads_get()});
}

/* The candidates without a reason. */
static int able(race *r, racer **list) {
    int count = 0;
    for (int j = 0; j < r->count; j++) {
        if (!r->racers[j].reason[0]) list[count++] = &r->racers[j];
    }
    return count;
}

const racer *race_lacking(const race *r) {
    for (int j = 0; j < r->count; j++) {
        if (r->racers[j].lacks_memory) return &r->racers[j];
    }
    return NULL;
}

void race_spare_reference(const braid_problem *p, race *r) {
    racer *list[RACE_MAX_CANDIDATES];
    int count = able(r, list);
    for (int j = 0; j < count && count > 1; j++) {
        const kernel *k = list[j]->kernel;
        if (k->backend == KERNEL_REF && predict(r, k, p) > SLOW_REFERENCE_SECONDS) {
            set_reason(list[j], "the reference, too slow to race beside other candidates");
        }
    }
}

void race_spare_slow(const braid_problem *p, race *r) {
    racer *list[RACE_MAX_CANDIDATES];
    double best = INFINITY;
    int count = able(r, list);
    for (int j = 0; j < count; j++) {
        if (kernel_kind(list[j]->kernel) == BRAID_KIND_OWN) best = fmin(best, predict(r, list[j]->kernel, p));
    }
    for (int j = 0; j < count; j++) {
        const kernel *k = list[j]->kernel;
        if (!k->vendor && predict(r, k, p) > SLOW_FACTOR * best)
            set_reason(list[j], "predicted to be far slower than our best; --effort exhaustive races it too");
    }
}

double race_predict_best(const braid_problem *p, const race *r) {
    double best = INFINITY;
    for (int j = 0; j < r->count; j++) {
        if (!r->racers[j].reason[0]) best = fmin(best, predict(r, r->racers[j].kernel, p));
    }
    return isfinite(best) ? best : 0;
}

double race_predict(const braid_problem *p, const device *d, const race *r) {
    double per_byte = d->backend->has_own_memory ? SECONDS_PER_BYTE_AFAR : SECONDS_PER_BYTE;
    double seconds = FIXED_SECONDS + per_byte * (double)op_bytes(p);
    for (int j = 0; j < r->count; j++) {
        if (!r->racers[j].reason[0]) seconds += LAUNCHES * predict(r, r->racers[j].kernel, p);
    }
    return seconds;
}

typedef braid_status check_function(const braid_problem *p, device *d, const kernel *const *kernels, int count,
                                    uint64_t seed, verdict *verdicts);

static braid_status check_all(const braid_context *context, const braid_problem *p, uint64_t seed, race *r,
                              check_function *verify) {
    racer *list[RACE_MAX_CANDIDATES];
    const kernel *kernels[RACE_MAX_CANDIDATES];
    verdict *verdicts = NULL;
    int count = able(r, list);
    for (int j = 0; j < count; j++) kernels[j] = list[j]->kernel;
    TRY(memory_calloc((size_t)count, sizeof *verdicts, "verdicts", (void **)&verdicts));
    braid_status status = verify(p, context->device, kernels, count, seed, verdicts);
    for (int j = 0; j < count && status == BRAID_OK; j++) {
        list[j]->max_err = verdicts[j].max_err;
        list[j]->compared = verdicts[j].compared;
        if (verdicts[j].failure[0]) set_reason(list[j], verdicts[j].failure);
        list[j]->lacks_memory = verdicts[j].lacks_memory;
    }
    memory_free(verdicts);
    return status;
}

braid_status race_check(const braid_context *context, const braid_problem *p, uint64_t seed, race *r) {
    return check_all(context, p, seed, r, verify_kernels);
}

braid_status race_check_small(const braid_context *context, const braid_problem *p, uint64_t seed, race *r) {
    return check_all(context, p, seed, r, verify_small);
}

/* The problem with as many of its samples as a quick check can take. */
static braid_problem fewer_samples(const braid_problem *p) {
    braid_problem fewer = *p;
    while (fewer.batch > 1 && (double)op_bytes(&fewer) > QUICK_BYTES) fewer.batch = (fewer.batch + 1) / 2;
    return braid_problem_check(&fewer) ? *p : fewer;
}

/* Real mode with fewer samples; kernels that cannot do that, on the problem itself. */
static braid_status verify_fewer(const braid_problem *p, device *d, const kernel *const *kernels, int count,
                                 uint64_t seed, verdict *verdicts) {
    const braid_problem fewer = fewer_samples(p);
    TRY(verify_real(&fewer, d, kernels, count, seed, verdicts));
    for (int j = 0; j < count; j++) {
        if (verdicts[j].failure[0] || !kernel_refuses(kernels[j], &fewer, d)) continue;
        TRY(verify_real(p, d, &kernels[j], 1, seed, &verdicts[j]));
    }
    return BRAID_OK;
}

static braid_status verify_quick(const braid_problem *p, device *d, const kernel *const *kernels, int count,
                                 uint64_t seed, verdict *verdicts) {
    TRY(verify_small(p, d, kernels, count, seed, verdicts));
    return verify_fewer(p, d, kernels, count, seed, verdicts);
}

braid_status race_check_quick(const braid_context *context, const braid_problem *p, uint64_t seed, race *r) {
    return check_all(context, p, seed, r, verify_quick);
}

braid_status race_check_winner(const braid_context *context, const braid_problem *p, uint64_t seed, race *r) {
    for (race_decide(p, r); r->winner >= 0; race_decide(p, r)) {
        racer *winner = &r->racers[r->winner];
        verdict v = {.max_err = winner->max_err, .compared = winner->compared};
        TRY(verify_fewer(p, context->device, &winner->kernel, 1, seed, &v));
        winner->max_err = v.max_err;
        winner->compared = v.compared;
        if (!v.failure[0]) return BRAID_OK;
        set_reason(winner, v.failure);
        winner->lacks_memory = v.lacks_memory;
        winner->median = 0;
    }
    return BRAID_OK;
}

#define MOST_KERNELS 4096
static atomic_uchar is_proven[MOST_KERNELS]; /* by their place in the list, in this process */

/* The place of a kernel in the list; MOST_KERNELS: none, or one that cannot be noted. */
static int place_of(const kernel *k) {
    for (int j = 0; j < kernel_count() && j < MOST_KERNELS; j++)
        if (kernel_at(j) == k) return j;
    return MOST_KERNELS;
}

braid_status race_prove(const braid_context *context, const braid_problem *p, racer *one, int *right) {
    const int place = place_of(one->kernel);
    verdict v;
    *right = 1;
    if (place < MOST_KERNELS && atomic_load(&is_proven[place])) return BRAID_OK;
    threads_set(1); /* waiting for another thread takes longer than the work */
    braid_status status = verify_once(p, context->device, one->kernel, &v);
    threads_set(context->threads);
    TRY(status);
    *right = !v.failure[0];
    if (*right && place < MOST_KERNELS) atomic_store(&is_proven[place], 1);
    if (*right) return BRAID_OK;
    log_write(LOG_WISDOM, "%s was remembered and fails now: %s", one->kernel->name, v.failure);
    set_reason(one, v.failure);
    one->median = one->low = one->high = 0;
    return BRAID_OK;
}

void race_forget_times(race *r) {
    r->winner = -1;
    r->is_busy = 0;
    for (int j = 0; j < r->count; j++) {
        racer *one = &r->racers[j];
        one->median = one->low = one->high = 0;
        one->over = (ratio){0, 0, 0};
    }
}

static void take_times(const runner *from, racer *to) {
    interval i = interval_of(from->seconds, from->rounds);
    to->workspace_bytes = from->workspace_bytes;
    if (from->failure[0]) {
        set_reason(to, from->failure);
        to->lacks_memory = from->lacks_memory;
        return;
    }
    to->median = i.median;
    to->low = i.low;
    to->high = i.high;
}

/* Every time over that of the baseline, round by round. */
static void take_ratios(const runner *runners, racer *const *list, int count, race *r) {
    const int baseline = race_baseline(r);
    const runner *base = NULL;
    for (int j = 0; j < count; j++)
        if (baseline >= 0 && list[j] == &r->racers[baseline]) base = &runners[j];
    for (int j = 0; j < count && base; j++) {
        const int rounds = runners[j].rounds < base->rounds ? runners[j].rounds : base->rounds;
        list[j]->over =
            &runners[j] == base ? ratio_itself() : ratio_of_rounds(runners[j].seconds, base->seconds, rounds);
    }
}

static void take_load(const braid_context *context, const load_mark *mark, race *r) {
    const load l = load_since(mark, context->device);
    r->is_busy = load_is_heavy(&l, context_threads(context)) && !load_is_ignored();
    r->load[0] = 0;
    if (l.cpus > 0) load_print(&l, r->load);
}

braid_status race_time(braid_context *context, const braid_problem *p, const braid_plan_options *options, race *r) {
    racer *list[RACE_MAX_CANDIDATES];
    runner *runners = NULL;
    int exhaustive = options->effort == BRAID_EFFORT_EXHAUSTIVE;
    double budget = options->seconds > 0 ? options->seconds : exhaustive ? EXHAUSTIVE_SECONDS : DEFAULT_SECONDS;
    measure_options how = {.seconds = budget, .min_rounds = exhaustive ? 32 : 8, .warm = options->warm, .seed = 1};
    r->floor = noise_floor(context, budget).within;
    int count = able(r, list);
    TRY(memory_calloc((size_t)count, sizeof *runners, "runners", (void **)&runners));
    for (int j = 0; j < count; j++) runners[j].kernel = list[j]->kernel;
    if (!load_is_ignored())
        (void)load_wait(context_threads(context), context->device, fmin(MOST_WAIT, WAIT_SHARE * budget));
    const load_mark mark = load_now();
    braid_status status = measure_runners(p, context->device, runners, count, &how);
    for (int j = 0; j < count && status == BRAID_OK; j++) take_times(&runners[j], list[j]);
    if (status == BRAID_OK) take_ratios(runners, list, count, r);
    take_load(context, &mark, r);
    memory_free(runners);
    return status;
}

/* ---- Deciding ----------------------------------------------------------------------------- */

/* The fastest timed candidate of a kind; NULL: none. The first of the list where two are equal. */
static const racer *fastest(const race *r, braid_kind kind) {
    const racer *best = NULL;
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->reason[0] || one->median <= 0 || kernel_kind(one->kernel) != kind) continue;
        if (!best || one->median < best->median) best = one;
    }
    return best;
}

int race_baseline(const race *r) {
    static const braid_kind order[] = {BRAID_KIND_VENDOR, BRAID_KIND_CHAIN, BRAID_KIND_REF, BRAID_KIND_OWN};
    const racer *found = NULL;
    for (size_t k = 0; k < sizeof order / sizeof order[0] && !found; k++) found = fastest(r, order[k]);
    return found ? (int)(found - r->racers) : -1;
}

interval race_ratio(const race *r, const racer *one, const racer *other, certainty how) {
    const ratio over = ratio_between(&one->over, &other->over);
    return ratio_interval(&over, how, r->floor);
}

/* Whether one is faster than another, sure enough to choose it. */
static int is_faster(const race *r, const racer *one, const racer *other) {
    return race_ratio(r, one, other, CERTAIN_TO_CHOOSE).high < 1;
}

/* The fastest of ours that beats the vendor beyond the noise; NULL: none does. */
static const racer *clear_winner(const race *r, const racer *vendor) {
    const racer *best = NULL;
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->reason[0] || one->median <= 0 || kernel_kind(one->kernel) != BRAID_KIND_OWN) continue;
        if (is_faster(r, one, vendor) && (!best || one->median < best->median)) best = one;
    }
    return best;
}

static void choose(race *r, const racer *winner, const char *why) {
    r->winner = (int)(winner - r->racers);
    snprintf(r->why, sizeof r->why, "%s", why);
    log_write(LOG_CHOOSE, "%s: %s", winner->kernel->name, why);
}

static void decide_by_cost(const braid_problem *p, int threads, race *r, const char *why) {
    const machine on = {r->device, threads};
    const racer *best = NULL;
    double best_cost = INFINITY;
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->reason[0]) continue;
        double cost = one->kernel->functions->cost(p, &on);
        if (best && cost >= best_cost) continue;
        best = one;
        best_cost = cost;
    }
    if (best) choose(r, best, why);
}

/* "2.1 us (2 to 2.3)" */
static void print_time(const racer *r, char *text, size_t room) {
    const double scale = r->median < 1e-3 ? 1e6 : 1e3;
    real_format(text, room, "%.3g %s (%.3g to %.3g)", scale * r->median, scale > 1e3 ? "us" : "ms", scale * r->low,
                scale * r->high);
}

/* That one is faster than the other, and by how much where that is worth a claim. */
static void print_faster(const race *r, const racer *fast, const racer *slow, const char *who, const char *whom,
                         char text[RACE_TEXT]) {
    char times[2][64];
    const interval speed = race_ratio(r, slow, fast, CERTAIN_TO_CHOOSE);
    if (fast->median >= CLAIM_SECONDS && slow->median <= CLAIM_RATIO * fast->median) {
        real_format(text, RACE_TEXT, "%s is %.2fx as fast as %s (%s), between %.2fx and %.2fx", who, speed.median, whom,
                    slow->kernel->name, speed.low, speed.high);
        return;
    }
    print_time(fast, times[0], sizeof times[0]);
    print_time(slow, times[1], sizeof times[1]);
    snprintf(text, RACE_TEXT, "%s is faster than %s (%s): %s against %s", who, whom, slow->kernel->name, times[0],
             times[1]);
}

/* The chain takes the place of a fused kernel that it beats beyond the noise. A tie goes to the fused kernel, which
 * needs no memory between. */
static void prefer_chain(race *r, const racer *chain) {
    char why[RACE_TEXT];
    const racer *winner = r->winner < 0 ? NULL : &r->racers[r->winner];
    if (!chain || !winner || chain == winner || winner->median <= 0 || !is_faster(r, chain, winner)) return;
    print_faster(r, chain, winner, "the chain of natural ops", "the fastest fused kernel", why);
    choose(r, chain, why);
}

void race_decide(const braid_problem *p, race *r) {
    const racer *own = fastest(r, BRAID_KIND_OWN), *vendor = fastest(r, BRAID_KIND_VENDOR),
                *ref = fastest(r, BRAID_KIND_REF), *chain = fastest(r, BRAID_KIND_CHAIN),
                *clear = vendor ? clear_winner(r, vendor) : NULL;
    char why[RACE_TEXT];
    r->winner = -1;
    snprintf(r->why, sizeof r->why, "no candidate can do this problem");
    if (r->is_busy) {
        snprintf(why, sizeof why, "%s: the cost model chooses, because times mislead beside other work", r->load);
        decide_by_cost(p, threads_get(), r, why);
        return;
    }
    if (clear) {
        print_faster(r, clear, vendor, "ours", "the fastest vendor kernel", why);
        choose(r, clear, why);
    } else if (own && vendor && !is_faster(r, vendor, own)) {
        snprintf(why, sizeof why, "a tie within the noise with our best (%s); a tie goes to the vendor",
                 own->kernel->name);
        choose(r, vendor, why);
    } else if (own && vendor) {
        print_faster(r, vendor, own, "the vendor's", "our best", why);
        choose(r, vendor, why);
    } else if (own || vendor) {
        choose(r, own ? own : vendor,
               own ? "our fastest; no vendor kernel took part" : "the fastest vendor kernel; none of ours took part");
    } else if (chain) {
        choose(r, chain, "the chain of natural ops; no fused kernel took part");
    } else if (ref) {
        choose(r, ref, "only the reference can do this problem");
    } else {
        decide_by_cost(p, threads_get(), r, "the cost model predicts it to be the fastest; nothing was measured");
    }
    prefer_chain(r, chain);
}

void race_decide_for_threads(const braid_problem *p, race *r) {
    r->winner = -1;
    snprintf(r->why, sizeof r->why, "no candidate can do this problem");
    decide_by_cost(p, 1, r,
                   "the cost model for one thread prefers it: at this level no time and no thread count decides");
}
