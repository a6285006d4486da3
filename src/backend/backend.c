/*
 * The choice of a device by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/backend.h"

#include <stdlib.h>
#include <string.h>

refusal refusal_no_memory(void) {
    return (refusal){
        REFUSAL_NO_MEMORY,
        "its library finds no memory to make it ready; make the batch smaller or end other programs on this device"};
}

const char *feature_name(unsigned bit) {
    switch (bit) {
        case FEATURE_AVX2: return "avx2";
        case FEATURE_AVX512: return "avx512";
        case FEATURE_AVX512_BF16: return "avx512_bf16";
        case FEATURE_AMX_BF16: return "amx_bf16";
        case FEATURE_SM80: return "sm_80";
        case FEATURE_SM90A: return "sm_90a";
        default: return NULL;
    }
}

/* The number behind "cuda:", or -1. */
static int cuda_ordinal(const char *name) {
    const char *digits = name + strlen("cuda:");
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 4 || digits[length] != '\0') return -1;
    return (int)strtol(digits, NULL, 10);
}

static braid_status open_cuda(int ordinal, device **out) {
    int count = backend_cuda.count();
    if (count > ordinal) return backend_cuda.open(ordinal, out);
    if (count > 0)
        return fail(BRAID_ERROR_DEVICE, "device: expected cuda:0 to cuda:%d on this machine, got cuda:%d", count - 1,
                    ordinal);
    char why[256]; /* fail() writes where braid_message() points */
    strncpy(why, braid_message(), sizeof why - 1);
    why[sizeof why - 1] = '\0';
    return fail(BRAID_ERROR_DEVICE, "device: got cuda:%d, but there is no usable CUDA device (%s); use --device cpu",
                ordinal, why);
}

/* The first GPU, where there is one that the kernels can run on; else the CPU. */
static braid_status open_best(device **out) {
    const fail_kept kept = fail_keep();
    if (backend_cuda.count() > 0) {
        TRY(backend_cuda.open(0, out));
        if ((*out)->features & FEATURE_SM80) return BRAID_OK;
        backend_cuda.close(*out);
    }
    fail_put_back(&kept);
    return backend_cpu.open(0, out);
}

braid_status backend_open(const char *name, device **out) {
    *out = NULL;
    if (!name || strcmp(name, "auto") == 0) return open_best(out);
    if (strcmp(name, "cpu") == 0) return backend_cpu.open(0, out);
    if (strcmp(name, "cuda") == 0) return open_cuda(0, out);
    if (strncmp(name, "cuda:", strlen("cuda:")) == 0 && cuda_ordinal(name) >= 0)
        return open_cuda(cuda_ordinal(name), out);
    return fail(BRAID_ERROR_ARGUMENT, "device: expected cpu, cuda:0 (or another number) or auto, got '%.40s'", name);
}
