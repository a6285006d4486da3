/*
 * Fuzz target: the state of a run in a checkpoint, on a file whose tensors are good. What is believed leads to a
 * trainer that can do one update, or says in words why not; what is refused changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "plan/pins.h"
#include "tests/support/mutate.h"
#include "tests/support/small_run.h"
#include "train/trainer.h"

#define MOST_TEXT 8192

static char folder[64], path[96];

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
}

/* Made once: a model that has what SGD with momentum needs. */
static small_run *made_once(void) {
    static small_run run;
    if (run.model) return &run;
    snprintf(folder, sizeof folder, "%s/braid_fuzz_XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MUTATE_MUST(mkdtemp(folder));
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/last.safetensors", folder);
    braid_train_options o = small_run_options();
    o.steps = 1;
    MUTATE_MUST(small_run_open(&run, &o) == BRAID_OK && braid_trainer_run(run.trainer) == BRAID_OK);
    braid_trainer_destroy(run.trainer);
    run.trainer = NULL;
    return &run;
}

static int stop(void *user, const braid_train_event *e) {
    (void)user;
    return e->kind == BRAID_TRAIN_EVENT_STEP;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char text[MOST_TEXT];
    const small_run *run = made_once();
    braid_trainer *trainer = NULL;
    braid_train_options o = small_run_options();
    size_t length = bytes < sizeof text ? bytes : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = 0;
    if (model_save_training(run->model, path, text) != BRAID_OK) return 0; /* no text at all */
    int64_t live = memory_live();
    o.folder = folder;
    o.resume = 1;
    o.schedule = NULL; /* that of the checkpoint */
    o.event = stop;
    braid_status status = braid_trainer_create(run->model, &o, &trainer);
    if (status == BRAID_OK) {
        status = braid_trainer_run(trainer);
        MUTATE_MUST(trainer->at.step >= 0 && trainer->at.epoch >= 0 && trainer->at.batch >= 0);
    }
    MUTATE_MUST(status == BRAID_OK || *braid_message());
    braid_trainer_destroy(trainer);
    model_forget_choices(run->model);
    MUTATE_MUST(memory_live() <= live + 2); /* the model may have got moments */
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define RECIPE                                                                                            \
    "\"recipe\":\"batch=8 size=0x0 dtype=f32 seed=0 accumulate=1 loss=usual smoothing=0 alpha=0 gamma=0 " \
    "class_weights=0 optimiser=sgd momentum=0.90000000000000002 nesterov=0 clip_norm=0 "                  \
    "modality_dropout=0,0,0,0 augment=0 monitor=val_accuracy samples=0 stratified=0\""
#define STOPPING                                                                             \
    "{\"bad_epochs\":0,\"best_epoch\":5,\"best_metric\":1.09,\"min_delta\":0.0,\"monitor\":" \
    "\"val_accuracy\",\"patience\":0,\"stopped_early\":false}"
#define NEWER                                                                                               \
    "\"best_failed\":true,\"best_metrics\":{\"accuracy\":0.75,\"batches\":6,\"loss\":null,\"samples\":48}," \
    "\"epochs\":3,\"rates\":[[0.001,0.0,true],[0.01,0.5,false],[0.0,0.0,true]],\"schedule_given\":"         \
    "\"cosine:warmup=2\",\"statistics\":[{\"mean\":[0.5,0,0,0],\"std\":[0.25,0,0,0]}],\"validates\":true,"
#define STATE(schedule, step, epoch)                                                                           \
    "{" NEWER "\"batch\":1,\"best\":" STOPPING                                                                 \
    ",\"choices\":{\"linear_fwd:f32:n1:b8:c12:k3:bias1:mask0\":\"linear_fwd__ref\"},"                          \
    "\"epoch\":" epoch ",\"format\":1,\"norm\":0.5," RECIPE                                                    \
    ",\"scaler\":{\"good\":0,\"scale\":1.0,\"skipped\":0},\"schedule\":\"" schedule                            \
    "\",\"schedule_state\":{\"bad\":0,\"best\":0.0,\"cooldown\":0,\"reductions\":0,\"seen\":0},\"step\":" step \
    ",\"stopping\":" STOPPING ",\"train\":{\"batches\":1,\"correct\":3,\"loss\":1.5,\"samples\":8},\"updates\":7}"
static const char *const seeds[] = {
    STATE("constant:warmup=0:start_factor=0.1:each=epoch", "7", "1"),
    STATE("cosine:t_max=95:eta_min=3e-7,5e-7,9e-8:warmup=5:start_factor=0.2", "9223372036854775807", "3"),
    STATE("plateau:factor=0.3:patience=1", "1", "9223372036854775807"), "{}", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 4000); }
#endif
