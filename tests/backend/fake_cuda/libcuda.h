/*
 * A CUDA driver without a GPU, built as libcuda.so.1 for tests: device memory is host memory, kernels do
 * nothing, and any function can be made to fail.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FAKE_CUDA_H
#define BRAID_TESTS_FAKE_CUDA_H

/* The nth call of a function from now on, and every call of anything after it, answers with `error`; that is how a
 * faulted context behaves. With `once` only that call fails. */
typedef void fake_cuda_fail_function(const char *symbol, int nth, int error, int once);

/* For programs: FAKE_CUDA_FAIL=symbol:nth:error:once does the same from the start, FAKE_CUDA_FREE sets the bytes that
 * are free (512 MiB), FAKE_CUDA_FREE_LATER those that are once something was copied to the host, FAKE_CUDA_CAPABILITY
 * the compute capability (90 for 9.0). */

/* All calls so far, but for those that ask for the text of an error. */
typedef int fake_cuda_calls_function(void);

#endif
