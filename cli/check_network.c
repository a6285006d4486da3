/*
 * Runs of training steps that must end with the same bits in every parameter and state: launch by launch, and, on a
 * GPU, as replays of a recording. Inputs, blanked samples and the learning rate change on the way, dropout draws its
 * numbers, and in f16 the first updates overflow and are skipped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "check_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_STEPS 50
#define DEFAULT_RUNS 5
#define DROPOUT 0.3
#define FIRST_SCALE (65536.0 * 256) /* of f16: gradients overflow at it, and the run must find a smaller one */
#define SEGMENTS (BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE)

/* What a run ends with. */
typedef struct outcome {
    uint64_t bits; /* of all tensors */
    double loss, loss_scale;
} outcome;

typedef struct trained {
    braid_context *context;
    const braid_net *net;
    braid_model *model;
    braid_plan *plan;
    float *numbers; /* room for the largest input or tensor */
    size_t room;
} trained;

/* ---- One run -------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

static braid_status make_room(trained *t, size_t bytes) {
    if (bytes <= t->room) return BRAID_OK;
    free(t->numbers);
    t->room = bytes;
    t->numbers = calloc(1, bytes);
    return t->numbers ? BRAID_OK : BRAID_ERROR_MEMORY;
}

static braid_status feed_stream(trained *t, int stream, uint32_t seed) {
    const char *name = braid_net_stream(t->net, stream, NULL);
    braid_operand_info info = {0};
    void *memory;
    size_t count = 1, each = sizeof *t->numbers;
    braid_status status = braid_plan_tensor(t->plan, name, &info, &memory);
    for (int axis = 0; axis < info.rank && !status; axis++) count *= (size_t)info.dims[0][axis];
    if (!status) status = make_room(t, count * each);
    for (size_t j = 0; j < count && !status; j++)
        t->numbers[j] = (float)(next_random(&seed) >> 8) / (float)(1 << 23) - 1;
    return status ? status : braid_plan_set_input(t->plan, name, t->numbers, count * each);
}

/* Labels, where the network has classes. */
static braid_status feed_labels(trained *t, uint32_t seed) {
    braid_operand_info labels = {0}, output = {0};
    void *memory;
    if (braid_plan_tensor(t->plan, "labels", &labels, &memory)) return BRAID_OK;
    braid_status status = braid_plan_tensor(t->plan, "output", &output, &memory);
    if (!status) status = make_room(t, labels.bytes[0]);
    if (status) return status;
    int32_t *out = (int32_t *)(void *)t->numbers;
    int64_t classes = output.dims[0][output.rank - 1];
    for (int64_t b = 0; b < labels.dims[0][0]; b++) out[b] = (int32_t)((next_random(&seed) >> 8) % (uint32_t)classes);
    return braid_plan_write(t->plan, "labels", out, labels.bytes[0]);
}

static braid_status set_masks(trained *t, int64_t batch, int step) {
    int streams = braid_net_stream_count(t->net);
    unsigned char *blanked = calloc((size_t)batch, 1);
    braid_status status = blanked ? BRAID_OK : BRAID_ERROR_MEMORY;
    for (int i = 0; i < streams && streams > 1 && !status; i++) {
        for (int64_t b = 0; b < batch; b++) blanked[b] = batch > 2 && (b + step) % (3 + streams) == i && b > 0;
        status = braid_plan_set_mask(t->plan, i, blanked);
    }
    free(blanked);
    return status;
}

static braid_status train_step(trained *t, int64_t batch, int step, int steps) {
    const braid_rates rates = {.learning_rate = step < steps / 2 ? 1e-3 : 3e-4, .weight_decay = 1e-2, .active = 1};
    braid_status status = BRAID_OK;
    for (int g = 0; g < braid_plan_group_count(t->plan) && !status; g++)
        status = braid_plan_set_rates(t->plan, g, &rates);
    for (int i = 0; i < braid_net_stream_count(t->net) && !status; i++)
        status = feed_stream(t, i, (uint32_t)(1000 * step + i));
    if (!status) status = feed_labels(t, (uint32_t)(1000 * step + 999));
    if (!status) status = set_masks(t, batch, step);
    return status ? status : braid_plan_run(t->plan, SEGMENTS);
}

/* FNV-1a over every parameter and state, 8 bytes at a time. */
static uint64_t hash_bytes(uint64_t bits, const unsigned char *data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += sizeof bits) {
        uint64_t word = 0;
        memcpy(&word, data + at, bytes - at < sizeof word ? bytes - at : sizeof word);
        bits = (bits ^ word) * UINT64_C(0x100000001b3);
        bits ^= bits >> 32; /* products carry upwards alone */
    }
    return bits;
}

static braid_status hash_model(trained *t, uint64_t *bits) {
    braid_status status = BRAID_OK;
    *bits = UINT64_C(0xcbf29ce484222325);
    for (int j = 0; j < braid_net_tensor_count(t->net) && !status; j++) {
        braid_tensor_info info;
        size_t bytes = 1;
        status = braid_net_tensor(t->net, j, &info);
        for (int axis = 0; axis < info.rank && !status; axis++) bytes *= (size_t)info.dims[axis];
        bytes *= info.dtype == BRAID_DTYPE_I64 ? sizeof(int64_t) : sizeof(float);
        if (!status) status = make_room(t, bytes);
        if (!status) status = braid_model_read(t->model, info.name, t->numbers, bytes);
        if (!status) *bits = hash_bytes(*bits, (const unsigned char *)t->numbers, bytes);
    }
    return status;
}

/* Whether activations are kept decides which calls are fused, and so last bits: the first plan, which may have gone by
 * the memory that was free, decides for all. */
static braid_status make_plan(trained *t, braid_plan_request *request) {
    braid_status status = braid_plan_create(t->model, request, &t->plan);
    if (!status) request->keep_all = braid_plan_keeps_all(t->plan);
    return status;
}

static braid_status run_once(trained *t, braid_plan_request *request, const network_options *network, int steps,
                             outcome *end) {
    braid_model_options options = network_model(network);
    float loss = NAN, scale = NAN;
    options.seed = 1;
    braid_status status = braid_model_create(t->context, t->net, &options, &t->model);
    if (!status) status = make_plan(t, request);
    if (!status && options.dtype == BRAID_DTYPE_F16) status = braid_model_scale_loss(t->model, FIRST_SCALE, 1);
    for (int step = 0; step < steps && !status && !interrupted(); step++)
        status = train_step(t, request->batch, step, steps);
    if (!status) status = hash_model(t, &end->bits);
    if (!status) status = braid_plan_read(t->plan, "loss", &loss, sizeof loss);
    if (!status) status = braid_plan_read(t->plan, "loss_scale", &scale, sizeof scale);
    end->loss = (double)loss;
    end->loss_scale = (double)scale;
    braid_plan_destroy(t->plan);
    braid_model_destroy(t->model);
    t->plan = NULL;
    t->model = NULL;
    return status;
}

/* ---- All runs ------------------------------------------------------------------------------- */

static int is_resnet(const char *name) { return !strncmp(name, "linet", 5) || !strncmp(name, "mcresnet", 8); }

static int make_request(const char *name, const network_options *network, braid_plan_request *r) {
    int images = is_resnet(name) || !strcmp(name, "lenet86");
    *r = (braid_plan_request){.batch = network->batch ? network->batch : 4,
                              .optimiser = BRAID_OPTIMISER_ADAMW,
                              .clip_norm = 10,
                              .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    int code = network_size(network, r->size);
    if (!code && images && !r->size[0]) r->size[0] = r->size[1] = is_resnet(name) ? 66 : 86;
    return code;
}

/* What is wrong with a run; NULL: nothing. */
static const char *judge(const outcome *first, const outcome *this, braid_dtype dtype) {
    if (!isfinite(this->loss) || !isfinite(this->loss_scale)) return "the loss is no finite number";
    if (dtype == BRAID_DTYPE_F16 && this->loss_scale >= FIRST_SCALE) return "no update was skipped, one was to be";
    return first->bits == this->bits ? NULL : "other bits than launch by launch";
}

static int print_run(const char *kind, int run, const outcome *o, const char *wrong) {
    printf("%-9s run %d: %016llx, loss %.9g, loss scale %g: %s\n", kind, run, (unsigned long long)o->bits, o->loss,
           o->loss_scale, wrong ? wrong : "ok");
    return wrong != NULL;
}

static int run_all(const char *name, const network_check *check, trained *t) {
    int steps = check->steps ? check->steps : DEFAULT_STEPS, runs = check->runs ? check->runs : DEFAULT_RUNS;
    braid_dtype dtype = network_dtype(check->network);
    outcome first = {0}, end = {0};
    braid_plan_request request;
    int failed = 0, code = make_request(name, check->network, &request);
    if (code) return code;
    request.mask = braid_net_stream_count(t->net) > 1;
    printf("%s, batch %lld, %s, %d steps on %s\n", name, (long long)request.batch, network_dtype_name(check->network),
           steps, braid_context_device(t->context));
    for (int run = 0; run <= runs && !interrupted(); run++) {
        request.eager = run == 0;
        braid_status status = run_once(t, &request, check->network, steps, &end);
        if (status) return complain_braid(status);
        if (run == 0) first = end;
        failed += print_run(run ? "replayed" : "launched", run, &end, judge(&first, &end, dtype));
    }
    if (interrupted()) return EXIT_INTERRUPTED;
    printf("\n%d passed, %d failed, 0 skipped\n", runs + 1 - failed, failed);
    return failed ? BRAID_ERROR_CHECK : 0;
}

int check_network(const char *name, const network_check *check) {
    network_options wanted = *check->network;
    braid_net *net = NULL;
    trained t = {0};
    if (network_dtype(&wanted) == BRAID_DTYPE_F64)
        return complain(BRAID_ERROR_ARGUMENT,
                        "--dtype: expected f32, tf32, bf16 or f16 to check a network with, got f64");
    if (is_resnet(name)) wanted.dropout = DROPOUT;
    int code = network_open(name, &wanted, &net);
    if (!code) code = context_open(check->common, &t.context);
    t.net = net;
    if (!code) code = run_all(name, check, &t);
    free(t.numbers);
    braid_context_destroy(t.context);
    braid_net_destroy(net);
    return code;
}
