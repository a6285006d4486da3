/*
 * The end of a product of lanes.h, from its sums to what is stored, in terms of vec_*.h and lanes_body.h, after which
 * this is included. Activation and dtype are constants where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
VEC_INLINE void finish_vec(const lanes_finish *f, int64_t at, int64_t count, const braid_activation activation,
                           const braid_dtype dtype) {
    vec x = vec_get(f->sums, at, count, BRAID_DTYPE_F32);
    if (f->raw) vec_put(f->raw, at, x, count, dtype, 0);
    if (f->scale)
        x = vec_mul_add(x, vec_get(f->scale, at, count, BRAID_DTYPE_F32),
                        vec_get(f->shift, at, count, BRAID_DTYPE_F32));
    else if (f->shift)
        x = vec_add(x, vec_get(f->shift, at, count, BRAID_DTYPE_F32));
    if (f->z) x = vec_add(x, vec_get(f->z, at, count, dtype));
    if (activation != BRAID_ACTIVATION_NONE) x = activate_vec(x, LANES_RELU + (lanes_kind)activation);
    vec_put(f->out, at, x, count, dtype, 0);
}

VEC_INLINE void finish_loop(const lanes_finish *given, const braid_activation activation, const braid_dtype dtype) {
    const lanes_finish f = *given;
    int64_t at = 0;
    for (; at + VEC_LANES <= f.count; at += VEC_LANES) finish_vec(&f, at, VEC_LANES, activation, dtype);
    if (at < f.count) finish_vec(&f, at, f.count - at, activation, dtype);
}

VEC_INLINE void finish_dtype(const lanes_finish *f, const braid_activation activation) {
    if (f->dtype == BRAID_DTYPE_F32)
        finish_loop(f, activation, BRAID_DTYPE_F32);
    else if (f->dtype == BRAID_DTYPE_BF16)
        finish_loop(f, activation, BRAID_DTYPE_BF16);
    else
        finish_loop(f, activation, BRAID_DTYPE_F16);
}

VEC_TARGET static void finish(const lanes_finish *f) {
    switch (f->activation) {
        case BRAID_ACTIVATION_RELU: finish_dtype(f, BRAID_ACTIVATION_RELU); break;
        case BRAID_ACTIVATION_GELU: finish_dtype(f, BRAID_ACTIVATION_GELU); break;
        case BRAID_ACTIVATION_GELU_TANH: finish_dtype(f, BRAID_ACTIVATION_GELU_TANH); break;
        default: finish_dtype(f, BRAID_ACTIVATION_NONE); break;
    }
}
