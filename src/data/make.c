/*
 * What making a set of any kind needs: counts, labels, numbers and files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/make.h"

#include "core/files.h"
#include "core/memory.h"
#include "data/order.h"

#define MAX_COUNT 1000000

static const struct {
    braid_status (*make)(maker *m);
    int64_t count;
} makers[BRAID_DATA_KIND_COUNT] = {
    [BRAID_DATA_SUNRGBD] = {make_sunrgbd, 1500},
    [BRAID_DATA_FMNIST86] = {make_fmnist86, 2000},
    [BRAID_DATA_MIMII] = {make_mimii, 60},
};

braid_status maker_write(const maker *m, const char *name, const void *data, size_t bytes) {
    char *path;
    TRY(files_join(m->folder, name, &path));
    braid_status status = files_write(path, data, bytes);
    memory_free(path);
    return status;
}

braid_status maker_folder(const maker *m, const char *name) {
    char *path;
    TRY(files_join(m->folder, name, &path));
    braid_status status = files_make_folder(path, NULL);
    memory_free(path);
    return status;
}

braid_status maker_step(maker *m, const char *what) {
    const braid_data_make_options *o = m->options;
    if (o->progress && o->progress(o->user, m->done, m->total, what))
        return fail(BRAID_ERROR_CHECK, "stopped after %lld of %lld samples", (long long)m->done, (long long)m->total);
    m->done++;
    return BRAID_OK;
}

rng maker_rng(const maker *m, braid_split split, int64_t sample) {
    return (rng){.seed = m->options->seed, .stream = (uint64_t)split << 48 | (uint64_t)sample};
}

braid_status maker_labels(const maker *m, braid_split split, int classes, int32_t **labels) {
    void *order, *memory;
    int64_t count = m->counts[split];
    *labels = NULL;
    TRY(memory_alloc((size_t)count, sizeof(int64_t), "an order", &order));
    braid_status status = memory_alloc((size_t)count, sizeof **labels, "labels", &memory);
    if (!status) {
        *labels = memory;
        order_shuffle(order, count, m->options->seed, (uint64_t)split);
        for (int64_t i = 0; i < count; i++) (*labels)[i] = (int32_t)(((const int64_t *)order)[i] % classes);
    }
    memory_free(order);
    return status;
}

double draw_between(rng *r, double low, double high) { return low + (high - low) * rng_uniform(r); }

double draw_noise(rng *r) {
    uint32_t bits = rng_u32(r);
    int sum = (int)(bits & 255) + (int)(bits >> 8 & 255) + (int)(bits >> 16 & 255) + (int)(bits >> 24);
    return (sum - 510) / 147.8;
}

static braid_status check_empty(const char *folder) {
    folder_list list;
    TRY(folder_read(NULL, folder, &list));
    int64_t count = list.count;
    folder_free(&list);
    if (count)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected an empty folder or none, got one with %lld entries", folder,
                    (long long)count);
    return BRAID_OK;
}

/* Nothing is unfinished: the set is whole, or was not begun. A failure so far stays the one that is told. */
static braid_status end_mark(const maker *m, braid_status status) {
    char *path;
    braid_status own = files_join(m->folder, DATA_UNFINISHED, &path);
    if (own) return status ? status : own;
    const fail_kept kept = fail_keep();
    own = files_remove(path);
    if (status) fail_put_back(&kept);
    memory_free(path);
    return status ? status : own;
}

braid_status braid_data_make(braid_data_kind kind, const char *folder, const braid_data_make_options *options) {
    const braid_data_make_options none = {0};
    maker m = {.folder = folder, .options = options ? options : &none};
    if ((unsigned)kind >= BRAID_DATA_KIND_COUNT || !makers[kind].make)
        return fail(BRAID_ERROR_ARGUMENT, "kind: expected 0 to %d, got %d", BRAID_DATA_MIMII, (int)kind);
    if (!folder || !*folder) return fail(BRAID_ERROR_ARGUMENT, "folder: expected a path, got none");
    int64_t count = m.options->count ? m.options->count : makers[kind].count;
    if (count < 1 || count > MAX_COUNT)
        return fail(BRAID_ERROR_ARGUMENT, "count: expected 1 to %d, got %lld", MAX_COUNT, (long long)count);
    m.counts[BRAID_SPLIT_TRAIN] = count;
    m.counts[BRAID_SPLIT_VAL] = m.counts[BRAID_SPLIT_TEST] = (count + 4) / 5;
    m.total = count + 2 * m.counts[BRAID_SPLIT_VAL];
    int made_folders;
    TRY(check_empty(folder));
    TRY(files_make_folder(folder, &made_folders));
    TRY(maker_write(&m, DATA_UNFINISHED, "", 0));
    braid_status status = makers[kind].make(&m);
    if (!status || status == BRAID_ERROR_ARGUMENT) {
        int refused = status != BRAID_OK; /* before it was begun */
        status = end_mark(&m, status);
        if (refused) files_unmake_folder(folder, made_folders);
        return status;
    }
    return fail(status,
                "%s; %s is no whole set, and is refused as one: to make it again, rm -r %s, then the same command",
                fail_message(), folder, folder);
}
