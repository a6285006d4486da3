/*
 * Images of floats, see the header. They are normalised on the host, a sample at a time on any thread, into the layout
 * and the number format of the plan.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/feed_images.h"

#include <math.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"

#define PIECE 4096 /* floats that are converted at a time */

typedef struct sample_work {
    const feed *f;
    const feed_image *image;
    const float *x;
    const double *mean, *std;
} sample_work;

static braid_status create_image(feed *f, int i) {
    feed_image *v = &f->images[i];
    braid_operand_info info;
    const char *name = braid_net_stream(f->model->net, i, NULL);
    TRY(braid_plan_tensor(f->plan, name, &info, &v->device));
    const int64_t dims[3] = {info.dims[0][1], info.dims[0][2], info.dims[0][3]};
    if (info.rank != 4 || dims[2] > BRAID_STATISTICS)
        return fail(BRAID_ERROR_ARGUMENT, "trainer: expected images of at most %d channels in stream %s",
                    BRAID_STATISTICS, name);
    TRY(size_elements(dims, 3, "a sample", &f->elements[i]));
    v->pixels = dims[0] * dims[1];
    v->channels = dims[2];
    v->pitch = info.pitch[0];
    v->dtype = info.dtype;
    v->bytes = info.bytes[0];
    return memory_calloc(v->bytes, 1, "a batch of images", &v->host); /* the lanes after the channels stay zero */
}

braid_status feed_images_create(feed *f) {
    for (int i = 0; i < braid_net_stream_count(f->model->net); i++) TRY(create_image(f, i));
    return BRAID_OK;
}

void feed_images_destroy(feed *f) {
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) memory_free(f->images[i].host);
}

static float normalised(const sample_work *w, float x, int64_t c) {
    const double std = w->std[c] > 0 ? w->std[c] : 1;
    return isfinite(x) ? (float)(((double)x - w->mean[c]) / std) : 0;
}

static void write_sample(void *context, int64_t b) {
    const sample_work *w = context;
    const feed_image *v = w->image;
    const int64_t most = PIECE / v->pitch;
    const float *x = w->x + b * v->pixels * v->channels;
    unsigned char *to = (unsigned char *)v->host + (size_t)(b * v->pixels * v->pitch) * dtype_bytes(v->dtype);
    float piece[PIECE];
    for (int64_t first = 0; first < v->pixels; first += most) {
        const int64_t count = v->pixels - first < most ? v->pixels - first : most;
        for (int64_t p = 0; p < count; p++)
            for (int64_t c = 0; c < v->pitch; c++)
                piece[p * v->pitch + c] = c < v->channels ? normalised(w, x[(first + p) * v->channels + c], c) : 0;
        dtype_from_f32(to + (size_t)(first * v->pitch) * dtype_bytes(v->dtype), v->dtype, piece, count * v->pitch);
    }
}

braid_status feed_images_write(feed *f, const braid_train_batch *batch) {
    for (int i = 0; i < braid_net_stream_count(f->model->net); i++) {
        const feed_image *v = &f->images[i];
        sample_work w = {f, v, batch->streams[i], f->options->mean[i], f->options->std[i]};
        threads_for(f->batch, write_sample, &w);
        TRY(braid_upload(f->model->context, v->device, v->host, v->bytes));
    }
    return BRAID_OK;
}
