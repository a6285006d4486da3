/*
 * Updates that are done twice, to find a memory or a processor that is silently wrong: all that a step changes is
 * copied to the host, the step is run, hashed, put back and run again, from the bytes of its batch on: normalisation,
 * augmentation, masks, forward, backward, the sum over batches, and the update. Kernels give the same bits from run to
 * run, so that a difference is a fault of the machine. Between two such updates nothing is slower; such a one waits for
 * the device and takes more than twice as long, and the copy takes the memory of parameters, gradients and moments on
 * the host.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "train/trainer.h"

#define AREAS 10
#define PIECE_BYTES ((size_t)1 << 20) /* that are looked at at once */

/* Some of the device's memory. */
typedef struct area {
    const char *name;
    void *at; /* NULL: there is none */
    size_t bytes;
} area;

static void list_areas(const braid_trainer *t, area areas[AREAS]) {
    const braid_model *m = t->model;
    size_t whole = (size_t)m->elements * dtype_bytes(m->master);
    size_t half = (size_t)m->elements * dtype_bytes(m->dtype);
    const area all[AREAS] = {{"gradients", m->gradients, whole},
                             {"gradients in half precision", m->half_gradients, half},
                             {"parameters", m->weights, whole},
                             {"parameters in half precision", m->half, half},
                             {"running statistics", m->states, m->state_bytes},
                             {"first moments", m->m, whole},
                             {"second moments", m->v, whole},
                             {"loss and norm", m->metrics, METRIC_BYTES},
                             {"the count of updates", m->step, sizeof(int64_t)},
                             {"the sum of gradients", t->spare, whole}};
    memcpy(areas, all, sizeof all);
    for (int j = 0; j < AREAS; j++) areas[j].bytes = areas[j].at ? areas[j].bytes : 0;
}

/* ---- Keeping and putting back -------------------------------------------------------------- */

static braid_status keep(braid_trainer *t, const area areas[AREAS]) {
    device *d = t->model->context->device;
    size_t bytes = PIECE_BYTES; /* and room for a piece to look at */
    for (int j = 0; j < AREAS; j++) {
        if (!size_add(bytes, areas[j].bytes, &bytes))
            return fail(BRAID_ERROR_MEMORY, "verify: expected a model that fits in memory");
    }
    if (!t->kept) TRY(memory_alloc(bytes, 1, "the state before an update that is verified", &t->kept));
    TRY(d->backend->synchronize(d));
    char *to = (char *)t->kept + PIECE_BYTES;
    for (int j = 0; j < AREAS; j++) {
        if (areas[j].bytes) TRY(d->backend->download(d, to, areas[j].at, areas[j].bytes));
        to += areas[j].bytes;
    }
    return BRAID_OK;
}

static braid_status put_back(braid_trainer *t, const area areas[AREAS]) {
    device *d = t->model->context->device;
    const char *from = (const char *)t->kept + PIECE_BYTES;
    for (int j = 0; j < AREAS; j++) {
        if (areas[j].bytes) TRY(d->backend->upload(d, areas[j].at, from, areas[j].bytes));
        from += areas[j].bytes;
    }
    t->model->keys_known = 0; /* keys of dropout are among the states */
    t->model->changes++;
    return BRAID_OK;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static braid_status hash_area(const braid_trainer *t, const area *a, uint64_t *hash) {
    device *d = t->model->context->device;
    *hash = 0;
    for (size_t at = 0; at < a->bytes; at += PIECE_BYTES) {
        size_t bytes = a->bytes - at < PIECE_BYTES ? a->bytes - at : PIECE_BYTES;
        TRY(d->backend->download(d, t->kept, (const char *)a->at + at, bytes));
        *hash = XXH3_64bits_withSeed(t->kept, bytes, *hash);
    }
    return BRAID_OK;
}

static braid_status hash_all(const braid_trainer *t, const area areas[AREAS], uint64_t hashes[AREAS]) {
    device *d = t->model->context->device;
    TRY(d->backend->synchronize(d));
    for (int j = 0; j < AREAS; j++) TRY(hash_area(t, &areas[j], &hashes[j]));
    return BRAID_OK;
}

static braid_status compare(const braid_trainer *t, const area areas[AREAS], const uint64_t *first,
                            const uint64_t *second) {
    const device *d = t->model->context->device;
    char names[256] = "";
    for (int j = 0; j < AREAS; j++) {
        size_t used = strlen(names);
        if (first[j] != second[j]) snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", areas[j].name);
    }
    if (!names[0]) return BRAID_OK;
    return fail(BRAID_ERROR_DEVICE,
                "step %lld: expected the same bits from the same update, got others in %s; %s (%s%s%s) or its memory "
                "computes wrongly; the last checkpoint is as it was",
                (long long)t->at.step + 1, names, d->name, d->model, d->serial[0] ? ", " : "", d->serial);
}

braid_status trainer_compute_twice(braid_trainer *t, trainer_work *work, void *user) {
    area areas[AREAS];
    uint64_t first[AREAS], second[AREAS];
    list_areas(t, areas);
    TRY(keep(t, areas));
    TRY(work(t, user));
    TRY(hash_all(t, areas, first));
    TRY(put_back(t, areas));
    TRY(work(t, user));
    TRY(hash_all(t, areas, second));
    return compare(t, areas, first, second);
}
