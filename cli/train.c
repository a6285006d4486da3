/*
 * braid train: a network, a data set, a folder for what comes of it. Everything that a run needs to go on lies in that
 * folder; Ctrl-C saves and ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bar.h"

typedef struct train_options {
    common_options common;
    network_options network;
    const char *data, *out, *schedule, *monitor, *rate, *decay;
    int epochs, steps, resume, optimiser, nesterov, loss, accumulate, modality_start, modality_ramp, modality_down;
    int patience, stream_epochs, stream_samples, augment, stratified, class_weights, readers, save_steps, effort;
    int bad_sample, verify_every;
    double momentum, smoothing, alpha, gamma, clip, modality, min_delta, tune;
} train_options;

#define OWN(member) offsetof(train_options, member)
static const option train_option_list[] = {
    {"data", 0, OPTION_TEXT, "DIR", "the data set (docs/data.md)", OWN(data)},
    {"out", 0, OPTION_TEXT, "RUN", "folder for checkpoints and metrics", OWN(out)},
    {"resume", 0, OPTION_FLAG, NULL, "go on from RUN/last.safetensors", OWN(resume)},
    {"epochs", 0, OPTION_COUNT, "N", "passes over the training samples (default: 10; with --resume: as it began)",
     OWN(epochs)},
    {"steps", 0, OPTION_STEPS, "N", "end after N updates", OWN(steps)},
    {"optimiser", 0, OPTION_CHOICE, "adamw|adam|sgd|rmsprop", "how parameters change (default: adamw)", OWN(optimiser)},
    {"rate", 0, OPTION_TEXT, "R[,GROUP=R...]", "learning rate of all, and of single groups (default: 0.001; sgd: 0.01)",
     OWN(rate)},
    {"weight-decay", 0, OPTION_TEXT, "R[,GROUP=R...]", "weight decay, likewise (default: 0)", OWN(decay)},
    {"momentum", 0, OPTION_SHARE, "R", "of sgd (default: 0.9; 0: none) and rmsprop (0)", OWN(momentum)},
    {"nesterov", 0, OPTION_FLAG, NULL, "sgd looks ahead", OWN(nesterov)},
    {"schedule", 0, OPTION_TEXT, "RULE",
     "of the learning rate, such as cosine:warmup=2 (default: cosine; constant with --steps alone)", OWN(schedule)},
    {"loss", 0, OPTION_CHOICE, "usual|cross_entropy|focal|mse", "default: what the network is for", OWN(loss)},
    {"smoothing", 0, OPTION_SHARE, "P", "label smoothing", OWN(smoothing)},
    {"focal-alpha", 0, OPTION_REAL, "F", "factor of the focal loss (default: 1)", OWN(alpha)},
    {"focal-gamma", 0, OPTION_REAL, "F", "its exponent (default: 2)", OWN(gamma)},
    {"clip", 0, OPTION_AMOUNT, "F", "largest norm of all gradients together (default: 0, no limit)", OWN(clip)},
    {"accumulate", 0, OPTION_COUNT, "N", "batches for one update (default: 1)", OWN(accumulate)},
    {"modality-dropout", 0, OPTION_SHARE, "P", "share of samples that lose a stream in training", OWN(modality)},
    {"modality-start", 0, OPTION_WHOLE, "N", "first epoch of its ramp (default: 0)", OWN(modality_start)},
    {"modality-ramp", 0, OPTION_WHOLE, "N", "epochs of its ramp (default: 0)", OWN(modality_ramp)},
    {"modality-down", 0, OPTION_FLAG, NULL, "the ramp goes from 1 down to the share", OWN(modality_down)},
    {"augment", 0, OPTION_FLAG, NULL, "random changes of training images", OWN(augment)},
    {"stratified", 0, OPTION_FLAG, NULL, "draw every class equally often", OWN(stratified)},
    {"class-weights", 0, OPTION_FLAG, NULL, "rare classes count more in the loss", OWN(class_weights)},
    {"patience", 0, OPTION_WHOLE, "N",
     "end after more than N epochs in a row without a better metric (default: 0, never)", OWN(patience)},
    {"min-delta", 0, OPTION_AMOUNT, "R", "by how much a metric must be better for --patience (default: 0)",
     OWN(min_delta)},
    {"monitor", 0, OPTION_TEXT, "val_accuracy|val_loss", "the metric that tells the best epoch", OWN(monitor)},
    {"stream-epochs", 0, OPTION_WHOLE, "N",
     "every N epochs and at the last, validate without each stream, too (default: 0, never)", OWN(stream_epochs)},
    {"stream-samples", 0, OPTION_COUNT, "N", "training samples looked at so, too (default: 500)", OWN(stream_samples)},
    {"save-steps", 0, OPTION_WHOLE, "N", "save also after every N updates (default: 0, behind epochs alone)",
     OWN(save_steps)},
    {"readers", 0, OPTION_COUNT, "N", "threads that read data (default: 1)", OWN(readers)},
    {"bad-sample", 0, OPTION_CHOICE, "stop|skip",
     "of a sample that cannot be read: end (default), or leave it out and list it in RUN/bad_samples.txt, while they "
     "are at most one in a thousand",
     OWN(bad_sample)},
    {"verify-every", 0, OPTION_WHOLE, "N",
     "do every Nth update twice, from the bytes of its batches on, and compare the bits (default: 0, never)",
     OWN(verify_every)},
    {"effort", 0, OPTION_CHOICE, "measure|estimate|exhaustive", "how kernels are chosen (default: measure)",
     OWN(effort)},
    {"tune", 0, OPTION_REAL, "S", "seconds for races of kernels at the start (default: 5)", OWN(tune)},
    {0}};

#define DEFAULT_BATCH 32
#define DEFAULT_EPOCHS 10
#define USUAL_STREAM_SAMPLES 500 /* of a trainer */
#define MLP_WIDTH 256            /* of the one hidden layer of an mlp without --layers */
#define DEFAULT_MOMENTUM 0.9
#define NOT_GIVEN (-1) /* of a number that may be 0 */
#define PATH_BYTES 4096
#define LAYERS_BYTES 96

typedef struct training {
    const train_options *options;
    braid_net *net;
    braid_context *context;
    braid_model *model;
    braid_trainer *trainer;
    feeding feeding;
    char ledger[PATH_BYTES]; /* of bad samples */
    run_card card;
    double *class_weights;
    int64_t epochs, steps_per_epoch, samples;
    int64_t limit; /* of updates; 0: none */
    bar bar;
    int bar_begun;
} training;

/* ---- The bar ------------------------------------------------------------------------------- */

/* The name of the one stream that is blanked, or NULL. */
static const char *blanked_name(const training *t, const braid_train_event *e) {
    for (int i = 0; i < braid_net_stream_count(t->net); i++)
        if (e->blanked == UINT32_C(1) << i) return braid_net_stream(t->net, i, NULL);
    return NULL;
}

/* Behind an epoch: its line, and one on its streams where they were looked at. */
static void show_epoch(training *t, bar_state *state, const braid_train_event *e) {
    const char *names[BRAID_MAX_STREAMS];
    double accuracies[BRAID_MAX_STREAMS];
    if (e->without) state->streams = braid_net_stream_count(t->net);
    for (int i = 0; i < state->streams; i++) {
        names[i] = braid_net_stream(t->net, i, NULL);
        accuracies[i] = e->without[i].accuracy;
    }
    state->names = names;
    state->accuracies = accuracies;
    bar_epoch(&t->bar, state, clock_s());
}

/* Batches of the part that an event tells of: all, or those of the training samples that are only looked at. */
static int64_t count_batches(const training *t, const braid_train_event *e) {
    int64_t all = t->feeding.batches[e->part], batch = t->options->network.batch;
    int64_t most = t->options->stream_samples ? t->options->stream_samples : USUAL_STREAM_SAMPLES;
    int64_t some = (most + batch - 1) / batch;
    return e->kind == BRAID_TRAIN_EVENT_VALIDATE && e->part == BRAID_PART_TRAIN && some < all ? some : all;
}

static bar_state state_of(const training *t, const braid_train_event *e) {
    int validating = e->kind == BRAID_TRAIN_EVENT_VALIDATE;
    int64_t steps = t->epochs * t->steps_per_epoch, limit = t->limit;
    const braid_train_metrics *part = validating ? &e->validate : &e->train;
    return (bar_state){.epoch = e->epoch + 1,
                       .epochs = t->epochs,
                       .step = e->batch,
                       .steps = count_batches(t, e),
                       .validating = validating,
                       .without = blanked_name(t, e),
                       .run_step = e->step,
                       .run_steps = limit > 0 && limit < steps ? limit : steps,
                       .samples = t->samples,
                       .wait_s = feeding_waited(&t->feeding),
                       .loss = part->loss,
                       .accuracy = part->accuracy,
                       .val_loss = e->validate.loss,
                       .val_accuracy = e->validate.accuracy,
                       .loss_scale = e->loss_scale,
                       .skipped = e->skipped,
                       .rate = e->learning_rate,
                       .best = e->best};
}

static int on_event(void *user, const braid_train_event *e) {
    training *t = user;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) {
        if (t->bar_begun) bar_clear(&t->bar);
        fprintf(stderr, "braid train: %s\n", e->text);
        return 0;
    }
    bar_state state = state_of(t, e);
    if (!t->bar_begun++) bar_begin(&t->bar, &state, t->options->common.quiet, clock_s());
    if (e->kind == BRAID_TRAIN_EVENT_EPOCH) {
        show_epoch(t, &state, e);
    } else {
        t->samples += e->samples;
        bar_update(&t->bar, &state, clock_s());
    }
    return interrupted();
}

/* Whoever wants to stop waits for no more races: the step that they were for needs kernels, and is the last. */
static int on_planning(void *user, const braid_problem *problem, int index, int count) {
    (void)user;
    (void)problem;
    (void)index;
    (void)count;
    return interrupted();
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* A run goes on with the network that it began with, and not with another that was typed. */
static int check_kind(const training *t, const char *name) {
    char field[128];
    snprintf(field, sizeof field, "\"kind\":\"%s\"", name);
    if (strstr(braid_net_describe(t->net), field)) return 0;
    return complain(BRAID_ERROR_MODEL, "%s: expected a run of %s, got one of %s; take another folder, or that network",
                    t->options->out, name, braid_net_describe(t->net));
}

/* The network of a run that goes on: as its checkpoint describes it. */
static int open_saved(training *t, const char *name) {
    static const char *const names[] = {"last", "last.previous", "best", "best.previous"};
    enum { LAST = 2 }; /* generations: the best epoch serves where there is none of them */
    braid_status status = BRAID_ERROR_MODEL;
    int has_last = 0;
    for (int j = 0; j < (has_last ? LAST : 2 * LAST) && status == BRAID_ERROR_MODEL; j++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s.safetensors", t->options->out, names[j]);
        int is_there = access(path, F_OK) == 0 || errno != ENOENT;
        has_last |= j < LAST && is_there;
        if (j > 0 && !is_there) continue;
        status = braid_net_from_file(path, &t->net);
        if (!status) run_card_read(&t->card, path);
    }
    return status ? complain_braid(status) : check_kind(t, name);
}

/* A new linet takes all streams of the set, or the first ones, an mcresnet the first two, or both those that are named;
 * a run that goes on has those that it began with. */
static int open_data(training *t, const char *name, const network_options *network) {
    char streams[512];
    int takes_set = !t->options->resume && t->net && network_takes_set(name), count = network_stream_count(network);
    feeding_options o = {.folder = t->options->data,
                         .streams = takes_set && network->streams && !count ? network->streams : streams,
                         .stream_count = takes_set ? count : 0,
                         .asked = network->streams,
                         .batch = network->batch,
                         .validate = BRAID_SPLIT_VAL,
                         .seed = network->seed,
                         .stratified = t->options->stratified,
                         .readers = t->options->readers,
                         .ledger = t->options->bad_sample ? t->ledger : NULL};
    snprintf(t->ledger, sizeof t->ledger, "%s/bad_samples.txt", t->options->out);
    feeding_streams(takes_set ? NULL : t->net, streams, sizeof streams);
    if (takes_set && !count && !strncmp(name, "mcresnet", 8)) o.stream_count = braid_net_stream_count(t->net);
    int code = network_size(network, o.size);
    return code ? code : feeding_open(&t->feeding, &o);
}

/* An mlp without layers is as wide as the samples of the set, and as its classes. */
static const char *mlp_layers(const training *t, const network_options *network, char text[LAYERS_BYTES]) {
    snprintf(text, LAYERS_BYTES, "%lld,%d,%d", (long long)feeding_row(&t->feeding, 0), MLP_WIDTH,
             network->classes ? network->classes : t->feeding.info->classes);
    return text;
}

static int open_mlp(training *t, network_options *network) {
    char layers[LAYERS_BYTES];
    int code = open_data(t, "mlp", network);
    if (code) return code;
    network->layers = mlp_layers(t, network, layers);
    code = network_open("mlp", network, &t->net);
    return code ? code : feeding_check(&t->feeding, t->net);
}

/* A field of the description of a network, its name and value in so many bytes; NULL: there is none of that name. No
 * text in a description has quotes within. */
static const char *find_field(const char *description, const char *name, size_t *bytes) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *value = strstr(description, key), *end = value;
    for (int quoted = 0, deep = 0; end && *end && (quoted || deep || (*end != ',' && *end != '}')); end++) {
        quoted ^= *end == '"';
        if (!quoted) deep += (*end == '[') - (*end == ']');
    }
    *bytes = value ? (size_t)(end - value) : 0;
    return value;
}

/* The first field of what was typed that two descriptions differ in, as `now` has it; NULL: there is none. */
static const char *find_difference(const network_options *typed, const char *saved, const char *now, size_t *bytes) {
    const struct {
        const char *name;
        int given;
    } fields[] = {{"streams", typed->streams != NULL}, {"channels", typed->channels != NULL},
                  {"classes", typed->classes > 0},     {"width", typed->width > 0},
                  {"dropout", typed->dropout >= 0},    {"zero_init_residual", typed->zero_init},
                  {"dilate", typed->dilate != NULL},   {"init", typed->init != NULL},
                  {"fusion", typed->fusion > 0},       {"layers", typed->layers != NULL}};
    for (size_t j = 0; j < sizeof fields / sizeof fields[0]; j++) {
        size_t before;
        const char *a = find_field(saved, fields[j].name, &before), *b = find_field(now, fields[j].name, bytes);
        if (fields[j].given && a && b && (before != *bytes || memcmp(a, b, before) != 0)) return b;
    }
    return NULL;
}

/* Names of streams that were typed are those of the run, in their order. */
static int check_names(const training *t, const braid_net *wanted) {
    char streams[512];
    if (!t->options->network.streams || network_stream_count(&t->options->network)) return 0;
    for (int i = 0; i < braid_net_stream_count(wanted); i++) {
        if (!strcmp(braid_net_stream(wanted, i, NULL), braid_net_stream(t->net, i, NULL))) continue;
        feeding_streams(t->net, streams, sizeof streams);
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected the streams that the run began with, %s, got %s",
                        t->options->out, streams, t->options->network.streams);
    }
    return 0;
}

/* A run goes on with the network that it began with: what is said of it on the command line must be true of it. What is
 * not said is as the run has it. */
static int check_saved(const training *t, const char *name) {
    network_options network = t->options->network;
    braid_net *wanted = NULL;
    char layers[LAYERS_BYTES];
    const char *saved = braid_net_describe(t->net);
    if (!network_is_described(&network)) return 0;
    network.set = t->feeding.info;
    if (!strcmp(name, "mlp") && !network.layers) network.layers = mlp_layers(t, &network, layers);
    int code = network_open(name, &network, &wanted);
    if (code) return code;
    size_t bytes;
    const char *other = find_difference(&t->options->network, saved, braid_net_describe(wanted), &bytes);
    if (other)
        code = complain(BRAID_ERROR_ARGUMENT, "%s: expected the network that the run began with, %s, got %.*s",
                        t->options->out, saved, (int)bytes, other);
    if (!code) code = check_names(t, wanted);
    braid_net_destroy(wanted);
    return code;
}

/* A new network takes streams, channels and classes from the set, where nothing else was said. What is wrong with its
 * other options is told before the set is looked at. */
static int open_net(training *t, const char *name) {
    network_options network = t->options->network;
    int takes_set = !t->options->resume && network_takes_set(name);
    if (!strcmp(name, "mlp") && !network.layers && !t->options->resume) return open_mlp(t, &network);
    if (takes_set) network.channels = NULL;
    int code = t->options->resume ? open_saved(t, name) : network_open(name, &network, &t->net);
    if (!code) code = open_data(t, name, &network);
    if (!code && takes_set) {
        network.channels = t->options->network.channels;
        network.set = t->feeding.info;
        braid_net_destroy(t->net);
        t->net = NULL;
        code = network_open(name, &network, &t->net);
    }
    if (!code && t->options->resume) code = check_saved(t, name);
    return code ? code : feeding_check(&t->feeding, t->net);
}

/* Refuses what means nothing for this network and set, and labels that the network cannot answer. */
static int check_options(const training *t) {
    const braid_data_info *info = t->feeding.info;
    const int32_t *labels = braid_data_labels(t->feeding.data, BRAID_SPLIT_TRAIN);
    int most = 0, differ = 0, classes = t->options->network.classes;
    for (int64_t k = 0; k < info->samples[BRAID_SPLIT_TRAIN]; k++) {
        most = labels[k] > most ? labels[k] : most;
        differ |= labels[k] != labels[0];
    }
    if (classes && most >= classes)
        return complain(BRAID_ERROR_ARGUMENT, "--classes: expected %d or more for the labels of %s, got %d", most + 1,
                        info->folder, classes);
    if (t->options->stratified && !differ)
        return complain(BRAID_ERROR_ARGUMENT, "--stratified: expected samples of several classes in %s, got one class",
                        info->folder);
    if (t->options->stream_epochs && braid_net_stream_count(t->net) < 2)
        return complain(BRAID_ERROR_ARGUMENT, "--stream-epochs: expected a network with several streams, got one");
    return 0;
}

/* A run of steps alone has no end that a schedule could aim at: more steps can follow. */
static int counts_steps(const train_options *o) { return !o->epochs && o->steps; }

static const braid_optimiser optimisers[] = {BRAID_OPTIMISER_ADAMW, BRAID_OPTIMISER_ADAM, BRAID_OPTIMISER_SGD,
                                             BRAID_OPTIMISER_RMSPROP};
static const braid_loss losses[] = {BRAID_LOSS_NONE, BRAID_LOSS_CROSS_ENTROPY, BRAID_LOSS_FOCAL, BRAID_LOSS_MSE};

static void describe(training *t, braid_train_options *o) {
    const train_options *from = t->options;
    double usual_momentum = optimisers[from->optimiser] == BRAID_OPTIMISER_SGD ? DEFAULT_MOMENTUM : 0;
    *o = (braid_train_options){
        .step = {.batch = from->network.batch,
                 .loss = losses[from->loss],
                 .smoothing = from->smoothing,
                 .alpha = from->alpha,
                 .gamma = from->gamma,
                 .class_weights = from->class_weights,
                 .optimiser = optimisers[from->optimiser],
                 .momentum = from->momentum < 0 ? usual_momentum : from->momentum,
                 .nesterov = from->nesterov,
                 .clip_norm = from->clip,
                 .choice = {.effort = (braid_effort)from->effort, .seconds = from->tune},
                 .progress = on_planning},
        .augment = from->augment,
        .rates = from->rate,
        .decays = from->decay,
        .schedule = from->schedule || !counts_steps(from) || from->resume ? from->schedule : "constant",
        .class_weights = t->class_weights,
        .accumulate = from->accumulate,
        .modality_dropout = from->modality,
        .modality_start = from->modality_start,
        .modality_epochs = from->modality_ramp,
        .modality_down = from->modality_down,
        .epochs = t->epochs,
        .steps_per_epoch = t->steps_per_epoch,
        .steps = from->steps,
        .no_validation = t->feeding.batches[BRAID_PART_VALIDATE] == 0,
        .patience = from->patience,
        .min_delta = from->min_delta,
        .monitor = from->monitor,
        .stream_epochs = from->stream_epochs,
        .stream_samples = from->stream_samples,
        .seed = from->network.seed,
        .folder = from->out,
        .save_steps = from->save_steps,
        .verify_every = from->verify_every,
        .resume = from->resume,
        .stratified = from->stratified,
        .event = on_event,
        .user = t,
    };
    feeding_describe(&t->feeding, o);
}

/* How long the run is: in epochs, or so many that they hold the steps. */
static int count_steps(training *t) {
    int64_t each = t->options->accumulate > 1 ? t->options->accumulate : 1, batches = t->feeding.batches[0];
    if (batches == 0) return complain(BRAID_ERROR_DATA, "%s: expected training samples, got none", t->options->data);
    t->steps_per_epoch = (batches + each - 1) / each;
    t->epochs = t->options->epochs;
    if (t->epochs || t->options->resume) return 0; /* which is as long as it began, where nothing else was said */
    t->epochs = (t->options->steps + t->steps_per_epoch - 1) / t->steps_per_epoch;
    if (!t->epochs) t->epochs = DEFAULT_EPOCHS;
    return 0;
}

/* The outputs of a network, by its description: its classes, or the width of its last layer. */
static size_t count_outputs(const braid_net *net) {
    size_t bytes;
    const char *field = find_field(braid_net_describe(net), "classes", &bytes);
    if (!field) field = find_field(braid_net_describe(net), "layers", &bytes);
    const char *end = field ? field + bytes : NULL;
    while (end && end > field && !strchr("0123456789", end[-1])) end--;
    while (end && end > field && strchr("0123456789", end[-1])) end--;
    return end ? (size_t)strtoll(end, NULL, 10) : 0;
}

/* A network may have more classes than the set: those have no samples, and no weight. */
static int weigh_classes(training *t) {
    size_t classes = (size_t)t->feeding.info->classes, outputs = count_outputs(t->net);
    if (!t->options->class_weights) return 0;
    t->class_weights = calloc((classes > outputs ? classes : outputs) + 1, sizeof *t->class_weights);
    if (!t->class_weights) return complain(BRAID_ERROR_MEMORY, "no memory for the weights of classes");
    braid_data_class_weights(t->feeding.data, BRAID_SPLIT_TRAIN, t->class_weights);
    for (size_t c = 0; c < classes; c++) {
        if (t->class_weights[c] > 0) continue;
        complain(0, "--class-weights: %s: class %zu (%s) has no training samples, and no weight in any loss",
                 t->options->data, c, t->feeding.info->class_names[c]);
    }
    return 0;
}

/* ---- Running ------------------------------------------------------------------------------- */

static int failure(const training *t, braid_status status) {
    int has_one = t->feeding.info->samples[BRAID_SPLIT_TRAIN] == 1;
    if (status == BRAID_ERROR_ARGUMENT && has_one && strstr(braid_message(), "larger batch"))
        return complain(BRAID_ERROR_DATA, "%s: expected 2 or more training samples for this network, got 1: %s",
                        t->options->data, braid_message());
    if (status == BRAID_ERROR_ARGUMENT && t->options->network.batch == 1 && strstr(braid_message(), "larger batch"))
        return complain((int)status, "--batch 1: expected 2 or more samples for this network and size of image: %s",
                        braid_message());
    return t->feeding.failed ? feeding_complain(&t->feeding, status) : complain_braid(status);
}

static const char *state_of_run(const training *t, const braid_train_event *place) {
    int steps_done = t->limit > 0 && place->step >= t->limit;
    if (!braid_trainer_is_done(t->trainer)) return "interrupted; the same command with --resume goes on";
    if (place->epoch < t->epochs && !steps_done) return "done: stopped early, for want of a better epoch";
    return "done";
}

static int print_end(const training *t) {
    braid_train_event place;
    braid_train_metrics best;
    braid_report *report = NULL;
    braid_trainer_place(t->trainer, &place);
    int has_best = braid_trainer_best(t->trainer, &best);
    const char *next = state_of_run(t, &place);
    braid_status status = braid_report_create(&report);
    if (!status) status = braid_report_add_text(report, "state", "state", next);
    if (!status) status = braid_report_add_number(report, "epochs", "epochs", (double)place.epoch);
    if (!status) status = braid_report_add_number(report, "steps", "steps", (double)place.step);
    if (!status && has_best && !isnan(best.accuracy))
        status = braid_report_add_number(report, "best_accuracy", "best accuracy", best.accuracy);
    if (!status && has_best) status = braid_report_add_number(report, "best_loss", "its loss", best.loss);
    if (!status) status = braid_report_add_text(report, "run", "folder", t->options->out);
    if (!status) return output_report(report, (braid_format)t->options->common.format);
    braid_report_destroy(report);
    return complain_lab(status);
}

/* What it learns from, and how, before it begins. */
static braid_status tell_recipe(const training *t) {
    const braid_data_info *info = t->feeding.info;
    char text[2048];
    for (int i = 0; i < info->streams && info->dtype == BRAID_DTYPE_U8; i++)
        fprintf(stderr, "%s%s (%lld channel%s)%s", i ? ", " : "streams ", info->stream_names[i],
                (long long)info->channels[i], info->channels[i] == 1 ? "" : "s", i + 1 < info->streams ? "" : "\n");
    braid_status status = braid_trainer_describe(t->trainer, text, sizeof text);
    if (!status) fprintf(stderr, "%s\n", text);
    return status;
}

static int train(training *t, const char *name) {
    braid_train_options o;
    int code = open_net(t, name);
    if (!code) code = count_steps(t);
    if (!code) code = check_options(t);
    if (!code) code = weigh_classes(t);
    if (!code) code = run_card_check(&t->card, &t->feeding, t->options->out);
    if (!code) code = context_open(&t->options->common, &t->context);
    if (code) return code;
    const braid_model_options wanted = network_model(&t->options->network);
    braid_status status = braid_model_create(t->context, t->net, &wanted, &t->model);
    describe(t, &o);
    if (!status) status = braid_trainer_create(t->model, &o, &t->trainer);
    braid_trainer_length(t->trainer, &t->epochs, &t->limit);
    if (!status && !t->options->common.quiet) status = tell_recipe(t);
    if (!status) (t->options->resume ? feeding_resume_ledger : feeding_begin_ledger)(&t->feeding, t->trainer);
    if (!status) status = braid_model_set_text(t->model, BRAID_DATA_KEY, t->card.now);
    if (!status) status = braid_trainer_run(t->trainer);
    if (t->bar_begun) bar_clear(&t->bar);
    if (status) return failure(t, status);
    code = print_end(t);
    return !code && !braid_trainer_is_done(t->trainer) ? EXIT_INTERRUPTED : code;
}

/* An option that means nothing beside the others, and why; NULL: there is none. */
static const char *unused_option(const train_options *o) {
    int is_sgd = optimisers[o->optimiser] == BRAID_OPTIMISER_SGD;
    if (o->nesterov && !is_sgd) return "--nesterov: expected --optimiser sgd, got another";
    if (o->nesterov && o->momentum == 0) return "--nesterov: expected --momentum above 0, got 0";
    if (o->min_delta > 0 && !o->patience) return "--min-delta: expected --patience beside it, got none";
    if (o->stream_samples && !o->stream_epochs) return "--stream-samples: expected --stream-epochs beside it, got none";
    if (!(o->modality > 0)) {
        if (o->modality_start) return "--modality-start: expected --modality-dropout beside it, got none";
        if (o->modality_ramp) return "--modality-ramp: expected --modality-dropout beside it, got none";
        if (o->modality_down) return "--modality-down: expected --modality-dropout beside it, got none";
    }
    if ((o->alpha > 0 || o->gamma > 0) && losses[o->loss] != BRAID_LOSS_FOCAL)
        return "--focal-alpha, --focal-gamma: expected --loss focal, got another";
    if (o->tune > 0 && o->effort == BRAID_EFFORT_ESTIMATE)
        return "--tune: expected --effort measure or exhaustive, got estimate, which races nothing";
    if (o->momentum >= 0 && !is_sgd && optimisers[o->optimiser] != BRAID_OPTIMISER_RMSPROP)
        return "--momentum: expected --optimiser sgd or rmsprop, got another";
    return NULL;
}

static int run(const verb *self, int argc, char **argv) {
    train_options options = {.network = {.batch = DEFAULT_BATCH}, .momentum = NOT_GIVEN};
    arguments words;
    training t = {.options = &options};
    interrupt_begin();
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (!options.data || !options.out)
        return complain(BRAID_ERROR_ARGUMENT, "expected --data DIR and --out RUN, got no %s",
                        options.data ? "--out" : "--data");
    if (path_is_inside(options.out, options.data))
        return complain(BRAID_ERROR_ARGUMENT,
                        "--out: expected a folder outside of the set %s, which is never written to, "
                        "got %s",
                        options.data, options.out);
    const char *unused = unused_option(&options);
    if (unused) return complain(BRAID_ERROR_ARGUMENT, "%s", unused);
    code = train(&t, words.word[0]);
    braid_trainer_destroy(t.trainer);
    braid_model_destroy(t.model);
    braid_context_destroy(t.context);
    feeding_close(&t.feeding);
    run_card_close(&t.card);
    braid_net_destroy(t.net);
    free(t.class_weights);
    return code;
}

const verb verb_train = {
    .name = "train",
    .arguments = "NET",
    .summary = "train a network on a data set",
    .about =
        "Trains one of braid's networks on a set of images or sounds, and keeps in RUN: last.safetensors and\n"
        "best.safetensors, each with one older generation, metrics.jsonl, and event files for TensorBoard. A\n"
        "checkpoint is also a model for eval and predict. Ctrl-C, SIGTERM or SIGHUP ends the step, or the races\n"
        "before the first one, saves and exits with 130; a second Ctrl-C exits at once. --resume goes on, to the same\n"
        "bits as a run that was never stopped; give it the same options. A loss of training or validation that is no\n"
        "number ends the run with exit 9 and leaves the last checkpoint as it was: go on with --resume and a lower\n"
        "--rate.",
    .options = train_option_list,
    .examples = "braid data make sunrgbd --out rooms\n"
                "braid train linet18 --data rooms --out run --width 0.25 --epochs 8\n"
                "braid train linet18 --data rooms --out run --width 0.25 --epochs 8 --resume\n"
                "braid eval run --data rooms\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .shares_cores = 1,
    .run = run,
};
