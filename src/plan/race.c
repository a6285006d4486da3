/*
 * Listing, checking, timing, deciding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/race.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/memory.h"
#include "core/threads.h"
#include "plan/measure.h"
#include "plan/verify.h"

#define DEFAULT_SECONDS 2.0
#define EXHAUSTIVE_SECONDS 20.0
#define SLOW_FACTOR 2.5             /* predicted so much slower than our best: not worth a race where time is short */
#define SLOW_REFERENCE_SECONDS 0.05 /* a reference predicted slower than this is not timed beside others */

/* Of the shortest race: small problems of the check, filling operands, launches of a candidate. */
#define FIXED_SECONDS 0.1
#define SECONDS_PER_BYTE 4e-8
#define SECONDS_PER_BYTE_AFAR 2e-9 /* of a GPU, whose host only fills and compares */
#define LAUNCHES 24
#define QUICK_BYTES 3e7 /* of the operands of a check where time is short */

static void set_reason(racer *r, const char *reason) { snprintf(r->reason, sizeof r->reason, "%s", reason); }

void race_ask_one(const braid_context *context, const braid_problem *p, racer *one) {
    if (!one->is_open) return;
    one->is_open = 0;
    const char *reason = kernel_refuses(one->kernel, p, context->device);
    if (reason) set_reason(one, reason);
    one->lacks_memory = reason == backend_no_memory;
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

/* Predicted seconds of a candidate. */
static double predict(const race *r, const kernel *k, const braid_problem *p) {
    return k->backend == KERNEL_CHAIN && r->device ? chain_cost(p, r->device) : k->functions->cost(p);
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

void race_forget_times(race *r) {
    r->winner = -1;
    for (int j = 0; j < r->count; j++) r->racers[j].median = r->racers[j].low = r->racers[j].high = 0;
}

static void take_times(const runner *from, racer *to) {
    interval i = measure_interval(from->seconds, from->rounds);
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

braid_status race_time(const braid_context *context, const braid_problem *p, const braid_plan_options *options,
                       race *r) {
    racer *list[RACE_MAX_CANDIDATES];
    runner *runners = NULL;
    int exhaustive = options->effort == BRAID_EFFORT_EXHAUSTIVE;
    double budget = options->seconds > 0 ? options->seconds : exhaustive ? EXHAUSTIVE_SECONDS : DEFAULT_SECONDS;
    measure_options how = {.seconds = budget, .min_rounds = exhaustive ? 31 : 7, .seed = 1};
    int count = able(r, list);
    TRY(memory_calloc((size_t)count, sizeof *runners, "runners", (void **)&runners));
    for (int j = 0; j < count; j++) runners[j].kernel = list[j]->kernel;
    braid_status status = measure_runners(p, context->device, runners, count, &how);
    for (int j = 0; j < count && status == BRAID_OK; j++) take_times(&runners[j], list[j]);
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

/* The fastest of ours that beats the vendor beyond the noise; NULL: none does. */
static const racer *clear_winner(const race *r, const racer *vendor) {
    const racer *best = NULL;
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->reason[0] || one->median <= 0 || kernel_kind(one->kernel) != BRAID_KIND_OWN) continue;
        if (one->high < vendor->low && (!best || one->median < best->median)) best = one;
    }
    return best;
}

static void choose(race *r, const racer *winner, const char *why) {
    r->winner = (int)(winner - r->racers);
    snprintf(r->why, sizeof r->why, "%s", why);
    log_write(LOG_CHOOSE, "%s: %s", winner->kernel->name, why);
}

static void decide_by_cost(const braid_problem *p, race *r, const char *why) {
    const racer *best = NULL;
    double best_cost = INFINITY;
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->reason[0]) continue;
        double cost = predict(r, one->kernel, p);
        if (best && cost >= best_cost) continue;
        best = one;
        best_cost = cost;
    }
    if (best) choose(r, best, why);
}

/* The chain takes the place of a fused kernel that it beats beyond the noise. A tie goes to the fused kernel, which
 * needs no memory between. */
static void prefer_chain(race *r, const racer *chain) {
    char why[RACE_TEXT];
    const racer *winner = r->winner < 0 ? NULL : &r->racers[r->winner];
    if (!chain || !winner || chain == winner || winner->median <= 0 || chain->high >= winner->low) return;
    snprintf(why, sizeof why, "the chain of natural ops is %.2fx as fast as the fastest fused kernel (%s)",
             winner->median / chain->median, winner->kernel->name);
    choose(r, chain, why);
}

void race_decide(const braid_problem *p, race *r) {
    const racer *own = fastest(r, BRAID_KIND_OWN), *vendor = fastest(r, BRAID_KIND_VENDOR),
                *ref = fastest(r, BRAID_KIND_REF), *chain = fastest(r, BRAID_KIND_CHAIN),
                *clear = vendor ? clear_winner(r, vendor) : NULL;
    char why[RACE_TEXT];
    r->winner = -1;
    snprintf(r->why, sizeof r->why, "no candidate can do this problem");
    if (clear) {
        snprintf(why, sizeof why,
                 "ours is %.2fx as fast as the fastest vendor kernel (%s), and the intervals do not touch",
                 vendor->median / clear->median, vendor->kernel->name);
        choose(r, clear, why);
    } else if (own && vendor && own->low <= vendor->high) {
        snprintf(why, sizeof why, "a tie within the noise with our best (%s); a tie goes to the vendor",
                 own->kernel->name);
        choose(r, vendor, why);
    } else if (own && vendor) {
        snprintf(why, sizeof why, "the vendor's is %.2fx as fast as our best (%s)", own->median / vendor->median,
                 own->kernel->name);
        choose(r, vendor, why);
    } else if (own || vendor) {
        choose(r, own ? own : vendor,
               own ? "our fastest; no vendor kernel took part" : "the fastest vendor kernel; none of ours took part");
    } else if (chain) {
        choose(r, chain, "the chain of natural ops; no fused kernel took part");
    } else if (ref) {
        choose(r, ref, "only the reference can do this problem");
    } else {
        decide_by_cost(p, r, "the cost model predicts it to be the fastest; nothing was measured");
    }
    prefer_chain(r, chain);
}

void race_decide_for_threads(const braid_problem *p, race *r) {
    const int threads = threads_get();
    r->winner = -1;
    snprintf(r->why, sizeof r->why, "no candidate can do this problem");
    threads_set(1);
    decide_by_cost(p, r, "the cost model for one thread prefers it: at this level no time and no thread count decides");
    threads_set(threads);
}
