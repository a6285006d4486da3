/*
 * The fake cuBLASLt: see fake_vendors.h. Its search finds two algorithms where the shapes fit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cublaslt.h"
#include "tests/backend/fake_vendors/fake_vendors.h"

#define EXPORT __attribute__((visibility("default")))

static fake_vendor_counts counts;

/* A product, layout or preference. */
typedef struct fake {
    uint64_t rows, columns;
    uint32_t epilogue;
    int transposed[2];
    int has_bias;
} fake;

EXPORT fake_vendor_counts_function fake_cublaslt_counts;
fake_vendor_counts fake_cublaslt_counts(void) { return counts; }

static fake_vendor_fault fault;

EXPORT fake_vendor_fail_function fake_cublaslt_fail;
void fake_cublaslt_fail(const char *symbol, int nth, int status) { fake_vendor_set_fault(&fault, symbol, nth, status); }

#define FAKE_DECLARE(member, symbol, result, parameters) EXPORT result symbol parameters;
CUBLASLT_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

static lt_status make(void **out) {
    *out = calloc(1, sizeof(fake));
    counts.live += *out != NULL;
    return *out ? LT_SUCCESS : LT_NOT_SUPPORTED;
}

static lt_status drop(void *made) {
    counts.live--;
    free(made);
    return LT_SUCCESS;
}

size_t cublasLtGetVersion(void) { return 130456; }

lt_status cublasLtCreate(lt_handle *out) {
    FAKE_ANSWER();
    const char *mood = getenv("FAKE_VENDOR");
    if (mood && strcmp(mood, "broken") == 0) return 1;
    *out = &counts;
    counts.handles++;
    return LT_SUCCESS;
}

lt_status cublasLtDestroy(lt_handle handle) {
    FAKE_ANSWER();
    counts.handles--;
    return handle == &counts ? LT_SUCCESS : LT_NOT_SUPPORTED;
}

lt_status cublasLtMatmulDescCreate(lt_product *out, int compute, int scale) {
    FAKE_ANSWER();
    return (compute == LT_COMPUTE_FLOAT || compute == LT_COMPUTE_FLOAT_TF32) && scale == LT_FLOAT ? make(out)
                                                                                                  : LT_NOT_SUPPORTED;
}
lt_status cublasLtMatmulDescDestroy(lt_product p) {
    FAKE_ANSWER();
    return drop(p);
}

lt_status cublasLtMatmulDescSetAttribute(lt_product p, int name, const void *value, size_t bytes) {
    FAKE_ANSWER();
    fake *f = p;
    if (name == LT_PRODUCT_TRANSPOSE_A || name == LT_PRODUCT_TRANSPOSE_B)
        memcpy(&f->transposed[name - LT_PRODUCT_TRANSPOSE_A], value, bytes);
    if (name == LT_PRODUCT_EPILOGUE) memcpy(&f->epilogue, value, bytes);
    if (name == LT_PRODUCT_BIAS) f->has_bias = 1;
    return LT_SUCCESS;
}

lt_status cublasLtMatrixLayoutCreate(lt_layout *out, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    FAKE_ANSWER();
    (void)type;
    if (pitch < (int64_t)rows || make(out) != LT_SUCCESS) return LT_NOT_SUPPORTED;
    ((fake *)*out)->rows = rows;
    ((fake *)*out)->columns = columns;
    return LT_SUCCESS;
}
lt_status cublasLtMatrixLayoutDestroy(lt_layout l) {
    FAKE_ANSWER();
    return drop(l);
}

lt_status cublasLtMatmulPreferenceCreate(lt_preference *out) {
    FAKE_ANSWER();
    return make(out);
}
lt_status cublasLtMatmulPreferenceDestroy(lt_preference p) {
    FAKE_ANSWER();
    return drop(p);
}
lt_status cublasLtMatmulPreferenceSetAttribute(lt_preference p, int name, const void *value, size_t bytes) {
    FAKE_ANSWER();
    (void)name, (void)value;
    return p && bytes ? LT_SUCCESS : LT_NOT_SUPPORTED;
}

/* 1 where d = op(a) op(b) in column-major shapes. */
static int shapes_fit(const fake *p, const fake *a, const fake *b, const fake *d) {
    const uint64_t rows = p->transposed[0] ? a->columns : a->rows, inner = p->transposed[0] ? a->rows : a->columns;
    const uint64_t others = p->transposed[1] ? b->columns : b->rows, columns = p->transposed[1] ? b->rows : b->columns;
    return rows == d->rows && columns == d->columns && inner == others;
}

lt_status cublasLtMatmulAlgoGetHeuristic(lt_handle handle, lt_product p, lt_layout a, lt_layout b, lt_layout c,
                                         lt_layout d, lt_preference how, int room, lt_found *found, int *count) {
    FAKE_ANSWER();
    (void)how;
    *count = 0;
    if (handle != &counts || c != d || !shapes_fit(p, a, b, d)) return LT_NOT_SUPPORTED;
    for (; *count < 2 && *count < room; (*count)++) found[*count] = (lt_found){.algorithm = {{(uint64_t)*count}}};
    return LT_SUCCESS;
}

lt_status cublasLtMatmul(lt_handle handle, lt_product p, const void *alpha, const void *a, lt_layout a_layout,
                         const void *b, lt_layout b_layout, const void *beta, const void *c, lt_layout c_layout,
                         void *d, lt_layout d_layout, const lt_algorithm *algorithm, void *workspace,
                         size_t workspace_bytes, void *queue) {
    FAKE_ANSWER();
    const fake *f = p;
    const uint32_t biased = LT_EPILOGUE_BIAS | LT_EPILOGUE_BIAS_GRADIENT;
    if (handle != &counts || !a || !b || c != d || c_layout != d_layout || !queue || !workspace || !workspace_bytes ||
        *(const float *)alpha != 1 || *(const float *)beta != 0 || !shapes_fit(p, a_layout, b_layout, d_layout) ||
        ((f->epilogue & biased) && !f->has_bias))
        return LT_NOT_SUPPORTED;
    counts.executed++;
    counts.last = (int)algorithm->data[0];
    return LT_SUCCESS;
}
