/*
 * Tests of the CPU device: its instruction sets under BRAID_ISA, memory, clock, rows of describe, and
 * the choice of a device by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/memory.h"
#include "core/threads.h"
#include "tests/support/fail_nth.h"

static device *opened(void) {
    device *d = NULL;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    assert_non_null(d);
    return d;
}

static int without_isa(void **state) {
    (void)state;
    return unsetenv("BRAID_ISA");
}

static void names_of_features(void **state) {
    (void)state;
    const unsigned bits[] = {FEATURE_AVX2,     FEATURE_AVX512, FEATURE_AVX512_BF16,
                             FEATURE_AMX_BF16, FEATURE_SM80,   FEATURE_SM90A};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) assert_non_null(feature_name(bits[i]));
    assert_string_equal(feature_name(FEATURE_AVX512_BF16), "avx512_bf16");
    assert_null(feature_name(0));
    assert_null(feature_name(FEATURE_AVX2 | FEATURE_AVX512));
    assert_null(feature_name(1u << 31));
}

/* ---- What the kernel says of the CPU ------------------------------------------------------------ */

/* The value of a row of the first CPU in /proc/cpuinfo, with a space on either side; empty: it has none. */
static void read_row(const char *name, char *value, size_t bytes) {
    static char line[16384];
    FILE *file = fopen("/proc/cpuinfo", "r");
    size_t length = strlen(name);
    value[0] = '\0';
    while (file && !value[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, name, length) != 0 || line[length] != '\t') continue;
        snprintf(value, bytes, "%.*s ", (int)strcspn(colon + 1, "\n"), colon + 1);
    }
    if (file) fclose(file);
}

static int has_flags(const char *flags, const char *const *names) {
    for (int i = 0; names[i]; i++) {
        char word[32];
        snprintf(word, sizeof word, " %s ", names[i]);
        if (!strstr(flags, word)) return 0;
    }
    return 1;
}

static void cpu_is_the_one_of_cpuinfo(void **state) {
    static const char *const avx2[] = {"avx2", "fma", "f16c", NULL};
    static const char *const avx512[] = {"avx512f", "avx512bw", "avx512vl", "avx512dq", NULL};
    static char flags[16384], family[32], model[32], stepping[32];
    char expected[128], got[128];
    const unsigned hardware = cpu_hardware();
    (void)state;
    read_row("flags", flags, sizeof flags);
    if (!flags[0]) { /* another architecture, or no /proc */
        print_message("skip: /proc/cpuinfo has no row \"flags\"\n");
        skip();
    }
    read_row("cpu family", family, sizeof family);
    read_row("model", model, sizeof model);
    read_row("stepping", stepping, sizeof stepping);
    snprintf(expected, sizeof expected, "family%smodel%sstepping %d", family, model, atoi(stepping));
    cpu_signature(got, sizeof got);
    assert_string_equal(got, expected);
    assert_int_equal((hardware & FEATURE_AVX2) != 0, has_flags(flags, avx2));
    assert_int_equal((hardware & FEATURE_AVX512) != 0, has_flags(flags, avx2) && has_flags(flags, avx512));
    assert_int_equal((hardware & FEATURE_AVX512_BF16) != 0,
                     has_flags(flags, avx512) && has_flags(flags, (const char *const[]){"avx512_bf16", NULL}));
    assert_int_equal((hardware & FEATURE_AMX_BF16) != 0,
                     has_flags(flags, (const char *const[]){"avx512_bf16", "amx_tile", "amx_bf16", NULL}));
}

static void isa_mask(void **state) {
    (void)state;
    const unsigned hardware = cpu_hardware();
    const struct {
        const char *word;
        unsigned mask;
    } cases[] = {
        {"none", 0},
        {"avx2", FEATURE_AVX2},
        {"avx512", FEATURE_AVX2 | FEATURE_AVX512},
        {"avx512_bf16", FEATURE_AVX2 | FEATURE_AVX512 | FEATURE_AVX512_BF16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(setenv("BRAID_ISA", cases[i].word, 1), 0);
        assert_int_equal(cpu_features(), hardware & cases[i].mask);
        device *d = opened();
        assert_int_equal(d->features, hardware & cases[i].mask);
        backend_cpu.close(d);
    }
    assert_int_equal(setenv("BRAID_ISA", "", 1), 0);
    assert_int_equal(cpu_features() & ~FEATURE_AMX_BF16, hardware & ~FEATURE_AMX_BF16);
}

static void sets_include_lower_ones(void **state) {
    (void)state;
    const unsigned hardware = cpu_hardware();
    if (hardware & FEATURE_AMX_BF16) assert_true(hardware & FEATURE_AVX512_BF16);
    if (hardware & FEATURE_AVX512_BF16) assert_true(hardware & FEATURE_AVX512);
    if (hardware & FEATURE_AVX512) assert_true(hardware & FEATURE_AVX2);
    if (cpu_full_avx512()) assert_true(hardware & FEATURE_AVX512);
    assert_int_equal(cpu_features() & ~hardware, 0);
#if defined(__x86_64__)
    assert_int_equal((hardware & FEATURE_AVX2) != 0, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    assert_int_equal((hardware & FEATURE_AVX512) != 0, __builtin_cpu_supports("avx512bw") != 0);
#endif
}

static void unknown_isa_is_refused(void **state) {
    (void)state;
    device *d = NULL;
    assert_int_equal(setenv("BRAID_ISA", "avx1024", 1), 0);
    assert_int_equal(backend_open("cpu", &d), BRAID_ERROR_ARGUMENT);
    assert_null(d);
    assert_non_null(strstr(braid_message(), "BRAID_ISA"));
    assert_non_null(strstr(braid_message(), "avx512"));
    assert_non_null(strstr(braid_message(), "avx1024"));
}

static void open_by_name(void **state) {
    (void)state;
    device *d = NULL;
    static const char *const wrong[] = {"",        "gpu",     "cpu:1",      "cuda:", "cuda:x",
                                        "cuda:0x", "cuda:-1", "cuda:99999", "CPU"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(backend_open(wrong[i], &d), BRAID_ERROR_ARGUMENT);
        assert_null(d);
        assert_non_null(strstr(braid_message(), "device"));
        assert_non_null(strstr(braid_message(), wrong[i]));
    }
    assert_int_equal(backend_open("cuda:9999", &d), BRAID_ERROR_DEVICE);
    assert_null(d);
    assert_non_null(strstr(braid_message(), "cuda:9999"));
    assert_int_equal(backend_cpu.open(1, &d), BRAID_ERROR_DEVICE);
    assert_null(d);
    static const char *const right[] = {"cpu", "auto", NULL};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(backend_open(right[i], &d), BRAID_OK);
        if (i == 0 || backend_cuda.count() == 0) assert_string_equal(d->name, "cpu");
        d->backend->close(d);
    }
}

static void device_is_filled_in(void **state) {
    (void)state;
    device *d = opened();
    assert_string_equal(d->name, "cpu");
    assert_ptr_equal(d->backend, &backend_cpu);
    assert_int_equal(d->ordinal, 0);
    assert_true(strlen(d->model) > 0);
    assert_non_null(strstr(d->identity, "onednn"));
    assert_non_null(strstr(d->identity, "openblas"));
    assert_true(backend_cpu.cache_bytes(d) >= (size_t)1 << 18);
    assert_true(backend_cpu.free_bytes(d) > 0);
    device *again = opened();
    assert_string_equal(d->identity, again->identity);
    backend_cpu.close(again);
    backend_cpu.close(d);
    assert_int_equal(memory_live(), 0);
}

static void memory_and_copies(void **state) {
    (void)state;
    device *d = opened();
    const size_t sizes[] = {0, 1, 255, 4096, ((size_t)1 << 20) + 1, ((size_t)3 << 20) + 7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t bytes = sizes[i];
        void *there = NULL, *from = NULL, *back = NULL;
        assert_int_equal(backend_cpu.alloc(d, bytes, &there), BRAID_OK);
        assert_non_null(there);
        assert_int_equal((uintptr_t)there % MEMORY_DEVICE_ALIGNMENT, 0);
        assert_int_equal(memory_alloc(bytes, 1, "from", &from), BRAID_OK);
        assert_int_equal(memory_calloc(bytes, 1, "back", &back), BRAID_OK);
        for (size_t j = 0; j < bytes; j++) ((unsigned char *)from)[j] = (unsigned char)(j * 7 + 1);
        assert_int_equal(backend_cpu.upload(d, there, from, bytes), BRAID_OK);
        assert_int_equal(backend_cpu.synchronize(d), BRAID_OK);
        assert_int_equal(backend_cpu.download(d, back, there, bytes), BRAID_OK);
        assert_int_equal(memcmp(from, back, bytes), 0);
        backend_cpu.free(d, there);
        memory_free(from);
        memory_free(back);
    }
    backend_cpu.free(d, NULL);
    void *none = d;
    assert_int_equal(backend_cpu.alloc(d, SIZE_MAX - 10, &none), BRAID_ERROR_MEMORY);
    assert_null(none);
    backend_cpu.close(d);
    assert_int_equal(memory_live(), 0);
}

static braid_status count_launch(void *context, int i) {
    int *calls = context;
    return *calls == i ? (*calls)++, BRAID_OK : BRAID_ERROR_DEVICE;
}

static braid_status fail_third(void *context, int i) {
    *(int *)context = i;
    return i == 2 ? BRAID_ERROR_DEVICE : BRAID_OK;
}

static void timing(void **state) {
    (void)state;
    device *d = opened();
    int calls = 0;
    double seconds = -1;
    assert_int_equal(backend_cpu.time(d, count_launch, &calls, 5, &seconds), BRAID_OK);
    assert_int_equal(calls, 5);
    assert_true(seconds >= 0 && seconds < 60);
    assert_int_equal(backend_cpu.time(d, fail_third, &calls, 5, &seconds), BRAID_ERROR_DEVICE);
    assert_int_equal(calls, 2);
    backend_cpu.close(d);
}

typedef struct seen_rows {
    int count;
    int model, isa, masked, caches, onednn, openblas;
} seen_rows;

static void see_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    seen_rows *seen = user;
    assert_true(strcmp(section, "cpu") == 0 || strcmp(section, "vendor") == 0);
    assert_true(strlen(name) > 0 && strlen(value) > 0);
    seen->count++;
    seen->model += strcmp(name, "model") == 0;
    seen->isa += strcmp(name, "isa") == 0;
    seen->masked += strcmp(name, "isa") == 0 && strstr(value, "BRAID_ISA") != NULL && hint != NULL;
    seen->caches += strcmp(name, "caches") == 0;
    seen->onednn += strcmp(name, "onednn") == 0;
    seen->openblas += strcmp(name, "openblas") == 0;
}

static void rows_of_describe(void **state) {
    (void)state;
    device *d = opened();
    seen_rows seen = {0};
    backend_cpu.describe(d, see_row, &seen);
    assert_int_equal(seen.model + seen.isa + seen.caches + seen.onednn + seen.openblas, 5);
    assert_int_equal(seen.masked, 0);
    backend_cpu.close(d);
    if (cpu_hardware() == 0) return;
    assert_int_equal(setenv("BRAID_ISA", "none", 1), 0);
    d = opened();
    seen = (seen_rows){0};
    backend_cpu.describe(d, see_row, &seen);
    assert_int_equal(seen.masked, 1);
    backend_cpu.close(d);
}

/* Every allocation of an opening fails once: the want of memory is told, and nothing is left behind. */
static void open_without_memory(void **state) {
    (void)state;
    fail_alloc_install();
    for (int64_t nth = 1; nth < 1000; nth++) {
        device *d = NULL;
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = backend_open("cpu", &d);
        int64_t failures = fail_alloc_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        if (d) backend_cpu.close(d);
        assert_int_equal(memory_live(), 0);
        if (!failures) break;
    }
    fail_alloc_remove();
}

/* A system that tells nothing of itself still makes a device. */
static void open_without_files(void **state) {
    (void)state;
    fail_files_install();
    fail_files_arm(FAIL_OPEN, 1, FAIL_PERSISTENT, EACCES);
    device *d = opened();
    assert_true(backend_cpu.cache_bytes(d) > 0);
    assert_true(backend_cpu.free_bytes(d) > 0);
    fail_files_disarm();
    fail_files_remove();
    backend_cpu.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_of_features, without_isa),
        cmocka_unit_test_setup(cpu_is_the_one_of_cpuinfo, without_isa),
        cmocka_unit_test_setup_teardown(isa_mask, without_isa, without_isa),
        cmocka_unit_test_setup(sets_include_lower_ones, without_isa),
        cmocka_unit_test_setup_teardown(unknown_isa_is_refused, without_isa, without_isa),
        cmocka_unit_test_setup(open_by_name, without_isa),
        cmocka_unit_test_setup(device_is_filled_in, without_isa),
        cmocka_unit_test_setup(memory_and_copies, without_isa),
        cmocka_unit_test_setup(timing, without_isa),
        cmocka_unit_test_setup_teardown(rows_of_describe, without_isa, without_isa),
        cmocka_unit_test_setup(open_without_memory, without_isa),
        cmocka_unit_test_setup(open_without_files, without_isa),
    };
    return cmocka_run_group_tests_name("backend/cpu", tests, NULL, NULL);
}
