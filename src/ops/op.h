/*
 * What braid knows of an op without computing anything: its fields, its operands, its shape rule
 * and its work. One file per op defines one `op_info`; parsing, printing, buffers, checks, timing and
 * tests are written once against this table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_OP_H
#define BRAID_OPS_OP_H

#include "core/rng.h"
#include "core/status.h"

/* X(name, kind, member, flags): the fields a problem string can have, in canonical order. */
#define FIELD_LIST(X)                               \
    X(tf32, INT, tf32, FIELD_DTYPE)                 \
    X(n, INT, streams, 0)                           \
    X(b, INT64, batch, 0)                           \
    X(hw, PAIR, size, 0)                            \
    X(c, LIST, in_channels, 0)                      \
    X(k, LIST, out_channels, 0)                     \
    X(rs, PAIR, filter, 0)                          \
    X(st, SHORT_PAIR, stride, 0)                    \
    X(pad, SHORT_PAIR, padding, 0)                  \
    X(extra, SHORT_PAIR, extra_padding, FIELD_OMIT) \
    X(dil, SHORT_PAIR, dilation, 0)                 \
    X(g, INT64, groups, 0)                          \
    X(mode, PADDING_MODE, padding_mode, 0)          \
    X(bias, INT, bias, 0)                           \
    X(mask, INT, mask, 0)                           \
    X(phase, PHASE, phase, 0)                       \
    X(avg, AVERAGE, average, 0)                     \
    X(each, INT, each, FIELD_OMIT)                  \
    X(eps, REAL, eps, 0)                            \
    X(mom, REAL, momentum, 0)                       \
    X(act, ACTIVATION, activation, 0)               \
    X(ceil, INT, ceil_mode, 0)                      \
    X(out, PAIR, out_size, 0)                       \
    X(zi, INT64, integrated_in, 0)                  \
    X(zo, INT64, integrated_out, 0)                 \
    X(trans, INT, transpose, 0)                     \
    X(add, INT, add, 0)                             \
    X(zn, INT, residual_norm, 0)                    \
    X(given, INT, given, FIELD_OMIT)                \
    X(skip, INT, skip, FIELD_OMIT)                  \
    X(fuse, FUSION, fusion, 0)                      \
    X(rate, REAL, rate, 0)                          \
    X(smooth, REAL, smoothing, 0)                   \
    X(cw, INT, class_weights, 0)                    \
    X(alpha, REAL, alpha, 0)                        \
    X(gamma, REAL, gamma, 0)                        \
    X(betam, REAL, beta_mean, 0)                    \
    X(betas, REAL, beta_square, 0)                  \
    X(nest, INT, nesterov, 0)                       \
    X(limit, REAL, limit, 0)                        \
    X(seg, INT64, segments, 0)                      \
    X(to, DTYPE, to, 0)                             \
    X(cp, LIST, in_pitch, FIELD_OMIT)               \
    X(kp, LIST, out_pitch, FIELD_OMIT)

#define FIELD_OMIT 1  /* not printed where it has its default */
#define FIELD_DTYPE 2 /* read and printed in the place of the dtype */

#define FIELD_ENUM(name, kind, member, flags) FIELD_##name,
typedef enum field_id { FIELD_LIST(FIELD_ENUM) FIELD_COUNT } field_id;
#undef FIELD_ENUM
#define FIELD_BIT(name) (UINT64_C(1) << FIELD_##name)

#define OP_MAX_OPERANDS 16

/* What one pass does with an operand. "d" roles carry the gradient of the operand and put a d before its name. */
typedef enum operand_role {
    ROLE_NONE,
    ROLE_IN,
    ROLE_OUT,
    ROLE_INOUT,
    ROLE_DIN,
    ROLE_DOUT,
} operand_role;

/* What values a check or a race puts into an input. */
typedef enum operand_fill {
    FILL_SIGNED,   /* real mode: N(0,1); exact mode: small integers around 0 */
    FILL_POSITIVE, /* real mode: (0.5, 1.5); exact mode: small powers of two */
    FILL_MASK,     /* bits: about a third of the samples blanked, at least one active where there are two */
    FILL_COUNTER,  /* a small non-negative integer */
    FILL_OWN,      /* what the op's own fill() writes: labels, tables */
} operand_fill;

/* An operand has one slot for all passes of its op: in bwd_data the slot of x holds dx. */
typedef struct operand {
    const char *name;
    operand_fill fill;
    operand_role role[BRAID_PASS_COUNT];
} operand;

/* One plane of an operand in memory. A tensor of rank 0 does not exist here; no element is a dim of 0. */
typedef struct plane_shape {
    braid_dtype dtype;
    int rank;
    int64_t dims[4];
    int64_t pitch; /* elements between two values of the second-fastest axis */
} plane_shape;

/* What a real field may be in one op. Zero stands for `usual`; above that, values reach up to `high`. */
typedef struct real_range {
    field_id id;
    double usual, high;
} real_range;

#define OP_MAX_REALS 4

#define CHAIN_MAX_STEPS 8
#define CHAIN_MAX_TEMPS 7
#define CHAIN_TEMP(j) (OP_MAX_OPERANDS + (j)) /* the place of the j-th intermediate result */
#define CHAIN_NOWHERE (-2)                    /* a mask that blanks nothing */

/* One natural op of the chain that a fused op equals. */
typedef struct chain_step {
    braid_problem problem;      /* completed by the chain's user */
    int place[OP_MAX_OPERANDS]; /* where each of its operands lies: a slot of the fused op, or CHAIN_TEMP(j) */
    int from[OP_MAX_OPERANDS];  /* the plane there that its first one is */
    int last[OP_MAX_OPERANDS];  /* where its last plane lies, where that is not -1: a slot of one plane, or nowhere */
    int is_share;               /* 1: often a part of a call that stays for other planes */
} chain_step;

typedef struct op_chain {
    int count;
    chain_step steps[CHAIN_MAX_STEPS];
} op_chain;

/* How the gradient of an op is made. */
typedef enum op_gradient {
    GRADIENT_PASSES, /* by its own passes bwd_weight and bwd_data, as far as it has them */
    GRADIENT_SAME,   /* every input gets the gradient of y as it is */
    GRADIENT_NORM,   /* by bn_bwd_reduce and bn_bwd_apply, through the statistics of the batch */
    GRADIENT_CAST,   /* by a cast back */
} op_gradient;

typedef struct op_info {
    const char *name;
    const char *summary;            /* one line for help texts */
    unsigned passes;                /* bits of braid_pass */
    int single_pass;                /* 1: the name alone names the pass ("bn_stats") */
    uint64_t fields;                /* FIELD_BITs that this op uses */
    real_range reals[OP_MAX_REALS]; /* of its real fields; ends at a `high` of 0 */
    int max_streams;
    op_gradient gradient;
    int is_cheap;          /* 1: its forward pass is made again in the backward segment rather than its result kept */
    unsigned exact_passes; /* bits of the passes that are exact on small integers */
    int stored;            /* the slot of an output that the later ones follow from as it is stored; 0: there is none */
    operand operands[OP_MAX_OPERANDS]; /* ends at a NULL name */

    /* Refuses what cannot be meant. Defaults are filled in and field ranges are checked before. */
    braid_status (*check)(const braid_problem *p);
    /* Refuses a mask that leaves stream i `active` samples; NULL: any mask will do. */
    braid_status (*check_active)(const braid_problem *p, int i, int64_t active);
    /* Refuses values of a FILL_OWN operand that cannot be meant, plane i of it in host memory; NULL: any will do. */
    braid_status (*check_table)(const braid_problem *p, int slot, int i, const void *data);
    /* The planes of an operand: 0 where the problem does without it (bias0, mask0), else `streams` or 1. */
    int (*planes)(const braid_problem *p, int slot);
    /* The shape of plane i of an operand. Only for checked problems. */
    void (*shape)(const braid_problem *p, int slot, int i, plane_shape *out);
    /* Operations of one launch; a multiply-add is two. */
    double (*flops)(const braid_problem *p);
    /* Terms of the longest sum behind one output: bounds the integers of exact mode and the error of real mode. */
    int64_t (*terms)(const braid_problem *p);
    /* Writes the values of plane i of a FILL_OWN operand for a check or a race; NULL where the op has none. */
    void (*fill)(const braid_problem *p, int slot, int i, rng *r, void *data);
    /* Fused ops: the natural ops that it equals, one after the other. NULL, or in words why there is no such chain for
     * this problem. A natural op has a NULL function. A plan asks it of problems that know the sizes of one step alone
     * (compile/fuse.c): other fields may be 0. */
    const char *(*chain)(const braid_problem *p, op_chain *out);
    /* Fused ops: sets the fields that the steps of its chain, in their order, have by no name of their own. NULL: there
     * are none, but for those that say which steps the chain has. */
    void (*of_steps)(const braid_problem *const *steps, braid_problem *p);
    /* Operations of the reference behind one output; NULL: its terms. */
    int64_t (*work)(const braid_problem *p);
    /* Sets the op's own fields of a random small problem (streams, batch, channels and mask are drawn before). */
    void (*draw)(rng *r, braid_problem *p);
    /* Makes a problem small, keeping what kernels trip over: remainders, strides, options. */
    void (*shrink)(braid_problem *p);
} op_info;

/* The table; NULL for an id out of range. */
const op_info *op_find(braid_op_id id);

/* The op of a checked problem. */
const op_info *op_of(const braid_problem *p);

int op_operand_count(const op_info *o);
const real_range *op_real_range(const op_info *o, field_id id); /* NULL: the op has no such field */
operand_role op_role(const braid_problem *p, int slot);         /* ROLE_NONE also where it has no planes */
int op_is_input(operand_role role);                             /* in, inout, din */
int op_is_output(operand_role role);                            /* out, inout, dout */
int op_is_used(operand_role role);                              /* any of them */
braid_status op_operand_info(const braid_problem *p, int slot, braid_operand_info *info); /* name is borrowed */
const char *op_operand_name(const braid_problem *p, int slot);                            /* "dx" in a gradient role */

/* "f16", or "tf32" where f32 operands of products may be rounded. */
const char *op_dtype_name(const braid_problem *p);

/* 1 where an output follows from another one as that is stored. */
int op_is_derived(const op_info *o, int slot);

/* 1 where the problem has no samples: there is nothing to do. */
int op_is_empty(const braid_problem *p);
/* 1 where the pass is exact on small integers: not with a curved activation, and in a fused op not with halves, which
 * round the intermediate results of its chain. */
int op_is_exact(const braid_problem *p);

/* Refuses act=none, for an op that is nothing without its activation; `instead` says what to type, "; use linear". */
braid_status op_check_activation(const braid_problem *p, const char *instead);

/* Operations of the reference behind one output. */
int64_t op_work(const braid_problem *p);

/* Adds a step to a chain: the op and pass, every field of p that this op has. Returns it for more. */
chain_step *chain_add(op_chain *c, const braid_problem *p, braid_op_id op, braid_pass pass);

/* Fewest bytes one launch moves: each input read once, each output written once. */
double op_bytes(const braid_problem *p);

/* Shape rules that kernels need too. */
int64_t conv2d_out_size(const braid_problem *p, int axis); /* P or Q */
/* The input row (axis 0) or column (axis 1) that output position `out` reads at filter tap `tap`; -1: padding. */
int64_t conv2d_in_index(const braid_problem *p, int axis, int64_t out, int64_t tap);
/* Why a kernel of conv2d that knows no add1 cannot do a problem, in words; NULL: it asks for none. */
const char *conv2d_refuses_add(const braid_problem *p);
int64_t integrate_out_size(const braid_problem *p, int axis);
/* The integrate problem inside one of integrate_bn_bwd_apply: its data pass, with what is added to it. */
braid_problem integrate_bn_bwd_apply_mix(const braid_problem *p);
/* The problems inside one of conv2d_pool_bn_bwd_apply: the data pass of its bn_act_pool, and conv2d's weight pass. */
braid_problem conv2d_pool_bn_bwd_apply_norm(const braid_problem *p);
braid_problem conv2d_pool_bn_bwd_apply_conv(const braid_problem *p);
/* The problems inside one of conv2d_dgrad_bn_reduce: conv2d's data pass, and the weight pass of the normalisation in
 * front. */
braid_problem conv2d_dgrad_bn_reduce_conv(const braid_problem *p);
braid_problem conv2d_dgrad_bn_reduce_norm(const braid_problem *p);
/* The stream whose plane is the first of an operand of bn_bwd. */
int bn_bwd_first(const braid_problem *p, int slot);

int64_t maxpool_out_size(const braid_problem *p, int axis);
/* The rows (axis 0) or columns (axis 1) [*begin, *end) that adaptive pooling averages for output position `out`. */
void avgpool_window(const braid_problem *p, int axis, int64_t out, int64_t *begin, int64_t *end);
int64_t fuse_width(const braid_problem *p);         /* channels of all streams together */
uint64_t dropout_stream(const int64_t *key, int i); /* of core/rng.h, for the bits of plane i */
int32_t dropout_limit(const braid_problem *p);      /* kept: 24 bits of at least this */
int64_t mask_words(int64_t batch);

/* Samples of plane i that the mask leaves active; all of them where mask is NULL. */
int64_t mask_active(const uint32_t *mask, int64_t batch);
static inline int mask_blanks(const uint32_t *mask, int64_t sample) {
    return mask && ((mask[sample >> 5] >> (sample & 31)) & 1u);
}

/* 0 where a sample is ignored; a label that is no class at all counts as such, so that nothing is read beside x. */
static inline int label_is_class(int32_t label, int64_t classes) { return label >= 0 && label < classes; }

/* Slots, by op. */
enum { CONV2D_X, CONV2D_W, CONV2D_BIAS, CONV2D_MASK, CONV2D_Y, CONV2D_A };
enum { LINEAR_X, LINEAR_W, LINEAR_BIAS, LINEAR_MASK, LINEAR_Y };
enum {
    INTEGRATE_R,
    INTEGRATE_Z,
    INTEGRATE_V,
    INTEGRATE_W,
    INTEGRATE_BIAS,
    INTEGRATE_MASK,
    INTEGRATE_Y,
    INTEGRATE_A,
    INTEGRATE_AZ
};
enum { INTEGRATE_ADD_R = 1, INTEGRATE_ADD_Z = 2 }; /* bits of its field add */
enum { ACT_X, ACT_Y, ACT_DX };
enum { ADD_X, ADD_Z, ADD_Y };
enum { BIAS_X, BIAS_BIAS, BIAS_MASK, BIAS_Y };
enum { MAXPOOL_X, MAXPOOL_Y, MAXPOOL_DX };
enum { AVGPOOL_X, AVGPOOL_Y };
enum { LAYERNORM_X, LAYERNORM_GAMMA, LAYERNORM_BETA, LAYERNORM_Y, LAYERNORM_DX };
enum { ROWNORM_X, ROWNORM_Y, ROWNORM_DX };
enum { MATMUL_X, MATMUL_W, MATMUL_Y };
enum { FUSE_X, FUSE_LOGITS, FUSE_Y, FUSE_DLOGITS };
enum { BN_STATS_X, BN_STATS_MASK, BN_STATS_MEAN, BN_STATS_VAR };
enum {
    BN_FINALIZE_MEAN,
    BN_FINALIZE_VAR,
    BN_FINALIZE_MASK,
    BN_FINALIZE_GAMMA,
    BN_FINALIZE_BETA,
    BN_FINALIZE_RUNNING_MEAN,
    BN_FINALIZE_RUNNING_VAR,
    BN_FINALIZE_BATCHES,
    BN_FINALIZE_SCALE,
    BN_FINALIZE_SHIFT,
    BN_FINALIZE_CENTER,
    BN_FINALIZE_RSTD,
};
enum { BN_APPLY_X, BN_APPLY_SCALE, BN_APPLY_SHIFT, BN_APPLY_MASK, BN_APPLY_Y };
enum {
    BN_BWD_REDUCE_X,
    BN_BWD_REDUCE_DY,
    BN_BWD_REDUCE_CENTER,
    BN_BWD_REDUCE_RSTD,
    BN_BWD_REDUCE_MASK,
    BN_BWD_REDUCE_DGAMMA,
    BN_BWD_REDUCE_DBETA
};
enum {
    BN_BWD_APPLY_X,
    BN_BWD_APPLY_DY,
    BN_BWD_APPLY_CENTER,
    BN_BWD_APPLY_RSTD,
    BN_BWD_APPLY_GAMMA,
    BN_BWD_APPLY_DGAMMA,
    BN_BWD_APPLY_DBETA,
    BN_BWD_APPLY_MASK,
    BN_BWD_APPLY_DX,
};
enum { NORMALIZE_X, NORMALIZE_MEAN, NORMALIZE_STD, NORMALIZE_Y };
enum {
    AUGMENT_X,
    AUGMENT_KEY,
    AUGMENT_IDS,
    AUGMENT_SETTINGS_TABLE,
    AUGMENT_MEAN,
    AUGMENT_STD,
    AUGMENT_Y,
};
/* Of sgd, adam, adamw and rmsprop. */
enum {
    UPDATE_W,
    UPDATE_G,
    UPDATE_M,
    UPDATE_V,
    UPDATE_SEGMENTS,
    UPDATE_HYPER,
    UPDATE_STEP,
    UPDATE_SCALE,
    UPDATE_HALF,
};
enum {
    CLIP_NORM_G,
    CLIP_NORM_LOSS,
    CLIP_NORM_LOSS_SCALE,
    CLIP_NORM_SCALING,
    CLIP_NORM_NORM,
    CLIP_NORM_SCALE,
    CLIP_NORM_STEP,
    CLIP_NORM_H,
    CLIP_NORM_Y,
};
enum { CAST_X, CAST_Y };
enum { DROPOUT_X, DROPOUT_KEY, DROPOUT_Y };
/* softmax_xent; focal, which has no weights */
enum { CLASS_X, CLASS_LABELS, CLASS_LOSS, CLASS_CORRECT, CLASS_DX, CLASS_WEIGHTS };
enum { MSE_X, MSE_T, MSE_LOSS, MSE_DX };
enum { BALANCE_X, BALANCE_NORMS, BALANCE_LOSS, BALANCE_DX };
#define BALANCE_EPS 1e-8 /* added to a norm before its logarithm is taken */
enum {
    BN_STATS_FINALIZE_X,
    BN_STATS_FINALIZE_MASK,
    BN_STATS_FINALIZE_GAMMA,
    BN_STATS_FINALIZE_BETA,
    BN_STATS_FINALIZE_RUNNING_MEAN,
    BN_STATS_FINALIZE_RUNNING_VAR,
    BN_STATS_FINALIZE_BATCHES,
    BN_STATS_FINALIZE_CENTER,
    BN_STATS_FINALIZE_RSTD,
    BN_STATS_FINALIZE_SCALE,
    BN_STATS_FINALIZE_SHIFT,
};
/* The slots of integrate up to y; behind them those of bn_stats_finalize from gamma on. */
enum {
    INTEGRATE_BN_STATS_GAMMA = INTEGRATE_Y + 1,
    INTEGRATE_BN_STATS_BETA,
    INTEGRATE_BN_STATS_RUNNING_MEAN,
    INTEGRATE_BN_STATS_RUNNING_VAR,
    INTEGRATE_BN_STATS_BATCHES,
    INTEGRATE_BN_STATS_CENTER,
    INTEGRATE_BN_STATS_RSTD,
    INTEGRATE_BN_STATS_SCALE,
    INTEGRATE_BN_STATS_SHIFT,
};
/* The slots of conv2d up to y; behind them those of bn_stats_finalize from gamma on. */
enum {
    CONV2D_BN_STATS_GAMMA = CONV2D_Y + 1,
    CONV2D_BN_STATS_BETA,
    CONV2D_BN_STATS_RUNNING_MEAN,
    CONV2D_BN_STATS_RUNNING_VAR,
    CONV2D_BN_STATS_BATCHES,
    CONV2D_BN_STATS_CENTER,
    CONV2D_BN_STATS_RSTD,
    CONV2D_BN_STATS_SCALE,
    CONV2D_BN_STATS_SHIFT,
};
/* x, w, the mask and y are those of conv2d; a is what bn_act makes of x. */
enum {
    BN_ACT_CONV2D_X,
    BN_ACT_CONV2D_W,
    BN_ACT_CONV2D_SCALE,
    BN_ACT_CONV2D_MASK,
    BN_ACT_CONV2D_Y,
    BN_ACT_CONV2D_SHIFT,
    BN_ACT_CONV2D_A,
};
/* bn_act and bn_act_pool have the slots up to dx, bn_add_act has them all. */
enum {
    BN_FUSED_X,
    BN_FUSED_SCALE,
    BN_FUSED_SHIFT,
    BN_FUSED_MASK,
    BN_FUSED_Y,
    BN_FUSED_DY,
    BN_FUSED_CENTER,
    BN_FUSED_RSTD,
    BN_FUSED_GAMMA,
    BN_FUSED_DGAMMA,
    BN_FUSED_DBETA,
    BN_FUSED_DX,
    BN_FUSED_Z,
    BN_FUSED_ZSCALE,
    BN_FUSED_ZSHIFT,
    BN_FUSED_DZ,
};
/* The first twelve are those of bn_act's data gradient, but for dmix. */
enum {
    INTEGRATE_BN_BWD_APPLY_X,
    INTEGRATE_BN_BWD_APPLY_SCALE,
    INTEGRATE_BN_BWD_APPLY_SHIFT,
    INTEGRATE_BN_BWD_APPLY_MASK,
    INTEGRATE_BN_BWD_APPLY_DMIX,
    INTEGRATE_BN_BWD_APPLY_DY,
    INTEGRATE_BN_BWD_APPLY_CENTER,
    INTEGRATE_BN_BWD_APPLY_RSTD,
    INTEGRATE_BN_BWD_APPLY_GAMMA,
    INTEGRATE_BN_BWD_APPLY_DGAMMA,
    INTEGRATE_BN_BWD_APPLY_DBETA,
    INTEGRATE_BN_BWD_APPLY_DX,
    INTEGRATE_BN_BWD_APPLY_V,
    INTEGRATE_BN_BWD_APPLY_W,
    INTEGRATE_BN_BWD_APPLY_AZ,
    INTEGRATE_BN_BWD_APPLY_DZ,
};
/* Those of bn_act_pool's data gradient, but that x and the mask are the convolution's too: r is its output. */
enum {
    CONV2D_POOL_BN_BWD_APPLY_X,
    CONV2D_POOL_BN_BWD_APPLY_SCALE,
    CONV2D_POOL_BN_BWD_APPLY_SHIFT,
    CONV2D_POOL_BN_BWD_APPLY_MASK,
    CONV2D_POOL_BN_BWD_APPLY_DW,
    CONV2D_POOL_BN_BWD_APPLY_DY,
    CONV2D_POOL_BN_BWD_APPLY_CENTER,
    CONV2D_POOL_BN_BWD_APPLY_RSTD,
    CONV2D_POOL_BN_BWD_APPLY_GAMMA,
    CONV2D_POOL_BN_BWD_APPLY_DGAMMA,
    CONV2D_POOL_BN_BWD_APPLY_DBETA,
    CONV2D_POOL_BN_BWD_APPLY_R,
};
enum {
    CONV2D_DGRAD_BN_REDUCE_DY,
    CONV2D_DGRAD_BN_REDUCE_W,
    CONV2D_DGRAD_BN_REDUCE_MASK,
    CONV2D_DGRAD_BN_REDUCE_A,
    CONV2D_DGRAD_BN_REDUCE_R,
    CONV2D_DGRAD_BN_REDUCE_X,
    CONV2D_DGRAD_BN_REDUCE_SCALE,
    CONV2D_DGRAD_BN_REDUCE_SHIFT,
    CONV2D_DGRAD_BN_REDUCE_CENTER,
    CONV2D_DGRAD_BN_REDUCE_RSTD,
    CONV2D_DGRAD_BN_REDUCE_DX,
    CONV2D_DGRAD_BN_REDUCE_DGAMMA,
    CONV2D_DGRAD_BN_REDUCE_DBETA,
};
enum { CONV2D_DGRAD_BN_REDUCE_ADD_A = 1, CONV2D_DGRAD_BN_REDUCE_ADD_Z = 2 }; /* bits of its field add */
/* The first twelve are those of the fused ops. */
enum {
    BN_BWD_X,
    BN_BWD_SCALE,
    BN_BWD_SHIFT,
    BN_BWD_MASK,
    BN_BWD_Y,
    BN_BWD_DY,
    BN_BWD_CENTER,
    BN_BWD_RSTD,
    BN_BWD_GAMMA,
    BN_BWD_DGAMMA,
    BN_BWD_DBETA,
    BN_BWD_DX,
    BN_BWD_DZ,
    BN_BWD_GIVEN_DGAMMA,
    BN_BWD_GIVEN_DBETA,
};
/* The first five are those of conv2d. */
enum {
    LI_CONV2D_X,
    LI_CONV2D_W,
    LI_CONV2D_BIAS,
    LI_CONV2D_MASK,
    LI_CONV2D_Y,
    LI_CONV2D_R,
    LI_CONV2D_DY,
    LI_CONV2D_Z,
    LI_CONV2D_V,
    LI_CONV2D_WZ,
    LI_CONV2D_ZBIAS,
    LI_CONV2D_ZY,
    LI_CONV2D_DV,
};
/* The first five are those of linear. */
enum { LINEAR_ACT_X, LINEAR_ACT_W, LINEAR_ACT_BIAS, LINEAR_ACT_MASK, LINEAR_ACT_Y, LINEAR_ACT_U, LINEAR_ACT_DY };
enum {
    CONV2D_SCALE_BIAS_ACT_X,
    CONV2D_SCALE_BIAS_ACT_W,
    CONV2D_SCALE_BIAS_ACT_SCALE,
    CONV2D_SCALE_BIAS_ACT_MASK,
    CONV2D_SCALE_BIAS_ACT_Y,
    CONV2D_SCALE_BIAS_ACT_SHIFT,
    CONV2D_SCALE_BIAS_ACT_Z,
};

enum {
    SSAE_X,
    SSAE_SLICE_GAMMA,
    SSAE_SLICE_BETA,
    SSAE_ENCODER,
    SSAE_ENCODER_BIAS,
    SSAE_BASIS,
    SSAE_LATENT_GAMMA,
    SSAE_LATENT_BETA,
    SSAE_MIXER,
    SSAE_MIXER_BIAS,
    SSAE_DECODER,
    SSAE_DECODER_BIAS,
    SSAE_Y,
};
#define SSAE_BASIS_EPS 1e-12  /* least length that a row of the basis is divided by */
#define SSAE_MOST_LATENT 2048 /* rows of the basis */

/* Makes a drawn problem one that matrix units take: channels and pitches in eights, one group, zeros beyond the edge.
 * It is to be checked anew. */
void problem_round(braid_problem *p);

#endif
