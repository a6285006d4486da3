/*
 * braid: neural networks whose input arrives in several streams (RGB, depth, ...),
 * on the CPU and on NVIDIA GPUs.
 *
 * A layer of all streams is one problem. You describe it, plan it (a kernel is chosen by
 * measurement), run it on your buffers as often as you like, and destroy it:
 *
 *     #include <braid.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         static float rgb[2 * 8 * 8 * 3], depth[2 * 8 * 8 * 1];           // [B][H][W][C], per stream
 *         static float w_rgb[16 * 3 * 3 * 3], w_depth[16 * 3 * 3 * 1];     // [K][R][S][C], per stream
 *         static float y_rgb[2 * 8 * 8 * 16], y_depth[2 * 8 * 8 * 16];
 *         braid_context *context = NULL;
 *         braid_op *conv = NULL;
 *         braid_problem problem = {.op = BRAID_OP_CONV2D, .streams = 2, .batch = 2, .size = {8, 8},
 *                                  .in_channels = {3, 1}, .out_channels = {16, 16},
 *                                  .filter = {3, 3}, .padding = {1, 1}};
 *         braid_operand operands[] = {{"x", {rgb, depth}}, {"w", {w_rgb, w_depth}}, {"y", {y_rgb, y_depth}}};
 *         braid_status status = braid_context_create(&(braid_context_options){.device = "cpu"}, &context);
 *         if (!status) status = braid_op_create(context, &problem, &conv);
 *         if (!status) status = braid_op_plan(conv, NULL);
 *         if (!status) status = braid_op_run(conv, operands, 3);
 *         if (status) fprintf(stderr, "%s\n", braid_message());
 *         braid_op_destroy(conv);
 *         braid_context_destroy(context);
 *         return status;
 *     }
 *
 * Rules that hold everywhere: zero in a descriptor means the default; every call that can fail
 * returns a braid_status that must be looked at and leaves a message for this thread
 * (braid_message); destroy(NULL) is fine; the library never exits, aborts or prints, except what
 * BRAID_LOG asks for. "borrows": the pointer must outlive the call's effect; "takes": the library
 * frees it; "returns": the caller frees it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_H
#define BRAID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers, and the number of the binary interface, for braid_version and braid_abi. */
#define BRAID_VERSION "0.2.0"
#define BRAID_ABI 10 /* changes whenever a public struct or function changes its meaning */

/* Marks what the library exports, and what must not be ignored. */
#define BRAID_API __attribute__((visibility("default")))
#define BRAID_MUST_CHECK __attribute__((warn_unused_result))

/* ---- Status ------------------------------------------------------------------------------- */

/* The values are the exit codes of the command-line program. */
typedef enum braid_status {
    BRAID_OK = 0,
    BRAID_ERROR_CHECK = 1,    /* a check or a gate failed */
    BRAID_ERROR_ARGUMENT = 2, /* a descriptor, option or call that cannot be meant */
    BRAID_ERROR_DATA = 3,     /* a data file is missing or damaged */
    BRAID_ERROR_MODEL = 4,    /* a model file is missing or damaged */
    BRAID_ERROR_MEMORY = 5,   /* no memory, or a size that does not fit in 64 bits */
    BRAID_ERROR_DEVICE = 6,   /* no such device, or the device failed */
    BRAID_ERROR_DISK = 7,     /* a file could not be written */
    BRAID_ERROR_PEER = 8,     /* another process of the run was lost */
    BRAID_ERROR_DIVERGED = 9, /* the training went to infinity */
} braid_status;

/* The message of this thread's last failed call: what was expected, what came, what to do. Never NULL. */
BRAID_API const char *braid_message(void);

/* What a failure is about, where a program may want to decide by more than its status. */
typedef enum braid_detail {
    BRAID_DETAIL_NONE = 0,
    BRAID_DETAIL_SMALL_BATCH = 1, /* a normalisation in training has one value per channel: use a larger batch */
} braid_detail;

/* The detail of this thread's last failed call; most have none. */
BRAID_API braid_detail braid_message_detail(void);

/* The name of a status, "argument" for BRAID_ERROR_ARGUMENT. Never NULL. */
BRAID_API const char *braid_status_name(braid_status status);

/* The version and the ABI number of the library that is loaded, to compare with BRAID_VERSION and BRAID_ABI. */
BRAID_API const char *braid_version(void);
BRAID_API int braid_abi(void);

/* ---- Memory ------------------------------------------------------------------------------- */

/* A replacement for malloc. alloc returns memory aligned to `alignment` (a power of two) or NULL. */
typedef struct braid_allocator {
    void *(*alloc)(void *user, size_t bytes, size_t alignment);
    void (*free)(void *user, void *memory);
    void *user;
} braid_allocator;

/* Sets the allocator of the whole process; NULL restores malloc. Copies the struct; refused while
 * anything that braid allocated is alive. Not for use beside running threads. */
BRAID_API BRAID_MUST_CHECK braid_status braid_set_allocator(const braid_allocator *allocator);

/* ---- Problems ----------------------------------------------------------------------------- */

#define BRAID_MAX_STREAMS 8 /* input streams of a network */
#define BRAID_MAX_PLANES 9  /* streams and the integrated pathway, which is one more in memory */

/* X(NAME, name): every op that can be planned. */
/* clang-format off */
#define BRAID_OP_LIST(X)                                  \
    X(CONV2D, conv2d)                                     \
    X(LINEAR, linear)                                     \
    X(INTEGRATE, integrate)                               \
    X(ACT, act)                                           \
    X(ADD, add)                                           \
    X(MAXPOOL, maxpool)                                   \
    X(AVGPOOL, avgpool)                                   \
    X(LAYERNORM, layernorm)                               \
    X(ROWNORM, rownorm)                                   \
    X(MATMUL, matmul)                                     \
    X(FUSE, fuse)                                         \
    X(BN_STATS, bn_stats)                                 \
    X(BN_FINALIZE, bn_finalize)                           \
    X(BN_APPLY, bn_apply)                                 \
    X(BN_BWD_REDUCE, bn_bwd_reduce)                       \
    X(BN_BWD_APPLY, bn_bwd_apply)                         \
    X(NORMALIZE, normalize)                               \
    X(AUGMENT, augment)                                   \
    X(SGD, sgd)                                           \
    X(ADAM, adam)                                         \
    X(ADAMW, adamw)                                       \
    X(RMSPROP, rmsprop)                                   \
    X(CLIP_NORM, clip_norm)                               \
    X(CAST, cast)                                         \
    X(DROPOUT, dropout)                                   \
    X(SOFTMAX_XENT, softmax_xent)                         \
    X(FOCAL, focal)                                       \
    X(MSE, mse)                                           \
    X(BALANCE, balance)                                   \
    X(BN_ACT, bn_act)                                     \
    X(BN_ADD_ACT, bn_add_act)                             \
    X(BN_ACT_POOL, bn_act_pool)                           \
    X(LI_CONV2D, li_conv2d)                               \
    X(LINEAR_ACT, linear_act)                             \
    X(CONV2D_SCALE_BIAS_ACT, conv2d_scale_bias_act)       \
    X(BN_STATS_FINALIZE, bn_stats_finalize)               \
    X(SSAE, ssae)                                         \
    X(INTEGRATE_BN_BWD_APPLY, integrate_bn_bwd_apply)     \
    X(INTEGRATE_BN_STATS, integrate_bn_stats)             \
    X(CONV2D_POOL_BN_BWD_APPLY, conv2d_pool_bn_bwd_apply) \
    X(CONV2D_BN_STATS, conv2d_bn_stats)                   \
    X(CONV2D_DGRAD_BN_REDUCE, conv2d_dgrad_bn_reduce)     \
    X(BN_ACT_CONV2D, bn_act_conv2d)                       \
    X(BN_BWD, bn_bwd)                                     \
    X(BIAS, bias)
/* clang-format on */

/* What can be computed: BRAID_OP_CONV2D and so on, in the order of BRAID_OP_LIST. */
#define BRAID_OP_ENUM(NAME, name) BRAID_OP_##NAME,
typedef enum braid_op_id {
    BRAID_OP_LIST(BRAID_OP_ENUM) BRAID_OP_COUNT,
    BRAID_OP_BATCHNORM /* a layer of braid_net_layer, no op: its ops are bn_stats, bn_finalize and bn_apply */
} braid_op_id;
#undef BRAID_OP_ENUM

/* Which way: the values, the gradient of the inputs, or the gradient of the weights. */
typedef enum braid_pass { BRAID_PASS_FWD, BRAID_PASS_BWD_DATA, BRAID_PASS_BWD_WEIGHT, BRAID_PASS_COUNT } braid_pass;

/* How a number is stored. */
typedef enum braid_dtype {
    BRAID_DTYPE_F32,
    BRAID_DTYPE_F16,
    BRAID_DTYPE_BF16,
    BRAID_DTYPE_F64, /* reference kernels only */
    BRAID_DTYPE_U8,  /* data, not compute: from here on */
    BRAID_DTYPE_I32,
    BRAID_DTYPE_I64,
    BRAID_DTYPE_COUNT
} braid_dtype;

/* What a filter sees beyond the edge of an image. */
typedef enum braid_padding_mode {
    BRAID_PADDING_ZEROS,
    BRAID_PADDING_REFLECT,
    BRAID_PADDING_REPLICATE,
    BRAID_PADDING_CIRCULAR,
    BRAID_PADDING_COUNT
} braid_padding_mode;

/* What a network or a normalisation is run for: training goes by the batch, evaluation by running statistics. */
typedef enum braid_phase { BRAID_PHASE_TRAIN, BRAID_PHASE_EVAL, BRAID_PHASE_COUNT } braid_phase;

/* How running statistics follow the batches: by momentum, or as the plain mean of all batches so far. */
typedef enum braid_average { BRAID_AVERAGE_EXPONENTIAL, BRAID_AVERAGE_CUMULATIVE, BRAID_AVERAGE_COUNT } braid_average;

/* The function applied to every value. */
typedef enum braid_activation {
    BRAID_ACTIVATION_RELU,
    BRAID_ACTIVATION_GELU,      /* exact, by the error function */
    BRAID_ACTIVATION_GELU_TANH, /* its approximation by tanh */
    BRAID_ACTIVATION_NONE,      /* y = x, where an op allows it */
    BRAID_ACTIVATION_COUNT
} braid_activation;

/* How features of several streams become one vector. */
typedef enum braid_fusion {
    BRAID_FUSION_CONCAT,
    BRAID_FUSION_WEIGHTED, /* a learned share for each stream */
    BRAID_FUSION_GATED,    /* a share for each stream and sample */
    BRAID_FUSION_COUNT
} braid_fusion;

/*
 * One problem: an op, a pass, a dtype, a shape and options. Each op uses some of the fields (the
 * table in docs/problems.md); the others stay zero. As text, with the short names in brackets:
 * conv2d_fwd:f32:n3:b16:hw104x136:c64,64,64:k64,64,64:rs3x3:st1:pad1:dil1:g1:mode=zeros:bias0:mask0:add0
 * In the place of the dtype, tf32 stands for f32 with the member tf32.
 */
typedef struct braid_problem {
    braid_op_id op;
    braid_pass pass;
    braid_dtype dtype;
    int tf32;                               /* 1: products may round their f32 operands to TF32; sums stay f32 */
    int streams;                            /* [n]    1 to 8; 9 for the ops that see the integrated pathway */
    int64_t batch;                          /* [b]    samples; 0 is a valid no-op */
    int64_t size[2];                        /* [hw]   input height and width */
    int64_t in_channels[BRAID_MAX_PLANES];  /* [c]    per stream */
    int64_t out_channels[BRAID_MAX_PLANES]; /* [k]    per stream */
    int64_t filter[2];                      /* [rs]   filter height and width */
    int64_t stride[2];                      /* [st]   default 1 */
    int64_t padding[2];                     /* [pad]  rows above and below, columns left and right */
    int64_t extra_padding[2];               /* [extra] further rows below, columns right: "same" with an even filter */
    int64_t dilation[2];                    /* [dil]  default 1 */
    int64_t groups;                         /* [g]    default 1 */
    braid_padding_mode padding_mode;        /* [mode] */
    int bias;                               /* [bias] 1: the op has a bias, its weight pass also gives dbias */
    int mask;                               /* [mask] 1: samples may be blanked, see braid_op_run */
    braid_phase phase;                      /* [phase] */
    braid_average average;                  /* [avg] */
    int each;                               /* [each] 1: every stream counts a batch, one after the other */
    double eps;                             /* [eps]  default by the op */
    double momentum;                        /* [mom]  default by the op */
    braid_activation activation;            /* [act] */
    int ceil_mode;                          /* [ceil] 1: a pooling window may begin inside and end outside */
    int64_t out_size[2];                    /* [out]  height and width of adaptive pooling or a crop; default 1 */
    int64_t integrated_in;                  /* [zi]   channels of the integrated input; 0: there is none */
    int64_t integrated_out;                 /* [zo]   channels of the integrated output */
    int transpose;                          /* [trans] 1: the second matrix lies [k][c] */
    int add;                                /* [add]  1: a residual z is added before the activation; integrate: */
                                            /*        1: to dr, 2: to dz, 3: to both */
    int residual_norm;                      /* [zn]   1: the residual has a scale and a shift of its own */
    int given;                              /* [given] planes, the first ones, whose sums are given */
    int skip;                               /* [skip] planes, the first ones, that have no gradient */
    braid_fusion fusion;                    /* [fuse] */
    double rate;                            /* [rate] share of values that dropout drops */
    double smoothing;                       /* [smooth] label smoothing, 0 to 1 */
    int class_weights;                      /* [cw]   1: every class has a weight */
    double alpha;                           /* [alpha] factor of the focal loss; memory of rmsprop */
    double gamma;                           /* [gamma] exponent of the focal loss */
    double beta_mean;                       /* [betam] memory of adam's mean of gradients */
    double beta_square;                     /* [betas] memory of adam's mean of squares */
    int nesterov;                           /* [nest] 1: sgd looks ahead */
    double limit;                           /* [limit] largest norm of all gradients together; 0: none */
    int64_t segments;                       /* [seg]  runs of parameters of one group */
    braid_dtype to;                         /* [to]   what a cast gives */
    int64_t in_pitch[BRAID_MAX_PLANES];     /* [cp]   elements from one input pixel to the next; default in_channels */
    int64_t out_pitch[BRAID_MAX_PLANES];    /* [kp]   the same for the output; default out_channels */
} braid_problem;

/* Room for any canonical problem string. */
#define BRAID_PROBLEM_TEXT 1024

/* Reads a problem from text. Defaults may be left out, one number serves all streams (c64), and
 * pad=same and pad=valid are understood. The result is checked and complete. */
BRAID_API BRAID_MUST_CHECK braid_status braid_problem_parse(const char *text, braid_problem *problem);

/* Fills in the defaults and refuses what cannot be meant, naming the field, what was expected and what came. */
BRAID_API BRAID_MUST_CHECK braid_status braid_problem_check(braid_problem *problem);

/* Writes the canonical text of a checked problem; BRAID_PROBLEM_TEXT bytes always suffice. */
BRAID_API BRAID_MUST_CHECK braid_status braid_problem_print(const braid_problem *problem, char *text, size_t size);

/* Draws a small random problem of an op and pass, odd shapes preferred. A function of the seed alone. */
BRAID_API BRAID_MUST_CHECK braid_status braid_problem_draw(braid_op_id op, braid_pass pass, uint64_t seed,
                                                           braid_problem *problem);

/* The same in a shape that matrix units take, where the op allows it: f16, bf16 or TF32, channels in eights, one group,
 * zeros beyond the edge, many filters of 3x3, some images of 1 to 4 channels. */
BRAID_API BRAID_MUST_CHECK braid_status braid_problem_draw_round(braid_op_id op, braid_pass pass, uint64_t seed,
                                                                 braid_problem *problem);

/* "conv2d", "fwd", "f32"; NULL where the value is out of range. An op with a single pass has the pass name "". */
BRAID_API const char *braid_op_id_name(braid_op_id op);
BRAID_API const char *braid_pass_name(braid_op_id op, braid_pass pass);
BRAID_API const char *braid_dtype_name(braid_dtype dtype);

/* ---- Contexts ----------------------------------------------------------------------------- */

/* How far results must be the same bit for bit. */
typedef enum braid_repro {
    BRAID_REPRO_RUN,     /* R1: same choices, threads and device give the same bits, run to run */
    BRAID_REPRO_THREADS, /* R2: the same bits at any number of threads */
} braid_repro;

/* Which device a context is on and how it works. Zero means the default. */
typedef struct braid_context_options {
    const char *device;    /* "cpu", "cuda:0" or "auto" (a GPU where there is one); NULL: $BRAID_DEVICE, then "auto" */
    int threads;           /* 0: $OMP_NUM_THREADS, then the cores this process may use */
    braid_repro repro;     /* which kernels may be chosen */
    const char *cache_dir; /* wisdom; NULL: $BRAID_CACHE_DIR, then the user's; "" (of either): keep none */
    const char *disable;   /* candidates to leave out, "onednn,openblas"; NULL: $BRAID_DISABLE */
} braid_context_options;

/* One device with its memory and its wisdom. Used by one thread at a time; refused after fork. A child of a fork makes
 * its own, which works on one thread, and on CUDA only where its parent has not used that. Destroy the ops and the
 * memory of a context before the context. */
typedef struct braid_context braid_context;

/* options may be NULL. Returns a context. */
BRAID_API BRAID_MUST_CHECK braid_status braid_context_create(const braid_context_options *options,
                                                             braid_context **context);
BRAID_API void braid_context_destroy(braid_context *context);

/* The name of the device, "cpu" or "cuda:0". Borrowed from the context. */
BRAID_API const char *braid_context_device(const braid_context *context);

/* Memory of the context's device (plain host memory on the CPU), aligned to 256 bytes. bytes may be 0. */
BRAID_API BRAID_MUST_CHECK braid_status braid_memory_create(braid_context *context, size_t bytes, void **memory);
BRAID_API void braid_memory_destroy(braid_context *context, void *memory);
BRAID_API BRAID_MUST_CHECK braid_status braid_upload(braid_context *context, void *device, const void *host,
                                                     size_t bytes);
BRAID_API BRAID_MUST_CHECK braid_status braid_download(braid_context *context, void *host, const void *device,
                                                       size_t bytes);
BRAID_API BRAID_MUST_CHECK braid_status braid_synchronize(braid_context *context);

/* ---- Ops ---------------------------------------------------------------------------------- */

/* One problem on one device, with the kernel that was chosen for it. */
typedef struct braid_op braid_op;

/* Copies and checks the problem, borrows the context. Returns an op without a kernel: plan it next. */
BRAID_API BRAID_MUST_CHECK braid_status braid_op_create(braid_context *context, const braid_problem *problem,
                                                        braid_op **op);
BRAID_API void braid_op_destroy(braid_op *op);

/* The checked problem. Borrowed from the op. */
BRAID_API const braid_problem *braid_op_problem(const braid_op *op);

/* What an op does with an operand: read it, write all of it, or change it. */
typedef enum braid_role { BRAID_ROLE_IN, BRAID_ROLE_OUT, BRAID_ROLE_INOUT } braid_role;

/* One operand of an op. dims is the shape of each plane as it lies in memory, slowest first. */
typedef struct braid_operand_info {
    const char *name;
    braid_role role;
    braid_dtype dtype;
    int planes; /* one pointer each in braid_operand */
    int rank;
    int64_t dims[BRAID_MAX_PLANES][4];
    int64_t pitch[BRAID_MAX_PLANES]; /* elements between two values of the second-fastest axis; >= the last dim */
    size_t bytes[BRAID_MAX_PLANES];
} braid_operand_info;

/* The operands of an op, index from 0. */
BRAID_API int braid_op_operand_count(const braid_op *op);
BRAID_API BRAID_MUST_CHECK braid_status braid_op_operand(const braid_op *op, int index, braid_operand_info *info);

/* How much is spent on the choice of kernels. */
typedef enum braid_effort {
    BRAID_EFFORT_MEASURE,    /* race the candidates within the time budget; what wisdom knows is not measured again */
    BRAID_EFFORT_ESTIMATE,   /* choose by the cost model, at once */
    BRAID_EFFORT_EXHAUSTIVE, /* race with narrow intervals, however long it takes */
} braid_effort;

/* How a kernel is chosen. Zero means the default. */
typedef struct braid_plan_options {
    braid_effort effort;
    double seconds; /* time budget of the race; 0: 2 seconds, and 1 for each step of a fused op's chain */
    int again;      /* 1: measure even if wisdom knows the answer */
    int all; /* 1: a plan of a network races every problem; with seconds until they are over, the costliest first */
    const char *kernel; /* take this candidate, unraced; NULL: choose */
    int warm;           /* 1: race on one copy of the operands, which a cache may hold; not remembered */
} braid_plan_options;

/* Chooses the kernel and readies it. options may be NULL. May be called again, with other options. */
BRAID_API BRAID_MUST_CHECK braid_status braid_op_plan(braid_op *op, const braid_plan_options *options);

/* The data of one operand, a pointer for each plane: device memory of the op's context. */
typedef struct braid_operand {
    const char *name;
    void *plane[BRAID_MAX_PLANES];
} braid_operand;

/*
 * Runs the planned kernel; on a GPU it is queued, and braid_synchronize waits. Borrows all buffers.
 * Every operand of the op must be named once; a plane of zero elements may be NULL. Outputs are
 * overwritten whole. "mask" has one plane for each stream of (batch + 31) / 32 words of 32 bits;
 * bit b%32 of word b/32 set means that sample b of that stream is blanked: its outputs are exactly
 * zero and it adds nothing to any sum, whatever its inputs hold.
 */
BRAID_API BRAID_MUST_CHECK braid_status braid_op_run(braid_op *op, const braid_operand *operands, int count);

/* ---- Seeing the choice -------------------------------------------------------------------- */

/* Where a candidate comes from. */
typedef enum braid_kind {
    BRAID_KIND_OWN,
    BRAID_KIND_VENDOR,
    BRAID_KIND_REF,
    BRAID_KIND_PEER,
    BRAID_KIND_CHAIN, /* the natural ops that a fused op equals, run back to back with the kernels chosen for each */
} braid_kind;

/* One candidate of the last plan or check. */
typedef struct braid_candidate {
    const char *kernel;
    braid_kind kind;
    const char *reason;           /* NULL: it took part; else, in words, why it did not, or how it failed */
    double median_s;              /* seconds of one launch; 0: not timed */
    double low_s, high_s;         /* the interval of that median, in this race alone: two of them show no difference */
    double ratio;                 /* the baseline's time over this one's, both in turns; 0: not timed */
    double ratio_low, ratio_high; /* it lies between them but for 1 of 1000 races, the floor of noise counted in */
    double max_err;               /* largest error, as a share of the tolerance; <= 1 passes; -1: not checked */
    int64_t compared;             /* outputs compared with the reference */
    int handicapped; /* 1: a vendor library that does not run at the CPU's best instruction set: proves nothing */
    size_t workspace_bytes;
    int64_t layout_copy_bytes; /* bytes that it moves only to rearrange activations, per launch */
} braid_candidate;

/* All candidates of a problem and the choice among them. */
typedef struct braid_race {
    const braid_candidate *candidates;
    int count;
    int winner;       /* index of the chosen candidate; -1: the last call chose none (braid_op_check never does) */
    const char *why;  /* one sentence: why the winner was chosen */
    int from_wisdom;  /* 1: the times were read, not measured */
    int baseline;     /* index of the fastest timed vendor's, else the chain, the reference, our fastest; or -1 */
    int is_busy;      /* 1: other work ran beside the race: the cost model chose, and nothing is remembered */
    const char *load; /* what ran beside it, in words; "": not known */
    double flops;     /* operations of one launch */
    double bytes;     /* fewest bytes of one launch: inputs read once, outputs written once */
} braid_race;

/* What the last braid_op_plan or braid_op_check saw. Borrowed from the op until its next plan or check. */
BRAID_API const braid_race *braid_op_explain(const braid_op *op);

/* What a device must have for one of our kernels, by its name: "sm_80" (or newer), "sm_90a" (that alone), "avx512", ...
 * NULL: nothing, or it is not ours. */
BRAID_API const char *braid_kernel_architecture(const char *name);

/* The method of the races held against the truth: one kernel raced against a copy of itself that takes a share longer.
 * The caller sets `plant`. */
typedef struct braid_proof {
    double plant;                        /* 0.02: 2 % longer; 0: not at all */
    double ratio, ratio_low, ratio_high; /* the kernel's time over its copy's: 1 / (1 + plant) in truth */
    double seconds;                      /* of one launch of the kernel */
    double others;                       /* CPUs that other processes kept busy; -1: not known */
    int is_busy;                         /* 1: a race would not be believed */
} braid_proof;
#define BRAID_MAX_PROOFS 7

/* How to prove. Zero means the default. */
typedef struct braid_proof_options {
    double seconds;       /* of one race with all copies; 0: 0.5 */
    double floor_seconds; /* the floor of noise is measured first where it is not known and these are 1 or more */
    uint64_t seed;        /* of the order */
} braid_proof_options;

/* Races the planned kernel against so many copies of itself, all in one race and in an order that is drawn. */
BRAID_API BRAID_MUST_CHECK braid_status braid_op_prove(braid_op *op, const braid_proof_options *options,
                                                       braid_proof *proofs, int count);

/* Runs every candidate against the reference: small integers bit for bit where the op allows it, real
 * numbers under the stated bound, outputs poisoned, red zones around every buffer, twice for the same
 * bits. BRAID_ERROR_CHECK if any candidate fails; braid_op_explain has each one's error. */
BRAID_API BRAID_MUST_CHECK braid_status braid_op_check(braid_op *op, uint64_t seed);

/* The ceilings of the context's device. The copy is measured once per context (about a second), the matrix product
 * once per machine and build: wisdom remembers it. */
typedef struct braid_ceilings {
    double copy_bytes_per_s; /* bytes read plus bytes written */
    double gemm_flops_per_s; /* the best matrix product of the dtype that any candidate reaches */
} braid_ceilings;
BRAID_API BRAID_MUST_CHECK braid_status braid_context_ceilings(braid_context *context, braid_dtype dtype,
                                                               braid_ceilings *ceilings);

/* Tells what this machine is and which libraries were found, one row a call; hint may be NULL. */
typedef void (*braid_row_function)(void *user, const char *section, const char *name, const char *value,
                                   const char *hint);
BRAID_API BRAID_MUST_CHECK braid_status braid_context_describe(braid_context *context, braid_row_function row,
                                                               void *user);

#ifdef __cplusplus
}
#endif

#include "braid_net.h"
#include "braid_train.h"
#endif
