/*
 * Products, their algorithms, and launches of cuBLASLt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/cublaslt_layer.h"

#include "core/memory.h"

#define WORKSPACE_BYTES ((size_t)32 << 20)

/* The product of all streams of one shape. In cuBLASLt's column-major words `a` is the right matrix, `b` the left. */
typedef struct unit {
    cublaslt_call call;
    lt_product product;
    lt_layout a, b, d;
    lt_algorithm algorithm;
} unit;

typedef struct cublaslt_layer {
    int units;
    int unit_of[BRAID_MAX_PLANES];
    unit unit[BRAID_MAX_PLANES];
} cublaslt_layer;

static int lt_dtype(braid_dtype dtype) {
    if (dtype == BRAID_DTYPE_F16) return LT_HALF;
    return dtype == BRAID_DTYPE_BF16 ? LT_BFLOAT16 : LT_FLOAT;
}

/* ---- Describing --------------------------------------------------------------------------------- */

static lt_status make_layout(const cublaslt_matrix *m, int dtype, lt_layout *out) {
    return cublaslt()->layout_create(out, dtype, (uint64_t)m->columns, (uint64_t)m->rows, m->pitch);
}

static lt_status set_transpose(lt_product product, int name, int transposed) {
    const int32_t value = transposed ? LT_TRANSPOSED : LT_PLAIN;
    return cublaslt()->product_set(product, name, &value, sizeof value);
}

static lt_status set_epilogue(unit *u, int dtype) {
    const uint32_t epilogue = (uint32_t)u->call.epilogue;
    const int32_t type = dtype;
    const int64_t pitch = u->call.out.pitch;
    lt_status status = cublaslt()->product_set(u->product, LT_PRODUCT_EPILOGUE, &epilogue, sizeof epilogue);
    if (!status && (epilogue & (LT_EPILOGUE_BIAS | LT_EPILOGUE_BIAS_GRADIENT)))
        status = cublaslt()->product_set(u->product, LT_PRODUCT_BIAS_TYPE, &type, sizeof type);
    if (!status && (epilogue & LT_EPILOGUE_AUX)) {
        status = cublaslt()->product_set(u->product, LT_PRODUCT_AUX_PITCH, &pitch, sizeof pitch);
        if (!status) status = cublaslt()->product_set(u->product, LT_PRODUCT_AUX_TYPE, &type, sizeof type);
    }
    return status;
}

/* The algorithm of a rank in the order that cuBLASLt predicts. */
static lt_status search(unit *u, lt_handle handle, int rank) {
    const size_t workspace = WORKSPACE_BYTES;
    const uint32_t reductions = LT_REDUCTION_IN_ORDER;
    lt_found found[VENDOR_RANKS];
    int count = 0;
    lt_preference how = NULL;
    lt_status status = cublaslt()->preference_create(&how);
    if (!status) status = cublaslt()->preference_set(how, LT_PREFERENCE_WORKSPACE, &workspace, sizeof workspace);
    if (!status) status = cublaslt()->preference_set(how, LT_PREFERENCE_REDUCTIONS, &reductions, sizeof reductions);
    if (!status)
        status = cublaslt()->search(handle, u->product, u->a, u->b, u->d, u->d, how, VENDOR_RANKS, found, &count);
    if (how) (void)cublaslt()->preference_destroy(how);
    if (!status && (rank >= count || found[rank].status)) status = LT_NOT_SUPPORTED;
    if (!status) u->algorithm = found[rank].algorithm;
    return status;
}

/* With the context current. What was made is destroyed by drop_unit also after a failure. */
static lt_status make_unit(const braid_problem *p, lt_handle handle, const cublaslt_way *way, int i, unit *u) {
    const int dtype = lt_dtype(p->dtype);
    u->call = (cublaslt_call){.epilogue = LT_EPILOGUE_NONE};
    way->describe(p, i, &u->call);
    lt_status status =
        cublaslt()->product_create(&u->product, way->tf32 ? LT_COMPUTE_FLOAT_TF32 : LT_COMPUTE_FLOAT, LT_FLOAT);
    if (!status) status = set_transpose(u->product, LT_PRODUCT_TRANSPOSE_A, u->call.right.transposed);
    if (!status) status = set_transpose(u->product, LT_PRODUCT_TRANSPOSE_B, u->call.left.transposed);
    if (!status) status = set_epilogue(u, dtype);
    if (!status) status = make_layout(&u->call.right, dtype, &u->a);
    if (!status) status = make_layout(&u->call.left, dtype, &u->b);
    if (!status) status = make_layout(&u->call.out, dtype, &u->d);
    return status ? status : search(u, handle, way->rank);
}

static void drop_unit(unit *u) {
    if (u->d) (void)cublaslt()->layout_destroy(u->d);
    if (u->b) (void)cublaslt()->layout_destroy(u->b);
    if (u->a) (void)cublaslt()->layout_destroy(u->a);
    if (u->product) (void)cublaslt()->product_destroy(u->product);
}

static const char *refuses_problem(const braid_problem *p, const cublaslt_way *way) {
    if (p->tf32 != way->tf32) return vendor_other_products;
    if (p->batch == 0) return "cuBLASLt is not called for a batch without samples";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] == 0 || p->out_channels[i] == 0)
            return "cuBLASLt is not called for a stream without channels";
    }
    return NULL;
}

refusal cublaslt_layer_refuses(const braid_problem *p, const device *d, const cublaslt_way *way) {
    device *changed = (device *)(uintptr_t)d;
    void *handle = NULL, *queue = NULL;
    lt_status status = LT_SUCCESS;
    refusal refused = cuda_vendor_refuses(d, CUDA_CUBLASLT);
    if (!refused.kind) refused = refusal_unable(refuses_problem(p, way));
    if (refused.kind) return refused;
    if (cuda_vendor_enter(changed, CUDA_CUBLASLT, &handle, &queue) != BRAID_OK) return vendor_device_failed();
    for (int i = 0; i < p->streams && !status; i++) {
        unit u = {.product = NULL};
        if (vendor_same_shape(p, i) == i) status = make_unit(p, handle, way, i, &u);
        drop_unit(&u);
    }
    if (cuda_vendor_leave(changed, BRAID_OK) != BRAID_OK) return vendor_device_failed();
    if (cuda_vendor_lacks_memory(CUDA_CUBLASLT, status)) return refusal_no_memory();
    return refusal_unable(status ? "cuBLASLt has no algorithm of this rank for this shape, dtype and epilogue" : NULL);
}

/* ---- Launching ---------------------------------------------------------------------------------- */

static lt_status set_pointer(const unit *u, int name, void *pointer) {
    return cublaslt()->product_set(u->product, name, &pointer, sizeof pointer);
}

static braid_status run_stream(device *d, const unit *u, const buffers *b, int i) {
    const float one = 1, zero = 0;
    const cublaslt_call *call = &u->call;
    void *handle = NULL, *queue = NULL, *out = b->plane[call->out.slot][i];
    lt_status status = LT_SUCCESS;
    TRY(cuda_vendor_enter(d, CUDA_CUBLASLT, &handle, &queue));
    if (call->epilogue & (LT_EPILOGUE_BIAS | LT_EPILOGUE_BIAS_GRADIENT))
        status = set_pointer(u, LT_PRODUCT_BIAS, b->plane[call->bias_slot][i]);
    if (!status && (call->epilogue & LT_EPILOGUE_AUX))
        status = set_pointer(u, LT_PRODUCT_AUX, b->plane[call->aux_slot][i]);
    if (!status)
        status = cublaslt()->multiply(handle, u->product, &one, b->plane[call->right.slot][i], u->a,
                                      b->plane[call->left.slot][i], u->b, &zero, out, u->d, out, u->d, &u->algorithm,
                                      b->workspace, WORKSPACE_BYTES, queue);
    return cuda_vendor_leave(d, status ? cuda_vendor_failed(d, CUDA_CUBLASLT, status, "a call") : BRAID_OK);
}

braid_status cublaslt_layer_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const cublaslt_layer *layer = state;
    if (d->is_loading) return BRAID_OK;
    for (int i = 0; i < p->streams; i++) {
        const unit *u = &layer->unit[layer->unit_of[i]];
        TRY(run_stream(d, u, b, i));
    }
    return BRAID_OK;
}

/* ---- The layer ---------------------------------------------------------------------------------- */

braid_status cublaslt_layer_create(const braid_problem *p, device *d, const cublaslt_way *way, void **state,
                                   size_t *workspace_bytes) {
    void *memory = NULL, *handle = NULL, *queue = NULL;
    lt_status status = LT_SUCCESS;
    *state = NULL;
    *workspace_bytes = WORKSPACE_BYTES;
    TRY(memory_calloc(1, sizeof(cublaslt_layer), "a cuBLASLt layer", &memory));
    cublaslt_layer *layer = memory;
    braid_status entered = cuda_vendor_enter(d, CUDA_CUBLASLT, &handle, &queue);
    for (int i = 0; i < p->streams && !entered && !status; i++) {
        const int first = vendor_same_shape(p, i);
        layer->unit_of[i] = first < i ? layer->unit_of[first] : layer->units++;
        if (first == i) status = make_unit(p, handle, way, i, &layer->unit[layer->unit_of[i]]);
    }
    braid_status failed = status ? cuda_vendor_failed(d, CUDA_CUBLASLT, status, "making a product") : BRAID_OK;
    if (!entered) entered = cuda_vendor_leave(d, failed);
    if (entered)
        cublaslt_layer_destroy(d, layer);
    else
        *state = layer;
    return entered;
}

void cublaslt_layer_destroy(device *d, void *state) {
    cublaslt_layer *layer = state;
    (void)d;
    if (!layer) return;
    for (int i = 0; i < layer->units; i++) drop_unit(&layer->unit[i]);
    memory_free(layer);
}
