/*
 * The end of a product of channels.h, from its sums to what is stored, in terms of vec_*.h and channels_map_body.h,
 * after which this is included. Activation and dtype are constants where inlined.
 *
 * SPDX-License-Identifier: MIT
 */
VEC_INLINE void epilogue_vec(const channel_epilogue *f, int64_t at, int64_t count, const braid_activation activation,
                             const braid_dtype dtype) {
    vec x = vec_get(f->sums, at, count, BRAID_DTYPE_F32);
    if (f->raw) vec_put(f->raw, at, x, count, dtype, 0);
    if (f->scale)
        x = vec_mul_add(x, vec_get(f->scale, at, count, BRAID_DTYPE_F32),
                        vec_get(f->shift, at, count, BRAID_DTYPE_F32));
    else if (f->shift)
        x = vec_add(x, vec_get(f->shift, at, count, BRAID_DTYPE_F32));
    if (f->z) x = vec_add(x, vec_get(f->z, at, count, dtype));
    if (activation != BRAID_ACTIVATION_NONE) x = activate_vec(x, CHANNEL_RELU + (channel_kind)activation);
    vec_put(f->out, at, x, count, dtype, 0);
}

VEC_INLINE void epilogue_loop(const channel_epilogue *given, const braid_activation activation,
                              const braid_dtype dtype) {
    const channel_epilogue f = *given;
    int64_t at = 0;
    for (; at + VEC_LANES <= f.count; at += VEC_LANES) epilogue_vec(&f, at, VEC_LANES, activation, dtype);
    if (at < f.count) epilogue_vec(&f, at, f.count - at, activation, dtype);
}

VEC_INLINE void epilogue_dtype(const channel_epilogue *f, const braid_activation activation) {
    if (f->dtype == BRAID_DTYPE_F32)
        epilogue_loop(f, activation, BRAID_DTYPE_F32);
    else if (f->dtype == BRAID_DTYPE_BF16)
        epilogue_loop(f, activation, BRAID_DTYPE_BF16);
    else
        epilogue_loop(f, activation, BRAID_DTYPE_F16);
}

VEC_TARGET static void epilogue(const channel_epilogue *f) {
    switch (f->activation) {
        case BRAID_ACTIVATION_RELU: epilogue_dtype(f, BRAID_ACTIVATION_RELU); break;
        case BRAID_ACTIVATION_GELU: epilogue_dtype(f, BRAID_ACTIVATION_GELU); break;
        case BRAID_ACTIVATION_GELU_TANH: epilogue_dtype(f, BRAID_ACTIVATION_GELU_TANH); break;
        default: epilogue_dtype(f, BRAID_ACTIVATION_NONE); break;
    }
}
