/*
 * braid eval: how well a model does on a data set, and what each stream adds: the accuracy with all streams, less the
 * accuracy with that one blanked. Kernels are chosen by what is remembered, or by the cost model.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <sys/stat.h>

#include "train.h"

typedef struct eval_options {
    common_options common;
    network_options network;
    const char *data, *net;
    int split, readers, last;
} eval_options;

#define OWN(member) offsetof(eval_options, member)
static const option eval_option_list[] = {
    {"data", 0, OPTION_TEXT, "DIR", "the data set (docs/data.md)", OWN(data)},
    {"split", 0, OPTION_CHOICE, "val|test|train", "which samples (default: val)", OWN(split)},
    {"last", 0, OPTION_FLAG, NULL, "of a run: its last checkpoint, not its best", OWN(last)},
    {"net", 0, OPTION_TEXT, "NET", "the network, where the model file does not describe it", OWN(net)},
    {"readers", 0, OPTION_WHOLE, "N", "threads that read data (default: 1)", OWN(readers)},
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
} evaluation;

static int on_event(void *user, const braid_train_event *e) {
    evaluation *v = user;
    (void)e;
    progress_step(&v->progress, v->done++, "batches");
    return interrupted();
}

/* A folder is a run: its best checkpoint, or its last where it has none. */
static void find_model(evaluation *v, const char *word) {
    struct stat about;
    snprintf(v->path, sizeof v->path, "%s", word);
    if (stat(word, &about) != 0 || !S_ISDIR(about.st_mode)) return;
    snprintf(v->path, sizeof v->path, "%s/best.safetensors", word);
    if (v->options->last || stat(v->path, &about) != 0) snprintf(v->path, sizeof v->path, "%s/last.safetensors", word);
}

static int open_data(evaluation *v) {
    static const braid_split splits[] = {BRAID_SPLIT_VAL, BRAID_SPLIT_TEST, BRAID_SPLIT_TRAIN};
    char streams[512];
    feeding_options o = {.folder = v->options->data,
                         .streams = streams,
                         .batch = v->options->network.batch,
                         .validate = splits[v->options->split],
                         .readers = v->options->readers};
    feeding_streams(v->net, streams, sizeof streams);
    int code = network_size(&v->options->network, o.size);
    if (!code) code = feeding_open(&v->feeding, &o);
    if (!code && v->feeding.batches[BRAID_PART_VALIDATE] == 0)
        return complain(BRAID_ERROR_DATA, "%s: expected samples in the split %s, got none", v->options->data,
                        braid_split_name(o.validate));
    return code ? code : feeding_check(&v->feeding, v->net);
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
    if (!code) code = open_data(v);
    if (!code) code = context_open(&v->options->common, &v->context);
    if (code) return code;
    const braid_model_options wanted = {.dtype = network_dtype(&v->options->network)};
    feeding_describe(&v->feeding, &o);
    status = braid_model_create(v->context, v->net, &wanted, &v->model);
    if (!status) status = braid_model_load(v->model, v->path);
    if (!status) status = braid_trainer_create(v->model, &o, &v->trainer);
    return status ? complain_braid(status) : 0;
}

/* ---- What is told -------------------------------------------------------------------------- */

static const braid_column columns[] = {{"blanked", "blanked", BRAID_CELL_TEXT, 10, 0, 0, 0},
                                       {"accuracy", "accuracy", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                       {"loss", "loss", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                       {"contribution", "contribution", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                       {"samples", "samples", BRAID_CELL_COUNT, 8, 0, 0, 0}};

/* One row: a stream is blanked (-1: none). */
static braid_status add_row(braid_table *table, const char *name, const braid_train_metrics *m, double contribution) {
    braid_status status = braid_table_add_text(table, name);
    if (!status) status = braid_table_add_number(table, m->accuracy);
    if (!status) status = braid_table_add_number(table, m->loss);
    if (!status) status = braid_table_add_number(table, contribution);
    return status ? status : braid_table_add_number(table, (double)m->samples);
}

static int evaluate(evaluation *v, braid_table *table) {
    int streams = braid_net_stream_count(v->net);
    int rows = streams > 1 && v->feeding.info->dtype == BRAID_DTYPE_U8 ? streams : 0;
    double all = NAN;
    progress_begin(&v->progress, (int)(v->feeding.batches[BRAID_PART_VALIDATE] * (rows + 1)), v->options->common.quiet);
    for (int i = -1; i < rows && !interrupted(); i++) {
        braid_train_metrics m;
        const braid_evaluate_options o = {.part = BRAID_PART_VALIDATE, .blanked = i < 0 ? 0 : UINT32_C(1) << i};
        braid_status status = braid_trainer_evaluate(v->trainer, &o, &m);
        if (status) return v->feeding.failed ? complain_lab(status) : complain_braid(status);
        if (i < 0) all = m.accuracy;
        status = add_row(table, i < 0 ? "none" : braid_net_stream(v->net, i, NULL), &m, i < 0 ? NAN : all - m.accuracy);
        if (status) return complain_lab(status);
    }
    progress_clear(&v->progress);
    return interrupted() ? EXIT_INTERRUPTED : 0;
}

static int eval(evaluation *v) {
    braid_table *table = NULL;
    int code = open_all(v);
    if (code) return code;
    braid_status status = braid_table_create(columns, (int)(sizeof columns / sizeof columns[0]), &table);
    if (status) return complain_lab(status);
    code = evaluate(v, table);
    if (code) {
        braid_table_destroy(table);
        return code;
    }
    const braid_print_options print = output_options((braid_format)v->options->common.format);
    return output_table(table, &print);
}

static int run(const verb *self, int argc, char **argv) {
    eval_options options = {.network = {.batch = DEFAULT_BATCH}};
    arguments words;
    evaluation v = {.options = &options};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (!options.data) return complain(BRAID_ERROR_ARGUMENT, "expected --data DIR, got none");
    if (options.network.batch < 1) return complain(BRAID_ERROR_ARGUMENT, "--batch: expected 1 or more, got 0");
    if (!options.net)
        code = network_refuse_description(&options.network,
                                          "expected with --net, or not at all: the model file describes its network");
    if (code) return code;
    interrupt_begin();
    find_model(&v, words.word[0]);
    code = eval(&v);
    braid_trainer_destroy(v.trainer);
    braid_model_destroy(v.model);
    braid_context_destroy(v.context);
    feeding_close(&v.feeding);
    braid_net_destroy(v.net);
    return code;
}

const verb verb_eval = {
    .name = "eval",
    .arguments = "RUN|MODEL",
    .summary = "accuracy and loss of a model, and what each stream adds",
    .about = "Evaluates the best checkpoint of a run, or a model file, on a split of a data set; then again with each\n"
             "stream blanked. The contribution of a stream is the accuracy that is lost without it. Nothing is\n"
             "measured on the way.",
    .options = eval_option_list,
    .examples = "braid eval run --data rooms\nbraid eval run --last --data rooms --split test -o json\n"
                "braid eval model.safetensors --data rooms\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .run = run,
};
