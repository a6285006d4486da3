/*
 * Modality dropout: its schedule, and masks from the counter-based numbers of core/rng.h. Each sample has one
 * block of four words of its own: the first says whether, the next two say which stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/modality.h"

#include <string.h>

#include "core/rng.h"

#define WORDS_PER_SAMPLE 4
#define LEAST_ACTIVE 2      /* samples of a stream: the statistics of a channel need two values */
#define PURPOSE 0x6d6f6461u /* keeps these numbers apart from all others that are drawn with the run's seed */

static const char *const ramp_names[] = {[MODALITY_RAMP_UP] = "ramp_up", [MODALITY_RAMP_DOWN] = "ramp_down"};

const char *modality_ramp_name(modality_ramp ramp) { return (int)ramp < 2 ? ramp_names[ramp] : NULL; }

braid_status modality_ramp_read(const char *text, modality_ramp *ramp) {
    for (int i = 0; text && i < 2; i++) {
        if (strcmp(text, ramp_names[i]) != 0) continue;
        *ramp = (modality_ramp)i;
        return BRAID_OK;
    }
    return fail(BRAID_ERROR_ARGUMENT, "modality dropout: expected ramp_up or ramp_down, got \"%s\"", text ? text : "");
}

braid_status modality_check(const modality_options *options) {
    if (!(options->rate >= 0 && options->rate <= 1))
        return fail(BRAID_ERROR_ARGUMENT, "modality dropout: expected a rate from 0 to 1, got %g", options->rate);
    if (options->start < 0)
        return fail(BRAID_ERROR_ARGUMENT, "modality dropout: expected a first epoch of 0 or more, got %lld",
                    (long long)options->start);
    return BRAID_OK;
}

double modality_share(const modality_options *options, int64_t epoch) {
    double from = options->ramp == MODALITY_RAMP_UP ? 0 : 1;
    if (epoch < options->start) return from;
    int64_t into = epoch - options->start;
    if (into >= options->epochs) return options->rate;
    double progress = (double)(into + 1) / (double)options->epochs;
    return from + (options->rate - from) * progress;
}

/* The numbers of one step, under a seed of their own. */
static rng numbers_of(const modality_batch *b) {
    const uint32_t counter[4] = {PURPOSE};
    const uint32_t key[2] = {(uint32_t)b->seed, (uint32_t)(b->seed >> 32)};
    uint32_t mixed[4];
    philox4x32(mixed, counter, key);
    return (rng){.seed = mixed[0] | (uint64_t)mixed[1] << 32, .stream = (uint64_t)b->step};
}

/* Un-blanks the first samples that a stream lost, until enough are left for statistics. Returns how many. */
static int64_t give_back(int64_t batch, uint32_t *mask, int64_t *blanked) {
    int64_t given = 0;
    for (int64_t sample = 0; batch - *blanked < LEAST_ACTIVE && sample < batch; sample++) {
        uint32_t bit = UINT32_C(1) << (sample % 32);
        if (!(mask[sample / 32] & bit)) continue;
        mask[sample / 32] &= ~bit;
        --*blanked;
        given++;
    }
    return given;
}

int64_t modality_draw(const modality_batch *b, double share, uint32_t *const *masks, int64_t *blanked) {
    rng numbers = numbers_of(b);
    int64_t total = 0;
    for (int i = 0; i < b->streams; i++) {
        memset(masks[i], 0, (size_t)((b->batch + 31) / 32) * sizeof(uint32_t));
        blanked[i] = 0;
    }
    for (int64_t sample = 0; sample < b->batch; sample++) {
        numbers.index = (uint64_t)(b->first + sample) * WORDS_PER_SAMPLE;
        if (!(rng_uniform(&numbers) < share)) continue;
        int64_t stream = rng_between(&numbers, 0, b->streams - 1);
        masks[stream][sample / 32] |= UINT32_C(1) << (sample % 32);
        blanked[stream]++;
        total++;
    }
    for (int i = 0; i < b->streams && b->batch >= LEAST_ACTIVE; i++)
        total -= give_back(b->batch, masks[i], &blanked[i]);
    return total;
}
