/*
 * A program: a graph at one batch and image size, as calls of ops on tensors. It is made in stages, one file each:
 *
 *   infer.c      shapes and problems, forward; what nobody needs is left out
 *   fuse.c       chains of calls become one call of the fused op that equals them, forward and, later, backward
 *   reorder.c    a max-pooling goes before a ReLU
 *   gradient.c   the loss and the gradients
 *   recompute.c  what is made again instead of kept
 *   place.c      lifetimes, and a place for every tensor in one arena
 *
 * Nothing here knows a device or a kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_COMPILE_PROGRAM_H
#define BRAID_COMPILE_PROGRAM_H

#include "ops/graph.h"

/* Where the memory of a tensor is. */
typedef enum tensor_home {
    HOME_PLACED,   /* in the plan's arena, for as long as it is needed */
    HOME_MODEL,    /* a parameter or a state */
    HOME_GRADIENT, /* the gradient of a parameter, in the twin of the parameters */
    HOME_METRICS,  /* loss, correct or loss_scale, which all plans of a model share */
} tensor_home;

typedef struct tensor {
    plane_shape shape; /* rank 0: nobody uses it */
    size_t bytes;
    tensor_home home;
    int plane;       /* of the graph: what it is, or whose gradient it is; -1: neither */
    int root;        /* the tensor whose memory it is: itself, or what it is a view of */
    int is_kept;     /* 1: must hold its value from run to run, or is written or read by the user */
    int is_wanted;   /* 1: the gradient by it is asked for */
    int first, last; /* calls between which a placed root is alive; first > last: never */
    size_t offset;   /* of a placed root in the arena */
} tensor;

typedef struct call {
    braid_problem problem;
    braid_segment segment;
    int tensor[OP_MAX_OPERANDS][BRAID_MAX_PLANES]; /* -1: none; slots of other passes are bound for the gradients */
    int is_view;                                   /* 1: nothing to do: tensor[1][0] is tensor[0][0] in another shape */
    int is_absorbed;                               /* 1: a fused call does it; `gradient_absorbed`: and its gradient */
    int gradient_absorbed;
    int natural;    /* how many ops of the graph it stands for */
    int made_again; /* 1: repeats a forward call to save memory */
    int keeps;      /* 1: its workspace must hold its value from run to run */
    int lag;        /* it may end so many calls later: until then what it reads and writes keeps its place */
    int holds;      /* so many calls later somebody still reads its workspace */
} call;

/* What a program is asked for. */
typedef struct program_options {
    braid_phase phase;
    braid_dtype dtype;
    int tf32; /* 1: products may round their f32 operands to TF32 */
    int64_t batch;
    int64_t size[2];
    int mask; /* 1: samples may be blanked */
    braid_loss loss;
    double smoothing, alpha, gamma; /* of the loss; zero: its default */
    int class_weights;
    int keep_all; /* 1: nothing is made again */
    /* 1 where a call of a problem takes no longer than the calls that it stands for: those of a fused op's chain, or a
     * data pass and the addition of a gradient to what it makes (add1). NULL: it never does. */
    int (*pays)(void *user, const braid_problem *p);
    void *user;
} program_options;

typedef struct program {
    const graph *graph;
    program_options options;
    tensor *tensors; /* the first are the planes of the graph, one each */
    int tensor_count;
    size_t tensor_room;
    call *calls; /* in an order in which they can run */
    int call_count;
    size_t call_room;
    /* -1 where the program has none */
    int output, labels, weights, loss, correct, loss_scale;
    size_t arena_bytes; /* after placing */
    size_t sum_bytes;   /* of all placed tensors, if none shared memory */
} program;

/* Builds the whole program: forward, and with phase=train and a loss backward too. For program_free in any case. */
braid_status program_build(const graph *g, const program_options *options, program *p);
void program_free(program *p);

/* ---- For the stages ------------------------------------------------------------------------ */

braid_status program_infer(program *p);
void program_fuse_forward(program *p);
braid_status program_reorder(program *p);
braid_status program_differentiate(program *p);
void program_fuse_backward(program *p);
braid_status program_recompute(program *p);

/* Finds lifetimes and places, where call j also needs workspace_bytes[j] while it runs, at *workspace_offset. */
braid_status program_place(program *p, const size_t *workspace_bytes, size_t *workspace_offset);

/* How many operands of such a role in the calls from `first` up to `end` lie in the memory of tensor `root`. */
int program_count_uses(const program *p, int first, int end, int root, int (*has_role)(operand_role role));

/* 1 where a call may change places with calls `first` to end - 1: they make nothing that it uses, and use nothing that
 * it makes. */
int program_may_move(const program *p, const call *c, int first, int end);

/* 1 where call j makes gradients of parameters alone, which no call behind it, up to `end`, touches. */
int program_ends_in_gradients(const program *p, int j, int end);

/* A new placed tensor of a shape; *index is its number. */
braid_status program_add_tensor(program *p, const plane_shape *shape, int *index);

/* A call without tensors, of an op and pass with every field of `from` (may be NULL) that the op has. */
call call_start(const program *p, braid_op_id op, braid_pass pass, const braid_problem *from);

/* Checks the problem and adds the call; outputs that have no tensor yet get one. */
braid_status program_add_call(program *p, call *c);

/* Adds a call as it is. */
braid_status program_append(program *p, const call *c);

/* Binds count tensors to a slot. */
void call_bind(call *c, int slot, const int *tensors, int count);

/* Drops the planes whose keep[i] is 0 from a call in which every operand has one for each stream. */
void call_narrow(call *c, const int *keep);
int call_is_by_plane(const call *c);

/* An output of a data pass that can be added to a gradient of the same tensors, by a bit of the problem's add. */
typedef struct addend {
    braid_op_id op;
    int bit, output, added; /* slots */
} addend;
extern const addend addends[];
extern const int addend_count;

/* What bn_finalize gave and read beside a tensor of scales, all -1 where it is none. */
typedef struct norm_tensors {
    int center, rstd, gamma, beta;
} norm_tensors;
norm_tensors program_norm(const program *p, int scale);

/* The slot of an operand by name; -1: the op has none. */
int op_slot(const op_info *o, const char *name);

/* 1 where a slot holds the gradient of another operand ("dx"). */
int op_slot_is_gradient(const op_info *o, int slot);

#endif
