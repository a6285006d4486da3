/*
 * What the integrate kernels on panels share: where the pixels of a tile lie.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_CUH

#include "kernels/cuda/integrate/integrate_panels.h"
#include "kernels/cuda/tile/panel.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"

/* An output pixel: its sample, and the pixel of z that it reads. */
struct integrate_place {
    int32_t sample, in_pathway;
};

static __device__ __forceinline__ integrate_place find_place(const integrate_panels_args &args, int32_t pixel) {
    integrate_place place = {0, pixel};
    if (!args.needs_places) return place;
    const int32_t line = (int32_t)((uint32_t)pixel / (uint32_t)args.out_size[1]);
    place.sample = (int32_t)((uint32_t)line / (uint32_t)args.out_size[0]);
    const int32_t row = (line - place.sample * args.out_size[0]) * args.stride[0];
    const int32_t column = (pixel - line * args.out_size[1]) * args.stride[1];
    place.in_pathway = (place.sample * args.size[0] + row) * args.size[1] + column;
    return place;
}

/* Starts to copy a piece of a pixel's channels, from channel c on; zeros beyond the last channel or pixel, and where
 * the sample is blanked. */
template <class number>
static __device__ __forceinline__ void copy_pixel(unsigned char *to, const integrate_panels_source &source,
                                                  int32_t pixel, integrate_place place, int32_t end, int32_t c) {
    const bool inside = pixel < end && c < source.channels && !mask_blanks(source.mask, place.sample);
    const int64_t at = source.is_pathway ? place.in_pathway : pixel;
    copy_async(to, (const number *)source.x + (inside ? at * source.pitch + c : 0), inside);
}

/* bwd_data: eight channels from c on of a pixel of a source, from the sums of the thread's first (0) or second (1) row;
 * with what is added to them. All lanes of a warp take part; `inside`: this one has such channels. */
template <class number, int count>
static __device__ __forceinline__ void gradient_run(uint32_t (&run)[4], const float (&sum)[count],
                                                    const integrate_panels_source &to, int32_t pixel, int32_t c,
                                                    bool inside, bool blank, int second, int j) {
    if (!to.add) {
        panel_run<number>(run, sum, second, j);
        for (int i = 0; i < 4; i++) run[i] = blank ? 0 : run[i];
        return;
    }
    for (int i = 0; i < 4; i++) run[i] = 0;
    if (inside) read_bytes<16>(run, (const number *)to.add + (int64_t)pixel * to.pitch + c);
    panel_run_added<number>(run, sum, blank, second, j);
}

#endif
