/*
 * The list of kernels.def as a table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/kernel.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/dtype.h"
#include "kernels/ref/ref.h"

#define F32 (1u << BRAID_DTYPE_F32)
#define F16 (1u << BRAID_DTYPE_F16)
#define BF16 (1u << BRAID_DTYPE_BF16)
#define F64 (1u << BRAID_DTYPE_F64)
#define OWN KERNEL_OWN
#define DETERMINISTIC KERNEL_DETERMINISTIC
#define THREAD_INVARIANT KERNEL_THREAD_INVARIANT
#define TENSOR_CORE KERNEL_TENSOR_CORE
#define TF32 KERNEL_TF32
#define WINOGRAD KERNEL_WINOGRAD
#define AVX2 FEATURE_AVX2
#define AVX512 FEATURE_AVX512
#define AVX512_BF16 FEATURE_AVX512_BF16
#define AMX_BF16 FEATURE_AMX_BF16
#define SM80 FEATURE_SM80
#define SM90A FEATURE_SM90A

#define REFERENCE(OP, PASS, stem)
#define CHAIN(OP, PASS, stem)
#define KERNEL(name, OP, PASS, dtypes, BACKEND, features, flags, vendor) extern const kernel_functions name;
#include "kernels/kernels.def"
#undef REFERENCE
#undef KERNEL
#undef CHAIN

#define REFERENCE(OP, PASS, stem)      \
    {#stem "__ref",                    \
     BRAID_OP_##OP,                    \
     BRAID_PASS_##PASS,                \
     F32 | F16 | BF16 | F64,           \
     KERNEL_REF,                       \
     0,                                \
     DETERMINISTIC | THREAD_INVARIANT, \
     NULL,                             \
     &ref_functions},
#define KERNEL(name, OP, PASS, dtypes, BACKEND, features, flags, vendor) \
    {#name, BRAID_OP_##OP, BRAID_PASS_##PASS, dtypes, KERNEL_##BACKEND, features, flags, vendor, &name},
#define CHAIN(OP, PASS, stem)          \
    {#stem "__chain",                  \
     BRAID_OP_##OP,                    \
     BRAID_PASS_##PASS,                \
     F32 | F16 | BF16 | F64,           \
     KERNEL_CHAIN,                     \
     0,                                \
     DETERMINISTIC | THREAD_INVARIANT, \
     NULL,                             \
     &chain_functions},
static const kernel kernels[] = {
#include "kernels/kernels.def"
};
#undef REFERENCE
#undef KERNEL
#undef CHAIN

int kernel_count(void) { return (int)(sizeof kernels / sizeof kernels[0]); }

const kernel *kernel_at(int index) { return index >= 0 && index < kernel_count() ? &kernels[index] : NULL; }

const kernel *kernel_find(const char *name) {
    for (int i = 0; i < kernel_count(); i++) {
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
    }
    return NULL;
}

uint64_t kernel_list_hash(void) {
    uint64_t hash = 0;
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = &kernels[i];
        const unsigned numbers[] = {(unsigned)k->op,      (unsigned)k->pass, k->dtypes,
                                    (unsigned)k->backend, k->features,       k->flags};
        hash = XXH3_64bits_withSeed(k->name, strlen(k->name), hash);
        hash = XXH3_64bits_withSeed(numbers, sizeof numbers, hash);
    }
    return hash;
}

braid_kind kernel_kind(const kernel *k) {
    if (k->backend == KERNEL_REF) return BRAID_KIND_REF;
    if (k->backend == KERNEL_CHAIN) return BRAID_KIND_CHAIN;
    return k->vendor ? BRAID_KIND_VENDOR : BRAID_KIND_OWN;
}

int kernel_runs_on(const kernel *k, const device *d) {
    if (k->backend == KERNEL_CHAIN) return 1;
    return (strcmp(d->backend->name, "cpu") == 0) == (k->backend != KERNEL_CUDA);
}

/* "needs avx512, which this device does not have or BRAID_ISA masks" */
static const char *missing_feature(const kernel *k, const device *d) {
    static _Thread_local char reason[96];
    unsigned missing = k->features & ~d->features;
    if (!missing) return NULL;
    snprintf(reason, sizeof reason, "needs %s, which this device does not have%s",
             feature_name(missing & (~missing + 1)), k->backend == KERNEL_CUDA ? "" : " or BRAID_ISA masks");
    return reason;
}

const char *kernel_refuses(const kernel *k, const braid_problem *p, const device *d) {
    static _Thread_local char reason[64];
    if (k->op != p->op || k->pass != p->pass) return "another op or pass";
    if (!kernel_runs_on(k, d)) return "another device";
    if (!(k->dtypes & (1u << p->dtype))) {
        snprintf(reason, sizeof reason, "does not do %s", op_dtype_name(p));
        return reason;
    }
    if ((k->flags & KERNEL_TF32) && !p->tf32) return "rounds products to TF32, which f32 does not allow";
    const char *missing = missing_feature(k, d);
    return missing ? missing : k->functions->supports ? k->functions->supports(p, d) : NULL;
}

int kernel_is_unable(const kernel *k, const braid_problem *p, const device *d) {
    const char *reason = kernel_refuses(k, p, d);
    return reason && reason != backend_no_memory;
}
