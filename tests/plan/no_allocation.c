/*
 * Nothing of braid allocates inside a run of a plan. This program has malloc, its relatives and mmap of its own, which
 * note who calls while they are told to and hand on to the C library; every library of the process calls them. A
 * network runs once to warm up (threads start, libraries make their tables), then every step is watched alone, so that
 * a culprit has a name, and then the run as a whole.
 *
 * Vendor libraries cannot be kept from all of it. oneDNN's only call to execute a primitive makes a small table of its
 * arguments each time, its product for plain weights takes memory to pack into, though its scratchpad is ours, and
 * OpenBLAS makes a table of jobs for every product with several threads. These are told and counted, and nothing else
 * is let through: the caller must be the library itself.
 *
 * Under a sanitizer, which has an allocator of its own, nothing is tested.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/trial.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#define MOST_NOTED 4096

/* One allocation while somebody watched. */
typedef struct noted {
    void *caller;
    size_t bytes;
} noted;

static _Atomic int is_watching, calls;
static noted notes[MOST_NOTED];

#ifndef SANITIZED

static void note(void *caller, size_t bytes) {
    if (!is_watching) return;
    int index = calls++;
    if (index < MOST_NOTED) notes[index] = (noted){caller, bytes};
}

#define NOTE(bytes) note(__builtin_return_address(0), bytes)

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#define EXPORTED __attribute__((visibility("default"), noinline, used))

EXPORTED void *malloc(size_t bytes) {
    NOTE(bytes);
    return __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes) {
    NOTE(count * bytes);
    return __libc_calloc(count, bytes);
}

EXPORTED void *realloc(void *memory, size_t bytes) {
    NOTE(bytes);
    return __libc_realloc(memory, bytes);
}

EXPORTED void *memalign(size_t alignment, size_t bytes) {
    NOTE(bytes);
    return __libc_memalign(alignment, bytes);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t bytes) {
    NOTE(bytes);
    return __libc_memalign(alignment, bytes);
}

EXPORTED int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    NOTE(bytes);
    void *got = __libc_memalign(alignment, bytes);
    if (!got) return ENOMEM;
    *memory = got;
    return 0;
}

EXPORTED void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    NOTE(bytes);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

#endif

/* ---- Who it was ----------------------------------------------------------------------------- */

static void watch(void) {
    calls = 0;
    is_watching = 1;
}

/* The file of the program or library that made an allocation; "" where it cannot be told. */
static const char *file_of(const noted *n) {
    Dl_info info;
    if (!dladdr(n->caller, &info) || !info.dli_fname) return "";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

/* 1 where the vendor's library, or the C++ library for it, made it and may. */
static int is_allowed(const noted *n, const char *vendor) {
    const char *file = file_of(n);
    if (vendor && strcmp(vendor, "openblas") == 0) return strstr(file, "blas") != NULL;
    if (!vendor) return 0;
    return strncmp(file, "libdnnl", 7) == 0 || strncmp(file, "libstdc++", 9) == 0 || strncmp(file, "libc++", 6) == 0;
}

/* Stops watching. Fails where anybody but the vendor allocated; returns how many times it did. */
static int judge(const char *what, const char *vendor) {
    is_watching = 0;
    int count = calls;
    assert_true(count <= MOST_NOTED);
    for (int j = 0; j < count; j++) {
        if (!is_allowed(&notes[j], vendor))
            fail_msg("%s: %zu bytes were allocated inside a run, by %s", what, notes[j].bytes, file_of(&notes[j]));
    }
    return count;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* What the vendors did in a plan: steps, and allocations inside them. */
typedef struct tally {
    int steps, allocations;
    size_t largest; /* bytes of one */
} tally;

static void check_steps(const braid_plan *plan, const char *vendor, tally *sum) {
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        const kernel *k = s->op->kernel;
        watch();
        braid_status status = plan_run_step(plan, s);
        sum->allocations += judge(k->name, k->vendor);
        OK(status);
        for (int n = 0; n < calls; n++) sum->largest = notes[n].bytes > sum->largest ? notes[n].bytes : sum->largest;
        sum->steps += vendor && k->vendor && strcmp(k->vendor, vendor) == 0;
    }
}

/* Runs a network with these candidates left out. */
static void check_network(const trial_setup *setup, const char *disable, const char *vendor, tally *sum) {
    trial_setup s = *setup;
    s.threads = 2;
    s.disable = disable;
    trial t = trial_open(&s);
    unsigned segments = s.request.phase == BRAID_PHASE_EVAL ? FORWARD : FORWARD | BACKWARD | UPDATE;
    trial_set_rates(t.plan, 1e-3, 0);
    trial_feed(&t, t.plan, 3, 0);
    trial_run(t.plan, segments);
    check_steps(t.plan, vendor, sum);
    for (int again = 0; again < 2; again++) {
        watch();
        braid_status status = braid_plan_run(t.plan, segments);
        (void)judge(s.kind, vendor);
        OK(status);
    }
    trial_close(&t);
}

static const trial_setup networks[] = {
    {.kind = "linet18",
     .net = {.streams = 3, .width = 1.0 / 16, .dropout = 0.3},
     .request = {.batch = 2, .size = {37, 45}, .mask = 1, .optimiser = BRAID_OPTIMISER_ADAMW, .clip_norm = 1}},
    {.kind = "linet18",
     .net = {.streams = 2, .width = 1.0 / 16},
     .request = {.phase = BRAID_PHASE_EVAL, .batch = 2, .size = {37, 45}}},
    {.kind = "mcresnet18",
     .net = {.width = 1.0 / 16, .fusion = BRAID_FUSION_GATED},
     .request = {.batch = 2, .size = {37, 45}, .optimiser = BRAID_OPTIMISER_SGD, .momentum = 0.9}},
    {.kind = "lenet86", .request = {.batch = 2, .size = {86, 86}, .optimiser = BRAID_OPTIMISER_SGD}},
    {.kind = "ssae", .request = {.batch = 20, .optimiser = BRAID_OPTIMISER_ADAM}},
    {.kind = "mlp",
     .net = {.layers = {67, 130, 45, 11}},
     .request = {.batch = 65, .optimiser = BRAID_OPTIMISER_RMSPROP}},
};
#define NETWORKS ((int)(sizeof networks / sizeof networks[0]))

static void skip_where_sanitized(void) {
#ifdef SANITIZED
    print_message("skip: the allocator is the sanitizer's\n");
    skip();
#endif
}

/* The counter counts, or nothing below proves anything. */
static void allocations_are_seen(void **state) {
    (void)state;
    skip_where_sanitized();
    watch();
    void *volatile memory[4] = {malloc(10), calloc(2, 3), aligned_alloc(64, 64)};
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    is_watching = 0;
    assert_true(map != MAP_FAILED);
    for (int j = 0; j < 3; j++) free(memory[j]);
    munmap(map, 4096);
    assert_int_equal(calls, 4);
    assert_true(notes[0].bytes == 10 && notes[1].bytes == 6 && notes[3].bytes == 4096);
    const noted this_program = {(void *)(uintptr_t)judge, 0};
    assert_string_equal(file_of(&notes[0]), file_of(&this_program));
    assert_false(is_allowed(&notes[0], "onednn") || is_allowed(&notes[0], "openblas"));
}

static void our_kernels(void **state) {
    tally none = {0};
    (void)state;
    skip_where_sanitized();
    for (int j = 0; j < NETWORKS; j++) {
        trial_setup s = networks[j];
        check_network(&s, "onednn,openblas", NULL, &none);
        s.dtype = BRAID_DTYPE_BF16;
        check_network(&s, "onednn,openblas", NULL, &none);
    }
    trial_setup s = networks[NETWORKS - 1];
    s.dtype = BRAID_DTYPE_F64;
    check_network(&s, "onednn,openblas", NULL, &none);
    assert_int_equal(none.allocations, 0);
}

/* ---- Vendors -------------------------------------------------------------------------------- */

static int has_kernel(const kernel *like, const char *vendor) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->vendor && strcmp(k->vendor, vendor) == 0 && k->op == like->op && k->pass == like->pass) return 1;
    }
    return 0;
}

/* Leaves out the other vendor, our kernels where this one has some, and those of fused ops. */
static const char *all_but(const char *vendor) {
    static char list[1 << 14];
    snprintf(list, sizeof list, "%s", strcmp(vendor, "onednn") == 0 ? "openblas" : "onednn");
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        size_t used = strlen(list);
        if (k->vendor || k->backend != KERNEL_CPU || (!has_kernel(k, vendor) && !op_find(k->op)->chain)) continue;
        snprintf(list + used, sizeof list - used, ",%s", k->name);
    }
    assert_true(strlen(list) + 64 < sizeof list);
    return list;
}

static void check_vendor(const char *vendor) {
    tally sum = {0};
    skip_where_sanitized();
    for (int j = 0; j < NETWORKS; j++) {
        trial_setup s = networks[j];
        check_network(&s, all_but(vendor), vendor, &sum);
        s.dtype = BRAID_DTYPE_BF16;
        check_network(&s, all_but(vendor), vendor, &sum);
    }
    if (!sum.steps) {
        print_message("skip: %s is not there\n", vendor);
        skip();
    }
    print_message("%s: %d steps, %d allocations of its own inside them, the largest of %zu bytes\n", vendor, sum.steps,
                  sum.allocations, sum.largest);
}

static void onednn_kernels(void **state) {
    (void)state;
    check_vendor("onednn");
}

static void openblas_kernels(void **state) {
    (void)state;
    check_vendor("openblas");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_seen),
        cmocka_unit_test(our_kernels),
        cmocka_unit_test(onednn_kernels),
        cmocka_unit_test(openblas_kernels),
    };
    return cmocka_run_group_tests_name("plan/no_allocation", tests, NULL, NULL);
}
