/*
 * Tests of the vendor libraries: found, or a reason in words; never a crash, whatever lies in
 * BRAID_LIBRARY_PATH. A library is opened once per process, so each case runs in a child of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"
#include "backend/library.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/threads.h"
#include "kernels/kernel.h"

enum { PATH_BYTES = 4096 };

static char folder[PATH_BYTES];

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/braid-vendors-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static void in_folder(const char *name, char *path) { snprintf(path, PATH_BYTES, "%.4000s/%s", folder, name); }

static int remove_folder(void **state) {
    (void)state;
    char path[PATH_BYTES];
    in_folder("libdnnl.so.2", path);
    unlink(path);
    in_folder("libopenblas.so.0", path);
    unlink(path);
    return rmdir(folder);
}

/* Puts a link to `target` into the folder under the name of a library. */
static void put(const char *name, const char *target) {
    char path[PATH_BYTES];
    in_folder(name, path);
    assert_int_equal(symlink(target, path), 0);
}

/* Checks run in a child: the first that does not hold is printed, and the child says 1. */
#define EXPECT(condition)                                                           \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                               \
        }                                                                           \
    } while (0)

static void in_child(void (*checks)(void)) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        checks();
        _exit(0);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

static int on_libgomp(void) { return strcmp(threads_runtime(), "libgomp") == 0; }

/* What holds of a library that was found or not, on any machine. */
static void expect_sound(const vendor_library *v, const char *name) {
    EXPECT(strcmp(v->name, name) == 0);
    if (v->reason) {
        EXPECT(strlen(v->reason) > 20);
        EXPECT(strstr(v->reason, "apt-get install") || strstr(v->reason, "build") || strstr(v->reason, "needs"));
        return;
    }
    EXPECT(v->file && v->file[0] == '/');
    EXPECT(v->version[0] >= '0' && v->version[0] <= '9');
    EXPECT(strlen(v->isa) > 0);
}

static void check_found(void) {
    expect_sound(onednn_library(), "onednn");
    expect_sound(openblas_library(), "openblas");
    EXPECT(onednn_library() == onednn_library());
    EXPECT(getenv("OPENBLAS_CORETYPE") == NULL); /* set for the loading alone */
    if (!on_libgomp()) EXPECT(onednn_library()->reason && strstr(onednn_library()->reason, "libomp"));
    if (!on_libgomp()) EXPECT(openblas_library()->reason && strstr(openblas_library()->reason, "libomp"));
    if (!onednn_library()->reason) EXPECT(!onednn_library()->handicapped);
    if (!openblas_library()->reason) EXPECT(!openblas_library()->handicapped);
}

static void found_or_a_reason(void **state) {
    (void)state;
    unsetenv("BRAID_LIBRARY_PATH");
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("BRAID_ISA");
    unsetenv("ONEDNN_MAX_CPU_ISA");
    unsetenv("DNNL_MAX_CPU_ISA");
    in_child(check_found);
}

static void check_found_in_spite_of_folder(void) {
    setenv("BRAID_LIBRARY_PATH", folder, 1);
    expect_sound(onednn_library(), "onednn");
    expect_sound(openblas_library(), "openblas");
    if (!onednn_library()->reason) EXPECT(strncmp(onednn_library()->file, folder, strlen(folder)) != 0);
}

static void empty_folder(void **state) {
    (void)state;
    in_child(check_found_in_spite_of_folder);
}

static void no_library_at_all(void **state) {
    (void)state;
    put("libdnnl.so.2", "/etc/passwd");
    put("libopenblas.so.0", "/nowhere");
    in_child(check_found_in_spite_of_folder);
}

static void check_lists_of_folders(void) {
    char path[3 * PATH_BYTES];
    snprintf(path, sizeof path, "::/nowhere:%s:/:", folder);
    setenv("BRAID_LIBRARY_PATH", path, 1);
    expect_sound(onednn_library(), "onednn");
    expect_sound(openblas_library(), "openblas");
}

static void lists_of_folders(void **state) {
    (void)state;
    in_child(check_lists_of_folders);
}

static void check_other_library(void) {
    setenv("BRAID_LIBRARY_PATH", folder, 1);
    const vendor_library *libraries[] = {onednn_library(), openblas_library()};
    for (int i = 0; i < 2; i++) {
        EXPECT(libraries[i]->reason);
        if (libraries[i]->file) EXPECT(strstr(libraries[i]->reason, " has no "));
        if (libraries[i]->file) EXPECT(strstr(libraries[i]->reason, libraries[i]->file));
    }
    device *d = NULL;
    EXPECT(backend_open("cpu", &d) == BRAID_OK);
    EXPECT(strstr(d->identity, "onednn none") && strstr(d->identity, "openblas none"));
    backend_cpu.close(d);
}

/* A library of another kind under the vendor's name. */
static void library_without_the_symbols(void **state) {
    (void)state;
    char file[PATH_BYTES];
    void *handle = dlopen("libm.so.6", RTLD_NOW);
    assert_non_null(handle);
    assert_true(library_file(handle, file, sizeof file));
    assert_int_equal(file[0], '/');
    put("libdnnl.so.2", file);
    put("libopenblas.so.0", file);
    in_child(check_other_library);
}

static void check_pthread_openblas(void) {
    setenv("BRAID_LIBRARY_PATH", folder, 1);
    EXPECT(openblas_library()->reason);
    if (on_libgomp()) EXPECT(strstr(openblas_library()->reason, "not the OpenMP build"));
}

static void openblas_with_its_own_threads(void **state) {
    (void)state;
    const char *file = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0";
    if (access(file, R_OK) != 0) skip();
    put("libopenblas.so.0", file);
    in_child(check_pthread_openblas);
}

static void check_masked(void) {
    setenv("BRAID_ISA", "none", 1);
    expect_sound(onednn_library(), "onednn");
    expect_sound(openblas_library(), "openblas");
    if (!onednn_library()->reason) EXPECT(onednn_library()->handicapped && strcmp(onednn_library()->isa, "sse41") == 0);
    if (!openblas_library()->reason) EXPECT(openblas_library()->handicapped);
}

/* BRAID_ISA holds for the vendors too, and then they say that their times prove nothing. */
static void masked_vendors_are_handicapped(void **state) {
    (void)state;
    if (!(cpu_hardware() & FEATURE_AVX2)) skip();
    unsetenv("ONEDNN_MAX_CPU_ISA");
    unsetenv("DNNL_MAX_CPU_ISA");
    in_child(check_masked);
}

static void check_core_type_of_user(void) {
    setenv("OPENBLAS_CORETYPE", "NEHALEM", 1);
    if (openblas_library()->reason) return;
    EXPECT(strcmp(openblas_library()->isa, "Nehalem") == 0);
    EXPECT(openblas_library()->handicapped);
    EXPECT(strcmp(getenv("OPENBLAS_CORETYPE"), "NEHALEM") == 0);
}

static void core_type_of_user_is_kept(void **state) {
    (void)state;
    if (!(cpu_hardware() & FEATURE_AVX2)) skip();
    in_child(check_core_type_of_user);
}

enum { M = 5, N = 7, K = 9, PITCH = 11 };

static double product_at(const gemm_shape *s, const float *a, const float *b, int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t k = 0; k < s->k; k++) {
        const float left = s->transpose_a ? a[k * s->lda + row] : a[row * s->lda + k];
        const float right = s->transpose_b ? b[column * s->ldb + k] : b[k * s->ldb + column];
        sum += (double)left * (double)right;
    }
    return sum;
}

static void expect_product(const gemm_shape *s, int threads) {
    float a[PITCH * PITCH], b[PITCH * PITCH], c[M * PITCH];
    rng r = {1, 2, 3};
    for (int i = 0; i < PITCH * PITCH; i++) a[i] = (float)rng_between(&r, -4, 4);
    for (int i = 0; i < PITCH * PITCH; i++) b[i] = (float)rng_between(&r, -4, 4);
    for (int i = 0; i < M * PITCH; i++) c[i] = 3.0f;
    openblas_sgemm(s, a, b, c, threads);
    for (int i = 0; i < M * PITCH; i++) {
        const int64_t row = i / PITCH, column = i % PITCH;
        const double before = column < N && !s->accumulate ? 0 : 3;
        EXPECT((double)c[i] == before + (column < N ? product_at(s, a, b, row, column) : 0));
    }
}

static void check_sgemm(void) {
    if (openblas_library()->reason) return;
    for (int bits = 0; bits < 8; bits++) {
        const gemm_shape s = {M, N, K, bits & 1, bits >> 1 & 1, PITCH, PITCH, PITCH, bits >> 2};
        for (int threads = 1; threads <= 3; threads++) expect_product(&s, threads);
    }
    const gemm_shape large = {(int64_t)1 << 31, 1, 1, 0, 0, 1, 1, 1, 0};
    EXPECT(!openblas_fits(&large));
}

static void sgemm(void **state) {
    (void)state;
    in_child(check_sgemm);
}

enum { PIXELS = 2 * 5 * 6, CHANNELS = 8, TAPS = 9 };

/* One forward convolution of two streams on all-different inputs, into y. */
static void convolve(const kernel *k, const braid_problem *p, device *d, void *kernel_state, void *workspace,
                     float *y) {
    float x[PIXELS * CHANNELS], w[CHANNELS * TAPS * CHANNELS];
    rng r = {7, 8, 9};
    for (int i = 0; i < PIXELS * CHANNELS; i++) x[i] = (float)rng_normal(&r);
    for (int i = 0; i < CHANNELS * TAPS * CHANNELS; i++) w[i] = (float)rng_normal(&r);
    buffers b = {.workspace = workspace};
    for (int i = 0; i < 2; i++) {
        b.plane[CONV2D_X][i] = x;
        b.plane[CONV2D_W][i] = w;
        b.plane[CONV2D_Y][i] = y + i * PIXELS * CHANNELS;
    }
    EXPECT(kernel_launch(k->functions, p, d, kernel_state, &b) == BRAID_OK);
}

static int same(const float *a, const float *b, int count) {
    for (int i = 0; i < count; i++) {
        if (a[i] != b[i]) return 0;
    }
    return 1;
}

/* A kernel keeps the number of threads that it was made with, and leaves the caller's setting alone. */
static void check_threads(void) {
    const kernel *k = kernel_find("conv2d_fwd__cpu_onednn");
    float first[2 * PIXELS * CHANNELS], second[2 * PIXELS * CHANNELS];
    braid_problem p;
    device *d = NULL;
    void *kernel_state = NULL, *workspace = NULL;
    size_t bytes = 0;
    EXPECT(k && backend_open("cpu", &d) == BRAID_OK);
    EXPECT(braid_problem_parse("conv2d_fwd:f32:n2:b2:hw5x6:c8:k8:rs3x3:pad1", &p) == BRAID_OK);
    if (!kernel_refuses(k, &p, d)) {
        threads_set(2);
        threads_apply(5);
        EXPECT(k->functions->create(&p, d, &kernel_state, &bytes) == BRAID_OK);
        EXPECT(memory_alloc_device(bytes, "workspace", &workspace) == BRAID_OK);
        convolve(k, &p, d, kernel_state, workspace, first);
        threads_set(3);
        convolve(k, &p, d, kernel_state, workspace, second);
        EXPECT(same(first, second, 2 * PIXELS * CHANNELS));
        EXPECT(same(first, first + PIXELS * CHANNELS, PIXELS * CHANNELS));
        EXPECT(threads_apply(1) == 5);
        k->functions->destroy(d, kernel_state);
        memory_free(workspace);
    }
    k->functions->destroy(d, NULL);
    backend_cpu.close(d);
    EXPECT(memory_live() == 0);
}

static void threads_of_a_kernel(void **state) {
    (void)state;
    check_threads(); /* in this process: a child of a fork has one thread */
}

static void check_reasons(void) {
    device *d = NULL;
    EXPECT(backend_open("cpu", &d) == BRAID_OK);
    static const struct {
        const char *kernel, *problem, *word;
    } cases[] = {
        {"conv2d_fwd__cpu_onednn", "conv2d_fwd:f32:n1:b2:hw5x6:c8:k8:rs3x3:mask1", "mask"},
        {"conv2d_fwd__cpu_onednn", "conv2d_fwd:f32:n1:b2:hw5x6:c8:k8:rs3x3:pad1:mode=reflect", "zeros"},
        {"conv2d_fwd__cpu_onednn", "conv2d_fwd:f32:n1:b0:hw5x6:c8:k8:rs3x3", "batch"},
        {"conv2d_fwd__cpu_onednn", "conv2d_fwd:f32:n1:b2:hw5x6:c8:k8:rs3x3:cp12", "pitch"},
        {"conv2d_fwd__cpu_openblas", "conv2d_fwd:f32:n1:b2:hw5x6:c8:k8:rs3x3", "1x1"},
        {"conv2d_fwd__cpu_openblas", "conv2d_fwd:f32:n1:b2:hw5x6:c8:k8:rs1x1:st2", "1x1"},
        {"linear_fwd__cpu_openblas", "linear_fwd:f32:n1:b2:c8:k8:mask1", "mask"},
        {"linear_fwd__cpu_openblas", "linear_fwd:f32:n1:b0:c8:k8", "batch"},
        {"linear_fwd__cpu_openblas", "linear_fwd:f32:n1:b2:c8:k8:kp12", "pitch"},
        {"bn_apply__cpu_onednn", "bn_apply:f32:n1:b2:hw5x6:c8:mask1", "mask"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const kernel *k = kernel_find(cases[i].kernel);
        braid_problem p;
        EXPECT(k && braid_problem_parse(cases[i].problem, &p) == BRAID_OK);
        const vendor_library *v = strcmp(k->vendor, "onednn") == 0 ? onednn_library() : openblas_library();
        const char *reason = kernel_refuses(k, &p, d);
        EXPECT(reason && (v->reason ? strcmp(reason, v->reason) == 0 : strstr(reason, cases[i].word) != NULL));
    }
    backend_cpu.close(d);
}

static void reasons_of_kernels(void **state) {
    (void)state;
    in_child(check_reasons);
}

static const char *const bf16_kernels[][2] = {
    {"conv2d_fwd__cpu_onednn", "conv2d_fwd:bf16:n1:b2:hw5x6:c8:k8:rs3x3"},
    {"conv2d_bwd_data__cpu_onednn", "conv2d_bwd_data:bf16:n1:b2:hw5x6:c8:k8:rs3x3"},
    {"conv2d_bwd_weight__cpu_onednn", "conv2d_bwd_weight:bf16:n1:b2:hw5x6:c8:k8:rs3x3"},
    {"linear_fwd__cpu_onednn_packed", "linear_fwd:bf16:n1:b2:c8:k8"},
    {"linear_bwd_data__cpu_onednn_plain", "linear_bwd_data:bf16:n1:b2:c8:k8"},
    {"linear_bwd_weight__cpu_onednn_packed", "linear_bwd_weight:bf16:n1:b2:c8:k8"},
    {"matmul_fwd__cpu_onednn_plain", "matmul_fwd:bf16:n1:b2:c8:k8"},
};

/* Every kernel in bf16: taken, or refused with the reason. */
static void expect_bf16(int taken) {
    device *d = NULL;
    EXPECT(backend_open("cpu", &d) == BRAID_OK);
    for (size_t i = 0; i < sizeof bf16_kernels / sizeof bf16_kernels[0] && !onednn_library()->reason; i++) {
        const kernel *k = kernel_find(bf16_kernels[i][0]);
        braid_problem p;
        EXPECT(k && braid_problem_parse(bf16_kernels[i][1], &p) == BRAID_OK);
        const char *reason = kernel_refuses(k, &p, d);
        EXPECT(taken ? !reason : reason && strstr(reason, "avx512_core_bf16"));
        p.dtype = BRAID_DTYPE_F32;
        EXPECT(!kernel_refuses(k, &p, d));
    }
    backend_cpu.close(d);
}

static void check_bf16(void) { expect_bf16((cpu_features() & FEATURE_AVX512_BF16) != 0); }

static void check_bf16_masked(void) {
    setenv("BRAID_ISA", "avx512", 1);
    expect_bf16(0);
}

/* The library was opened with every set, and the device is masked later. */
static void check_bf16_masked_later(void) {
    (void)onednn_library();
    check_bf16_masked();
}

static void check_bf16_capped(void) {
    setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE", 1);
    expect_bf16(0);
}

/* AMX in the hands of oneDNN 2.6 is an illegal instruction, even where the user asks for it. */
static void check_bf16_amx(void) {
    setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_AMX", 1);
    expect_bf16((cpu_hardware() & FEATURE_AVX512_BF16) && !(cpu_hardware() & FEATURE_AMX_BF16));
}

static void bf16_needs_its_instructions(void **state) {
    (void)state;
    unsetenv("ONEDNN_MAX_CPU_ISA");
    unsetenv("DNNL_MAX_CPU_ISA");
    in_child(check_bf16);
    in_child(check_bf16_masked);
    in_child(check_bf16_masked_later);
    in_child(check_bf16_capped);
    in_child(check_bf16_amx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_or_a_reason),
        cmocka_unit_test_setup_teardown(empty_folder, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(no_library_at_all, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(lists_of_folders, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(library_without_the_symbols, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(openblas_with_its_own_threads, make_folder, remove_folder),
        cmocka_unit_test(masked_vendors_are_handicapped),
        cmocka_unit_test(core_type_of_user_is_kept),
        cmocka_unit_test(sgemm),
        cmocka_unit_test(reasons_of_kernels),
        cmocka_unit_test(bf16_needs_its_instructions),
        cmocka_unit_test(threads_of_a_kernel), /* the last: it opens the libraries here */
    };
    return cmocka_run_group_tests_name("backend/vendors", tests, NULL, NULL);
}
