/*
 * braid train: a network, a data set, a folder for what comes of it. Everything that a run needs to be resumed lies in
 * that folder; Ctrl-C saves and ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bar.h"
#include "train_options.h"

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
    char name[64];                        /* of the network; "": that of the run that is resumed */
    char remembered[TRAIN_OPTIONS_BYTES]; /* the options of that run */
    char typed[TRAIN_OPTIONS_BYTES];      /* those that checkpoints keep */
    int recalls_data;                     /* 1: --data is among what is remembered, and was not typed again */
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

/* After an epoch: its line, and one on its streams where they were looked at. */
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

/* A run is resumed with the network that it began with, and not with another that was typed. */
static int check_kind(training *t) {
    char kind[sizeof t->name];
    network_kind(t->net, kind, sizeof kind);
    if (!t->name[0]) snprintf(t->name, sizeof t->name, "%s", kind);
    if (!strcmp(t->name, kind)) return 0;
    return complain(BRAID_ERROR_MODEL, "%s: expected a run of %s, got one of %s; take another folder, or that network",
                    t->options->out, t->name, kind);
}

/* The network of a run that is resumed: as its checkpoint describes it. */
static int open_saved(training *t) {
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
    return status ? complain_braid(status) : check_kind(t);
}

/* A new linet takes all streams of the set, or the first ones, an mcresnet the first two, or both those that are named;
 * a resumed run has those that it began with. */
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
                         .max_pixels = t->options->max_pixels,
                         .fit = t->options->fit,
                         .bytes = t->options->augment || !t->net || !network_takes_set(name),
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

/* A run is resumed with the network that it began with: what is said of it on the command line must be true of it. What
 * is not said is as the run has it. */
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
    const train_difference d = train_find_difference(&t->options->network, saved, braid_net_describe(wanted));
    if (d.now)
        code = complain(BRAID_ERROR_ARGUMENT,
                        "%s: expected the network that the run began with, %.*s, got %.*s; leave it out, or begin a "
                        "run in another folder",
                        t->options->out, (int)d.saved_bytes, d.saved, (int)d.now_bytes, d.now);
    if (!code) code = check_names(t, wanted);
    braid_net_destroy(wanted);
    return code;
}

/* A new network takes streams, channels and classes from the set, where nothing else was said. What is wrong with its
 * other options is told before the set is looked at. */
static int open_net(training *t) {
    const char *name = t->name;
    network_options network = t->options->network;
    int takes_set = !t->options->resume && network_takes_set(name);
    if (!strcmp(name, "mlp") && !network.layers && !t->options->resume) return open_mlp(t, &network);
    if (takes_set) network.channels = NULL;
    int code = t->options->resume ? open_saved(t) : network_open(name, &network, &t->net);
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

static void describe(training *t, braid_train_options *o) {
    const train_options *from = t->options;
    double usual_momentum = train_optimiser(from) == BRAID_OPTIMISER_SGD ? DEFAULT_MOMENTUM : 0;
    *o = (braid_train_options){
        .step = {.batch = from->network.batch,
                 .loss = train_loss(from),
                 .smoothing = from->smoothing,
                 .alpha = from->alpha,
                 .gamma = from->gamma,
                 .class_weights = from->class_weights,
                 .optimiser = train_optimiser(from),
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

/* How long the run is: in epochs, or as many as hold the steps. */
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

/* A network may have more classes than the set: those have no samples, and no weight. */
static int weigh_classes(training *t) {
    size_t classes = (size_t)t->feeding.info->classes, outputs = (size_t)braid_net_output_channels(t->net);
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
    int small = status == BRAID_ERROR_ARGUMENT && braid_message_detail() == BRAID_DETAIL_SMALL_BATCH;
    if (small && has_one)
        return complain(BRAID_ERROR_DATA, "%s: expected 2 or more training samples for this network, got 1: %s",
                        t->options->data, braid_message());
    if (small && t->options->network.batch == 1)
        return complain((int)status, "--batch 1: expected 2 or more samples for this network and size of image: %s",
                        braid_message());
    if (t->feeding.failed) return feeding_complain(&t->feeding, status);
    const char *why = braid_message(); /* what the library calls rate is --rate here */
    int is_option = !strncmp(why, "rate", 4) || !strncmp(why, "schedule:", 9) || !strncmp(why, "monitor:", 8);
    if (!strncmp(why, "weight decay", 12)) return complain((int)status, "--weight-decay%s", why + 12);
    return complain((int)status, "%s%s", is_option ? "--" : "", why);
}

static const char *state_of_run(const training *t, const braid_train_event *place) {
    int steps_done = t->limit > 0 && place->step >= t->limit;
    if (!braid_trainer_is_done(t->trainer)) return "interrupted";
    if (place->epoch < t->epochs && !steps_done) return "done: stopped early, for want of a better epoch";
    return "done";
}

static int print_end(const training *t) {
    braid_train_event place;
    braid_train_metrics best;
    braid_report *report = NULL;
    braid_trainer_place(t->trainer, &place);
    int has_best = braid_trainer_best(t->trainer, &best);
    char state[PATH_BYTES + 64];
    snprintf(state, sizeof state, "%s", state_of_run(t, &place));
    if (!braid_trainer_is_done(t->trainer))
        snprintf(state, sizeof state, "interrupted; braid train --resume %s continues", t->options->out);
    braid_status status = braid_report_create(&report);
    if (!status) status = braid_report_add_text(report, "state", "state", state);
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
    for (int i = 0; i < info->streams && info->kind != BRAID_DATA_MIMII; i++)
        fprintf(stderr, "%s%s (%lld channel%s)%s", i ? ", " : "streams ", info->stream_names[i],
                (long long)info->channels[i], info->channels[i] == 1 ? "" : "s", i + 1 < info->streams ? "" : "\n");
    braid_status status = braid_trainer_describe(t->trainer, text, sizeof text);
    if (!status) fprintf(stderr, "%s\n", text);
    return status;
}

static int train(training *t) {
    braid_train_options o;
    int code = open_net(t);
    if (code == BRAID_ERROR_DATA && t->recalls_data && !t->feeding.info)
        complain(0, "that is the --data which the run began with; if it was moved, add --data DIR");
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
    if (!status && braid_model_set_text(t->model, TRAIN_OPTIONS_KEY, t->typed))
        complain(0, "the options are not kept for --resume: %s", braid_message());
    if (!status) status = braid_trainer_run(t->trainer);
    if (t->bar_begun) bar_clear(&t->bar);
    if (status == BRAID_ERROR_CHECK && interrupted()) return complain(EXIT_INTERRUPTED, "%s", braid_message());
    if (status) return failure(t, status);
    code = print_end(t);
    return !code && !braid_trainer_is_done(t->trainer) ? EXIT_INTERRUPTED : code;
}

/* ---- What is asked for ---------------------------------------------------------------------- */

static int is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A network, or the folder of the run to resume. */
static int take_word(training *t, train_options *options, const char *word) {
    if (network_is_name(word)) {
        snprintf(t->name, sizeof t->name, "%s", word);
        return 0;
    }
    if (!is_folder(word))
        return complain(BRAID_ERROR_ARGUMENT,
                        "--resume: expected the folder of a run, got \"%s\"; there is no such folder", word);
    if (options->out && !path_is_same(options->out, word))
        return complain(BRAID_ERROR_ARGUMENT, "--resume: expected one run, got %s and %s", options->out, word);
    options->out = word;
    return 0;
}

static int is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* The run to resume: the folder of --out, or the word in place of the network; and its options. */
static int recall_run(const verb *self, training *t, train_options *options, arguments *words) {
    for (int j = 0; j < words->count; j++) {
        int code = take_word(t, options, words->word[j]);
        if (code) return code;
    }
    if (!options->out)
        return complain(BRAID_ERROR_ARGUMENT, "--resume: expected the folder of the run, got none; type braid train "
                                              "--resume RUN");
    const char *typed = options->data;
    train_options_read(options->out, t->remembered);
    int code = train_options_recall(self, t->remembered, options, words);
    t->recalls_data = !typed && options->data;
    return code;
}

/* A new run needs a network, a set and a folder. */
static int take_network(training *t, const arguments *words) {
    const char *word = words->count ? words->word[0] : NULL;
    if (!word)
        return complain(BRAID_ERROR_ARGUMENT, "expected NET, got nothing (braid train --help); to continue a run: "
                                              "braid train --resume RUN");
    if (!network_is_name(word) && is_folder(word))
        return complain(BRAID_ERROR_ARGUMENT,
                        "expected a network, got the folder %s; to continue a run: braid train --resume %s", word,
                        word);
    if (words->count > 1)
        return complain(BRAID_ERROR_ARGUMENT, "expected one network, got \"%s\" after %s", words->word[1], word);
    snprintf(t->name, sizeof t->name, "%s", word);
    return network_is_name(word) ? 0 : network_unknown(word);
}

static int check_places(const train_options *o) {
    char last[PATH_BYTES];
    if (!o->data && o->resume && o->out && is_folder(o->out))
        return complain(BRAID_ERROR_ARGUMENT, "expected --data DIR, got none: %s does not tell what it was trained on",
                        o->out);
    if (!o->data || !o->out)
        return complain(BRAID_ERROR_ARGUMENT, "expected --data DIR and --out RUN, got no %s",
                        o->data ? "--out" : "--data");
    if (path_is_inside(o->out, o->data))
        return complain(BRAID_ERROR_ARGUMENT,
                        "--out: expected a folder outside of the set %s, which is never written to, got %s", o->data,
                        o->out);
    if (is_file(o->out))
        return complain(BRAID_ERROR_ARGUMENT,
                        "--out: expected a folder for the run, got the file %s; take another name", o->out);
    snprintf(last, sizeof last, "%s/last.safetensors", o->out);
    if (o->resume || !is_file(last)) return 0;
    return complain(BRAID_ERROR_ARGUMENT,
                    "%s: expected a folder without a run, got one with last.safetensors; to continue it: braid train "
                    "--resume %s; for a new run take another folder",
                    o->out, o->out);
}

static int run(const verb *self, int argc, char **argv) {
    train_options options = {.network = {.batch = TRAIN_BATCH}, .momentum = NOT_GIVEN};
    arguments words;
    training t = {.options = &options};
    interrupt_begin();
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    code = options.resume ? recall_run(self, &t, &options, &words) : take_network(&t, &words);
    if (!code) code = check_places(&options);
    if (!code) code = train_options_check(&options);
    train_options_print(&words, t.typed);
    if (!code) code = train(&t);
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
    .group = "Data and networks",
    .arguments = "NET --data DIR --out RUN | --resume RUN",
    .summary = "train a network on a data set, or continue a run",
    .about =
        "Trains one of braid's networks on a set of images or sounds, and keeps in RUN: last.safetensors and\n"
        "best.safetensors, each with one older generation, metrics.jsonl, and event files for TensorBoard. A\n"
        "checkpoint is also a model for eval and predict. Ctrl-C, SIGTERM or SIGHUP ends the step, or the races\n"
        "before the first one, saves and exits with 130; a second Ctrl-C exits at once.\n"
        "\n"
        "braid train --resume RUN continues bit for bit, as if the run had never stopped. It remembers every option\n"
        "that was typed. What is typed again must agree with it, and an error names both values. These may change:\n"
        "--epochs, --steps, --data (the same samples elsewhere), --rate, --weight-decay, --schedule, --patience,\n"
        "--min-delta, --stream-epochs, --stream-samples, --save-steps, --bad-sample, --verify-every, --readers,\n"
        "--effort, --tune, and the options of device and output. Another device or other kernels change last bits.\n"
        "A loss that is no finite number ends the run with exit 9 and leaves the last checkpoint as it was: resume\n"
        "with a lower --rate.",
    .options = train_option_list,
    .normals = "batch=32|size=that of the images|streams=those of the set|channels=those of the set|"
               "classes=those of the set|layers=of the set, 256 between",
    .examples = "braid data make sunrgbd --out rooms\n"
                "braid train linet18 --data rooms --out run --width 0.25 --epochs 8\n"
                "braid train --resume run\n"
                "braid eval run --data rooms\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_NETWORK,
    .most = 2,
    .shares_cores = 1,
    .run = run,
};
