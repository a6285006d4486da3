/*
 * The areas under the ROC curve and the precision-recall curve. Samples are walked from the largest score down; those
 * with the same score are one step of both curves. Counts are whole, so that the area under the ROC curve is the
 * exact share of pairs in order, rounded once, as long as there are fewer than 2^52 pairs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "braid_train.h"
#include "core/memory.h"
#include "core/status.h"

typedef struct scored {
    double score;
    unsigned char positive;
} scored;

static int by_falling_score(const void *a, const void *b) {
    const scored *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

static braid_status sort(const double *scores, const unsigned char *positive, int64_t count, scored *sorted,
                         braid_areas *areas) {
    for (int64_t j = 0; j < count; j++) {
        if (isnan(scores[j]))
            return fail(BRAID_ERROR_DATA, "areas: expected scores that are numbers, got NaN as number %lld",
                        (long long)j);
        sorted[j] = (scored){scores[j], positive[j] != 0};
        areas->positives += positive[j] != 0;
    }
    areas->negatives = count - areas->positives;
    if (areas->positives == 0 || areas->negatives == 0)
        return fail(BRAID_ERROR_DATA, "areas: expected positive and negative samples, got %lld and %lld",
                    (long long)areas->positives, (long long)areas->negatives);
    qsort(sorted, (size_t)count, sizeof *sorted, by_falling_score);
    return BRAID_OK;
}

static void walk(const scored *sorted, int64_t count, braid_areas *areas) {
    int64_t hits = 0, alarms = 0; /* positive and negative samples so far */
    double pairs = 0, area = 0, precision = 1;
    for (int64_t j = 0; j < count;) {
        int64_t hits_before = hits, alarms_before = alarms;
        double score = sorted[j].score, precision_before = precision;
        do {
            hits += sorted[j].positive;
            alarms += !sorted[j].positive;
        } while (++j < count && sorted[j].score == score);
        pairs += (double)(alarms - alarms_before) * (double)(hits + hits_before); /* twice the pairs in order */
        precision = (double)hits / (double)(hits + alarms);
        area += (double)(hits - hits_before) * (precision + precision_before);
    }
    areas->roc = pairs / (2 * (double)areas->positives * (double)areas->negatives);
    areas->pr = area / (2 * (double)areas->positives);
}

braid_status braid_areas_measure(const double *scores, const unsigned char *positive, int64_t count,
                                 braid_areas *areas) {
    void *sorted;
    if (!areas || count < 0 || (count > 0 && (!scores || !positive)))
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_areas_measure: expected scores, what is positive, and a place for areas, got NULL");
    *areas = (braid_areas){.roc = NAN, .pr = NAN};
    TRY(memory_alloc((size_t)count + 1, sizeof(scored), "scores", &sorted));
    braid_status status = sort(scores, positive, count, sorted, areas);
    if (status == BRAID_OK) walk(sorted, count, areas);
    memory_free(sorted);
    return status;
}
