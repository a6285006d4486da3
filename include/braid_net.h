/*
 * Networks of libbraid: graphs of ops by name or built value by value, models (their parameters on a device), plans
 * (a forward, backward and update step by kernels that were chosen), and model files. A part of braid.h, which
 * includes it and whose rules hold here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "braid.h" /* before the guard: it includes this file */

#ifndef BRAID_NET_H
#define BRAID_NET_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Networks ------------------------------------------------------------------------------ */

/*
 * A network: a graph of ops with named parameters, without memory and without a device. Either one of braid's own,
 * by name, or your own, built value by value (examples/03_two_streams.c):
 *
 *     braid_net_create(NULL, NULL, &net);
 *     braid_value x = braid_net_input(net, "rgb", 3), z = braid_net_input(net, "depth", 1);
 *     braid_value y = braid_net_layer(net, "conv1", braid_net_join(net, x, z),
 *                         &(braid_problem){.op = BRAID_OP_CONV2D, .out_channels = {16, 16}, .filter = {3, 3}});
 *     ...
 *     braid_net_output(net, y);
 */
typedef struct braid_net braid_net;

#define BRAID_STREAM_NAME 32 /* bytes of the name of a stream, its end included */

/* Options of braid's networks. Zero means the default of the network. */
typedef struct braid_net_options {
    int streams;                         /* linet: 1 to 8 input streams, default 3 */
    int64_t channels[BRAID_MAX_STREAMS]; /* of every input stream; default 3, 1, 1, ... */
    int64_t classes;                     /* default 15; lenet86: 10; mlp: the last of its layers */
    double width;                        /* linet, mcresnet: factor on all channels; default 1 */
    double dropout;                      /* linet, mcresnet: rate before the classifier */
    int zero_init_residual;              /* linet, mcresnet: 1: every block begins as its shortcut */
    int dilate[3];                       /* linet: 1: dilation replaces the stride of layer2, 3, 4 */
    const char *init;                    /* linet: "head" (default) or "seed", as its versions began */
    braid_fusion fusion;                 /* mcresnet */
    int64_t layers[16];                  /* mlp: the widths, from the input to the output, ended by 0 */
    /* linet, mcresnet: of all input streams; default rgb, depth, orth, stream3, ... */
    char stream_names[BRAID_MAX_STREAMS][BRAID_STREAM_NAME];
} braid_net_options;

/* The names of braid's own networks, and a line on each; NULL beyond the last. */
BRAID_API const char *braid_net_name(int index);
BRAID_API const char *braid_net_summary(int index);

/* Returns a network: one of braid's own, or, with kind NULL, an empty one to build. options may be NULL. */
BRAID_API BRAID_MUST_CHECK braid_status braid_net_create(const char *kind, const braid_net_options *options,
                                                         braid_net **net);
BRAID_API void braid_net_destroy(braid_net *net);

/* A network's description as JSON ({"kind":"linet18","streams":3,...}), kept in model files, and a network from one.
 * The text is borrowed from the network. A network that was built has no description, and gives NULL. */
BRAID_API const char *braid_net_describe(const braid_net *net);
BRAID_API BRAID_MUST_CHECK braid_status braid_net_from_description(const char *text, size_t bytes, braid_net **net);

/* A value of a network that is being built: one plane for each stream. The calls below return it; after a mistake the
 * network keeps the first message, and braid_net_check and everything later report it. */
typedef struct braid_value {
    int id;
} braid_value;

BRAID_API braid_value braid_net_input(braid_net *net, const char *stream, int64_t channels); /* [B][H][W][C] */
BRAID_API braid_value braid_net_select(braid_net *net, braid_value x, int first, int count); /* some streams of x */
BRAID_API braid_value braid_net_join(braid_net *net, braid_value x, braid_value z);          /* streams side by side */
/* The pixels of x as rows [B][channels] or [B * m][channels], m rows for a sample; nothing moves. */
BRAID_API braid_value braid_net_reshape(braid_net *net, braid_value x, int64_t channels);
/* A layer on every stream of x: conv2d, linear, batchnorm, act, maxpool, avgpool, layernorm, dropout or fuse, with the
 * fields of its op except those of shape. Its parameters are called name.weight, name.bias, ...; where x has several
 * streams, the names end in .0, .1, ... */
BRAID_API braid_value braid_net_layer(braid_net *net, const char *name, braid_value x, const braid_problem *layer);
BRAID_API braid_value braid_net_add(braid_net *net, braid_value x, braid_value z);
/* LINet's learned mix of the streams r and of the mix so far, z (or no value, {0}), as one stream. */
BRAID_API braid_value braid_net_integrate(braid_net *net, const char *name, braid_value r, braid_value z,
                                          const braid_problem *layer); /* integrated_out, stride */
BRAID_API void braid_net_output(braid_net *net, braid_value y); /* one stream, [B][classes] or [B][1][1][classes] */

/* BRAID_OK if the network is complete; else the first mistake. */
BRAID_API BRAID_MUST_CHECK braid_status braid_net_check(const braid_net *net);

/* One tensor of a network's state as files have it: K,C,R,S for filters. */
typedef struct braid_tensor_info {
    const char *name;
    braid_dtype dtype; /* f32, or i64 for counters */
    int rank;
    int64_t dims[4];
    int is_parameter; /* 0: a running statistic or a counter */
    int stream;       /* to which it belongs; -1: to none, or to the integrated pathway */
} braid_tensor_info;

/* The tensors of a network's state, index from 0. */
BRAID_API int braid_net_tensor_count(const braid_net *net);
BRAID_API BRAID_MUST_CHECK braid_status braid_net_tensor(const braid_net *net, int index, braid_tensor_info *info);
BRAID_API int64_t braid_net_parameter_count(const braid_net *net); /* numbers that are learned */

/* The input streams, in order. */
BRAID_API int braid_net_stream_count(const braid_net *net);
BRAID_API const char *braid_net_stream(const braid_net *net, int index, int64_t *channels); /* channels may be NULL */

/* The channels of the output: the classes of a classifier. 0: the network has no output yet. */
BRAID_API int64_t braid_net_output_channels(const braid_net *net);

/* ---- Models and plans ----------------------------------------------------------------------- */

/* The numbers of a network on a device: parameters in one arena, running statistics, counters. */
typedef struct braid_model braid_model;

/* How the numbers of a model are stored and begin. Zero means the default. */
typedef struct braid_model_options {
    braid_dtype dtype; /* of compute: f32, bf16, f16 with parameters in f32, or f64 throughout */
    int tf32;          /* 1, with f32: products may round their operands to TF32; numbers and sums stay f32 */
    uint64_t seed;     /* of the initial parameters */
} braid_model_options;

/* Borrows context and net; options may be NULL. Returns a model with initial parameters. */
BRAID_API BRAID_MUST_CHECK braid_status braid_model_create(braid_context *context, const braid_net *net,
                                                           const braid_model_options *options, braid_model **model);
BRAID_API void braid_model_destroy(braid_model *model); /* after its plans */

/* Reads all tensors of the network from a safetensors file; lists what is missing, extra or of another shape, and then
 * loads nothing. Writes them, with the network's description, replacing the file as a whole. */
BRAID_API BRAID_MUST_CHECK braid_status braid_model_load(braid_model *model, const char *path);
BRAID_API BRAID_MUST_CHECK braid_status braid_model_save(braid_model *model, const char *path);

/* A text that the model's files keep under a key of yours; NULL removes it. Loading a file replaces all texts by its
 * own. The text is borrowed until then; NULL where there is none. */
BRAID_API BRAID_MUST_CHECK braid_status braid_model_set_text(braid_model *model, const char *key, const char *text);
BRAID_API const char *braid_model_text(const braid_model *model, const char *key);

/* The network that a model file describes. Returns a network. Like everything that reads model files: BRAID_ERROR_MODEL
 * where the file is not what it should be, BRAID_ERROR_DISK where the system does not let us read it. */
BRAID_API BRAID_MUST_CHECK braid_status braid_net_from_file(const char *path, braid_net **net);

/* One tensor of the state by name, in the layout and dtype of files (f64 where the model is f64). `bytes` must be
 * all of it. */
BRAID_API BRAID_MUST_CHECK braid_status braid_model_read(braid_model *model, const char *name, void *data,
                                                         size_t bytes);
BRAID_API BRAID_MUST_CHECK braid_status braid_model_write(braid_model *model, const char *name, const void *data,
                                                          size_t bytes);

/* The factor of the loss in training: gradients are multiplied by it, and divided by it before the update. All plans
 * of a model share it, as tensor "loss_scale", initially 1. With follow it is halved by every update that an overflow
 * prevents and doubled after 2,000 successful updates in a row. It becomes NaN, so that nothing changes any more, where
 * halving does not help or the loss itself is not finite. All of that happens on the device. */
BRAID_API BRAID_MUST_CHECK braid_status braid_model_scale_loss(braid_model *model, double loss_scale, int follow);

/* What training makes small. */
typedef enum braid_loss {
    BRAID_LOSS_NONE,
    BRAID_LOSS_CROSS_ENTROPY,
    BRAID_LOSS_FOCAL,
    BRAID_LOSS_MSE,
    BRAID_LOSS_COUNT
} braid_loss;

/* How gradients change parameters. */
typedef enum braid_optimiser {
    BRAID_OPTIMISER_NONE,
    BRAID_OPTIMISER_SGD,
    BRAID_OPTIMISER_ADAM,
    BRAID_OPTIMISER_ADAMW,
    BRAID_OPTIMISER_RMSPROP,
    BRAID_OPTIMISER_COUNT
} braid_optimiser;

/* Told before the kernel of a problem is chosen: `index` counts from 0, `count` problems are known so far. A result
 * other than 0 ends the races: what is left is chosen by what is remembered, or by the cost model. */
typedef int (*braid_plan_progress)(void *user, const braid_problem *problem, int index, int count);

/* What a plan is for. Zero means the default. */
typedef struct braid_plan_request {
    braid_phase phase;            /* train, or eval: running statistics, no dropout, no gradients */
    int64_t batch;                /* samples; default 1 */
    int64_t size[2];              /* height and width of the images; networks on rows take none */
    int mask;                     /* 1: samples of streams may be blanked */
    braid_loss loss;              /* default: none with eval; with train cross entropy, or mse for an autoencoder */
    double smoothing;             /* label smoothing */
    double alpha, gamma;          /* of the focal loss */
    int class_weights;            /* 1: every class has a weight, tensor "class_weights" */
    braid_optimiser optimiser;    /* what the segment update does; default: nothing */
    double momentum;              /* sgd, rmsprop */
    int nesterov;                 /* sgd */
    double clip_norm;             /* largest norm of all gradients together; 0: no limit */
    int keep_all;                 /* 1: keep every activation for the backward pass; -1: recompute cheap ones;
                                   * 0: keep them on a GPU of whose free memory that takes at most half */
    int eager;                    /* 1: launch by launch also where the device could replay a recording */
    braid_plan_options choice;    /* how kernels are chosen; seconds: of all planning, checks too, default 20 */
    braid_plan_progress progress; /* may be NULL */
    void *user;                   /* for progress */
} braid_plan_request;

/* The parts of a plan, each of which can be run alone; bits. */
typedef enum braid_segment {
    BRAID_SEGMENT_FORWARD = 1,
    BRAID_SEGMENT_BACKWARD = 2,
    BRAID_SEGMENT_UPDATE = 4,
} braid_segment;

/* The ordered kernel calls of one pass over a network, with all memory placed. */
typedef struct braid_plan braid_plan;

/* Borrows the model: plans of one model share its parameters. Returns a plan. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_create(braid_model *model, const braid_plan_request *request,
                                                          braid_plan **plan);
BRAID_API void braid_plan_destroy(braid_plan *plan);

/* Runs segments (bits of braid_segment) in their order. On the CPU nothing is allocated. On a GPU the second run of
 * the same segments records them as one graph, which all later runs replay, with the same bits. A backward run uses up
 * what the forward run before it has left: there is one forward run for each. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_run(braid_plan *plan, unsigned segments);

/* A tensor of a plan, in device memory: every input stream by its name (NHWC), "output", and where the plan has them
 * "labels" (i32), "target", "loss", "correct", "loss_scale", "norm", "class_weights". */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_tensor(braid_plan *plan, const char *name, braid_operand_info *info,
                                                          void **memory);
/* The same tensor, written from or read to host memory as a whole. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_write(braid_plan *plan, const char *name, const void *data,
                                                         size_t bytes);
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_read(braid_plan *plan, const char *name, void *data, size_t bytes);
/* An input stream from f32 (f64 for a model in f64) with the channels before the pixels: [B][C][H][W], or [B][C]. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_set_input(braid_plan *plan, const char *stream, const void *data,
                                                             size_t bytes);
/* The output as [B][C] in f32 (f64 for a model in f64). */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_get_output(braid_plan *plan, void *data, size_t bytes);
/* Blanks the samples of a stream whose blanked[b] is not 0; NULL: none. For plans with mask. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_set_mask(braid_plan *plan, int stream, const unsigned char *blanked);
/* The gradient of a parameter after the segment backward, in the layout of files, f32 (f64 for a model in f64). */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_gradient(braid_plan *plan, const char *parameter, void *data,
                                                            size_t bytes);

/* Groups of parameters: one for each input stream, then that of the learned mix, then all others. A group with active 0
 * does not change. Parameters that get no gradient never change. */
typedef struct braid_rates {
    double learning_rate, weight_decay;
    int active;
} braid_rates;
BRAID_API int braid_plan_group_count(const braid_plan *plan);
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_set_rates(braid_plan *plan, int group, const braid_rates *rates);

/* One call of a plan, for explain and profile. */
typedef struct braid_step_info {
    const braid_problem *problem;
    const braid_race *race; /* of its problem */
    const char *kernel;
    braid_segment segment;
    int natural;    /* how many ops of the network it stands for */
    int made_again; /* 1: repeats a forward call to save memory */
    int depends_on; /* how many earlier steps must have ended; the rest may run beside it */
    double seconds; /* measured for the choice, or predicted; 0: unknown */
    /* After braid_plan_profile on a GPU, else 0: kernels, copies and zeros that it queues, those inside vendor calls
     * included, and how many of them only change a layout. */
    int launches, layout_copies;
    /* 1: lays out the weights for the step after it, which has the same problem and kernel. The work of the problem
     * (race, natural) is that step's, and so are `seconds`, which are of both. */
    int is_pack;
} braid_step_info;
BRAID_API int braid_plan_step_count(const braid_plan *plan);
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_step(const braid_plan *plan, int index, braid_step_info *info);

/* The memory of a plan, in bytes. */
typedef struct braid_plan_memory {
    size_t arena_bytes;    /* activations, their gradients and workspace, placed by lifetime */
    size_t sum_bytes;      /* the same if every tensor had its own memory */
    size_t model_bytes;    /* parameters and states */
    size_t training_bytes; /* gradients of the parameters and state of the optimiser */
} braid_plan_memory;

/* The memory that a plan takes. */
BRAID_API void braid_plan_memory_use(const braid_plan *plan, braid_plan_memory *use);

/* 1: it keeps every activation for the backward pass; -1: it recomputes cheap ones, or is NULL or for evaluation,
 * where nothing is kept. A request whose keep_all is this has the same calls, and with the same kernels the same bits,
 * also where less or more memory is free by then. */
BRAID_API int braid_plan_keeps_all(const braid_plan *plan);

/* Seconds that `runs` runs of the segments take, one after the other, on the device's own clock. On a GPU they are
 * replays of the recording. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_time(braid_plan *plan, unsigned segments, int runs, double *seconds);

/* Seconds of every step, measured by running the segments `rounds` times: medians, one for each step. On a GPU the
 * steps run one after the other, without the host between them. */
BRAID_API BRAID_MUST_CHECK braid_status braid_plan_profile(braid_plan *plan, unsigned segments, int rounds,
                                                           double *seconds);

/* ---- Model files --------------------------------------------------------------------------- */

/* The most dimensions of a tensor in a file. */
#define BRAID_FILE_MAX_RANK 8

/* One tensor of a safetensors file (docs/files.md). */
typedef struct braid_file_tensor {
    const char *name; /* UTF-8 without control characters */
    braid_dtype dtype;
    int rank; /* 0: a scalar */
    int64_t dims[BRAID_FILE_MAX_RANK];
    size_t bytes;
} braid_file_tensor;

/* Are told of each tensor and of each text of a file by braid_file_describe. */
typedef void (*braid_file_tensor_function)(void *user, const braid_file_tensor *tensor);
typedef void (*braid_file_text_function)(void *user, const char *key, const char *value);

/* Reads all of a safetensors file, verifies its checksums where it has them (*verified, may be NULL, is then 1), and
 * tells its texts and then its tensors, in the order of their data. The strings are borrowed during a call. */
BRAID_API BRAID_MUST_CHECK braid_status braid_file_describe(const char *path, braid_file_text_function text,
                                                            braid_file_tensor_function tensor, void *user,
                                                            int *verified);

/* All numbers of one tensor of a file as `dtype` (f32 or f64); `bytes` must be all of them. */
BRAID_API BRAID_MUST_CHECK braid_status braid_file_read(const char *path, const char *name, braid_dtype dtype,
                                                        void *data, size_t bytes);

/* Replaces a file by one with these tensors, atomically. */
BRAID_API BRAID_MUST_CHECK braid_status braid_file_write(const char *path, const braid_file_tensor *tensors,
                                                         const void *const *data, int count);

/* The weights of lenet86, from weights-86.bin to safetensors or back: the name of the result ends in .safetensors or
 * in .bin and says which. Every count, name, dtype and shape must be the network's. Replaces `to` atomically. */
BRAID_API BRAID_MUST_CHECK braid_status braid_convert(const char *from, const char *to);

#ifdef __cplusplus
}
#endif
#endif
