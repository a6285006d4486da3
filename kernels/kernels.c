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

/* ---- Rows ---------------------------------------------------------------------------------
 *
 * KERNEL(op_pass, algorithm, dtypes, where, flags) goes through the word of its dtypes and that of where it runs, and
 * becomes a ROW for every kernel. */

enum {
    F32 = 1u << BRAID_DTYPE_F32,
    F16 = 1u << BRAID_DTYPE_F16,
    BF16 = 1u << BRAID_DTYPE_BF16,
    F64 = 1u << BRAID_DTYPE_F64,
    TENSOR_CORE = KERNEL_TENSOR_CORE,
    WINOGRAD = KERNEL_WINOGRAD,
    TF32 = KERNEL_TF32 | KERNEL_TENSOR_CORE,
};

/* Flags may be missing: then they are 0. */
#define KERNEL(op, algorithm, dtypes, ...) WITH_FLAGS(op, algorithm, dtypes, __VA_ARGS__, 0, )
#define WITH_FLAGS(op, algorithm, dtypes, where, flags, ...) DO_##dtypes(where, op, algorithm, flags)

/* `head` is how the name begins: it tells a dtype that an algorithm does alone. */
#define DO_ALL(where, op, algorithm, flags) ON_##where(op, op, algorithm, F32 | F16 | BF16, flags)
#define DO_HALVES(where, op, algorithm, flags) ON_##where(op, op, algorithm, F16 | BF16, flags)
#define DO_F32_BF16(where, op, algorithm, flags) ON_##where(op, op, algorithm, F32 | BF16, flags)
#define DO_F32(where, op, algorithm, flags) ON_##where(op, op##_f32, algorithm, F32, flags)
#define DO_TF32(where, op, algorithm, flags) ON_##where(op, op##_tf32, algorithm, F32, (flags) | TF32)

#define ON_SM80(op, head, algorithm, dtypes, flags) \
    ROW(op, head##__##algorithm, CUDA, dtypes, FEATURE_SM80, flags, NULL)
#define ON_SM90A(op, head, algorithm, dtypes, flags) \
    ROW(op, head##__##algorithm, CUDA, dtypes, FEATURE_SM90A, flags, NULL)

#define ON_CPU(op, head, algorithm, dtypes, flags) ROW(op, head##__##algorithm, CPU, dtypes, 0, flags, NULL)
#define ON_AVX512(op, head, algorithm, dtypes, flags)                               \
    ROW(op, head##__##algorithm##_avx512, CPU, dtypes, FEATURE_AVX512, flags, NULL) \
    ROW(op, head##__##algorithm##_avx2, CPU, dtypes, FEATURE_AVX2, flags, NULL)     \
    ROW(op, head##__##algorithm##_portable, CPU, dtypes, 0, flags, NULL)
#define ON_AVX512_BF16(op, head, algorithm, dtypes, flags)                                     \
    ROW(op, op##_bf16__##algorithm##_avx512_bf16, CPU, BF16, FEATURE_AVX512_BF16, flags, NULL) \
    ON_AVX512(op, head, algorithm, dtypes, flags)
#define ON_AMX_BF16(op, head, algorithm, dtypes, flags)                                  \
    ROW(op, op##_bf16__##algorithm##_amx_bf16, CPU, BF16, FEATURE_AMX_BF16, flags, NULL) \
    ON_AVX512_BF16(op, head, algorithm, dtypes, flags)

/* These cut their sums by the number of threads, and their names tell no dtype. */
#define ON_ONEDNN(op, head, algorithm, dtypes, flags) \
    ROW(op, op##__##algorithm, CPU, dtypes, 0, (flags) | KERNEL_VARIES_WITH_THREADS, "onednn")
#define ON_OPENBLAS(op, head, algorithm, dtypes, flags) \
    ROW(op, op##__##algorithm, CPU, dtypes, 0, (flags) | KERNEL_VARIES_WITH_THREADS, "openblas")

#define ON_CUDNN_2(op, head, algorithm, dtypes, flags)                           \
    ROW(op, head##__##algorithm##_1, CUDA, dtypes, FEATURE_SM80, flags, "cudnn") \
    ROW(op, head##__##algorithm##_2, CUDA, dtypes, FEATURE_SM80, flags, "cudnn")
#define ON_CUDNN_4(op, head, algorithm, dtypes, flags)                           \
    ON_CUDNN_2(op, head, algorithm, dtypes, flags)                               \
    ROW(op, head##__##algorithm##_3, CUDA, dtypes, FEATURE_SM80, flags, "cudnn") \
    ROW(op, head##__##algorithm##_4, CUDA, dtypes, FEATURE_SM80, flags, "cudnn")
#define ON_CUBLASLT_1(op, head, algorithm, dtypes, flags) \
    ROW(op, head##__##algorithm##_1, CUDA, dtypes, FEATURE_SM80, flags, "cublaslt")
#define ON_CUBLASLT_2(op, head, algorithm, dtypes, flags) \
    ON_CUBLASLT_1(op, head, algorithm, dtypes, flags)     \
    ROW(op, head##__##algorithm##_2, CUDA, dtypes, FEATURE_SM80, flags, "cublaslt")

/* ---- The table ---------------------------------------------------------------------------- */

/* First the op and pass that an op_pass stands for, and all functions. */
#define REFERENCE(OP, PASS, op) enum { OP_OF_##op = BRAID_OP_##OP, PASS_OF_##op = BRAID_PASS_##PASS };
#define CHAIN(op)
#define ROW(op, name, BACKEND, dtypes, features, flags, vendor) extern const kernel_functions name;
#include "kernels/kernels.def"
#undef REFERENCE
#undef CHAIN
#undef ROW

#define REFERENCE(OP, PASS, op) ENTRY(op, #op "__ref", REF, F32 | F16 | BF16 | F64, 0, 0, NULL, ref_functions)
#define CHAIN(op) ENTRY(op, #op "__chain", CHAIN, F32 | F16 | BF16 | F64, 0, 0, NULL, chain_functions)
#define ROW(op, name, BACKEND, dtypes, features, flags, vendor) \
    ENTRY(op, #name, BACKEND, dtypes, features, flags, vendor, name)
#define ENTRY(op, name, BACKEND, dtypes, features, flags, vendor, functions)                                          \
    {name,      (braid_op_id)OP_OF_##op, (braid_pass)PASS_OF_##op, dtypes, KERNEL_##BACKEND, features, flags, vendor, \
     &functions},
static const kernel kernels[] = {
#include "kernels/kernels.def"
};

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

/* What the rows of the list say by themselves; NULL: nothing against it. */
static const char *row_refuses(const kernel *k, const braid_problem *p, const device *d) {
    static _Thread_local char reason[64];
    if (k->op != p->op || k->pass != p->pass) return "another op or pass";
    if (!kernel_runs_on(k, d)) return "another device";
    if (!(k->dtypes & (1u << p->dtype))) {
        snprintf(reason, sizeof reason, "does not do %s", op_dtype_name(p));
        return reason;
    }
    if ((k->flags & KERNEL_TF32) && !p->tf32) return "rounds products to TF32, which f32 does not allow";
    return missing_feature(k, d);
}

refusal kernel_refusal(const kernel *k, const braid_problem *p, const device *d) {
    const char *reason = row_refuses(k, p, d);
    return reason ? refusal_unable(reason) : functions_refuse(k->functions, p, d);
}

const char *kernel_refuses(const kernel *k, const braid_problem *p, const device *d) {
    return kernel_refusal(k, p, d).text;
}

int kernel_is_unable(const kernel *k, const braid_problem *p, const device *d) {
    return kernel_refusal(k, p, d).kind == REFUSAL_UNABLE;
}
