/*
 * The bar of a training run. A line is a list of fields; where it is too wide, the least important ones are left out,
 * and the bar itself takes what is left. Nothing is drawn into the last column, where some terminals wrap.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bar.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST_FIELDS 16
#define FIELD_BYTES 64
#define GAP 2 /* blanks between two fields */
#define LEAST_BAR 8
#define MOST_BAR 32
#define DRAW_PAUSE_S 0.1   /* on a terminal */
#define PRINT_PAUSE_S 10.0 /* in a pipe */
#define MEASURE_S 0.5      /* the shortest time that a speed is measured over */
#define MEMORY_S 4.0       /* what is longer ago counts little */

#define PLAIN ""
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define RESET "\033[0m"

typedef struct field {
    char text[FIELD_BYTES];
    int weight; /* the lowest is left out first */
    const char *colour;
    bool is_bar, left_out;
} field;

typedef struct fields {
    field list[MOST_FIELDS];
    int count;
} fields;

/* ---- Figures ------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static field *add(fields *f, int weight, const char *colour, const char *format,
                                                        ...) {
    va_list arguments;
    field *new_field = &f->list[f->count++];
    *new_field = (field){.weight = weight, .colour = colour};
    va_start(arguments, format);
    vsnprintf(new_field->text, sizeof new_field->text, format, arguments);
    va_end(arguments);
    return new_field;
}

static void add_loss(fields *f, int weight, const char *name, double loss) {
    if (isnan(loss)) return;
    int digits = fabs(loss) < 10 ? 4 : fabs(loss) < 1000 ? 2 : 0;
    if (fabs(loss) < 1e6)
        add(f, weight, PLAIN, "%s %.*f", name, digits, loss);
    else
        add(f, weight, YELLOW, "%s %.3g", name, loss);
}

static void add_accuracy(fields *f, int weight, const char *name, double accuracy) {
    if (!isnan(accuracy)) add(f, weight, PLAIN, "%s %.1f%%", name, 100 * accuracy);
}

static void add_speed(fields *f, int weight, double samples_s, const bar_look *look) {
    const char *unit = look->columns > 0 ? "/s" : " samples/s";
    if (isnan(samples_s)) return;
    if (samples_s >= 9999.5)
        add(f, weight, DIM, "%.1fk%s", samples_s / 1000, unit);
    else
        add(f, weight, DIM, "%.*f%s", samples_s < 9.995 ? 2 : samples_s < 99.95 ? 1 : 0, samples_s, unit);
}

/* A training loop that waits for its data is worth a colour. */
static void add_wait(fields *f, int weight, double share) {
    if (!isnan(share)) add(f, weight, share < 0.05 ? DIM : YELLOW, "wait %.0f%%", 100 * share);
}

/* 0:07, 12:34, 1:02:03, 2d 5h */
static void duration(char *text, size_t room, double seconds) {
    if (!(seconds < 1e9)) seconds = 1e9;
    long s = lround(fmax(seconds, 0));
    if (s >= 86400)
        snprintf(text, room, "%ldd %ldh", s / 86400, s % 86400 / 3600);
    else if (s >= 3600)
        snprintf(text, room, "%ld:%02ld:%02ld", s / 3600, s % 3600 / 60, s % 60);
    else
        snprintf(text, room, "%ld:%02ld", s / 60, s % 60);
}

static int digits_of(int64_t value) { return snprintf(NULL, 0, "%lld", (long long)value); }

static void add_head(fields *f, const bar_state *s) {
    add(f, 100, BOLD, "epoch %*lld/%lld", digits_of(s->epochs), (long long)s->epoch, (long long)s->epochs);
}

/* ---- Lines --------------------------------------------------------------------------------- */

/* Columns of a line; a bar counts as its shortest. */
static int columns_of(const fields *f) {
    int columns = 0, shown = 0;
    for (int i = 0; i < f->count; i++) {
        if (f->list[i].left_out) continue;
        columns += (shown++ ? GAP : 0) + (f->list[i].is_bar ? LEAST_BAR : (int)strlen(f->list[i].text));
    }
    return columns;
}

/* In a window where nothing fits beside the head: its numbers alone, and the heaviest figure that fits beside them. */
static void fit_one(fields *f, int columns) {
    field *head = &f->list[0], *heaviest = NULL;
    const char *numbers = head->text + strcspn(head->text, "0123456789");
    int left = columns - (int)strlen(numbers) - GAP;
    for (int i = 1; i < f->count; i++) {
        field *one = &f->list[i];
        if (one->is_bar || (int)strlen(one->text) > left) continue;
        if (!heaviest || one->weight > heaviest->weight) heaviest = one;
    }
    if (!heaviest) return;
    heaviest->left_out = false;
    memmove(head->text, numbers, strlen(numbers) + 1);
}

/* Leaves out the lightest fields until the line fits; the first one stays, or what of it fits. */
static void fit(fields *f, int columns) {
    int shown = f->count;
    while (columns > 0 && columns_of(f) > columns) {
        field *lightest = NULL;
        for (int i = 1; i < f->count; i++)
            if (!f->list[i].left_out && (!lightest || f->list[i].weight < lightest->weight)) lightest = &f->list[i];
        if (lightest)
            lightest->left_out = true;
        else
            f->list[0].text[columns] = 0;
        if (lightest && --shown == 1) fit_one(f, columns);
    }
}

__attribute__((format(printf, 2, 3))) static void put(char line[BAR_LINE_BYTES], const char *format, ...) {
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, BAR_LINE_BYTES - used, format, arguments);
    va_end(arguments);
}

static void put_many(char line[BAR_LINE_BYTES], const char *text, int times) {
    for (int i = 0; i < times; i++) put(line, "%s", text);
}

/* Half columns are drawn where the letters allow it. */
static void put_bar(char line[BAR_LINE_BYTES], double share, int columns, const bar_look *look) {
    if (!look->utf8) {
        int inner = columns - 2, full = (int)(share * inner);
        put(line, "[");
        put_many(line, "=", full);
        if (full < inner) put(line, ">");
        put_many(line, " ", inner - full - 1);
        put(line, "]");
        return;
    }
    int halves = (int)(share * 2 * columns), rest = columns - halves / 2 - halves % 2;
    put(line, "%s", look->colour ? (share < 1 ? CYAN : GREEN) : "");
    put_many(line, "\u2501", halves / 2);
    put_many(line, "\u2578", halves % 2);
    put(line, "%s", look->colour ? RESET DIM : "");
    put_many(line, "\u2500", rest);
    put(line, "%s", look->colour ? RESET : "");
}

static void put_fields(char line[BAR_LINE_BYTES], const fields *f, double share, int bar_columns,
                       const bar_look *look) {
    bool first = true;
    for (int i = 0; i < f->count; i++) {
        const field *now = &f->list[i];
        if (now->left_out) continue;
        put(line, "%*s", first ? 0 : GAP, "");
        first = false;
        if (now->is_bar)
            put_bar(line, share, bar_columns, look);
        else if (look->colour && *now->colour)
            put(line, "%s%s%s", now->colour, now->text, RESET);
        else
            put(line, "%s", now->text);
    }
}

void bar_draw(const bar_state *s, const bar_speed *speed, const bar_look *look, char line[BAR_LINE_BYTES]) {
    char left[32];
    fields f = {.count = 0};
    double share = s->steps > 0 ? fmin(fmax((double)s->step / (double)s->steps, 0), 1) : 0;
    add_head(&f, s);
    if (s->validating && s->without)
        add(&f, 95, CYAN, "without %s", s->without);
    else if (s->validating)
        add(&f, 95, CYAN, "val");
    if (look->columns > 0) add(&f, 60, PLAIN, "%s", "")->is_bar = true;
    add(&f, 50, PLAIN, "%s%*lld/%lld", look->columns > 0 ? "" : "step ", digits_of(s->steps), (long long)s->step,
        (long long)s->steps);
    add_loss(&f, 90, "loss", s->loss);
    add_accuracy(&f, 80, "acc", s->accuracy);
    if (!s->validating && !isnan(s->rate)) add(&f, 20, DIM, "lr %.2g", s->rate);
    add_speed(&f, 30, speed->samples_s, look);
    add_wait(&f, speed->wait_share < 0.05 ? 10 : 40, speed->wait_share);
    duration(left, sizeof left, speed->left_s);
    if (!isnan(speed->left_s)) add(&f, 70, PLAIN, "%s left", left);
    fit(&f, look->columns);
    int bar_columns = LEAST_BAR + look->columns - columns_of(&f);
    *line = 0;
    put_fields(line, &f, share, bar_columns < MOST_BAR ? bar_columns : MOST_BAR, look);
}

void bar_draw_epoch(const bar_state *s, const bar_speed *speed, const bar_look *look, char line[BAR_LINE_BYTES]) {
    char took[32];
    fields f = {.count = 0};
    add_head(&f, s);
    add_loss(&f, 90, "loss", s->loss);
    add_accuracy(&f, 80, "acc", s->accuracy);
    add_loss(&f, 85, "val loss", s->val_loss);
    add_accuracy(&f, 95, "val acc", s->val_accuracy);
    if (s->best) add(&f, 70, GREEN, "best");
    if (!isnan(s->rate)) add(&f, 20, DIM, "lr %.2g", s->rate);
    if (s->loss_scale > 1) add(&f, 15, DIM, "scale %.0f", s->loss_scale);
    if (s->skipped > 0) add(&f, 16, DIM, "%lld skipped", (long long)s->skipped);
    add_speed(&f, 30, speed->samples_s, look);
    add_wait(&f, speed->wait_share < 0.05 ? 10 : 40, speed->wait_share);
    duration(took, sizeof took, speed->elapsed_s);
    if (!isnan(speed->elapsed_s)) add(&f, 50, DIM, "%s", took);
    fit(&f, look->columns);
    *line = 0;
    put_fields(line, &f, 0, 0, look);
}

void bar_draw_streams(const bar_state *s, const bar_look *look, char line[BAR_LINE_BYTES]) {
    fields f = {.count = 0};
    add_head(&f, s);
    add(&f, 95, PLAIN, "val acc without");
    for (int i = 0; i < s->streams && f.count < MOST_FIELDS; i++)
        add_accuracy(&f, 90 - i, s->names[i], s->accuracies[i]);
    fit(&f, look->columns);
    *line = 0;
    put_fields(line, &f, 0, 0, look);
}

/* ---- The terminal --------------------------------------------------------------------------- */

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static bool letters_are_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"}; /* the first that is set counts */
    for (int i = 0; i < 3; i++) {
        const char *value = environment(names[i]);
        if (*value) return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
    }
    return false;
}

/* One column is left free: a letter in the last one may wrap. Asked for each time, because windows change. */
static int terminal_columns(void) {
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (columns <= 0) columns = atoi(environment("COLUMNS"));
    return columns > 1 ? columns - 1 : 79;
}

static bar_look look_now(const bar *b) {
    if (!b->on_terminal) return (bar_look){0};
    return (bar_look){.columns = terminal_columns(), .utf8 = letters_are_utf8(), .colour = !*environment("NO_COLOR")};
}

/* ---- Speed --------------------------------------------------------------------------------- */

/* A value that forgets: of a time that was `seconds` long the new one counts the more, the longer that was. */
static double blend(double before, double now, double seconds) {
    double keep = isnan(before) ? 0 : exp(-seconds / MEMORY_S);
    return keep > 0 ? keep * before + (1 - keep) * now : now;
}

static void measure(bar *b, const bar_state *s, double now_s) {
    double seconds = now_s - b->mark_s;
    int64_t steps = s->run_step - b->begun_step;
    if (steps > 0 && s->run_steps >= s->run_step)
        b->speed.left_s = (now_s - b->begun_s) / (double)steps * (double)(s->run_steps - s->run_step);
    if (seconds < MEASURE_S) return;
    b->speed.samples_s = blend(b->speed.samples_s, (double)(s->samples - b->mark_samples) / seconds, seconds);
    double share = fmin(fmax((s->wait_s - b->mark_wait_s) / seconds, 0), 1);
    b->speed.wait_share = blend(b->speed.wait_share, share, seconds);
    b->mark_s = now_s;
    b->mark_samples = s->samples;
    b->mark_wait_s = s->wait_s;
}

static void begin_epoch(bar *b, const bar_state *s, double now_s) {
    b->epoch_s = now_s;
    b->epoch_wait_s = s->wait_s;
    b->epoch_samples = s->samples;
}

/* Of the epoch as a whole. */
static bar_speed epoch_speed(const bar *b, const bar_state *s, double now_s) {
    double seconds = now_s - b->epoch_s;
    if (!(seconds > 0)) return (bar_speed){NAN, NAN, NAN, NAN};
    return (bar_speed){.samples_s = (double)(s->samples - b->epoch_samples) / seconds,
                       .wait_share = fmin(fmax((s->wait_s - b->epoch_wait_s) / seconds, 0), 1),
                       .left_s = NAN,
                       .elapsed_s = seconds};
}

/* ---- Talking ------------------------------------------------------------------------------- */

void bar_begin(bar *b, const bar_state *state, bool quiet, double now_s) {
    *b = (bar){.quiet = quiet,
               .on_terminal = isatty(STDERR_FILENO) && strcmp(environment("TERM"), "dumb") != 0,
               .shown_s = now_s,
               .begun_s = now_s,
               .begun_step = state->run_step,
               .mark_s = now_s,
               .mark_wait_s = state->wait_s,
               .mark_samples = state->samples,
               .speed = {NAN, NAN, NAN, NAN}};
    begin_epoch(b, state, now_s);
}

static void print_line(bar *b, const char *line, bool stays) {
    fprintf(stderr, "%s%s%s%s", b->on_terminal ? "\r" : "", line, b->on_terminal ? "\033[K" : "",
            stays || !b->on_terminal ? "\n" : "");
    fflush(stderr);
    b->drawn = b->on_terminal && !stays;
}

void bar_update(bar *b, const bar_state *state, double now_s) {
    char line[BAR_LINE_BYTES];
    measure(b, state, now_s);
    double pause = b->on_terminal ? DRAW_PAUSE_S : PRINT_PAUSE_S;
    if (b->quiet || now_s - b->shown_s < pause) return;
    bar_look look = look_now(b);
    bar_draw(state, &b->speed, &look, line);
    print_line(b, line, false);
    b->shown_s = now_s;
}

void bar_epoch(bar *b, const bar_state *state, double now_s) {
    char line[BAR_LINE_BYTES];
    bar_speed speed = epoch_speed(b, state, now_s);
    measure(b, state, now_s);
    begin_epoch(b, state, now_s);
    if (b->quiet) return;
    bar_look look = look_now(b);
    bar_draw_epoch(state, &speed, &look, line);
    print_line(b, line, true);
    if (state->streams > 0) {
        bar_draw_streams(state, &look, line);
        print_line(b, line, true);
    }
    b->shown_s = now_s;
}

void bar_clear(bar *b) {
    if (!b->drawn) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    b->drawn = false;
}
