/*
 * Made-up races, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/fake_race.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The ratio to a second whose interval to choose by is that of the time, as wide to both sides. */
static ratio over_a_second(const racer *r) {
    const double reach = 1.9623; /* standard errors, of so many degrees of freedom */
    if (r->median <= 0) return (ratio){0, 0, 0};
    return (ratio){log(r->median), log(r->high / r->low) / (2 * reach), 1000};
}

void fake_race(const braid_context *context, const braid_problem *p, double seconds, int64_t mark, race *out) {
    race_list(context, p, out);
    for (int j = 0; j < out->count; j++) {
        racer *r = &out->racers[j];
        if (r->reason[0]) continue;
        r->median = seconds * (1 + 0.1 * j);
        r->low = r->median * 0.99;
        r->high = r->median * 1.02;
        r->over = over_a_second(r);
        r->max_err = 0.25;
        r->compared = mark;
        r->workspace_bytes = (size_t)j << 10;
    }
}

int fake_race_equal(const race *a, const race *b) {
    if (a->count != b->count) return 0;
    for (int j = 0; j < a->count; j++) {
        const racer *x = &a->racers[j], *y = &b->racers[j];
        if (x->kernel != y->kernel || x->median != y->median || x->low != y->low || x->high != y->high) return 0;
        if (x->over.log != y->over.log || x->over.error != y->over.error || x->over.freedom != y->over.freedom)
            return 0;
        if (x->max_err != y->max_err || x->compared != y->compared || x->workspace_bytes != y->workspace_bytes)
            return 0;
    }
    return 1;
}

int fake_race_sane(const braid_problem *p, race *r) {
    for (int j = 0; j < r->count; j++) {
        const racer *one = &r->racers[j];
        if (one->median == 0) continue;
        if (!isfinite(one->low) || !isfinite(one->median) || !isfinite(one->high)) return 0;
        if (one->low <= 0 || one->low > one->median || one->median > one->high) return 0;
        if (one->max_err > 1 || one->compared < 0) return 0;
    }
    race_decide(p, r);
    return r->winner >= 0 && r->winner < r->count && !r->racers[r->winner].reason[0];
}

size_t fake_entry(char *entry, size_t room, const char *body, size_t body_bytes) {
    const uint64_t sum = XXH3_64bits(body, body_bytes);
    if (body_bytes + strlen("\nxxh3 0123456789abcdef\n") >= room) return 0;
    memmove(entry, body, body_bytes);
    return body_bytes + (size_t)snprintf(entry + body_bytes, room - body_bytes, "\nxxh3 %016" PRIx64 "\n", sum);
}

/* ---- Made-up kernels ---------------------------------------------------------------------- */

#define FAKES 8

static double costs[FAKES];
static double cost_0(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[0]; }
static double cost_1(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[1]; }
static double cost_2(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[2]; }
static double cost_3(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[3]; }
static double cost_4(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[4]; }
static double cost_5(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[5]; }
static double cost_6(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[6]; }
static double cost_7(const braid_problem *p, const machine *on) { return (void)p, (void)on, costs[7]; }

static const kernel_functions functions[FAKES] = {
    {.cost = cost_0}, {.cost = cost_1}, {.cost = cost_2}, {.cost = cost_3},
    {.cost = cost_4}, {.cost = cost_5}, {.cost = cost_6}, {.cost = cost_7},
};
static const char *const names[FAKES] = {"fake_0", "fake_1", "fake_2", "fake_3",
                                         "fake_4", "fake_5", "fake_6", "fake_7"};
static kernel kernels[FAKES];

int fake_racer(race *r, braid_kind kind, const double low_median_high[3], double cost) {
    int j = r->count;
    if (j >= FAKES) abort();
    costs[j] = cost;
    kernels[j] = (kernel){.name = names[j], .functions = &functions[j]};
    kernels[j].backend = kind == BRAID_KIND_REF ? KERNEL_REF : kind == BRAID_KIND_CHAIN ? KERNEL_CHAIN : KERNEL_CPU;
    kernels[j].vendor = kind == BRAID_KIND_VENDOR ? "fakes" : NULL;
    r->racers[j] = (racer){.kernel = &kernels[j], .max_err = -1};
    r->racers[j].low = low_median_high[0];
    r->racers[j].median = low_median_high[1];
    r->racers[j].high = low_median_high[2];
    r->racers[j].over = over_a_second(&r->racers[j]);
    return r->count++;
}
