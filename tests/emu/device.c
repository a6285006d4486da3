/*
 * The emulator as a device: it takes the place of src/backend/cuda/cuda.c, so that the launchers and
 * the checker run unchanged. Every allocation ends at a forbidden page and has one in front of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/cuda/cuda.h"
#include "backend/host_reading.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "tests/emu/emu.h"

/* The page in front of an allocation is readable to nobody; its size is kept here. */
typedef struct allocation {
    struct allocation *next;
    unsigned char *base; /* the forbidden page in front */
    size_t bytes;        /* of all pages */
    unsigned char *memory;
} allocation;

/* A launch, copy or run of zeros that was recorded. */
typedef struct kept {
    struct kept *next;
    cuda_call call; /* stem NULL: `bytes` bytes go from `from`, or zeros where that is NULL, to `to` */
    void *to;
    const void *from;
    size_t bytes;
    int number; /* of what the side queue has; -1: it still is being */
} kept;

struct recording {
    kept *first, *last;
};

static allocation *allocations;
static device emulators[2]; /* cuda:0 has sm_90a, cuda:1 has sm_80 alone */
static recording *recorded; /* now; NULL: everything is run at once */
static recording
    waiting; /* put on the side queue: runs as late as it may, so that whoever does not wait for it shows */
static int is_on_side;

static int emu_count(void) { return 2; }

static braid_status emu_open(int ordinal, device **out) {
    *out = NULL;
    if (ordinal < 0 || ordinal > 1)
        return fail(BRAID_ERROR_DEVICE, "emulator: expected cuda:0 or cuda:1, got cuda:%d", ordinal);
    device *d = &emulators[ordinal];
    *d = (device){.backend = &backend_cuda, .ordinal = ordinal, .model = "emulator"};
    d->features = ordinal ? FEATURE_SM80 : FEATURE_SM80 | FEATURE_SM90A;
    (void)snprintf(d->name, sizeof d->name, "cuda:%d", ordinal);
    (void)snprintf(d->identity, sizeof d->identity, "%s", ordinal ? "emulator of sm_80" : "emulator");
    *out = d;
    return BRAID_OK;
}

static void emu_close(device *d) { (void)d; }

static braid_status emu_alloc(device *d, size_t bytes, void **out) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = 0, all = 0;
    void *memory = NULL;
    (void)d;
    *out = NULL;
    if (!size_align(bytes ? bytes : 1, MEMORY_DEVICE_ALIGNMENT, &used) || !size_align(used, page, &all) ||
        !size_add(all, page, &all) || !size_add(all, page, &all)) {
        return fail(BRAID_ERROR_MEMORY, "emulator: expected a size that fits, got %zu bytes", bytes);
    }
    TRY(memory_alloc(1, sizeof(allocation), "emulator", &memory));
    allocation *a = memory;
    void *pages = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        memory_free(a);
        return fail(BRAID_ERROR_MEMORY, "emulator: no room for %zu bytes", bytes);
    }
    *a = (allocation){
        .next = allocations, .base = pages, .bytes = all, .memory = (unsigned char *)pages + all - page - used};
    memset(a->base + page, 0xFF, all - page - page);
    (void)mprotect(a->base, page, PROT_NONE);
    (void)mprotect(a->base + all - page, page, PROT_NONE);
    allocations = a;
    *out = a->memory;
    return BRAID_OK;
}

static void emu_free(device *d, void *memory) {
    (void)d;
    for (allocation **link = &allocations; *link; link = &(*link)->next) {
        allocation *a = *link;
        if (a->memory != memory) continue;
        *link = a->next;
        (void)munmap(a->base, a->bytes);
        memory_free(a);
        return;
    }
}

/* ---- Recordings ----------------------------------------------------------------------------- */

static void append(recording *to, kept *one) {
    one->next = NULL;
    if (to->last)
        to->last->next = one;
    else
        to->first = one;
    to->last = one;
}

static braid_status emu_side_begin(device *d) {
    (void)d;
    is_on_side = 1;
    return BRAID_OK;
}

static braid_status emu_side_end(device *d, int number) {
    (void)d;
    is_on_side = 0;
    for (kept *k = waiting.first; k; k = k->next) {
        if (k->number < 0) k->number = number;
    }
    return BRAID_OK;
}

static braid_status emu_join(device *d, int number) {
    (void)d;
    while (waiting.first && waiting.first->number <= number) {
        kept *one = waiting.first;
        waiting.first = one->next;
        if (!one->next) waiting.last = NULL;
        append(recorded, one);
    }
    return BRAID_OK;
}

/* Keeps a copy of what was asked for, arguments included. */
static braid_status keep(const kept *what) {
    kept *made = NULL;
    void *args = NULL;
    TRY(memory_calloc(1, sizeof *made, "emulator", (void **)&made));
    *made = *what;
    if (what->call.stem) {
        braid_status status = memory_alloc(1, what->call.args_bytes, "emulator", &args);
        if (status) {
            memory_free(made);
            return status;
        }
        memcpy(args, what->call.args, what->call.args_bytes);
        made->call.args = args;
    }
    made->number = -1;
    append(is_on_side ? &waiting : recorded, made);
    return BRAID_OK;
}

static void emu_forget(device *d, recording *r) {
    (void)d;
    while (r && r->first) {
        kept *next = r->first->next;
        memory_free((void *)(uintptr_t)r->first->call.args);
        memory_free(r->first);
        r->first = next;
    }
    memory_free(r);
}

static braid_status emu_record(device *d) {
    (void)d;
    if (recorded) return fail(BRAID_ERROR_ARGUMENT, "emulator: expected one recording at a time");
    return memory_calloc(1, sizeof *recorded, "emulator", (void **)&recorded);
}

static braid_status emu_record_end(device *d, recording **out) {
    if (!recorded) return fail(BRAID_ERROR_ARGUMENT, "emulator: expected a recording to end");
    is_on_side = 0;
    TRY(emu_join(d, INT_MAX));
    if (out)
        *out = recorded;
    else
        emu_forget(d, recorded);
    recorded = NULL;
    return BRAID_OK;
}

/* ---- Counters ------------------------------------------------------------------------------- */

static uint32_t counters[2][CUDA_MOST_COUNTERS]; /* of launches, and of those on the side queue */
static int has_no_counters;

void emu_refuse_counters(int refuse) { has_no_counters = refuse; }

uint32_t *cuda_counters(device *d, int64_t count) {
    (void)d;
    return has_no_counters || count > CUDA_MOST_COUNTERS ? NULL : counters[is_on_side];
}

/* NULL where a launch left all counters at zero; else what is wrong. */
static const char *look_at_counters(void) {
    static const uint32_t zeros[CUDA_MOST_COUNTERS];
    int dirty = memcmp(counters[0], zeros, sizeof zeros) != 0 || memcmp(counters[1], zeros, sizeof zeros) != 0;
    if (!dirty) return NULL;
    memset(counters, 0, sizeof counters);
    return "it left a counter that is not zero";
}

static braid_status run_now(const cuda_call *call) {
    emu_launch launch = {.stem = call->stem,
                         .function = call->function,
                         .blocks = (unsigned)call->blocks,
                         .threads = (unsigned)call->threads,
                         .shared_bytes = call->shared_bytes,
                         .args = call->args,
                         .args_bytes = call->args_bytes};
    const char *problem = emu_run(&launch), *dirty = look_at_counters();
    if (!problem && dirty) return fail(BRAID_ERROR_DEVICE, "emulator: %s: %s", call->function, dirty);
    return problem ? fail(BRAID_ERROR_DEVICE, "emulator: %s", problem) : BRAID_OK;
}

static void move_now(void *to, const void *from, size_t bytes) {
    if (bytes && from) memcpy(to, from, bytes);
    if (bytes && !from) memset(to, 0, bytes);
}

static braid_status emu_replay(device *d, recording *r) {
    (void)d;
    for (const kept *k = r->first; k; k = k->next) {
        if (k->call.stem)
            TRY(run_now(&k->call));
        else
            move_now(k->to, k->from, k->bytes);
    }
    return BRAID_OK;
}

/* As a GPU has no code of files that are built for another (cmake/cuda_images.cmake). */
static int has_code(const device *d, const char *stem) {
    static const char ending[] = "_sm90a";
    const size_t length = strlen(stem);
    return d->features & FEATURE_SM90A || length < strlen(ending) ||
           strcmp(stem + length - strlen(ending), ending) != 0;
}

braid_status cuda_launch(device *d, const cuda_call *call) {
    if (!has_code(d, call->stem)) return fail(BRAID_ERROR_DEVICE, "emulator: %s is not for %s", call->stem, d->name);
    if (call->blocks < 0 || call->blocks > CUDA_MAX_BLOCKS)
        return fail(BRAID_ERROR_ARGUMENT, "emulator: bad number of blocks");
    if (call->args_bytes > CUDA_MAX_ARGS_BYTES)
        return fail(BRAID_ERROR_ARGUMENT, "emulator: too long an argument for %s", call->function);
    if (d->is_loading) return BRAID_OK;
    return recorded ? keep(&(kept){.call = *call}) : run_now(call);
}

/* Follows from every byte of all allocations. */
static uint64_t hash_memory(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t hash = 0;
    for (const allocation *a = allocations; a; a = a->next) {
        const uint64_t *words = (const uint64_t *)(const void *)(a->base + page);
        for (size_t j = 0; j < (a->bytes - 2 * page) / sizeof *words; j++)
            hash = (hash ^ words[j]) * 0x9E3779B97F4A7C15u;
    }
    return hash;
}

/* There is nothing to load: launchers are asked all the same, and may not touch the device's memory. */
static braid_status emu_load(device *d, braid_status (*launch)(void *context, int i), void *context, int count) {
    const uint64_t before = hash_memory();
    braid_status status = recorded ? fail(BRAID_ERROR_DEVICE, "emulator: loading inside a recording") : BRAID_OK;
    d->is_loading = 1;
    for (int i = 0; i < count && !status; i++) status = launch(context, i);
    d->is_loading = 0;
    if (!status && hash_memory() != before) status = fail(BRAID_ERROR_DEVICE, "emulator: loading has changed memory");
    return status;
}

refusal cuda_vendor_refuses(const device *d, cuda_vendor vendor) {
    (void)d, (void)vendor;
    return refusal_unable("the emulator has no vendor libraries");
}

braid_status cuda_vendor_enter(device *d, cuda_vendor vendor, void **handle, void **queue) {
    (void)handle, (void)queue;
    return fail(BRAID_ERROR_DEVICE, "%s", cuda_vendor_refuses(d, vendor).text);
}

braid_status cuda_vendor_leave(device *d, braid_status status) {
    (void)d;
    return status;
}

int cuda_vendor_lacks_memory(cuda_vendor vendor, int status) {
    (void)vendor, (void)status;
    return 0;
}

braid_status cuda_vendor_failed(device *d, cuda_vendor vendor, int status, const char *what) {
    (void)status, (void)what;
    return fail(BRAID_ERROR_DEVICE, "%s", cuda_vendor_refuses(d, vendor).text);
}

int cuda_processors(const device *d) {
    (void)d;
    return 2; /* so that blocks have several turns */
}

/* ---- Copies and the rest -------------------------------------------------------------------- */

static braid_status emu_copy(device *d, void *to, const void *from, size_t bytes) {
    (void)d;
    if (recorded) return keep(&(kept){.to = to, .from = from, .bytes = bytes});
    move_now(to, from, bytes);
    return BRAID_OK;
}

static braid_status emu_zero(device *d, void *at, size_t bytes) { return emu_copy(d, at, NULL, bytes); }

/* Up and down. */
static braid_status emu_transfer(device *d, void *to, const void *from, size_t bytes) {
    if (recorded) return fail(BRAID_ERROR_ARGUMENT, "emulator: expected no transfer inside a recording");
    return emu_copy(d, to, from, bytes);
}

static braid_status emu_synchronize(device *d) {
    (void)d;
    return BRAID_OK;
}

static braid_status emu_time(device *d, braid_status (*launch)(void *context, int i), void *context, int iterations,
                             double *seconds) {
    (void)d;
    for (int i = 0; i < iterations; i++) TRY(launch(context, i));
    *seconds = 1e-6; /* the emulator has no speed; nobody races on it */
    return BRAID_OK;
}

static braid_status emu_time_each(device *d, braid_status (*launch)(void *context, int i), void *context, int count,
                                  double *seconds) {
    for (int i = 0; i < count; i++) seconds[i] = 1e-6;
    double all;
    return emu_time(d, launch, context, count, &all);
}

static size_t emu_cache_bytes(const device *d) {
    (void)d;
    return 0;
}

static size_t emu_free_bytes(const device *d) {
    (void)d;
    return (size_t)1 << 30;
}

static void emu_describe(device *d, braid_row_function row, void *user) { row(user, "cuda", "model", d->model, NULL); }

const backend backend_cuda = {
    .name = "cuda",
    .count = emu_count,
    .open = emu_open,
    .close = emu_close,
    .alloc = emu_alloc,
    .free = emu_free,
    .upload = emu_transfer,
    .download = emu_transfer,
    .copy = emu_copy,
    .zero = emu_zero,
    .record = emu_record,
    .record_end = emu_record_end,
    .replay = emu_replay,
    .forget = emu_forget,
    .side_begin = emu_side_begin,
    .side_end = emu_side_end,
    .join = emu_join,
    .synchronize = emu_synchronize,
    .reading_create = host_reading_create,
    .reading_destroy = host_reading_destroy,
    .reading_ask = host_reading_ask,
    .reading_get = host_reading_get,
    .runs_ahead = 4,
    .has_own_memory = 1,
    .time = emu_time,
    .time_launches = emu_time,
    .time_each = emu_time_each,
    .load = emu_load,
    .cache_bytes = emu_cache_bytes,
    .free_bytes = emu_free_bytes,
    .describe = emu_describe,
};
