/*
 * braid predict: a model file and a file of inputs, one tensor for each stream, to a file of outputs. The batch is cut
 * into pieces; the last one, if smaller, has a plan of its own. Nothing is measured: kernels are chosen by what is
 * remembered, or by the cost model.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct predict_options {
    common_options common;
    network_options network;
    const char *net, *input, *out;
} predict_options;

#define OFFSET(member) offsetof(predict_options, member)
static const option predict_option_list[] = {
    {"input", 'i', OPTION_TEXT, "FILE", "safetensors with one tensor for each stream, [B,C,H,W] or [B,C]",
     OFFSET(input)},
    {"out", 0, OPTION_TEXT, "FILE", "safetensors to write: logits [B,K] and classes [B]", OFFSET(out)},
    {"net", 0, OPTION_TEXT, "NET", "the network, where the model file does not describe it", OFFSET(net)},
    {0}};

#define DEFAULT_BATCH 16
#define NUMBER sizeof(float) /* every count was allocated with it, so that products fit */

/* The inputs of all samples, and where the outputs go. */
typedef struct prediction {
    braid_net *net;
    braid_context *context;
    braid_model *model;
    float *input[BRAID_MAX_STREAMS];
    size_t sample[BRAID_MAX_STREAMS]; /* numbers of one sample */
    braid_file_tensor found[BRAID_MAX_STREAMS];
    char names[512]; /* of all tensors of the input file, for messages */
    int64_t samples, classes;
    float *logits;
} prediction;

/* ---- Reading ------------------------------------------------------------------------------- */

/* Looks for the tensors of the streams in a file. */
static void take_tensor(void *user, const braid_file_tensor *tensor) {
    prediction *p = user;
    size_t used = strlen(p->names);
    snprintf(p->names + used, sizeof p->names - used, "%s%s", used ? ", " : "", tensor->name);
    for (int i = 0; i < braid_net_stream_count(p->net); i++) {
        if (strcmp(tensor->name, braid_net_stream(p->net, i, NULL)) != 0) continue;
        p->found[i] = *tensor;
        p->found[i].name = braid_net_stream(p->net, i, NULL);
    }
}

/* "[4,3,33,41]" */
static void print_shape(const braid_file_tensor *t, char *text, size_t room) {
    size_t used = 0;
    for (int axis = 0; axis < t->rank && used < room; axis++) {
        int wrote = snprintf(text + used, room - used, "%s%lld", axis ? "," : "[", (long long)t->dims[axis]);
        if (wrote > 0) used += (size_t)wrote;
    }
    snprintf(used < room ? text + used : text, used < room ? room - used : 0, t->rank ? "]" : "[]");
}

/* Each stream must be there, [B,C,H,W] or [B,C], with the same batch and size as the first. */
static int check_stream(const prediction *p, int i, const char *path) {
    int64_t channels = 0;
    const char *name = braid_net_stream(p->net, i, &channels);
    const braid_file_tensor *t = &p->found[i], *first = &p->found[0];
    char shape[200], first_shape[200];
    if (!t->name)
        return complain(BRAID_ERROR_DATA, "%s: expected a tensor \"%s\" for stream %d of the network, got only: %s",
                        path, name, i, p->names[0] ? p->names : "nothing");
    print_shape(t, shape, sizeof shape);
    print_shape(first, first_shape, sizeof first_shape);
    if ((t->rank != 2 && t->rank != 4) || t->dims[1] != channels || t->dims[0] < 1)
        return complain(BRAID_ERROR_DATA, "%s: %s: expected [B,%lld,H,W] or [B,%lld] (%lld channels), got %s", path,
                        name, (long long)channels, (long long)channels, (long long)channels, shape);
    int same = t->rank == first->rank && t->dims[0] == first->dims[0];
    for (int axis = 2; same && axis < t->rank; axis++) same = t->dims[axis] == first->dims[axis];
    if (same) return 0;
    return complain(BRAID_ERROR_DATA, "%s: %s: expected the batch and size of %s, %s, got %s", path, name, first->name,
                    first_shape, shape);
}

static int read_inputs(prediction *p, const char *path) {
    braid_status status = braid_file_describe(path, NULL, take_tensor, p, NULL);
    if (status) return complain(BRAID_ERROR_DATA, "%s", braid_message());
    for (int i = 0; i < braid_net_stream_count(p->net); i++) {
        int code = check_stream(p, i, path);
        if (code) return code;
        const braid_file_tensor *t = &p->found[i];
        p->sample[i] = (size_t)t->dims[1];
        for (int axis = 2; axis < t->rank; axis++) p->sample[i] *= (size_t)t->dims[axis];
        p->samples = t->dims[0];
        size_t count = (size_t)p->samples * p->sample[i];
        p->input[i] = calloc(count + 1, NUMBER);
        if (!p->input[i]) return complain(BRAID_ERROR_MEMORY, "no memory for %zu numbers of %s", count, t->name);
        status = braid_file_read(path, t->name, BRAID_DTYPE_F32, p->input[i], count * NUMBER);
        if (status) return complain(BRAID_ERROR_DATA, "%s", braid_message());
    }
    return 0;
}

/* ---- Running ------------------------------------------------------------------------------- */

static braid_status make_plan(const prediction *p, int64_t batch, braid_plan **plan) {
    const braid_file_tensor *first = &p->found[0];
    braid_plan_request r = {.phase = BRAID_PHASE_EVAL, .batch = batch, .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    for (int axis = 0; axis < 2 && first->rank == 4; axis++) r.size[axis] = first->dims[2 + axis];
    return braid_plan_create(p->model, &r, plan);
}

/* Numbers of one sample's output. */
static braid_status find_classes(prediction *p, braid_plan *plan) {
    braid_operand_info info;
    void *memory;
    braid_status status = braid_plan_tensor(plan, "output", &info, &memory);
    p->classes = 1;
    for (int axis = 1; !status && axis < info.rank; axis++) p->classes *= info.dims[0][axis];
    return status;
}

static braid_status run_piece(const prediction *p, braid_plan *plan, int64_t first, int64_t count) {
    braid_status status = BRAID_OK;
    for (int i = 0; i < braid_net_stream_count(p->net) && !status; i++)
        status = braid_plan_set_input(plan, p->found[i].name, p->input[i] + (size_t)first * p->sample[i],
                                      (size_t)count * p->sample[i] * NUMBER);
    if (!status) status = braid_plan_run(plan, BRAID_SEGMENT_FORWARD);
    size_t outputs = (size_t)count * (size_t)p->classes;
    return status ? status : braid_plan_get_output(plan, p->logits + first * p->classes, outputs * NUMBER);
}

static int run_all(prediction *p, const predict_options *options) {
    int64_t batch = options->network.batch ? options->network.batch : DEFAULT_BATCH, planned = 0;
    braid_plan *plan = NULL;
    braid_status status = BRAID_OK;
    progress bar;
    if (batch > p->samples) batch = p->samples;
    progress_begin(&bar, (int)((p->samples + batch - 1) / batch), options->common.quiet);
    for (int64_t first = 0; first < p->samples && !status && !interrupted(); first += batch) {
        int64_t count = p->samples - first < batch ? p->samples - first : batch;
        progress_step(&bar, (int)(first / batch), "samples");
        if (count != planned) {
            braid_plan_destroy(plan);
            plan = NULL;
            status = make_plan(p, planned = count, &plan);
        }
        if (!status && !p->logits) {
            status = find_classes(p, plan);
            p->logits = status ? NULL : calloc((size_t)(p->samples * p->classes) + 1, sizeof(float));
            if (!status && !p->logits) return complain(BRAID_ERROR_MEMORY, "no memory for the outputs");
        }
        if (!status) status = run_piece(p, plan, first, count);
    }
    progress_clear(&bar);
    braid_plan_destroy(plan);
    if (status) return complain_braid(status);
    return interrupted() ? EXIT_INTERRUPTED : 0;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static int write_outputs(const prediction *p, const char *path) {
    int64_t *classes = calloc((size_t)p->samples + 1, sizeof *classes);
    if (!classes) return complain(BRAID_ERROR_MEMORY, "no memory for the classes");
    for (int64_t b = 0; b < p->samples; b++) {
        const float *row = p->logits + b * p->classes;
        for (int64_t k = 1; k < p->classes; k++) {
            if (row[k] > row[classes[b]]) classes[b] = k;
        }
    }
    const braid_file_tensor tensors[] = {
        {.name = "logits", .dtype = BRAID_DTYPE_F32, .rank = 2, .dims = {p->samples, p->classes}},
        {.name = "classes", .dtype = BRAID_DTYPE_I64, .rank = 1, .dims = {p->samples}}};
    const void *data[] = {p->logits, classes};
    braid_status status = braid_file_write(path, tensors, data, 2);
    free(classes);
    if (status) return complain_braid(status);
    printf("%lld samples, %lld outputs each: %s\n", (long long)p->samples, (long long)p->classes, path);
    return 0;
}

static int predict(const predict_options *options, const char *model, prediction *p) {
    int code = 0;
    braid_status status = BRAID_OK;
    if (options->net)
        code = network_open(options->net, &options->network, &p->net);
    else
        status = braid_net_from_file(model, &p->net);
    if (!code && !status) code = context_open(&options->common, &p->context);
    if (code) return code;
    const braid_model_options wanted = {.dtype = network_dtype(&options->network)};
    if (!status) status = braid_model_create(p->context, p->net, &wanted, &p->model);
    if (!status) status = braid_model_load(p->model, model);
    if (status) return complain_braid(status);
    code = read_inputs(p, options->input);
    if (!code) code = run_all(p, options);
    return code ? code : write_outputs(p, options->out);
}

static int run(const verb *self, int argc, char **argv) {
    predict_options options = {0};
    arguments words;
    prediction p = {0};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (!options.input || !options.out)
        return complain(BRAID_ERROR_ARGUMENT, "expected --input FILE and --out FILE, got %s",
                        options.input ? "no --out" : "no --input");
    if (network_dtype(&options.network) == BRAID_DTYPE_F64)
        return complain(BRAID_ERROR_ARGUMENT, "--dtype: expected f32, bf16 or f16 for a prediction, got f64");
    if (options.network.size || options.network.seed)
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected none, the %s", options.network.size ? "--size" : "--seed",
                        options.network.size ? "inputs have their size" : "model file has all parameters");
    if (!options.net)
        code = network_refuse_description(&options.network,
                                          "expected with --net, or not at all: the model file describes its network");
    if (code) return code;
    interrupt_begin();
    code = predict(&options, words.word[0], &p);
    braid_model_destroy(p.model);
    braid_context_destroy(p.context);
    braid_net_destroy(p.net);
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) free(p.input[i]);
    free(p.logits);
    return code;
}

const verb verb_predict = {
    .name = "predict",
    .arguments = "MODEL",
    .summary = "the outputs of a model for a file of inputs",
    .about =
        "Loads a model file, reads one tensor for each input stream, named as the streams (rgb, depth, orth, ...;\n"
        "image for lenet86, features for ssae and mlp), [B,C,H,W] or [B,C] as frameworks have them, and writes the\n"
        "logits and the most likely classes. Nothing is measured on the way.",
    .options = predict_option_list,
    .examples =
        "braid predict model.safetensors --input x.safetensors --out y.safetensors\n"
        "braid predict weights.safetensors --net linet18 --classes 15 --input x.safetensors --out y.safetensors\n",
    .common = COMMON_CONTEXT | COMMON_TALK | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .run = run,
};
