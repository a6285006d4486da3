/*
 * Who is faster than whom. The baseline is the fastest vendor candidate, else the chain, else the reference. A
 * difference counts only where the interval of the ratio does not hold 1; what beats a handicapped library has shown
 * nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "bench/bench.h"
#include "core/ratio.h"

static const char *const verdict_names[BRAID_VERDICT_COUNT] = {"-",    "BASE", "FAST",     "SLOW",
                                                               "SAME", "FAIL", "AMBIGUOUS"};

const char *braid_verdict_name(braid_verdict verdict) {
    return (unsigned)verdict < BRAID_VERDICT_COUNT ? verdict_names[verdict] : "-";
}

const char *braid_kind_name(braid_kind kind) {
    static const char *const names[] = {"own", "vendor", "ref", "peer", "chain"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "-";
}

braid_verdict judge_speed(double speed, double low, double high) {
    static const braid_verdict verdicts[] = {[CLAIM_NONE] = BRAID_VERDICT_NONE,
                                             [CLAIM_FAST] = BRAID_VERDICT_FAST,
                                             [CLAIM_SLOW] = BRAID_VERDICT_SLOW,
                                             [CLAIM_SAME] = BRAID_VERDICT_SAME,
                                             [CLAIM_AMBIGUOUS] = BRAID_VERDICT_AMBIGUOUS};
    const interval times = {1 / speed, isnan(high) ? 0 : 1 / high, 1 / low};
    return verdicts[claim_of(&times)];
}

/* Beside other work a time may be far off in every round: nothing is claimed. */
static braid_verdict verdict_of(const braid_bench_row *row, const braid_bench_row *baseline, int is_busy) {
    if (row->max_err > 1) return BRAID_VERDICT_FAIL;
    if (isnan(row->median_s) || !baseline) return BRAID_VERDICT_NONE;
    if (row == baseline) return BRAID_VERDICT_BASE;
    braid_verdict verdict = judge_speed(row->ratio, row->ratio_low, row->ratio_high);
    if (is_busy && (verdict == BRAID_VERDICT_FAST || verdict == BRAID_VERDICT_SLOW)) verdict = BRAID_VERDICT_AMBIGUOUS;
    return verdict == BRAID_VERDICT_FAST && baseline->handicapped ? BRAID_VERDICT_NONE : verdict;
}

void judge(braid_bench_result *result, braid_bench_row *rows) {
    const braid_bench_row *base = result->baseline < 0 ? NULL : &rows[result->baseline];
    if (base && base->kind == BRAID_KIND_OWN) base = NULL;
    if (!base) result->baseline = -1;
    result->baseline_name = !base ? "" : base->kind == BRAID_KIND_REF ? "ref" : base->kernel;
    for (int i = 0; i < result->count; i++) {
        if (!base) rows[i].ratio = rows[i].ratio_low = rows[i].ratio_high = NAN;
        rows[i].verdict = verdict_of(&rows[i], base, result->is_busy);
    }
}

/* The baseline was chosen; is every one of ours slower beyond noise? */
static int beats_all_ours(const braid_bench_result *r) {
    int ours = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->rows[i].kind != BRAID_KIND_OWN || isnan(r->rows[i].median_s)) continue;
        if (r->rows[i].verdict != BRAID_VERDICT_SLOW) return 0;
        ours++;
    }
    return ours > 0;
}

static void count_result(const braid_bench_result *r, braid_bench_summary *s, double *logs) {
    s->gated += r->gate != 0;
    s->gate_failures += r->gate < 0;
    if (r->baseline < 0 || r->chosen < 0 || isnan(r->rows[r->chosen].ratio)) return;
    const braid_bench_row *chosen = &r->rows[r->chosen];
    if (r->rows[r->baseline].kind != BRAID_KIND_VENDOR) return;
    s->against_vendor++;
    *logs += log(chosen->ratio);
    if (chosen->kind == BRAID_KIND_OWN && chosen->verdict == BRAID_VERDICT_FAST)
        s->own_wins++;
    else if (chosen->kind == BRAID_KIND_VENDOR && beats_all_ours(r))
        s->vendor_wins++;
    else if (chosen->verdict == BRAID_VERDICT_SLOW)
        s->slower++;
    else
        s->ties++;
}

void braid_bench_summarize(const braid_bench *bench, braid_bench_summary *summary) {
    double logs = 0;
    if (!summary) return;
    *summary = (braid_bench_summary){.problems = braid_bench_count(bench), .geometric_mean = NAN};
    for (int i = 0; i < summary->problems; i++) count_result(&bench->results[i], summary, &logs);
    if (summary->against_vendor) summary->geometric_mean = exp(logs / summary->against_vendor);
}
