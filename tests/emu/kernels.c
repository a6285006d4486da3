/*
 * Every CUDA kernel of kernels.def against the double reference, on the emulator:
 *
 *     kernels [--kernel NAME] [--cases N] [--seed S] [--part K/N] [--caught]
 *
 * Problems are drawn at random (odd sizes, masks, unequal channels, all dtypes), and each failure prints the
 * problem and its seed for replay. --part 1/2 takes every other kernel, 2/2 those between. --caught turns the verdict
 * around, for mutated kernels: exit 0 only if a case failed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rng.h"
#include "core/threads.h"
#include "kernels/kernel.h"
#include "plan/verify.h"
#include "tests/emu/emu.h"
#include "tests/emu/unrounded.h"

#define DRAWS_FOR_ALL 60 /* tools/test_cuda draws as many for the sanitizer */

typedef struct options {
    const char *kernel; /* NULL: all */
    long cases;
    unsigned long long seed;
    int part, parts;
    int caught;
} options;

typedef struct tally {
    long passed, failed, skipped;
} tally;

static int crash_is_caught;

static void say(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* An address out of range in a kernel: device memory lies between forbidden pages. */
static void report_crash(int signal_number) {
    const char *where = emu_where();
    int caught = crash_is_caught && where;
    (void)signal_number;
    say("address out of range in ");
    say(where ? where : "no kernel");
    say(caught ? "\n1 passed, 0 failed, 0 skipped\n" : "\n0 passed, 1 failed, 0 skipped\n");
    _exit(caught ? 0 : 1);
}

static void catch_crashes(void) {
    static char stack[65536];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = report_crash;
    action.sa_flags = SA_ONSTACK;
    (void)sigaltstack(&alternative, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
}

static void describe_failure(const kernel *k, const braid_problem *p, unsigned long long seed, const char *failure) {
    char text[BRAID_PROBLEM_TEXT];
    if (braid_problem_print(p, text, sizeof text) != BRAID_OK) text[0] = '\0';
    printf("FAILED %s seed %llu %s: %s\n", k->name, seed, text, failure);
}

/* One problem. False where checking itself is impossible. */
static int run_problem(const kernel *k, device *d, const braid_problem *p, unsigned long long seed, tally *t) {
    verdict v;
    const char *reason = kernel_refuses(k, p, d);
    if (reason) {
        printf("skip: %s: %s\n", k->name, reason);
        t->skipped++;
        return 1;
    }
    if (verify_kernels(p, d, &k, 1, seed, &v) != BRAID_OK) return 0;
    if (v.failure[0]) describe_failure(k, p, seed, v.failure);
    t->failed += v.failure[0] != '\0';
    t->passed += v.failure[0] == '\0';
    return 1;
}

/* Weight gradients of sm_90a take odd channels, but no bias, and some only the filter that networks use most. */
static void suit_weight_gradient(const kernel *k, const device *d, braid_problem *p) {
    p->groups = 1;
    p->padding_mode = BRAID_PADDING_ZEROS;
    p->bias = 0;
    for (int i = 0; i < p->streams; i++) {
        p->in_pitch[i] = (p->in_pitch[i] + 7) / 8 * 8;
        p->out_pitch[i] = (p->out_pitch[i] + 7) / 8 * 8;
    }
    for (int axis = 0; axis < 2 && kernel_refuses(k, p, d); axis++) {
        p->filter[axis] = 3;
        p->stride[axis] = p->dilation[axis] = p->padding[axis] = 1;
        p->extra_padding[axis] = 0;
    }
}

static int run_drawn(const kernel *k, device *d, unsigned long long seed, tally *t) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    braid_problem p;
    if (braid_problem_draw(k->op, k->pass, seed, &p) != BRAID_OK) return 0;
    p.dtype = dtypes[seed % 3];
    if (k->flags & KERNEL_TF32) {
        p.dtype = BRAID_DTYPE_F32;
        p.tf32 = 1;
        problem_round(&p);
    }
    if (k->features & FEATURE_SM90A && (k->op == BRAID_OP_CONV2D || k->op == BRAID_OP_CONV2D_SCALE_BIAS_ACT)) {
        p.dtype = dtypes[1 + seed % 2];
        if (k->pass == BRAID_PASS_BWD_WEIGHT)
            suit_weight_gradient(k, d, &p);
        else
            problem_round(&p);
    }
    return braid_problem_check(&p) == BRAID_OK && run_problem(k, d, &p, seed, t);
}

/* Problems that are too large, too empty or too odd to be drawn: several tiles each way, or no sample. */
static const char *const chosen[] = {
    "conv2d_fwd:f16:n1:b1:hw212x211:c72:k8:rs1x1",
    "conv2d_fwd:f16:n2:b2:hw9x8:c72,16:k136,8:rs3x3:st2:pad1:bias1:mask1",
    "conv2d_fwd:bf16:n1:b3:hw17x15:c64:k192:rs3x3:pad1",
    "conv2d_fwd:bf16:n1:b40:hw1x1:c136:k72:rs1x1:mask1:kp88",
    "conv2d_fwd:f16:n1:b2:hw19x23:c8:k24:rs5x7:st2x3:pad3x2:dil1x2",
    "conv2d_bwd_data:f16:n2:b2:hw9x8:c136,16:k72,8:rs3x3:st2:pad1:mask1",
    "conv2d_bwd_data:bf16:n1:b3:hw17x15:c192:k64:rs3x3:pad1",
    "conv2d_bwd_data:bf16:n1:b2:hw7x9:c64:k72:rs1x1:st2",
    "conv2d_bwd_data:bf16:n1:b7:hw7x8:c64:k72:rs3x3:st2:pad1:mask1",
    "conv2d_bwd_data:f16:n1:b2:hw6x38:c128:k8:rs3x3:st2:pad1",
    "conv2d_bwd_data:f16:n1:b2:hw18x17:c40:k16:rs5x3:st2x1:pad2x1:dil2x1:cp48",
    "conv2d_fwd:tf32:n2:b2:hw9x8:c20,4:k132,8:rs3x3:st2:pad1:bias1:mask1:kp136,8",
    "conv2d_fwd:tf32:n1:b2:hw13x9:c24:k16:rs2x3:st2x3:pad1:dil2x1:g2",
    "conv2d_fwd:f32:n2:b2:hw9x8:c20,4:k132,8:rs3x3:st2:pad1:bias1:mask1:kp136,8",
    "conv2d_bwd_data:tf32:n2:b3:hw9x8:c132,16:k20,4:rs3x3:pad1:mask1:add1:cp136,16",
    "conv2d_bwd_data:tf32:n1:b2:hw13x9:c24:k16:rs3x4:st2x3:pad1:dil1x2:g2",
    "conv2d_bwd_data:f32:n2:b3:hw9x8:c132,16:k20,4:rs3x3:st2:pad1:mask1:cp136,16",
    "conv2d_bwd_weight:tf32:n2:b4:hw9x8:c20,4:k136,8:rs3x3:pad1:bias1:mask1:kp140,8",
    "conv2d_bwd_weight:tf32:n1:b4:hw13x19:c24:k16:rs2x3:st2x3:pad1:dil2x1:g2",
    "conv2d_bwd_weight:f32:n2:b4:hw9x8:c20,4:k136,8:rs3x3:pad1:bias1:mask1:kp140,8",
    "conv2d_scale_bias_act:tf32:n2:b2:hw9x8:c20,16:k132,8:rs3x3:st2:pad1:mask1:add1:kp136,8",
    "conv2d_scale_bias_act:f32:n1:b3:hw7x5:c20:k12:rs3x3:pad1:act=none",
    "linear_fwd:tf32:n2:b70:c36,4:k132,64:bias1:mask1",
    "linear_fwd:f32:n2:b70:c36,4:k132,64:bias1:mask1",
    "linear_bwd_data:tf32:n2:b70:c132,64:k36,4:mask1",
    "linear_bwd_data:f32:n2:b70:c132,64:k36,4:mask1",
    "linear_bwd_weight:tf32:n2:b300:c72,4:k64,72:bias1:mask1",
    "linear_bwd_weight:f32:n2:b300:c72,4:k64,72:bias1:mask1",
    "conv2d_fwd:f32:n2:b2:hw9x8:c70,3:k130,65:rs3x3:pad1:bias1",
    "conv2d_fwd:f32:n2:b0:hw9x9:c4,2:k5,6:rs3x3:pad1",
    "conv2d_fwd:bf16:n1:b40:hw1x1:c130:k67:rs1x1:mask1:kp72",
    "conv2d_fwd:f16:n3:b2:hw75x39:c3,1,1:k64,64,64:rs7x7:st2:pad3:mask1",
    "conv2d_fwd:f16:n3:b2:hw35x40:c3,1,1:k64,64,64:rs7x7:st2:pad3:mask1",
    "conv2d_fwd:bf16:n2:b2:hw23x39:c3,1:k64,72:rs3x3:pad1:bias1:kp64,80",
    "conv2d_fwd:f16:n1:b3:hw30x86:c1:k4:rs7x7",
    "conv2d_fwd:f16:n1:b3:hw40x40:c4:k16:rs7x7",
    "conv2d_fwd:f32:n1:b3:hw40x40:c4:k16:rs7x7",
    "conv2d_fwd:f32:n2:b2:hw23x39:c3,1:k64,12:rs7x7:st2:pad3:bias1:mask1:kp64,16",
    "conv2d_fwd:bf16:n2:b2:hw19x33:c3,8:k4,7:rs5x3:pad2x1:bias1:mask1:kp4,9",
    "conv2d_fwd:f16:n1:b2:hw9x13:c16:k16:rs3x3:pad1:bias1",
    "conv2d_bwd_data:f32:n1:b3:hw40x40:c4:k16:rs7x7",
    "conv2d_bwd_data:f16:n1:b3:hw40x40:c4:k16:rs7x7:mask1",
    "conv2d_bwd_data:f16:n2:b2:hw19x33:c4,3:k16,5:rs7x5:pad3x1:mask1:cp4,4",
    "conv2d_bwd_weight:f32:n1:b5:hw40x40:c4:k16:rs7x7",
    "conv2d_bwd_weight:f32:n1:b900:hw4x3:c1:k2:rs3x3:pad1",
    "conv2d_bwd_weight:f32:n1:b3:hw30x86:c1:k4:rs7x7",
    "conv2d_bwd_weight:f16:n2:b2:hw19x33:c3,1:k12,9:rs3x5:st2:pad1:mask1:cp4,4:kp16,12",
    "conv2d_bwd_data:f32:n2:b2:hw9x8:c130,65:k70,3:rs3x3:pad1:st2",
    "conv2d_bwd_data:f32:n1:b1:hw1x2:c3:k4:rs5x7:pad3x4:mode=replicate",
    "conv2d_bwd_data:f16:n1:b2:hw3x2:c70:k5:rs5x3:pad3x2:mode=circular",
    "conv2d_fwd:f16:n3:b3:hw13x17:c16,72,136:k200,24,17:rs3x3:pad1:bias1:mask1:kp208,24,24",
    "conv2d_fwd:bf16:n2:b3:hw2x136:c64,40:k64,72:rs3x3:pad1:mask1:bias1",
    "conv2d_fwd:f16:n1:b7:hw1x9:c24:k32:rs3x3:pad1",
    "conv2d_fwd:f16:n1:b2:hw26x34:c128:k40:rs3x3:pad1",
    "conv2d_fwd:bf16:n1:b1:hw4x301:c24:k16:rs3x3:pad1",
    "conv2d_fwd:f16:n2:b0:hw13x17:c16,24:k16,32:rs3x3:pad1",
    "conv2d_bwd_data:bf16:n3:b3:hw13x17:c200,24,16:k16,72,136:rs3x3:pad1:mask1:cp208,24,24",
    "conv2d_bwd_data:f16:n2:b3:hw2x136:c64,72:k64,40:rs3x3:pad1:mask1",
    "conv2d_bwd_data:bf16:n1:b2:hw26x34:c40:k128:rs3x3:pad1",
    "conv2d_bwd_data:f16:n1:b1:hw4x301:c16:k24:rs3x3:pad1:mask1",
    "conv2d_fwd:f16:n8:b2:hw5x6:c16,24,16,72,32,16,16,40:k16,16,24,16,72,16,32,16:rs3x3:pad1:bias1:mask1",
    "conv2d_bwd_data:bf16:n7:b2:hw5x6:c16,24,16,72,32,16,16:k16,16,24,16,72,16,32:rs3x3:pad1:mask1:add1",
    "conv2d_bwd_data:f16:n8:b2:hw5x7:c16,24,16,72,32,16,16,40:k16,16,24,16,72,16,32,16:rs3x3:st2:pad1:mask1",
    "conv2d_bwd_data:f16:n2:b3:hw7x9:c72,16:k128,40:rs3x3:st2:pad1:mask1:cp80,16",
    "conv2d_bwd_data:bf16:n1:b2:hw4x290:c24:k72:rs3x3:st2:pad1",
    "conv2d_bwd_data:f16:n1:b5:hw1x2:c16:k8:rs3x3:st2:pad1:mask1",
    "conv2d_bwd_data:f16:n2:b2:hw27x33:c72,16:k136,24:rs3x3:st2:pad1:mask1:add1:cp80,16",
    "conv2d_bwd_data:bf16:n3:b7:hw11x6:c64,64,64:k128,128,128:rs3x3:st2:pad1:mask1",
    "conv2d_bwd_weight:f32:n2:b4:hw9x8:c70,3:k66,65:rs3x3:pad1:bias1:mask1",
    "conv2d_bwd_weight:f32:n2:b0:hw9x9:c4,2:k5,6:rs3x3:pad1:bias1",
    "conv2d_bwd_weight:bf16:n2:b5:hw13x17:c72,8:k64,136:rs3x3:pad1:mask1",
    "conv2d_bwd_weight:f16:n1:b2:hw11x34:c64:k136:rs3x3:st2:pad1",
    "conv2d_bwd_weight:bf16:n1:b2:hw13x9:c13:k20:rs7x5:st2x3:pad3:mask1:cp16:kp24",
    "conv2d_bwd_weight:f16:n2:b2:hw2x300:c40,5:k24,3:rs3x3:pad1:cp48,8:kp24,8",
    "conv2d_bwd_weight:bf16:n1:b40:hw1x1:c8:k8:rs3x3:pad1:mask1",
    "conv2d_bwd_weight:f16:n2:b3:hw9x21:c200,8:k64,72:rs1x1:st2:mask1",
    "conv2d_bwd_weight:f16:n2:b2:hw7x9:c16,24:k8,16:rs2x3:dil3x2:pad=same",
    "conv2d_bwd_weight:f16:n1:b2:hw12x136:c16:k24:rs3x3:pad1",
    "conv2d_bwd_weight:f16:n1:b2:hw12x136:c64:k64:rs3x3:pad1",
    "conv2d_bwd_weight:bf16:n1:b2:hw7x68:c128:k72:rs3x3:pad1:mask1",
    "conv2d_fwd:f16:n2:b2:hw9x8:c72,8:k136,64:rs3x3:pad1:bias1:mask1:kp144,64",
    "conv2d_fwd:bf16:n1:b2:hw13x9:c48:k32:rs2x3:st2x3:pad1:dil2x1:g2",
    "conv2d_bwd_data:f16:n2:b3:hw9x8:c136,64:k72,8:rs3x3:pad1:mask1:cp144,64",
    "conv2d_bwd_data:bf16:n1:b2:hw13x9:c48:k32:rs3x4:st2x3:pad1:dil1x2:g2",
    "conv2d_bwd_data:f16:n1:b2:hw11x10:c16:k24:rs1x1:st2",
    "conv2d_bwd_weight:f16:n2:b4:hw9x8:c72,8:k136,64:rs3x3:pad1:bias1:mask1:kp144,64",
    "conv2d_bwd_weight:bf16:n1:b4:hw13x19:c48:k32:rs2x3:st2x3:pad1:dil2x1:g2",
    "conv2d_bwd_data:f16:n2:b2:hw9x8:c136,16:k72,8:rs3x3:st2:pad1:mask1:add1",
    "conv2d_bwd_data:bf16:n1:b3:hw17x15:c192:k64:rs3x3:pad1:add1",
    "conv2d_bwd_data:bf16:n1:b2:hw7x9:c64:k72:rs1x1:st2:add1",
    "conv2d_bwd_data:f16:n1:b2:hw6x38:c128:k8:rs3x3:st2:pad1:add1",
    "conv2d_scale_bias_act:f16:n1:b1:hw212x211:c72:k136:rs1x1:add1",
    "conv2d_scale_bias_act:bf16:n1:b3:hw90x136:c16:k16:rs3x3:pad1:add1",
    "conv2d_bwd_data:f16:n1:b2:hw18x17:c40:k16:rs5x3:st2x1:pad2x1:dil2x1:add1:cp48",
    "conv2d_bwd_data:bf16:n3:b3:hw13x17:c200,24,16:k16,72,136:rs3x3:pad1:mask1:add1:cp208,24,24",
    "conv2d_bwd_data:f16:n2:b3:hw2x136:c64,72:k64,40:rs3x3:pad1:mask1:add1",
    "conv2d_bwd_data:f16:n1:b1:hw4x301:c16:k24:rs3x3:pad1:mask1:add1",
    "conv2d_scale_bias_act:f16:n2:b2:hw9x8:c72,16:k136,8:rs3x3:st2:pad1:mask1:add1",
    "conv2d_scale_bias_act:bf16:n1:b3:hw17x15:c64:k192:rs3x3:pad1:add1",
    "conv2d_scale_bias_act:f16:n1:b1:hw30x31:c72:k72:rs1x1:act=none:kp80",
    "conv2d_scale_bias_act:f16:n3:b3:hw13x17:c16,72,136:k200,24,16:rs3x3:pad1:mask1:add1:kp208,24,24",
    "conv2d_scale_bias_act:f16:n3:b3:hw13x17:c16,72,136:k200,24,17:rs3x3:pad1:mask1:kp208,24,24",
    "conv2d_scale_bias_act:bf16:n2:b3:hw2x136:c64,40:k64,72:rs3x3:pad1:mask1:add1",
    "conv2d_scale_bias_act:f16:n2:b3:hw75x39:c3,1:k64,64:rs7x7:st2:pad3:mask1",
    "conv2d_scale_bias_act:bf16:n2:b2:hw23x39:c3,1:k64,72:rs3x3:pad1:act=none:kp64,80",
    "conv2d_scale_bias_act:bf16:n1:b2:hw13x9:c48:k32:rs2x3:st2x3:pad1:dil2x1:g2:add1",
    "linear_fwd:f16:n2:b70:c200,8:k136,64:bias1:mask1",
    "linear_bwd_data:bf16:n2:b70:c136,64:k200,8:mask1",
    "linear_bwd_weight:f16:n2:b700:c72,8:k64,72:bias1:mask1",
    "conv2d_bwd_weight:f16:n3:b2:hw37x39:c3,1,1:k64,64,64:rs7x7:st2:pad3:mask1",
    "conv2d_bwd_weight:bf16:n3:b2:hw35x40:c3,1,1:k64,64,64:rs7x7:st2:pad3:mask1",
    "conv2d_bwd_weight:bf16:n2:b2:hw23x39:c3,1:k64,72:rs3x3:pad1:bias1:kp64,80",
    "conv2d_bwd_weight:f16:n1:b3:hw30x86:c1:k4:rs7x7:bias1",
    "conv2d_bwd_weight:f16:n1:b9:hw40x40:c4:k16:rs7x7",
    "conv2d_bwd_weight:bf16:n1:b1:hw7x68:c128:k72:rs3x3:pad1",
    "linear_fwd:f32:n2:b70:c200,3:k130,65:bias1:mask1",
    "linear_bwd_data:f32:n2:b70:c130,65:k200,3:mask1",
    "linear_bwd_weight:f32:n2:b700:c70,3:k66,65:bias1:mask1",
    "linear_fwd:f16:n1:b32:c1024:k15:bias1",
    "linear_fwd:f32:n1:b1300:c64:k64:bias1:mask1",
    "linear_bwd_data:f32:n1:b1300:c64:k64",
    "linear_bwd_weight:f32:n1:b9000:c40:k24:bias1:mask1",
    "linear_act_fwd:f32:n1:b1300:c64:k64:bias1:act=gelu:phase=train",
    "linear_act_fwd:bf16:n2:b300:c72,9:k40,33:bias1:mask1:act=gelu_tanh:kp40,40",
    "linear_act_fwd:f16:n1:b70:c784:k256:bias1:act=relu:phase=eval",
    "linear_act_bwd_data:f32:n1:b1300:c64:k64:act=gelu",
    "linear_act_bwd_data:f16:n2:b300:c72,9:k40,33:mask1:act=relu:cp72,16",
    "linear_act_bwd_weight:f32:n1:b1300:c64:k64:bias1:act=gelu",
    "linear_act_bwd_weight:f16:n2:b300:c72,9:k40,33:bias1:mask1:act=gelu_tanh:cp72,16",
    "linear_act_bwd_weight:bf16:n1:b9000:c40:k24:bias1:mask1:act=relu",
    "matmul_fwd:f16:n2:b70:c200,3:k130,65:trans0:cp200,8:kp136,72",
    "matmul_fwd:f32:n2:b70:c200,3:k130,65:trans1",
    "matmul_bwd_data:f32:n2:b70:c130,65:k200,3:trans0",
    "matmul_bwd_data:bf16:n2:b70:c130,65:k200,3:trans1:cp136,72",
    "matmul_bwd_weight:f32:n2:b700:c70,3:k66,65:trans0",
    "matmul_bwd_weight:f32:n2:b0:c7,3:k6,5:trans1",
    "bn_stats:f32:n2:b40:hw13x9:c100,3:mask1:cp112,4",
    "bn_stats:f16:n2:b0:hw13x9:c100,3",
    "bn_stats:f32:n1:b3:hw100x99:c1",
    "bn_stats:f32:n1:b2:hw60x50:c9",
    "bn_prepare:f32:n2:b40:hw13x9:c100,3:mask1:avg=cumulative:cp112,4",
    "bn_prepare:f32:n1:b2:hw60x50:c9",
    "bn_prepare:f16:n2:b0:hw13x9:c100,3",
    "bn_finalize:f32:n9:b40:hw13x9:c1,300,3,4,5,6,7,8,600:mask1:phase=train:avg=cumulative",
    "bn_finalize:f32:n2:b3:hw2x2:c300,200:mask1:phase=train",
    "bn_apply:f32:n2:b3:hw9x11:c300,3:mask1:cp312,4",
    "bn_apply:f16:n1:b2:hw2x2:c9000",
    "bn_sums:f32:n2:b40:hw13x9:c100,3:mask1:cp112,4",
    "bn_sums:bf16:n1:b3:hw100x99:c1",
    "bn_sums:f32:n1:b2:hw60x50:c9",
    "bn_dapply:f32:n2:b70:hw13x9:c100,3:mask1:phase=train:cp112,4",
    "act_fwd:f16:n2:b2:hw23x19:c40,64:act=relu:cp48,64",
    "act_fwd:f16:n2:b3:hw8x6:c4,2:act=relu",
    "act_bwd_data:f32:n1:b0:hw3x3:c5:act=gelu",
    "act_bwd_data:bf16:n1:b2:hw3x3:c300:act=gelu",
    "add:f32:n9:b2:hw5x7:c1,2,3,4,5,6,7,8,300",
    "cast:f16:n2:b2:hw5x7:c64,12:to=f32:cp64,16",
    "cast:f32:n2:b2:hw5x7:c64,12:to=bf16:cp64,16",
    "dropout_fwd:f16:n2:b2:hw5x7:c60,13:rate=0.5:cp64,16",
    "maxpool_fwd:f16:n2:b2:hw13x11:c60,3:rs3x3:st2:pad1:cp64,8",
    "maxpool_bwd_data:f32:n2:b2:hw13x11:c60,3:rs3x3:st2:pad1:cp64,4",
    "maxpool_fwd:bf16:n1:b2:hw12x9:c264:rs3x3:st1:pad1:ceil1",
    "maxpool_bwd_data:f16:n1:b1:hw69x40:c16:rs3x3:st2:pad1",
    "maxpool_bwd_data:bf16:n1:b2:hw12x20:c264:rs3x3:st2:pad1:ceil1",
    "maxpool_fwd:f16:n1:b3:hw21x23:c4:rs2x2:st2:ceil1",
    "maxpool_fwd:f16:n1:b3:hw20x24:c4:rs2x2:st2:ceil1",
    "maxpool_bwd_data:bf16:n2:b3:hw20x24:c4,4:rs2x2:st2",
    "maxpool_bwd_data:f16:n1:b3:hw21x23:c4:rs2x2:st2:ceil1",
    "maxpool_bwd_data:bf16:n2:b2:hw19x18:c12,3:rs4x3:st5x4:pad1:cp12,3",
    "maxpool_bwd_data:f32:n1:b2:hw34x34:c16:rs4x4:st4",
    "avgpool_fwd:f16:n2:b3:hw13x17:c512,5:cp520,8",
    "avgpool_bwd_data:bf16:n2:b3:hw13x17:c300,5:out3x7:cp304,8",
    "bn_act_fwd:f16:n2:b3:hw9x11:c300,3:mask1:cp304,8",
    "bn_act_bwd_weight:f16:n2:b40:hw13x9:c100,3:mask1:cp104,8",
    "bn_act_bwd_weight:f32:n1:b2:hw60x50:c9",
    "bn_act_bwd_data:bf16:n2:b3:hw9x11:c100,3:mask1:cp104,8",
    "bn_add_act_fwd:f16:n2:b3:hw9x11:c100,3:mask1:zn1:cp104,8",
    "bn_add_act_bwd_data:f16:n2:b3:hw9x11:c100,3:mask1:cp104,8",
    "bn_add_act_bwd_weight:bf16:n1:b3:hw50x49:c64",
    "bn_act_pool_fwd:f16:n2:b3:hw13x11:c60,3:mask1:rs3x3:st2:pad1:cp64,8",
    "bn_act_pool_bwd_data:f16:n2:b2:hw13x11:c20,3:mask1:rs3x3:st2:pad1:cp24,8",
    "bn_act_pool_bwd_data:bf16:n2:b1:hw68x35:c8,24:phase=train:rs3x3:st2:pad1",
    "bn_act_pool_bwd_data:f32:n1:b3:hw7x9:c132:mask1:rs3x3:st2:pad1:ceil1",
    "bn_act_pool_bwd_weight:f32:n2:b2:hw31x33:c64,8:rs3x3:st2:pad1",
    "bn_act_pool_bwd_weight:f16:n1:b2:hw41x45:c64:rs3x3:st2:pad1",
    "bn_act_pool_bwd_weight:f32:n2:b3:hw13x11:c10,3:mask1:rs3x3:st2:pad1:cp12,4",
    "softmax_xent_fwd:f32:n1:b70:c300:smooth=0.1:cw1:cp304",
    "softmax_xent_fwd:f16:n1:b5:c1500:smooth=0.1",
    "softmax_xent_bwd_data:f32:n1:b5:c1500",
    "softmax_xent_bwd_data:f16:n1:b0:c19",
    "softmax_xent_bwd_data:f16:n1:b300:c19:smooth=0.1:cp24",
    "focal_bwd_data:bf16:n1:b5:c1000",
    "mse_fwd:f32:n1:b0:c20",
    "mse_fwd:f16:n1:b3:c9000",
    "balance_fwd:f16:n3:b2:hw33x31:c64,5,16",
    "sgd:f16:n1:c10003:g3:seg40:mom=0.9:nest1",
    "adam:bf16:n1:c10001:g2:seg700",
    "clip_norm:f32:n1:c70001:limit=1",
    "integrate_fwd:f16:n2:b2:hw9x8:c70,3:zi130:zo70:st2:bias1:mask1",
    "integrate_bwd_data:f32:n2:b2:hw9x8:c70,3:zi66:zo130:st2:mask1",
    "integrate_bwd_weight:f32:n2:b2:hw9x8:c70,3:zi0:zo66:bias1:mask1",
    "integrate_fwd:f16:n2:b3:hw23x25:c72,8:zi64:zo40:st2x1:bias1:mask1:cp80,8",
    "integrate_fwd:bf16:n2:b2:hw17x9:c64,24:zi136:zo200:mask1",
    "integrate_fwd:f16:n1:b0:hw5x5:c8:zi8:zo8",
    "integrate_fwd:f16:n2:b2:hw3x5:c784,768:zi8:zo8:mask1",
    "integrate_bwd_data:f16:n2:b3:hw23x25:c40,8:zi64:zo56:st2x1:mask1:cp56,8",
    "integrate_bwd_data:bf16:n2:b2:hw17x9:c136,24:zi72:zo200:st1x3:mask1:add3:cp152,24",
    "integrate_bwd_data:f16:n2:b3:hw15x25:c64,40:zi64:zo64:mask1:add3",
    "integrate_bwd_data:f16:n2:b2:hw16x11:c128,72:zi64:zo128:st2:add3",
    "integrate_bwd_data:f16:n2:b2:hw13x17:c128,192:zi128:zo120:mask1:add1",
    "integrate_bwd_data:f16:n2:b1:hw9x17:c128,192:zi128:zo184:add1",
    "integrate_bwd_data:bf16:n1:b1:hw9x15:c136:zi8:zo712:add3",
    "integrate_bwd_data:bf16:n2:b2:hw17x9:c136,24:zi72:zo200:st1x3:mask1:cp152,24",
    "integrate_bwd_data:f16:n3:b2:hw9x14:c72,8,128:zi64:zo72:st2:mask1",
    "integrate_bwd_data:bf16:n1:b1:hw5x5:c8:zi8:zo1600",
    "integrate_bwd_weight:f16:n2:b3:hw23x25:c72,8:zi64:zo40:st2x1:mask1:cp80,8",
    "integrate_bwd_weight:bf16:n2:b2:hw17x29:c136,24:zi72:zo200:mask1",
    "integrate_bwd_weight:f16:n1:b0:hw5x5:c8:zi8:zo8",
    "integrate_bwd_weight:f16:n1:b1:hw65x64:c8:zi0:zo8",
    "layernorm_fwd:f16:n2:b3:hw3x5:c300,1:cp304,8",
    "layernorm_bwd_data:f32:n2:b3:hw3x5:c300,1",
    "layernorm_bwd_weight:f16:n2:b3:hw13x15:c64,5:cp64,8",
    "layernorm_bwd_weight:f32:n1:b40:hw1x5:c300",
    "rownorm_bwd_data:f32:n2:b9:c700,1",
    "fuse_bwd_weight:f16:n3:b300:c70,3,1:fuse=gated",
    "fuse_bwd_weight:f32:n2:b300:c7,3:fuse=weighted",
    "normalize:f16:n2:b2:hw5x7:c3,1:cp8,8",
    "augment:f16:n2:b3:hw40x44:c3,1:phase=train:out36x40:cp8,8",
    "augment:f32:n3:b2:hw19x21:c3,1,4:phase=train:out40x33:cp4,4,4",
    "augment:f32:n2:b0:hw9x9:c3,1:phase=eval:out5x5",
    "normalize:bf16:n2:b2:hw6x12:c3,1",
    "avgpool_bwd_data:f16:n2:b3:hw5x7:c40,16",
    "mse_bwd_data:bf16:n1:b3:c2056",
};

static int run_chosen(const kernel *k, device *d, const options *o, tally *t) {
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0] && !(o->caught && t->failed); i++) {
        braid_problem p;
        if (braid_problem_parse(chosen[i], &p) != BRAID_OK) return 0;
        if (p.op == k->op && p.pass == k->pass && !run_problem(k, d, &p, i, t)) return 0;
    }
    return 1;
}

/* True where a channel's mean and variance are those of its values: to a few roundings, and to 1e-5. */
static int statistics_hold(const float *x, int64_t pixels, int64_t channels, int64_t c, float mean, float var) {
    double exact_mean = 0, exact_var = 0;
    for (int64_t i = 0; i < pixels; i++) exact_mean += (double)x[i * channels + c] / (double)pixels;
    for (int64_t i = 0; i < pixels; i++) {
        double distance = (double)x[i * channels + c] - exact_mean;
        exact_var += distance * distance / (double)pixels;
    }
    return fabs((double)mean - exact_mean) < 2e-7 * fabs(exact_mean) &&
           fabs((double)var - exact_var) < 1e-5 * exact_var;
}

/* bn_stats with a mean a thousand times the deviation: a sum of squares would lose the variance. */
static int run_large_mean(const kernel *k, device *d, tally *t) {
    enum { CHANNELS = 5, PIXELS = 4 * 33 * 31 };
    static float x[PIXELS * CHANNELS], mean[CHANNELS], var[CHANNELS];
    braid_problem p;
    buffers b = {0};
    void *state = NULL;
    size_t workspace_bytes = 0;
    rng r = {.seed = 1};
    for (int i = 0; i < PIXELS * CHANNELS; i++) x[i] = (float)(1000 + rng_normal(&r));
    braid_status status = braid_problem_parse("bn_stats:f32:n1:b4:hw33x31:c5", &p);
    if (!status) status = k->functions->create(&p, d, &state, &workspace_bytes);
    if (!status) status = d->backend->alloc(d, sizeof x, &b.plane[BN_STATS_X][0]);
    if (!status) status = d->backend->alloc(d, sizeof mean, &b.plane[BN_STATS_MEAN][0]);
    if (!status) status = d->backend->alloc(d, sizeof var, &b.plane[BN_STATS_VAR][0]);
    if (!status) status = d->backend->alloc(d, workspace_bytes, &b.workspace);
    if (!status) status = d->backend->upload(d, b.plane[BN_STATS_X][0], x, sizeof x);
    if (!status) status = k->functions->launch(&p, d, state, &b);
    if (!status) status = d->backend->download(d, mean, b.plane[BN_STATS_MEAN][0], sizeof mean);
    if (!status) status = d->backend->download(d, var, b.plane[BN_STATS_VAR][0], sizeof var);
    for (int slot = BN_STATS_X; slot <= BN_STATS_VAR; slot++) d->backend->free(d, b.plane[slot][0]);
    d->backend->free(d, b.workspace);
    for (int c = 0; c < CHANNELS && !status; c++) {
        int held = statistics_hold(x, PIXELS, CHANNELS, c, mean[c], var[c]);
        if (!held)
            printf("FAILED %s with a large mean: got mean %.9g, var %.9g\n", k->name, (double)mean[c], (double)var[c]);
        t->passed += held;
        t->failed += !held;
    }
    return status == BRAID_OK;
}

/* act with addresses that no vector access may use, though the pitch allows one. */
static int run_odd_addresses(const kernel *k, device *d, tally *t) {
    enum { COUNT = 3 * 5 * 8 };
    float x[COUNT + 1], y[COUNT + 1];
    braid_problem p;
    buffers b = {0};
    void *memory = NULL;
    int right = 1;
    for (int i = 0; i <= COUNT; i++) x[i] = (float)(i % 7 - 3);
    braid_status status = braid_problem_parse("act_fwd:f32:n1:b1:hw3x5:c8:act=relu", &p);
    if (!status) status = d->backend->alloc(d, 2 * sizeof x, &memory);
    if (!status) status = d->backend->upload(d, memory, x, sizeof x);
    b.plane[ACT_X][0] = (float *)memory + 1;
    b.plane[ACT_Y][0] = (float *)memory + COUNT + 1;
    if (!status) status = k->functions->launch(&p, d, NULL, &b);
    if (!status) status = d->backend->download(d, y, b.plane[ACT_Y][0], COUNT * sizeof(float));
    for (int i = 0; i < COUNT && !status; i++) right = right && y[i] == (x[i + 1] < 0 ? 0 : x[i + 1]);
    if (memory) d->backend->free(d, memory);
    if (!right) printf("FAILED %s at odd addresses\n", k->name);
    t->passed += right;
    t->failed += !right;
    return status == BRAID_OK;
}

/* Operands of products that are not numbers of TF32 give what they give once rounded, bit for bit. */
static int run_unrounded(const kernel *k, device *d, tally *t) {
    static const char *const products[] = {"conv2d_fwd:tf32:b2:hw5x6:c12:k20:rs3x3:pad1",
                                           "conv2d_bwd_data:tf32:b2:hw5x6:c12:k20:rs3x3:pad1",
                                           "conv2d_bwd_weight:tf32:b2:hw5x6:c12:k20:rs3x3:pad1",
                                           "linear_fwd:tf32:b9:c28:k12",
                                           "linear_bwd_data:tf32:b9:c28:k12",
                                           "linear_bwd_weight:tf32:b9:c28:k12"};
    for (size_t j = 0; j < sizeof products / sizeof products[0]; j++) {
        braid_problem p;
        char failure[128] = "";
        if (braid_problem_parse(products[j], &p) != BRAID_OK) return 0;
        if (kernel_refuses(k, &p, d)) continue;
        if (unrounded_differs(k, d, &p, failure, sizeof failure) != BRAID_OK) return 0;
        if (failure[0]) describe_failure(k, &p, 0, failure);
        t->failed += failure[0] != '\0';
        t->passed += failure[0] == '\0';
    }
    return 1;
}

/* Stops at the first failure of a mutant. */
static void run_kernel(const kernel *k, device *d, const options *o, tally *t) {
    int checked = run_chosen(k, d, o, t) && (k->op != BRAID_OP_BN_STATS || run_large_mean(k, d, t));
    if (k->op == BRAID_OP_ACT && k->pass == BRAID_PASS_FWD) checked = checked && run_odd_addresses(k, d, t);
    if (k->flags & KERNEL_TF32) checked = checked && run_unrounded(k, d, t);
    for (long i = 0; i < o->cases && checked && !(o->caught && t->failed); i++) {
        checked = run_drawn(k, d, o->seed + (unsigned long long)i, t);
    }
    if (checked) return;
    printf("FAILED %s: %s\n", k->name, braid_message());
    t->failed++;
}

/* Every op and pass has a CUDA kernel of ours, or is a chain of such. */
static void expect_no_gap(tally *t) {
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *of = kernel_at(i);
        int found = 0;
        for (int j = 0; of->backend == KERNEL_REF && j < kernel_count(); j++) {
            const kernel *k = kernel_at(j);
            int runs = k->backend == KERNEL_CHAIN || (k->backend == KERNEL_CUDA && !k->vendor);
            found = found || (runs && k->op == of->op && k->pass == of->pass);
        }
        if (of->backend != KERNEL_REF) continue;
        if (!found) printf("FAILED %s: there is no CUDA kernel beside it\n", of->name);
        t->passed += found;
        t->failed += !found;
    }
}

/* `braid check` draws a problem for every kernel. */
static void expect_drawn(const device *d, tally *t) {
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = kernel_at(i);
        int found = 0;
        for (uint64_t seed = 1; k->backend == KERNEL_CUDA && !k->vendor && !found && seed <= DRAWS_FOR_ALL; seed++) {
            braid_problem p;
            if ((seed % 2 ? braid_problem_draw : braid_problem_draw_round)(k->op, k->pass, seed, &p) == BRAID_OK)
                found = !kernel_refuses(k, &p, d);
        }
        if (k->backend != KERNEL_CUDA || k->vendor) continue;
        if (!found) printf("FAILED %s: %d draws and no problem for it\n", k->name, DRAWS_FOR_ALL);
        t->passed += found;
        t->failed += !found;
    }
}

static int read_options(int count, char **words, options *o) {
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--caught") == 0) {
            o->caught = 1;
            continue;
        }
        if (!value) return 0;
        if (strcmp(words[i], "--kernel") == 0)
            o->kernel = value;
        else if (strcmp(words[i], "--cases") == 0)
            o->cases = strtol(value, NULL, 10);
        else if (strcmp(words[i], "--seed") == 0)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "--part") != 0 || sscanf(value, "%d/%d", &o->part, &o->parts) != 2)
            return 0;
        i++;
    }
    return o->cases > 0 && o->part >= 1 && o->part <= o->parts;
}

static int is_wanted(const kernel *k, const options *o, int index) {
    if (k->backend != KERNEL_CUDA || k->vendor) return 0;
    return o->kernel ? strcmp(o->kernel, k->name) == 0 : index % o->parts == o->part - 1;
}

int main(int count, char **words) {
    options o = {.cases = 300, .part = 1, .parts = 1};
    tally t = {0, 0, 0};
    device *d = NULL;
    int kernels = 0, seen = 0;
    if (!read_options(count, words, &o)) {
        fprintf(stderr, "usage: kernels [--kernel NAME] [--cases N] [--seed S] [--part K/N] [--caught]\n");
        return 2;
    }
    crash_is_caught = o.caught;
    catch_crashes();
    threads_set(1); /* the problems are small: starting threads for their reference costs more than it gives */
    if (backend_cuda.open(0, &d) != BRAID_OK) return 2;
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = kernel_at(i);
        if (!is_wanted(k, &o, k->backend == KERNEL_CUDA && !k->vendor ? seen++ : 0)) continue;
        run_kernel(k, d, &o, &t);
        kernels++;
    }
    if (!o.kernel && o.part == 1) {
        expect_no_gap(&t);
        expect_drawn(d, &t);
    }
    if (kernels == 0) {
        printf("FAILED: there is no such kernel\n");
        t.failed++;
    }
    backend_cuda.close(d);
    if (o.caught) {
        printf(t.failed && kernels ? "caught\n1 passed, 0 failed, 0 skipped\n"
                                   : "not caught\n0 passed, 1 failed, 0 skipped\n");
        return t.failed && kernels ? 0 : 1;
    }
    printf("%ld passed, %ld failed, %ld skipped\n", t.passed, t.failed, t.skipped);
    return t.failed ? 1 : 0;
}
