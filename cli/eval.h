/*
 * What braid eval has found out, and how it is told.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_EVAL_H
#define BRAID_CLI_EVAL_H

#include "train.h"

typedef enum eval_part { EVAL_ALL, EVAL_STREAMS, EVAL_CLASSES, EVAL_CONFUSION, EVAL_SCORES, EVAL_SUBSETS } eval_part;

typedef struct eval_result {
    const char *model; /* the file */
    const braid_net *net;
    const braid_data *data;
    const braid_data_info *info;
    braid_split split;
    braid_train_metrics all;
    int streams; /* that were looked at one by one; 0: none */
    braid_train_metrics without[BRAID_MAX_STREAMS], only[BRAID_MAX_STREAMS];
    uint32_t every;               /* bits of all streams; 0: no subsets were looked at */
    braid_train_metrics *subsets; /* by the bits of the streams that are not blanked; those of all are in `all` */
    int classes;                  /* of the network; 0: it gives back its input */
    int64_t *counts;              /* [classes][classes], the true class first; NULL where there are none */
    braid_class_metrics *each;
    braid_confusion_metrics whole;
    /* Of a network that gives back its input: one for each file that has samples. */
    int64_t files;
    double *scores;          /* the mean squared error over its samples */
    unsigned char *positive; /* 1: any class but the first */
    int64_t *samples;        /* its last one, for its name */
    braid_areas areas;       /* NaN where they are not defined */
} eval_result;

/* Prints a part, or all, of what was found. Returns 0, or an exit code after a message. */
int eval_print(const eval_result *result, eval_part part, braid_format format);

#endif
