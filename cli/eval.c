/*
 * braid eval: how well a model does on a data set, what it takes for what, and what each stream adds: the accuracy with
 * all streams, less the accuracy with that one blanked. A network that gives back its input is judged by how well its
 * error tells abnormal files from normal ones. Kernels are chosen by what is remembered, or by the cost model.
 *
 * SPDX-License-Identifier: MIT
 */
#include "eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct eval_options {
    common_options common;
    network_options network;
    const char *data, *net, *fit;
    int split, readers, last, what, max_pixels;
} eval_options;

#define OWN(member) offsetof(eval_options, member)
static const option eval_option_list[] = {
    OPTION_GROUP("Data"),
    {"data", 0, OPTION_TEXT, "DIR", OPTION_REQUIRED, "the data set (docs/data.md)", OWN(data)},
    {"split", 0, OPTION_CHOICE, "usual|val|test|train", "usual",
     "which samples; usual: val, or test where there is none, and of sounds", OWN(split)},
    {"fit", 0, OPTION_TEXT, "stretch|crop|pad", "that of training", FIT_HELP, OWN(fit)},
    {"readers", 0, OPTION_COUNT, "N", "1", "threads that read data", OWN(readers)},
    OPTION_MAX_PIXELS(OWN(max_pixels)),
    OPTION_GROUP("What is told"),
    {"what", 0, OPTION_CHOICE, "all|streams|classes|confusion|scores|subsets", "all",
     "which tables; subsets: every combination of streams, which all does not look at", OWN(what)},
    OPTION_GROUP("Model"),
    {"last", 0, OPTION_FLAG, NULL, NULL, "of a run: its last checkpoint, not its best", OWN(last)},
    {"net", 0, OPTION_TEXT, "NET", "that of the model file", "the network, where the model file does not describe it",
     OWN(net)},
    {0}};

#define DEFAULT_BATCH 32
#define PATH_BYTES 4096

typedef struct evaluation {
    const eval_options *options;
    char path[PATH_BYTES];
    braid_net *net;
    braid_context *context;
    braid_model *model;
    braid_trainer *trainer;
    feeding feeding;
    progress progress;
    int done;
    eval_result result;
    int64_t *seen; /* samples of each file */
    int no_memory;
} evaluation;

static int on_event(void *user, const braid_train_event *e) {
    evaluation *v = user;
    (void)e;
    progress_step(&v->progress, v->done++, "batches");
    return interrupted();
}

static int open_data(evaluation *v) {
    static const braid_split splits[] = {BRAID_SPLIT_COUNT, BRAID_SPLIT_VAL, BRAID_SPLIT_TEST, BRAID_SPLIT_TRAIN};
    char streams[512];
    feeding_options o = {.folder = v->options->data,
                         .streams = streams,
                         .card = braid_model_text(v->model, BRAID_DATA_KEY),
                         .fit = v->options->fit,
                         .bytes = !feeding_takes_floats(v->net),
                         .batch = v->options->network.batch,
                         .validate = splits[v->options->split],
                         .readers = v->options->readers,
                         .max_pixels = v->options->max_pixels};
    feeding_streams(v->net, streams, sizeof streams);
    int code = network_size(&v->options->network, o.size);
    if (!code) code = feeding_open(&v->feeding, &o);
    if (!code && v->feeding.batches[BRAID_PART_VALIDATE] == 0)
        return complain(BRAID_ERROR_DATA, "%s: expected samples in the split %s, got none", v->options->data,
                        braid_split_name(v->feeding.validate));
    if (!code) code = feeding_check(&v->feeding, v->net);
    return code ? code : card_check_classes(o.card, &v->feeding, v->path);
}

static int open_all(evaluation *v) {
    braid_train_options o = {.step = {.batch = v->options->network.batch, .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                             .event = on_event,
                             .user = v};
    braid_status status = BRAID_OK;
    int code = 0;
    if (v->options->net)
        code = network_open(v->options->net, &v->options->network, &v->net);
    else
        status = braid_net_from_file(v->path, &v->net);
    if (status) return complain_braid(status);
    if (!code) code = context_open(&v->options->common, &v->context);
    if (code) return code;
    const braid_model_options wanted = network_model(&v->options->network);
    status = braid_model_create(v->context, v->net, &wanted, &v->model);
    if (!status) status = braid_model_load(v->model, v->path);
    if (status) return complain_braid(status);
    code = open_data(v);
    if (code) return code;
    feeding_describe(&v->feeding, &o);
    status = braid_trainer_create(v->model, &o, &v->trainer);
    return status ? complain_braid(status) : 0;
}

/* ---- Samples ------------------------------------------------------------------------------- */

static void count_answer(evaluation *v, const braid_train_sample *s) {
    eval_result *r = &v->result;
    if (!r->counts) {
        r->classes = s->classes;
        r->counts = calloc((size_t)s->classes * (size_t)s->classes, sizeof *r->counts);
        r->each = calloc((size_t)s->classes, sizeof *r->each);
        v->no_memory = !r->counts || !r->each;
    }
    if (!v->no_memory) r->counts[(int64_t)s->label * r->classes + s->answer]++;
}

static void add_score(evaluation *v, const braid_train_sample *s) {
    eval_result *r = &v->result;
    if (!r->scores) {
        size_t files = (size_t)r->info->files[r->split] + 1;
        r->scores = calloc(files, sizeof *r->scores);
        r->positive = calloc(files, sizeof *r->positive);
        r->samples = calloc(files, sizeof *r->samples);
        v->seen = calloc(files, sizeof *v->seen);
        v->no_memory = !r->scores || !r->positive || !r->samples || !v->seen;
    }
    if (v->no_memory) return;
    r->scores[s->file] += s->score;
    r->positive[s->file] = s->label > 0;
    r->samples[s->file] = s->id;
    v->seen[s->file]++;
}

static void on_sample(void *user, const braid_train_sample *s) {
    evaluation *v = user;
    if (v->no_memory) return;
    if (s->classes > 0)
        count_answer(v, s);
    else
        add_score(v, s);
}

/* The mean of every file that has samples. */
static int finish_scores(evaluation *v) {
    eval_result *r = &v->result;
    for (int64_t f = 0; f < r->info->files[r->split]; f++) {
        if (v->seen[f] == 0) continue;
        r->scores[r->files] = r->scores[f] / (double)v->seen[f];
        r->positive[r->files] = r->positive[f];
        r->samples[r->files++] = r->samples[f];
    }
    braid_status status = braid_areas_measure(r->scores, r->positive, r->files, &r->areas);
    return status && (r->areas.positives > 0) == (r->areas.positives < r->files) ? complain_braid(status) : 0;
}

/* ---- Looking ------------------------------------------------------------------------------- */

/* Looks at everything with some streams blanked. */
static int look(evaluation *v, uint32_t blanked, braid_train_metrics *m) {
    const braid_evaluate_options o = {
        .part = BRAID_PART_VALIDATE, .blanked = blanked, .sample = blanked ? NULL : on_sample, .user = v};
    braid_status status = braid_trainer_evaluate(v->trainer, &o, m);
    if (status) return v->feeding.failed ? feeding_complain_lab(status, 1) : complain_braid(status);
    if (v->no_memory) return complain(BRAID_ERROR_MEMORY, "no memory for what the samples are taken for");
    return interrupted() ? EXIT_INTERRUPTED : 0;
}

/* Each stream left out, then each alone; of two streams, that is the same. */
static int look_at_streams(evaluation *v) {
    eval_result *r = &v->result;
    int code = 0;
    uint32_t every = (UINT32_C(1) << r->streams) - 1;
    for (int i = 0; i < r->streams && !code; i++) code = look(v, UINT32_C(1) << i, &r->without[i]);
    for (int i = 0; i < r->streams && !code; i++) {
        if (r->streams == 2)
            r->only[i] = r->without[1 - i];
        else
            code = look(v, every & ~(UINT32_C(1) << i), &r->only[i]);
    }
    return code;
}

/* Every set of streams but none and all, the others blanked. */
static int look_at_subsets(evaluation *v) {
    eval_result *r = &v->result;
    int code = 0;
    for (uint32_t kept = 1; kept < r->every && !code; kept++) code = look(v, r->every & ~kept, &r->subsets[kept]);
    return code;
}

static int evaluate(evaluation *v) {
    eval_result *r = &v->result;
    int streams = braid_net_stream_count(v->net), what = v->options->what;
    *r = (eval_result){.model = v->path,
                       .net = v->net,
                       .data = v->feeding.data,
                       .info = v->feeding.info,
                       .split = v->feeding.validate,
                       .streams = streams > 1 && (what == EVAL_ALL || what == EVAL_STREAMS) ? streams : 0};
    int looks = 1 + r->streams * (r->streams == 2 ? 1 : 2);
    if (what == EVAL_SUBSETS) {
        r->every = (UINT32_C(1) << streams) - 1;
        looks = (int)r->every;
        r->subsets = calloc((size_t)r->every + 1, sizeof *r->subsets);
        if (!r->subsets) return complain(BRAID_ERROR_MEMORY, "no memory for what the subsets of streams reach");
    }
    progress_begin(&v->progress, (int)(v->feeding.batches[BRAID_PART_VALIDATE] * looks), v->options->common.quiet);
    int code = look(v, 0, &r->all);
    if (!code) code = look_at_streams(v);
    if (!code && r->subsets) code = look_at_subsets(v);
    progress_clear(&v->progress);
    if (!code && r->scores) code = finish_scores(v);
    if (r->counts) braid_confusion_measure(r->counts, r->classes, r->each, &r->whole);
    return code;
}

/* Refuses to tell what this network has not: scores are of one that gives back its input, an ssae. */
static int check_what(const evaluation *v) {
    int what = v->options->what, has_classes = !strstr(braid_net_describe(v->net), "\"kind\":\"ssae");
    if (has_classes && what == EVAL_SCORES)
        return complain(BRAID_ERROR_ARGUMENT, "--what: expected streams, classes or confusion, got scores, which only "
                                              "a network that gives back its input has");
    if (!has_classes && (what == EVAL_CLASSES || what == EVAL_CONFUSION))
        return complain(BRAID_ERROR_ARGUMENT, "--what: expected scores for a network without classes, got %s",
                        what == EVAL_CLASSES ? "classes" : "confusion");
    return 0;
}

static int eval(evaluation *v) {
    int code = open_all(v);
    if (!code) code = check_what(v);
    if (!code) code = evaluate(v);
    return code ? code : eval_print(&v->result, (eval_part)v->options->what, (braid_format)v->options->common.format);
}

static int run(const verb *self, int argc, char **argv) {
    eval_options options = {.network = {.batch = DEFAULT_BATCH}};
    arguments words;
    evaluation v = {.options = &options};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (!options.data) return complain(BRAID_ERROR_ARGUMENT, "expected --data DIR, got none");
    if (!options.net)
        code = network_refuse_description(&options.network,
                                          "expected with --net, or not at all: the model file describes its network");
    if (!code) code = options_refuse(&words, "seed", "expected none, the model file has all parameters");
    if (!code) code = network_refuse_last(words.word[0], options.last);
    if (!code) code = network_check_model(words.word[0]);
    if (code) return code;
    interrupt_begin();
    network_find_file(words.word[0], options.last, v.path, sizeof v.path);
    code = eval(&v);
    free(v.seen);
    free(v.result.subsets);
    free(v.result.counts);
    free(v.result.each);
    free(v.result.scores);
    free(v.result.positive);
    free(v.result.samples);
    braid_trainer_destroy(v.trainer);
    braid_model_destroy(v.model);
    braid_context_destroy(v.context);
    feeding_close(&v.feeding);
    braid_net_destroy(v.net);
    return code;
}

const verb verb_eval = {
    .name = "eval",
    .group = "Data and networks",
    .arguments = "RUN|MODEL",
    .summary = "accuracy, confusion and loss of a model, and what each stream adds",
    .about = "Evaluates the best checkpoint of a run, or a model file, on a split of a data set: accuracy, loss,\n"
             "precision and recall of each class, and which class is taken for which; then again without each stream\n"
             "and with each alone. The contribution of a stream is the accuracy that is lost without it. For ssae:\n"
             "ROC-AUC and PR-AUC of the reconstruction error, a file's score being the mean over its samples.\n"
             "csv is one table: what --what names. Nothing is measured on the way.",
    .options = eval_option_list,
    .normals = "batch=32|size=that of training|seed=none: the file has all parameters",
    .examples = "braid eval run --data rooms\nbraid eval run --last --data rooms --split test -o json\n"
                "braid eval run --data rooms --what confusion -o csv\n"
                "braid eval model.safetensors --data rooms\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .shares_cores = 1,
    .run = run,
};
