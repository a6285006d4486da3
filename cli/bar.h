/*
 * The bar of a training run, on standard error: one line that is drawn over and over on a terminal, fitted to its
 * width; plain lines now and then in a pipe. Training tells where it is (bar_state); the bar finds out how fast
 * that is and how long it will take. Behind every epoch one line stays.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_BAR_H
#define BRAID_CLI_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAR_LINE_BYTES 1024

/* Where a run is. Figures that are NaN are not shown. */
typedef struct bar_state {
    int64_t epoch, epochs;         /* the epoch counts from 1 */
    int64_t step, steps;           /* done and to do in this part of the epoch */
    bool validating;               /* the part is the validation */
    const char *without;           /* of a validation: the stream that is blanked; NULL: none */
    int64_t run_step, run_steps;   /* updates done and to do in the whole run */
    int64_t samples;               /* seen since the start, all parts together */
    double wait_s;                 /* spent waiting for data since the start */
    double loss, accuracy;         /* of this part so far; the accuracy as a share of 1 */
    double val_loss, val_accuracy; /* for the line of an epoch */
    double rate;                   /* the learning rate */
    double loss_scale;             /* for the line of an epoch; shown where it is more than 1 */
    int64_t skipped;               /* updates that an overflow prevented */
    bool best;                     /* for the line of an epoch: the best so far */
    int streams;                   /* that have a line of their own after the epoch's; 0: there is none */
    const char *const *names;      /* of these streams */
    const double *accuracies;      /* with each of them blanked */
} bar_state;

/* What the bar has measured. */
typedef struct bar_speed {
    double samples_s;  /* a second, lately; NaN while it is not known */
    double wait_share; /* of the time, lately */
    double left_s;     /* until the end of the run */
    double elapsed_s;  /* for the line of an epoch: how long it took */
} bar_speed;

/* How it is drawn. */
typedef struct bar_look {
    int columns; /* the widest a line may be; 0: as wide as it likes */
    bool utf8, colour;
} bar_look;

/* One line, without its end: the moving one, and the one that stays after an epoch. */
void bar_draw(const bar_state *state, const bar_speed *speed, const bar_look *look, char line[BAR_LINE_BYTES]);
void bar_draw_epoch(const bar_state *state, const bar_speed *speed, const bar_look *look, char line[BAR_LINE_BYTES]);
/* The second line after an epoch: accuracy without each stream. */
void bar_draw_streams(const bar_state *state, const bar_look *look, char line[BAR_LINE_BYTES]);

typedef struct bar {
    bool quiet, on_terminal, drawn; /* drawn: a moving line stands on the terminal */
    double shown_s;                 /* when a line was last printed */
    double begun_s;                 /* when the run began, and at which step */
    int64_t begun_step;
    double epoch_s, epoch_wait_s; /* where the epoch began */
    int64_t epoch_samples;
    double mark_s, mark_wait_s; /* where the speed was last measured */
    int64_t mark_samples;
    bar_speed speed;
} bar;

/* Times are clock_s(). A resumed run begins with the state that it continues from. */
void bar_begin(bar *b, const bar_state *state, bool quiet, double now_s);
void bar_update(bar *b, const bar_state *state, double now_s); /* as often as you like */
void bar_epoch(bar *b, const bar_state *state, double now_s);  /* an epoch has ended */
void bar_clear(bar *b);                                        /* before anything else is printed, and at the end */

#endif
