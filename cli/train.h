/*
 * What train and eval share: a data set as the source of a trainer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_TRAIN_H
#define BRAID_CLI_TRAIN_H

#include "cli.h"

/* A set with a loader for each part. */
typedef struct feeding {
    braid_data *data;
    const braid_data_info *info;
    braid_loader *loaders[BRAID_PART_COUNT];
    int64_t batches[BRAID_PART_COUNT];           /* that are learned from, or looked at */
    int64_t next_batch[BRAID_PART_COUNT];        /* of the epoch, where none is left out */
    braid_split validate;                        /* the split that stands for BRAID_PART_VALIDATE */
    int failed;                                  /* a call of the lab failed: its message is braid_lab_message() */
    const char *ledger;                          /* of bad samples, which are left out; NULL: they end the run */
    const braid_trainer *trainer;                /* whose folder the ledger lies in */
    int ledger_failed;                           /* 1: it could not be written, which was said */
    unsigned char *known_bad[BRAID_SPLIT_COUNT]; /* 1 for each sample of a split that is counted as bad */
    int64_t bad_count[BRAID_SPLIT_COUNT];        /* of them, those of the ledger of a run that goes on included */
    braid_bad_sample last_bad;                   /* its `why` is not kept */
} feeding;

typedef struct feeding_options {
    braid_data *data; /* an open set, which is taken also on failure; NULL: that of the folder */
    const char *folder, *streams;
    int stream_count;  /* without names: the first so many of the set; 0: all */
    const char *asked; /* --streams; NULL: not given */
    const char *card;  /* how training read its samples; NULL: as the folder says */
    const char *fit;   /* --fit; NULL: not given */
    int bytes;         /* 1: the network, or --augment, takes samples of u8 alone */
    int64_t size[2], batch;
    braid_split validate; /* which split stands for BRAID_PART_VALIDATE; BRAID_SPLIT_COUNT: the one to judge by */
    uint64_t seed;
    int stratified, readers, max_pixels;
    const char *ledger; /* as of feeding */
} feeding_options;

/* The names of a network's streams, "rgb,depth", for the folders of a set; "" where a set names its only one itself,
 * and without a network. */
void feeding_streams(const braid_net *net, char *text, size_t size);

/* 1: a network on images, which takes samples of f32, too. */
int feeding_takes_floats(const braid_net *net);

/* Opens a set. Returns 0, or an exit code after a message. */
int feeding_open(feeding *f, const feeding_options *options);
void feeding_close(feeding *f);

/* The ledger of a run that goes on, whose samples count, and of one that begins, which has none yet. It is written in
 * the folder that the trainer has locked, and in no other. */
void feeding_resume_ledger(feeding *f, const braid_trainer *trainer);
void feeding_begin_ledger(feeding *f, const braid_trainer *trainer);

/* Fills in what a trainer needs to know of the set: source, dtype, samples, size, mean and deviation. */
void feeding_describe(feeding *f, braid_train_options *options);

/* Numbers of one sample of a stream, for a network that takes it as a row. */
int64_t feeding_row(const feeding *f, int stream);

/* Refuses a network whose streams, channels or classes are not the set's. Returns 0, or an exit code. */
int feeding_check(const feeding *f, const braid_net *net);

/* A failure of the lab, with what to type where only the size of an image is another: --size of a set, --resize of
 * files. Returns the exit code. */
int feeding_complain_lab(braid_status status, int is_set);

/* Why the set gave no more batches, on standard error. Returns the exit code. */
int feeding_complain(const feeding *f, braid_status status);

/* Seconds that training waited for data. */
double feeding_waited(const feeding *f);

/* ---- train_card.c -------------------------------------------------------------------------- */

/* What the samples of a run are (braid_data_card): predict needs no more than that. */
typedef struct run_card {
    char *saved; /* of the checkpoint that it goes on from; NULL: none */
    char *now;   /* of the set that it is given */
} run_card;

void run_card_read(run_card *c, const char *path);

/* A run goes on with the classes and the number of samples that it began with. Other labels are said. Returns 0, or an
 * exit code after a message. */
int run_card_check(run_card *c, const feeding *f, const char *run);

/* Refuses a set whose classes are not, in their order, those of a card, naming the first that differs; NULL: the model
 * has none, and any set will do. Returns 0, or an exit code after a message. */
int card_check_classes(const char *card, const feeding *f, const char *model);

void run_card_close(run_card *c);

#endif
