/*
 * What a user sees of a GPU that has too little memory, fails or is too old: exit code and message, and that the last
 * checkpoint is as it was; that runs which are compared do as the first one did, whatever memory is free by then; and
 * what explain says that kernels need. The GPU is that of the fake driver (tests/backend/fake_cuda), whose kernels
 * compute nothing. The set and a run of three updates are made once, in $M.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdlib.h>

#include "tests/support/shell.h"

#ifndef BRAID_FAKE_CUDA_FOLDER
#define BRAID_FAKE_CUDA_FOLDER "" /* set by tests/emu/CMakeLists.txt, which builds it */
#endif

#define GPU " --device cuda:0 --effort estimate --cache-dir '' --threads 1 -q "
#define TRAIN "timeout 60 $B train mlp --data $M/f --batch 2" GPU "--out r "
#define ROOMY "timeout 60 $B train lenet86 --data $M/f" GPU "--out r "
#define LITTLE "$B profile mlp --layers 4,3 --batch 2 --effort estimate --cache-dir '' --threads 1 -q"
#define CONV "$B explain conv2d_fwd:f16:n2:b2:hw9x8:c16:k16:rs3x3:pad1" GPU
#define LINET "$B explain linet18 --dtype f16 --batch 2 --size 64x64 --width 0.5" GPU
#define COPY "cp -r $M/r r && cp r/last.safetensors old && "
#define SAME " && cmp r/last.safetensors old && test $(ls -A r) = last.safetensors && "
#define GO_ON TRAIN "--resume --steps 8"
#define CHECK                                                                                                 \
    "BRAID_LOG=plan $B check lenet86 --batch 2 --steps 2 --runs 2 --device cuda:0 --cache-dir '' -q 2> log; " \
    "code=$?; cat log >&2; grep -c 'activations are kept' log; grep -c 'activations are recomputed' log; exit $code"
#define MAKE                                                                                             \
    "mkdir ../made && cd ../made && $B data make fmnist86 --out f --count 20 -q && cd ../work && " TRAIN \
    "--steps 3 > log && mv r $M/r"

/* The nth call of a function of the driver fails, and all that come behind it; or that one alone, for want of memory.
 * The run ends with a code, the checkpoint is as it was, and a run that meets no fault goes on from it. */
#define FAULT(nth, error) COPY "FAKE_CUDA_FAIL=" nth ":" error ":0 " GO_ON "; test $? = 6" SAME GO_ON
#define NO_MEMORY(nth) COPY "FAKE_CUDA_FAIL=" nth ":2:1 " GO_ON "; test $? = 5" SAME GO_ON
/* The same of a vendor library, which finds no memory. */
#define VENDORS "BRAID_LIBRARY_PATH=$BRAID_LIBRARY_PATH:$BRAID_LIBRARY_PATH/../fake_vendors; "
#define VENDOR_NO_MEMORY(fault)                                                                       \
    VENDORS TRAIN "--steps 3 > log && cp r/last.safetensors old && FAKE_VENDOR_FAIL=" fault " " GO_ON \
                  "; test $? = 5" SAME GO_ON
#define DEAD "|the device cannot be used any more in this process"

static const command commands[] = {
    /* 8: a plan that does not fit: nothing is left, and the batch that is named fits */
    {"FAKE_CUDA_FREE=30000000 $B profile linet18 --size 64x64 --width 0.125 --batch 64" GPU, 5, NULL,
     "braid profile: plan of batch 64: needs 0.0|GB, free are 0.03 GB; batch | fits"},
    {"export FAKE_CUDA_FREE=4000000; " ROOMY "--batch 18 2> log; test $? = 5 && test ! -e r && cat log && "
     "n=$(sed -n 's/.*; batch \\([0-9]*\\) fits$/\\1/p' log) && " ROOMY "--batch $n --steps 1",
     0, "plan of batch 18: needs |GB, free are 0.00 GB; batch |steps   1\n", ""},
    {"FAKE_CUDA_FREE=1000 " ROOMY "--batch 18", 5, NULL, "plan of batch 18: needs |not even batch 1 fits"},
    /* 8: kernels that cannot be loaded, before the first step: nothing is left */
    {"FAKE_CUDA_FAIL=cuModuleLoadData:3:2:1 " TRAIN "--steps 1; code=$?; test ! -e r && exit $code", 5, NULL,
     "braid train: cuda:0: no memory for loading the kernels of |make the batch smaller"},
    {"FAKE_CUDA_FAIL=cuModuleLoadData:3:209:0 " TRAIN "--steps 1; code=$?; test ! -e r && exit $code", 6, NULL,
     "braid train: cuda:0: loading the kernels of |fake error 209" DEAD},
    /* 8: the driver itself has no memory in a step */
    {NO_MEMORY("cuGraphInstantiateWithFlags:1"), 0, "steps   8\n",
     "cuda:0: no memory for readying a recording, with 536870912 bytes free|make the batch smaller|!any more"},
    /* 8: a vendor library has none: in a step, or in the plan, which needs it where the run began with it */
    {VENDOR_NO_MEMORY("cublasLtMatmul:1:3"), 0, "steps   8\n",
     "cuda:0: no memory for a call of cublaslt (CUBLAS_STATUS_ALLOC_FAILED), with |make the batch smaller|!any more"},
    {VENDOR_NO_MEMORY("cublasLtMatmul:4:3"), 0, "steps   8\n", "cuda:0: no memory for a call of cublaslt |!any more"},
    {VENDOR_NO_MEMORY("cublasLtMatmulDescCreate:2:3"), 0, "steps   8\n",
     "kernel linear_act_fwd_f32__cuda_cublaslt_1: its library finds no memory to make it ready; make "},
    {VENDORS "FAKE_VENDOR_FAIL=cudnnBackendExecute:1:4004 " ROOMY
             "--batch 2 --steps 3; code=$?; test ! -e r && exit $code",
     5, NULL, "cuda:0: no memory for a call of cudnn (fake error), with |make the batch smaller|!any more"},
    {VENDORS "FAKE_VENDOR_FAIL=cudnnBackendFinalize:8:4004 " ROOMY "--batch 2 --steps 3", 0, "steps   3\n", ""},
    /* runs that must have the same bits: the first decides for all of them whether activations are kept */
    {"FAKE_CUDA_FREE=5000000 FAKE_CUDA_FREE_LATER=2000000 " CHECK, 0, "3 passed, 0 failed|\n3\n0\n",
     "activations are kept"},
    {"FAKE_CUDA_FREE=2000000 FAKE_CUDA_FREE_LATER=5000000 " CHECK, 0, "3 passed, 0 failed|\n0\n3\n",
     "activations are recomputed"},
    {"FAKE_CUDA_FREE=5000000 FAKE_CUDA_FREE_LATER=1200000 " CHECK, 5, "launched  run 0|\n2\n0\n",
     "plan of batch 2: needs |batch 1 fits"},
    /* 9: what has begun is not gone on with, whatever it wants for */
    {FAULT("cuGraphLaunch:3", "2"), 0, "steps   8\n", "replaying a recording failed: |fake error 2" DEAD},
    {FAULT("cuLaunchKernel:20", "2"), 0, "steps   8\n", "cuda:0: linear_| failed: |fake error 2" DEAD},
    {FAULT("cuMemGetInfo_v2:1", "700"), 0, "steps   8\n", "asking for free memory failed: |!batch 1 fits" DEAD},
    /* 9: the GPU fails in a step, in a launch or behind it */
    {FAULT("cuGraphLaunch:3", "700"), 0, "steps   8\n", "replaying a recording failed: |fake error 700" DEAD},
    {FAULT("cuLaunchKernel:20", "719"), 0, "steps   8\n", "cuda:0: linear_| failed: |fake error 719" DEAD},
    {FAULT("cuEventSynchronize:2", "214"), 0, "steps   8\n", "waiting for a copy from the device failed: " DEAD},
    {FAULT("cuMemcpyHtoDAsync_v2:40", "700"), 0, "steps   8\n", "copying to the device failed: " DEAD},
    /* 9: and before there is a checkpoint */
    {"FAKE_CUDA_FAIL=cuGraphLaunch:3:700:0 " TRAIN "--steps 8; code=$?; test ! -e r && exit $code", 6, NULL,
     "replaying a recording failed: " DEAD},
    /* 10: a GPU that is too old: the reason where it is asked for, else the CPU; a driver that is too old */
    {"FAKE_CUDA_CAPABILITY=75 " TRAIN "--steps 1; code=$?; test ! -e r && exit $code", 6, NULL,
     "braid train: cuda:0: expected a GPU of compute capability 8.0 or newer, got Fake GPU 0; use --device cpu"},
    {"FAKE_CUDA_CAPABILITY=75 " LITTLE, 0, "device      cpu\n", ""},
    {LITTLE, 0, "device      cuda:0\n", ""},
    /* what a kernel needs, and that a GPU has it */
    {CONV, 0, "kernel |kind |needs |sm_80 |sm_90a |!BRAID_ISA", ""},
    {"FAKE_CUDA_CAPABILITY=80 " CONV, 0, "sm_80 |needs sm_90a, which this device does not have\n|!BRAID_ISA", ""},
    {CONV "-o csv", 0,
     "kernel,kind,architecture,|conv2d_fwd__cuda_direct,own,sm_80,|\nconv2d_fwd__cuda_implicit_gemm_lanes,own,sm_90a,|"
     "conv2d_fwd__cuda_cudnn_1,vendor,,",
     ""},
    {LINET "-v", 0, "kernel |needs |sm_80 ", ""}, /* the fake driver makes no tensor maps, which those of sm_90a take */
    {"mkdir l && echo 'int cuInit(unsigned f) { return 0; }' > old.c && cc -shared -fPIC -o l/libcuda.so.1 old.c && "
     "BRAID_LIBRARY_PATH=l " TRAIN "--steps 1",
     6, NULL, "l/libcuda.so.1) has no function cu|; install a newer driver|use --device cpu"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static int begin(void **state) {
    (void)state;
    if (shell_begin(BRAID_PROGRAM)) return 1;
    setenv("M", "../made", 1);
    setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_CUDA_FOLDER, 1);
    return shell_run(MAKE);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS];
    shell_tests(tests, commands, COMMANDS);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
