/*
 * The argument of the four launches of augment.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_AUGMENT_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_AUGMENT_H

#include "ops/augment.h"

struct augment_plane {
    const uint8_t *x;
    const float *settings, *mean, *std;
    void *y;
    int64_t pitch;     /* of y */
    int64_t resampled; /* where the resampled images of this plane start in `values`: [sample][pixel][channel] */
    int64_t blurred;   /* the same of images whose rows are blurred; 3 channels, where there are 3 */
    int32_t channels, padding;
};

struct augment_args {
    struct augment_plane plane[BRAID_MAX_STREAMS];
    const int64_t *key, *ids;
    augment_draws *draws; /* [plane][sample] */
    double *sums;         /* [plane][sample][part]: of the grey that the contrast is set against */
    float *values;
    int64_t batch;
    int64_t size[2], out_size[2];
    int32_t planes, parts; /* the pixels of an image are dealt out to so many blocks */
    int32_t is_train, padding;
};

#ifdef __cplusplus
static_assert(sizeof(struct augment_args) == 96 + BRAID_MAX_STREAMS * 72, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct augment_args) == 96 + BRAID_MAX_STREAMS * 72, "kernel and launcher agree");
#endif

#endif
