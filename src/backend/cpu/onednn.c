/*
 * oneDNN, opened once. Debian's 2.6.3 dies with SIGILL in bf16 on machines with AMX, so that its
 * instruction set is capped below AMX before it is used; in f32 nothing is lost by that, and bf16
 * keeps the AVX-512 instructions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cpu/onednn.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/library.h"
#include "core/threads.h"

static vendor_library library = {.name = "onednn"};

#if BRAID_HAVE_DNNL_H

static onednn_functions functions;
static dnnl_engine_t engine;
static char file[PATH_MAX];
static char reason[PATH_MAX + 128];

static const struct {
    dnnl_cpu_isa_t isa;
    const char *name;
} isa_names[] = {
    {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
    {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
    {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
    {dnnl_cpu_isa_avx512_core, "avx512_core"},
    {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
    {dnnl_cpu_isa_avx2, "avx2"},
    {dnnl_cpu_isa_avx, "avx"},
    {dnnl_cpu_isa_sse41, "sse41"},
};

/* The name of the first function that the library lacks; NULL: it has them all. */
static const char *resolve(void *handle) {
#define ONEDNN_RESOLVE(name) \
    if (!library_symbol(handle, "dnnl_" #name, &functions.name)) return "dnnl_" #name;
    ONEDNN_FUNCTIONS(ONEDNN_RESOLVE)
#undef ONEDNN_RESOLVE
    return NULL;
}

/* The highest set that may be used: what BRAID_ISA allows, and never AMX. The user's own cap is left alone. */
static void cap_isa(void) {
    const unsigned features = cpu_features();
    if (getenv("ONEDNN_MAX_CPU_ISA") || getenv("DNNL_MAX_CPU_ISA")) return;
    if (features == cpu_hardware() && !(features & FEATURE_AMX_BF16)) return;
    functions.set_max_cpu_isa(features & FEATURE_AVX512_BF16 ? dnnl_cpu_isa_avx512_core_bf16
                              : features & FEATURE_AVX512    ? dnnl_cpu_isa_avx512_core
                              : features & FEATURE_AVX2      ? dnnl_cpu_isa_avx2
                                                             : dnnl_cpu_isa_sse41);
}

static void describe_isa(void) {
    const unsigned isa = (unsigned)functions.get_effective_cpu_isa(), hardware = cpu_hardware();
    const unsigned best = hardware & FEATURE_AVX512 ? dnnl_cpu_isa_avx512_core
                          : hardware & FEATURE_AVX2 ? dnnl_cpu_isa_avx2
                                                    : 0u;
    snprintf(library.isa, sizeof library.isa, "unknown");
    for (size_t i = 0; i < sizeof isa_names / sizeof isa_names[0]; i++) {
        if (isa_names[i].isa == (dnnl_cpu_isa_t)isa) snprintf(library.isa, sizeof library.isa, "%s", isa_names[i].name);
    }
    library.handicapped = (isa & best) != best;
}

static void open_library(void) {
    static const char *const names[] = {"libdnnl.so.2", NULL};
    if (strcmp(threads_runtime(), "libgomp") != 0) {
        library.reason = "braid runs on libomp and oneDNN on libgomp, which must not share a process: build with gcc";
        return;
    }
    void *handle = library_open(names);
    if (!handle) {
        library.reason = "no libdnnl.so.2: apt-get install libdnnl2, or set BRAID_LIBRARY_PATH to its folder";
        return;
    }
    library.file = library_file(handle, file, sizeof file) ? file : names[0];
    const char *missing = resolve(handle);
    if (missing) {
        snprintf(reason, sizeof reason, "%s has no %s: braid needs oneDNN 2.x", library.file, missing);
        library.reason = reason;
        return;
    }
    const dnnl_version_t *version = functions.version();
    snprintf(library.version, sizeof library.version, "%d.%d.%d", version->major, version->minor, version->patch);
    cap_isa();
    describe_isa();
    if (version->major != 2)
        library.reason = "braid needs oneDNN 2.x";
    else if (functions.engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        library.reason = "oneDNN has no CPU engine";
}

const onednn_functions *onednn(void) { return &functions; }

dnnl_engine_t onednn_engine(void) { return engine; }

#else

static void open_library(void) {
    library.reason = "braid was built without oneDNN's header: apt-get install libdnnl-dev, and build again";
}

#endif

const vendor_library *onednn_library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return &library;
}
