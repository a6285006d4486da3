/*
 * What a kernel is: one implementation of one op and pass. The rows of kernels.def list them all. Dispatch, the
 * race, tests, benches, `braid explain` and the support matrix all come from that list.
 *
 * A kernel file defines a `const kernel_functions NAME` for every kernel that a row lists. Kernels never
 * allocate (ask for a workspace), never synchronise, and write all of their output.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_KERNEL_H
#define BRAID_KERNELS_KERNEL_H

#include "backend/backend.h"
#include "core/status.h"
#include "ops/op.h"

/* The memory of one launch: plane[slot][i] as the op numbers its slots. NULL where an operand has no such plane. */
typedef struct buffers {
    void *plane[OP_MAX_OPERANDS][BRAID_MAX_PLANES];
    void *workspace; /* aligned to 256 bytes; contents unknown */
} buffers;

/* What a cost depends on beside the problem. */
typedef struct machine {
    const device *device; /* NULL: not known; a chain then counts the kernels of this CPU */
    int threads;          /* of the host, that a kernel of the CPU is given */
} machine;

typedef struct kernel_functions kernel_functions;

/* One call of a kernel that is ready to run. */
typedef struct kernel_call {
    const kernel_functions *functions;
    const braid_problem *problem;
    void *state;
    const buffers *buffers;
} kernel_call;

/* Adds the parts that calls left in their workspaces and writes their outputs: one launch for all of them. */
typedef struct kernel_adder {
    const char *name; /* for explain and profile */
    int most;         /* output planes of one launch, BRAID_MAX_PLANES or more */
    braid_status (*add)(device *d, const kernel_call *calls, int count);
} kernel_adder;

struct kernel_functions {
    /* NULL where the kernel can do the (checked) problem on this device; else the reason in words. */
    const char *(*supports)(const braid_problem *p, const device *d);
    /* In its place, where a library may lack the memory to make the kernel ready: says which refusal it is. */
    refusal (*refuses)(const braid_problem *p, const device *d);
    /* Predicted seconds, for effort `estimate`: only the order among candidates matters. */
    double (*cost)(const braid_problem *p, const machine *on);
    /* Readies the kernel for one problem: vendor plans, tables, tile choices. NULL where there is nothing to ready. */
    braid_status (*create)(const braid_problem *p, device *d, void **state, size_t *workspace_bytes);
    /* NULL where there are pack and run, or parts: for kernel_launch, which knows all of them. */
    braid_status (*launch)(const braid_problem *p, device *d, void *state, const buffers *b);
    /* Changes what create made, and the size of the workspace, so that a launch leaves room for another one beside it:
     * for a plan that runs it beside others. NULL: a launch takes what is free. */
    braid_status (*narrow)(const braid_problem *p, void *state, size_t *workspace_bytes);
    /* NULL where create is NULL. */
    void (*destroy)(device *d, void *state);
    /* A launch in two, where a kernel lays weights out anew before it works with them. pack reads the operands of
     * pack_reads alone (KERNEL_SLOT bits) and writes nothing but the workspace; run reads what pack left there and
     * leaves it as it is, so that it can be run again. A plan makes a step of each. */
    unsigned pack_reads;
    braid_status (*pack)(const braid_problem *p, device *d, void *state, const buffers *b);
    braid_status (*run)(const braid_problem *p, device *d, void *state, const buffers *b);
    /* A launch whose end may wait, where a kernel makes its outputs of parts: `parts` leaves them in the workspace and
     * writes nothing else, and the adder adds them, alone or with those of other calls, to the same bits. A plan makes
     * a step of each and keeps the workspace until then. `sums` tells the adder, in its own terms, where the parts of
     * every output plane lie, and returns how many planes there are; `to` may be NULL. 0: nothing is left to be added,
     * because `parts` has written the outputs itself. */
    braid_status (*parts)(const braid_problem *p, device *d, void *state, const buffers *b);
    const kernel_adder *adder;
    int (*sums)(const braid_problem *p, const void *state, const buffers *b, void *to);
};

#define KERNEL_SLOT(slot) (1u << (slot))

/* What the functions of a kernel say of a (checked) problem. */
static inline refusal functions_refuse(const kernel_functions *f, const braid_problem *p, const device *d) {
    return f->refuses ? f->refuses(p, d) : refusal_unable(f->supports ? f->supports(p, d) : NULL);
}

/* All of a kernel: its launch, or pack and then run, or the parts and their sums. */
static inline braid_status kernel_launch(const kernel_functions *f, const braid_problem *p, device *d, void *state,
                                         const buffers *b) {
    if (f->launch) return f->launch(p, d, state, b);
    if (f->parts) {
        TRY(f->parts(p, d, state, b));
        return f->adder->add(d, &(kernel_call){f, p, state, b}, 1);
    }
    TRY(f->pack(p, d, state, b));
    return f->run(p, d, state, b);
}

/* Where a kernel runs. A reference kernel runs on the CPU, a chain wherever its steps do. */
typedef enum kernel_backend { KERNEL_REF, KERNEL_CPU, KERNEL_CUDA, KERNEL_CHAIN } kernel_backend;

/* What is not so by default. Every kernel of the list gives the same bits, run to run, or verification fails it: what a
 * vendor library has beside those is never a candidate. */
#define KERNEL_TENSOR_CORE 1u         /* sums in blocks with a truncating accumulator: widens the error bound */
#define KERNEL_WINOGRAD 2u            /* mixes the pixels of a 2x2 tile of outputs: the error follows the whole tile */
#define KERNEL_TF32 4u                /* rounds f32 operands of products to TF32: only where the problem allows it */
#define KERNEL_VARIES_WITH_THREADS 8u /* other bits at another number of threads: not at level R2 */

typedef struct kernel {
    const char *name; /* <op>_<pass>[_<dtype>]__<backend>_<algorithm>[_<tile or instruction set>] */
    braid_op_id op;
    braid_pass pass;
    unsigned dtypes; /* bits of braid_dtype */
    kernel_backend backend;
    unsigned features; /* FEATURE_ bits that the device must have */
    unsigned flags;
    const char *vendor; /* "onednn", "openblas"; NULL for ours: the word for BRAID_DISABLE */
    const kernel_functions *functions;
} kernel;

/* The list, in the order of kernels.def. */
int kernel_count(void);
const kernel *kernel_at(int index);
const kernel *kernel_find(const char *name);
uint64_t kernel_list_hash(void);

/* 1 where a kernel belongs to the kind of device. */
int kernel_runs_on(const kernel *k, const device *d);

/* The functions of every CHAIN row in kernels.def: the steps that the op table names, in kernels/chain.c. */
extern const kernel_functions chain_functions;

/* Who chooses the kernels of a chain's steps: the context of the device. NULL: it does not know either. */
typedef struct chooser {
    const kernel *(*choose)(void *context, const braid_problem *p);
    void *context;
    /* Why the context leaves a kernel out, in words; NULL: it does not. The function may be NULL: all take part. */
    const char *(*excludes)(const void *context, const kernel *k);
} chooser;

/* Why a kernel cannot do a problem on a device. Covers op, dtype, features and supports() or refuses(). */
refusal kernel_refusal(const kernel *k, const braid_problem *p, const device *d);

/* The same in words; NULL: it can. */
const char *kernel_refuses(const kernel *k, const braid_problem *p, const device *d);

/* 1 where it refuses the problem for good, and not for want of memory at the moment: what calls a plan has, and so its
 * bits, may not hang on that. */
int kernel_is_unable(const kernel *k, const braid_problem *p, const device *d);
braid_kind kernel_kind(const kernel *k);

#endif
