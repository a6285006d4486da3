/*
 * The options of braid train, and those of them that mean nothing beside others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train_options.h"

#define OWN(member) offsetof(train_options, member)
const option train_option_list[] = {
    OPTION_GROUP("Data and run"),
    {"data", 0, OPTION_TEXT, "DIR", OPTION_REQUIRED "; with --resume that of the run", "the data set (docs/data.md)",
     OWN(data)},
    {"out", 0, OPTION_TEXT, "RUN", OPTION_REQUIRED "; or the word after --resume", "folder for checkpoints and metrics",
     OWN(out)},
    {"resume", 0, OPTION_FLAG, NULL, NULL, "continue the run RUN with the options that it began with", OWN(resume)},
    {"fit", 0, OPTION_TEXT, "stretch|crop|pad", "that of the set", FIT_HELP, OWN(fit)},
    {"readers", 0, OPTION_COUNT, "N", "1", "threads that read data", OWN(readers)},
    OPTION_MAX_PIXELS(OWN(max_pixels)),
    {"bad-sample", 0, OPTION_CHOICE, "stop|skip", "stop",
     "of a sample that cannot be read: end, or leave it out and list it in RUN/bad_samples.txt, while they are at most "
     "one in a thousand",
     OWN(bad_sample)},
    OPTION_GROUP("Length"),
    {"epochs", 0, OPTION_COUNT, "N", "10; with --resume as it began", "passes over the training samples", OWN(epochs)},
    {"steps", 0, OPTION_STEPS, "N", "none", "end after N updates", OWN(steps)},
    {"patience", 0, OPTION_WHOLE, "N", "0, never", "end after more than N epochs in a row without a better metric",
     OWN(patience)},
    {"min-delta", 0, OPTION_AMOUNT, "R", "0", "by how much a metric must be better for --patience", OWN(min_delta)},
    {"monitor", 0, OPTION_TEXT, "val_accuracy|val_loss", "val_accuracy; val_loss without labels",
     "the metric that tells the best epoch", OWN(monitor)},
    OPTION_GROUP("Updates"),
    {"optimiser", 0, OPTION_CHOICE, "adamw|adam|sgd|rmsprop", "adamw", "how parameters change", OWN(optimiser)},
    {"rate", 0, OPTION_TEXT, "R[,GROUP=R...]", "0.001; sgd 0.01", "learning rate of all, and of single groups",
     OWN(rate)},
    {"weight-decay", 0, OPTION_TEXT, "R[,GROUP=R...]", "0", "weight decay, likewise", OWN(decay)},
    {"momentum", 0, OPTION_SHARE, "R", "sgd 0.9, rmsprop 0", "of sgd and rmsprop; 0: none", OWN(momentum)},
    {"nesterov", 0, OPTION_FLAG, NULL, NULL, "sgd looks ahead", OWN(nesterov)},
    {"schedule", 0, OPTION_TEXT, "RULE", "cosine; with --steps alone constant",
     "of the learning rate, such as cosine:warmup=2", OWN(schedule)},
    {"clip", 0, OPTION_AMOUNT, "F", "0, no limit", "largest norm of all gradients together", OWN(clip)},
    {"accumulate", 0, OPTION_COUNT, "N", "1", "batches for one update", OWN(accumulate)},
    OPTION_GROUP("Loss"),
    {"loss", 0, OPTION_CHOICE, "usual|cross_entropy|focal|mse", "usual", "usual: what the network is for", OWN(loss)},
    {"smoothing", 0, OPTION_SHARE, "P", "0", "label smoothing", OWN(smoothing)},
    {"focal-alpha", 0, OPTION_REAL, "F", "1", "factor of the focal loss", OWN(alpha)},
    {"focal-gamma", 0, OPTION_REAL, "F", "2", "exponent of the focal loss", OWN(gamma)},
    {"class-weights", 0, OPTION_FLAG, NULL, NULL, "rare classes count more in the loss", OWN(class_weights)},
    OPTION_GROUP("What training sees"),
    {"augment", 0, OPTION_FLAG, NULL, NULL, "random changes of training images", OWN(augment)},
    {"stratified", 0, OPTION_FLAG, NULL, NULL, "draw every class equally often", OWN(stratified)},
    {"modality-dropout", 0, OPTION_SHARE, "P", "0", "share of samples that lose a stream in training", OWN(modality)},
    {"modality-start", 0, OPTION_WHOLE, "N", "0", "first epoch of its ramp", OWN(modality_start)},
    {"modality-ramp", 0, OPTION_WHOLE, "N", "0", "epochs of its ramp", OWN(modality_ramp)},
    {"modality-down", 0, OPTION_FLAG, NULL, NULL, "the ramp falls from 1 to the share", OWN(modality_down)},
    OPTION_GROUP("Watching and saving"),
    {"stream-epochs", 0, OPTION_WHOLE, "N", "0, never",
     "every N epochs and at the last, validate without each stream, too", OWN(stream_epochs)},
    {"stream-samples", 0, OPTION_COUNT, "N", "500", "training samples looked at so, too", OWN(stream_samples)},
    {"save-steps", 0, OPTION_WHOLE, "N", "0, after epochs alone", "save also after every N updates", OWN(save_steps)},
    {"verify-every", 0, OPTION_WHOLE, "N", "0, never",
     "do every Nth update twice, from the bytes of its batches on, and compare the bits", OWN(verify_every)},
    OPTION_GROUP("How kernels are chosen"),
    {"effort", 0, OPTION_CHOICE, "measure|estimate|exhaustive", "measure",
     "by races, by the cost model, or by long races", OWN(effort)},
    {"tune", 0, OPTION_REAL, "S", "5", "seconds for races of kernels at the start", OWN(tune)},
    {0}};
braid_optimiser train_optimiser(const train_options *o) {
    static const braid_optimiser optimisers[] = {BRAID_OPTIMISER_ADAMW, BRAID_OPTIMISER_ADAM, BRAID_OPTIMISER_SGD,
                                                 BRAID_OPTIMISER_RMSPROP};
    return optimisers[o->optimiser];
}

braid_loss train_loss(const train_options *o) {
    static const braid_loss losses[] = {BRAID_LOSS_NONE, BRAID_LOSS_CROSS_ENTROPY, BRAID_LOSS_FOCAL, BRAID_LOSS_MSE};
    return losses[o->loss];
}

/* An option that means nothing beside the others, and why; NULL: there is none. */
static const char *unused_option(const train_options *o) {
    int is_sgd = train_optimiser(o) == BRAID_OPTIMISER_SGD;
    if (o->nesterov && !is_sgd) return "--nesterov: expected --optimiser sgd, got another";
    if (o->nesterov && o->momentum == 0) return "--nesterov: expected --momentum above 0, got 0";
    int is_new = !o->resume; /* a run may have been told them when they meant something */
    if (o->min_delta > 0 && !o->patience && is_new) return "--min-delta: expected --patience beside it, got none";
    if (o->stream_samples && !o->stream_epochs && is_new)
        return "--stream-samples: expected --stream-epochs beside it, got none";
    if (!(o->modality > 0)) {
        if (o->modality_start) return "--modality-start: expected --modality-dropout beside it, got none";
        if (o->modality_ramp) return "--modality-ramp: expected --modality-dropout beside it, got none";
        if (o->modality_down) return "--modality-down: expected --modality-dropout beside it, got none";
    }
    if ((o->alpha > 0 || o->gamma > 0) && train_loss(o) != BRAID_LOSS_FOCAL)
        return "--focal-alpha, --focal-gamma: expected --loss focal, got another";
    if (o->tune > 0 && o->effort == BRAID_EFFORT_ESTIMATE)
        return "--tune: expected --effort measure or exhaustive, got estimate, which races nothing";
    if (o->momentum >= 0 && !is_sgd && train_optimiser(o) != BRAID_OPTIMISER_RMSPROP)
        return "--momentum: expected --optimiser sgd or rmsprop, got another";
    return NULL;
}

int train_options_check(const train_options *o) {
    const char *unused = unused_option(o);
    return unused ? complain(BRAID_ERROR_ARGUMENT, "%s", unused) : 0;
}
