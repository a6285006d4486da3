/*
 * OpenBLAS, opened once. Only the OpenMP build is used: the other one brings its own threads, which
 * fight with ours. Version 0.3.21 takes Xeons that are newer than itself for a Prescott, so that its
 * core type is set before it is loaded, unless the user has set it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "backend/cpu/cpu.h"
#include "backend/library.h"
#include "core/threads.h"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "."
#endif

enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111, CBLAS_TRANS = 112 };
#define BUFFER_BYTES ((rlim_t)129 << 20) /* of each thread, at most */
#define OTHER_BUFFERS 4                  /* as many bytes for itself and for all that we need */
enum { OPENBLAS_OPENMP = 2 };            /* of openblas_get_parallel */

static struct {
    void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc);
    int (*get_parallel)(void);
    char *(*get_corename)(void);
    char *(*get_config)(void);
} functions;

static vendor_library library = {.name = "openblas"};
static char file[PATH_MAX];
static char reason[PATH_MAX + 128];

/* What is fastest in f32 here. Zen 4 was measured: its AVX-512 runs at half speed, and ZEN beats SKYLAKEX.
 * NULL: let the library choose. */
static const char *core_type(void) {
    const unsigned features = cpu_features();
    if ((features & FEATURE_AVX512) && cpu_full_avx512()) return "SKYLAKEX";
    if (features & FEATURE_AVX512) return "ZEN";
    if (features & FEATURE_AVX2) return "HASWELL";
    return cpu_hardware() ? "NEHALEM" : NULL;
}

/* Opens the library with the core type in the environment, and leaves the environment as it was. */
static void *open_with_core_type(void) {
    static const char *const names[] = {"/usr/lib/" MULTIARCH "/openblas-openmp/libopenblas.so.0", "libopenblas.so.0",
                                        "libopenblaso.so.0", NULL};
    const char *variable = "OPENBLAS_CORETYPE";
    const char *core = getenv(variable) ? NULL : core_type();
    if (core) setenv(variable, core, 1);
    void *handle = library_open(names);
    if (core) unsetenv(variable);
    return handle;
}

static const char *resolve(void *handle) {
    if (!library_symbol(handle, "cblas_sgemm", &functions.sgemm)) return "cblas_sgemm";
    if (!library_symbol(handle, "openblas_get_parallel", &functions.get_parallel)) return "openblas_get_parallel";
    if (!library_symbol(handle, "openblas_get_corename", &functions.get_corename)) return "openblas_get_corename";
    if (!library_symbol(handle, "openblas_get_config", &functions.get_config)) return "openblas_get_config";
    return NULL;
}

/* Bits of a vector register that a core type uses. */
static int core_bits(const char *core) {
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char *const medium[] = {"Haswell", "Zen", "Excavator", NULL};
    for (int i = 0; wide[i]; i++) {
        if (strcasecmp(core, wide[i]) == 0) return 512;
    }
    for (int i = 0; medium[i]; i++) {
        if (strcasecmp(core, medium[i]) == 0) return 256;
    }
    return 128;
}

static void describe_core(void) {
    const char *core = functions.get_corename();
    const int best = cpu_full_avx512() ? 512 : cpu_hardware() & FEATURE_AVX2 ? 256 : 128;
    snprintf(library.isa, sizeof library.isa, "%s", core);
    library.handicapped = core_bits(core) < best;
    const char *config = functions.get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    if (sscanf(config, "OpenBLAS %31s", library.version) != 1)
        snprintf(library.version, sizeof library.version, "unknown");
}

/* Is there room for the buffers that it takes when it is loaded? Without, version 0.3.21 tries for ever. */
static bool has_room(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
    return limit.rlim_cur / BUFFER_BYTES > (rlim_t)threads_available() + OTHER_BUFFERS;
}

static void open_library(void) {
    if (!has_room()) {
        library.reason = "too little address space for the buffers of OpenBLAS: raise ulimit -v";
        return;
    }
    if (strcmp(threads_runtime(), "libgomp") != 0) {
        library.reason = "braid runs on libomp and OpenBLAS on libgomp, which must not share a process: build with gcc";
        return;
    }
    void *handle = open_with_core_type();
    if (!handle) {
        library.reason =
            "no libopenblas.so.0: apt-get install libopenblas0-openmp, or set BRAID_LIBRARY_PATH to its folder";
        return;
    }
    library.file = library_file(handle, file, sizeof file) ? file : "libopenblas.so.0";
    const char *missing = resolve(handle);
    if (missing) {
        snprintf(reason, sizeof reason, "%s has no %s: apt-get install libopenblas0-openmp", library.file, missing);
        library.reason = reason;
        return;
    }
    describe_core();
    if (functions.get_parallel() != OPENBLAS_OPENMP) {
        snprintf(reason, sizeof reason, "%s is not the OpenMP build: apt-get install libopenblas0-openmp",
                 library.file);
        library.reason = reason;
    } else if (strstr(functions.get_config(), "USE64BITINT")) {
        library.reason = "this OpenBLAS takes 64-bit integers: apt-get install libopenblas0-openmp";
    }
}

const vendor_library *openblas_library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return &library;
}

int openblas_fits(const gemm_shape *s) {
    return s->m <= INT_MAX && s->n <= INT_MAX && s->k <= INT_MAX && s->lda <= INT_MAX && s->ldb <= INT_MAX &&
           s->ldc <= INT_MAX;
}

void openblas_sgemm(const gemm_shape *s, const float *a, const float *b, float *c, int threads) {
    const int before = threads_apply(threads); /* the OpenMP build asks OpenMP how many threads there are */
    functions.sgemm(CBLAS_ROW_MAJOR, s->transpose_a ? CBLAS_TRANS : CBLAS_NO_TRANS,
                    s->transpose_b ? CBLAS_TRANS : CBLAS_NO_TRANS, (int)s->m, (int)s->n, (int)s->k, 1.0f, a,
                    (int)s->lda, b, (int)s->ldb, s->accumulate ? 1.0f : 0.0f, c, (int)s->ldc);
    threads_restore(before);
}
