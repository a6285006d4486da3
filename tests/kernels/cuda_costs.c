/*
 * The cost model of the CUDA kernels, where nothing was raced, takes the kernel that an H200 was seen to be fastest
 * with, by rows of bench/results/h200: *_conv2d_resident3x3.txt, *_conv2d_parity.txt, *_odd_again.csv, *_tf32_f32.txt,
 * *_few_channels_rows.txt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "kernels/kernel.h"

/* A problem, the kernel that was fastest, and some that were slower by more than a twentieth. */
static const struct measured {
    const char *problem, *fastest, *slower[4];
} list[] = {
    {"conv2d_bwd_data:f16:n3:b16:hw104x136:c64:k128:rs3x3:st2:pad1",
     "conv2d_bwd_data__cuda_parity_rows72",
     {"conv2d_bwd_data__cuda_parity_128", "conv2d_bwd_data__cuda_parity_160",
      "conv2d_bwd_data__cuda_implicit_gemm_pixels", "conv2d_bwd_data__cuda_implicit_gemm_lanes"}},
    {"conv2d_bwd_data:f16:n3:b16:hw52x68:c128:k256:rs3x3:st2:pad1",
     "conv2d_bwd_data__cuda_parity_128",
     {"conv2d_bwd_data__cuda_parity_160", "conv2d_bwd_data__cuda_implicit_gemm_lanes",
      "conv2d_bwd_data__cuda_implicit_gemm_pixels", "conv2d_bwd_data__cuda_mma"}},
    {"conv2d_bwd_data:f16:n3:b16:hw26x34:c256:k512:rs3x3:st2:pad1",
     "conv2d_bwd_data__cuda_parity_128",
     {"conv2d_bwd_data__cuda_implicit_gemm_lanes", "conv2d_bwd_data__cuda_parity_160",
      "conv2d_bwd_data__cuda_implicit_gemm_pixels", "conv2d_bwd_data__cuda_direct"}},
    {"conv2d_bwd_data:f16:n2:b4:hw50x20:c192:k208:rs5x5:pad2",
     "conv2d_bwd_data__cuda_implicit_gemm_pixels",
     {"conv2d_bwd_data__cuda_implicit_gemm_lanes", "conv2d_bwd_data__cuda_mma"}},
    {"conv2d_fwd:f16:n3:b16:hw104x136:c64:k64:rs3x3:pad1",
     "conv2d_fwd__cuda_resident3x3_rows136",
     {"conv2d_fwd__cuda_implicit_gemm_pixels", "conv2d_fwd__cuda_implicit_gemm_lanes", "conv2d_fwd__cuda_mma"}},
    {"conv2d_fwd:f16:n3:b16:hw26x34:c256:k256:rs3x3:pad1",
     "conv2d_fwd__cuda_implicit_gemm_lanes",
     {"conv2d_fwd__cuda_mma", "conv2d_fwd__cuda_direct"}},
    {"conv2d_fwd:f32:n3:b16:hw104x136:c64:k64:rs3x3:pad1",
     "conv2d_fwd_f32__cuda_mma",
     {"conv2d_fwd_f32__cuda_cudnn_1", "conv2d_fwd__cuda_direct"}},
    {"conv2d_bwd_data:f32:n3:b16:hw52x68:c128:k128:rs3x3:pad1",
     "conv2d_bwd_data_f32__cuda_mma",
     {"conv2d_bwd_data_f32__cuda_cudnn_1", "conv2d_bwd_data__cuda_direct"}},
    {"conv2d_bwd_weight:f32:n3:b16:hw26x34:c256:k256:rs3x3:pad1",
     "conv2d_bwd_weight_f32__cuda_cudnn_1",
     {"conv2d_bwd_weight_f32__cuda_mma", "conv2d_bwd_weight__cuda_direct"}},
    {"linear_fwd:f32:b1024:c2048:k2048:bias1",
     "linear_fwd_f32__cuda_cublaslt_1",
     {"linear_fwd_f32__cuda_mma", "linear_fwd_f32__cuda_skinny", "linear_fwd__cuda_direct"}},
    {"conv2d_fwd:tf32:n3:b16:hw104x136:c64:k64:rs3x3:pad1",
     "conv2d_fwd_tf32__cuda_cudnn_1",
     {"conv2d_fwd_tf32__cuda_mma", "conv2d_fwd__cuda_direct"}},
    {"conv2d_bwd_data:tf32:n3:b16:hw52x68:c128:k128:rs3x3:pad1",
     "conv2d_bwd_data_tf32__cuda_cudnn_1",
     {"conv2d_bwd_data_tf32__cuda_mma", "conv2d_bwd_data__cuda_direct"}},
    {"conv2d_bwd_weight:tf32:n3:b16:hw26x34:c256:k256:rs3x3:pad1",
     "conv2d_bwd_weight_tf32__cuda_cudnn_1",
     {"conv2d_bwd_weight_tf32__cuda_mma", "conv2d_bwd_weight__cuda_direct"}},
    {"linear_fwd:tf32:b1024:c2048:k2048:bias1",
     "linear_fwd_tf32__cuda_cublaslt_1",
     {"linear_fwd_tf32__cuda_mma", "linear_fwd_f32__cuda_skinny", "linear_fwd__cuda_direct"}},
    {"conv2d_fwd:f16:n3:b16:hw416x544:c3,1,1:k64:rs7x7:st2:pad3",
     "conv2d_fwd__cuda_rows_wgmma",
     {"conv2d_fwd__cuda_lines"}},
    {"conv2d_bwd_weight:f16:n3:b16:hw416x544:c3,1,1:k64:rs7x7:st2:pad3",
     "conv2d_bwd_weight__cuda_rows_wgmma",
     {"conv2d_bwd_weight__cuda_lines"}},
};

static double seconds(const char *name, const braid_problem *p) {
    const kernel *k = kernel_find(name);
    assert_non_null(k);
    return k->functions->cost(p, &(machine){.threads = 1});
}

static void the_fastest_kernel_is_predicted_to_be(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof list / sizeof list[0]; j++) {
        braid_problem p;
        assert_int_equal(braid_problem_parse(list[j].problem, &p), BRAID_OK);
        for (int i = 0; i < 4 && list[j].slower[i]; i++) {
            double best = seconds(list[j].fastest, &p), other = seconds(list[j].slower[i], &p);
            if (best >= other)
                print_message("%s: %s %.1f us, %s %.1f us\n", list[j].problem, list[j].fastest, 1e6 * best,
                              list[j].slower[i], 1e6 * other);
            assert_true(best < other);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_fastest_kernel_is_predicted_to_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
