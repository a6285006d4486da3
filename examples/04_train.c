/*
 * Training: a set is made, a small LINet learns it, is evaluated, saved, loaded, and asked about three image files.
 *
 *     cc 04_train.c -lbraid_lab -lbraid && ./a.out
 *
 * SPDX-License-Identifier: MIT
 */
#include <braid_lab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(braid_status status) {
    const char *of_lab = braid_lab_message(); /* empty where it was libbraid's call that failed */
    if (status) exit(fprintf(stderr, "%s\n", *of_lab ? of_lab : braid_message()) != 0);
}

static braid_status start(void *loaders, braid_part part, int64_t epoch, int64_t first_batch) {
    return braid_loader_start(((braid_loader **)loaders)[part], epoch, first_batch);
}

static braid_status next(void *loaders, braid_part part, braid_train_batch *batch) {
    braid_batch b;
    braid_status status = braid_loader_next(((braid_loader **)loaders)[part], &b);
    *batch = (braid_train_batch){.count = b.count, .labels = b.labels, .ids = b.ids, .files = b.files};
    memcpy(batch->streams, b.streams, sizeof b.streams);
    return status;
}

static void print_answer(void *info, const braid_train_sample *s) {
    printf("%s, with probability %.2f\n", ((braid_data_info *)info)->class_names[s->answer], s->score);
}

static void print_history(void) {
    braid_history *history;
    check(braid_history_open("run", &history));
    const double *loss = braid_history_values(history, "train_loss");
    for (int64_t epoch = 0; epoch < braid_history_epochs(history); epoch++)
        printf("epoch %d, loss %.2f\n", (int)epoch + 1, loss[epoch]);
    braid_history_destroy(history);
}

/* Learns the split train for some epochs, then judges another; answers to samples without labels are printed. */
static double run(braid_model *model, braid_data *data, int epochs, braid_split judged) {
    const braid_data_info *info = braid_data_describe(data);
    braid_loader *loaders[2] = {NULL};
    braid_trainer *trainer;
    braid_train_metrics m;
    braid_train_options o = {
        .input = BRAID_DTYPE_U8, .epochs = epochs, .steps_per_epoch = 5, .source = {start, next, loaders}};
    if (epochs) o.folder = "run"; /* checkpoints and metrics */
    if (epochs) check(braid_loader_create(data, NULL, &loaders[0]));
    check(braid_loader_create(data, &(braid_loader_options){.split = judged, .in_order = 1}, &loaders[1]));
    o.step = (braid_plan_request){.batch = 32, .size = {16, 16}, .optimiser = BRAID_OPTIMISER_ADAMW};
    o.step.choice.effort = BRAID_EFFORT_ESTIMATE; /* leave it out to race kernels */
    memcpy(o.mean, info->mean, sizeof o.mean), memcpy(o.std, info->std, sizeof o.std);
    check(braid_trainer_create(model, &o, &trainer));
    if (epochs) check(braid_trainer_run(trainer));
    braid_evaluate_options how = {BRAID_PART_VALIDATE, 0, info->unlabelled ? print_answer : NULL, (void *)info};
    check(braid_trainer_evaluate(trainer, &how, &m));
    braid_trainer_destroy(trainer), braid_loader_destroy(loaders[0]), braid_loader_destroy(loaders[1]);
    return m.accuracy;
}

int main(void) {
    char folder[] = "/tmp/braid_XXXXXX", *card;
    const char *words[] = {"rgb=d/test/rgb/00000.png", "depth=d/test/depth/00000.png", "orth=d/test/orth/00000.png"};
    braid_data *data, *files;
    braid_context *context;
    braid_model *model, *loaded;
    braid_net *net;
    if (!mkdtemp(folder) || chdir(folder)) return 1;
    check(braid_data_make(BRAID_DATA_SUNRGBD, "d", &(braid_data_make_options){.size = {16, 16}, .count = 150}));
    check(braid_data_open("d", NULL, &data)), check(braid_data_card(data, &card)); /* size, statistics, classes */
    check(braid_context_create(NULL, &context));
    check(braid_net_create("linet18", &(braid_net_options){.streams = 3, .classes = 15, .width = 0.125}, &net));
    check(braid_model_create(context, net, NULL, &model));
    check(braid_model_set_text(model, BRAID_DATA_KEY, card));
    double learned = run(model, data, 4, BRAID_SPLIT_VAL);
    print_history();
    check(braid_model_save(model, "m.safetensors"));
    check(braid_model_create(context, net, NULL, &loaded)), check(braid_model_load(loaded, "m.safetensors"));
    double kept = run(loaded, data, 0, BRAID_SPLIT_VAL);
    printf("accuracy %.2f, of the loaded model %.2f (a guess has 0.07)\n", learned, kept);
    check(braid_data_open_files(braid_model_text(loaded, BRAID_DATA_KEY),
                                &(braid_data_files){.words = words, .count = 3}, &files));
    run(loaded, files, 0, BRAID_SPLIT_TEST);
    braid_data_destroy(files), braid_data_destroy(data), braid_text_destroy(card);
    braid_model_destroy(loaded), braid_model_destroy(model), braid_net_destroy(net), braid_context_destroy(context);
    return system("rm -r d run m.safetensors") || rmdir(folder) || learned < kept || learned > kept;
}
