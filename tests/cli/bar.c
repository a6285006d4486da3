/*
 * Tests of cli/bar: the lines at every width, and the bar on a real pseudo-terminal and in a pipe, whose output is
 * read by a small terminal of our own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bar.h"

static const bar_state usual = {.epoch = 3,
                                .epochs = 20,
                                .step = 124,
                                .steps = 200,
                                .run_step = 524,
                                .run_steps = 4000,
                                .samples = 5000,
                                .loss = 0.41234,
                                .accuracy = 0.875,
                                .val_loss = 0.5123,
                                .val_accuracy = 0.842,
                                .rate = 1e-3,
                                .best = true};
static const bar_speed usual_speed = {812.3, 0.002, 3723, 34};

/* ---- Lines ---------------------------------------------------------------------------------- */

/* Columns that a line takes on a terminal: letters, without colours. */
static int columns_of(const char *line) {
    int columns = 0;
    for (; *line; line++) {
        if (*line == '\033') {
            while (*line != 'm') line++;
            continue;
        }
        assert_true((unsigned char)*line >= ' ');
        if (((unsigned char)*line & 0xc0) != 0x80) columns++;
    }
    return columns;
}

static void a_plain_line(void **state) {
    char line[BAR_LINE_BYTES];
    (void)state;
    bar_draw(&usual, &usual_speed, &(bar_look){0}, line);
    assert_string_equal(line, "epoch  3/20  step 124/200  loss 0.4123  acc 87.5%  lr 0.001  812 samples/s  wait 0%  "
                              "1:02:03 left");
    bar_draw_epoch(&usual, &usual_speed, &(bar_look){0}, line);
    assert_string_equal(line, "epoch  3/20  loss 0.4123  acc 87.5%  val loss 0.5123  val acc 84.2%  best  lr 0.001  "
                              "812 samples/s  wait 0%  0:34");
}

static void what_is_not_known(void **state) {
    char line[BAR_LINE_BYTES];
    const bar_state s = {.epoch = 1, .epochs = 9, .steps = 5, .loss = NAN, .accuracy = NAN, .rate = NAN};
    bar_state later = s;
    (void)state;
    bar_draw(&s, &(bar_speed){NAN, NAN, NAN, NAN}, &(bar_look){0}, line);
    assert_string_equal(line, "epoch 1/9  step 0/5");
    later.val_loss = later.val_accuracy = NAN;
    bar_draw_epoch(&later, &(bar_speed){NAN, NAN, NAN, NAN}, &(bar_look){0}, line);
    assert_string_equal(line, "epoch 1/9");
}

static void streams(void **state) {
    char line[BAR_LINE_BYTES];
    bar_state s = usual;
    (void)state;
    s.validating = true;
    s.without = "depth";
    bar_draw(&s, &usual_speed, &(bar_look){0}, line);
    assert_non_null(strstr(line, "epoch  3/20  without depth  step"));
    assert_null(strstr(line, "val"));
    s.streams = 3;
    s.names = (const char *[]){"rgb", "depth", "orth"};
    s.accuracies = (double[]){0.4123, NAN, 1};
    bar_draw_streams(&s, &(bar_look){0}, line);
    assert_string_equal(line, "epoch  3/20  val acc without  rgb 41.2%  orth 100.0%");
    bar_draw_streams(&s, &(bar_look){.columns = 42}, line);
    assert_string_equal(line, "epoch  3/20  val acc without  rgb 41.2%");
}

static void figures(void **state) {
    static const struct {
        double loss, samples_s, left_s;
        const char *text;
    } rows[] = {
        {9.99994, 9.994, 0, "loss 9.9999  9.99 samples/s  wait 0%  0:00 left"},
        {12.345, 9.996, 59.6, "loss 12.35  10.0 samples/s  wait 0%  1:00 left"},
        {1234.5, 99.96, 3599, "loss 1234  100 samples/s  wait 0%  59:59 left"},
        {1e9, 9999, 3600, "loss 1e+09  9999 samples/s  wait 0%  1:00:00 left"},
        {INFINITY, 10000, 86400, "loss inf  10.0k samples/s  wait 0%  1d 0h left"},
        {-0.5, 1234567, INFINITY, "loss -0.5000  1234.6k samples/s  wait 0%  11574d 1h left"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[BAR_LINE_BYTES];
        bar_state s = usual;
        s.loss = rows[i].loss;
        s.accuracy = s.rate = NAN;
        bar_draw(&s, &(bar_speed){rows[i].samples_s, 0, rows[i].left_s, 0}, &(bar_look){0}, line);
        assert_non_null(strstr(line, "loss"));
        assert_string_equal(strstr(line, "loss"), rows[i].text);
    }
}

static void every_width(void **state) {
    (void)state;
    for (int columns = 1; columns <= 200; columns++) {
        for (int form = 0; form < 8; form++) {
            char line[BAR_LINE_BYTES];
            bar_state s = usual;
            const bar_look look = {columns, form & 1, form & 2};
            s.validating = form & 4;
            for (s.step = 0; s.step <= 200; s.step += 50) {
                bar_draw(&s, &usual_speed, &look, line);
                assert_in_range(columns_of(line), 1, columns);
                if (!look.utf8)
                    for (const char *c = line; *c; c++) assert_true((unsigned char)*c < 0x80);
                if (!look.colour) assert_null(strchr(line, '\033'));
                if (columns >= 25) assert_non_null(strstr(line, s.validating ? "val" : "loss 0.4123"));
                if (columns >= 79) assert_non_null(strstr(line, "1:02:03 left"));
                if (columns >= 110) assert_non_null(strstr(line, s.validating ? "812/s" : "lr 0.001"));
            }
            bar_draw_epoch(&s, &usual_speed, &look, line);
            assert_in_range(columns_of(line), 1, columns);
            if (columns >= 17) assert_non_null(strstr(line, columns >= 19 ? "val acc 84.2%" : "loss 0.4123"));
            if (columns >= 26) assert_non_null(strstr(line, "epoch  3/20"));
        }
    }
}

static void the_bar_grows(void **state) {
    char line[BAR_LINE_BYTES];
    bar_state s = usual;
    int before = -1;
    (void)state;
    for (s.step = 0; s.step <= 200; s.step++) {
        int full = 0;
        bar_draw(&s, &usual_speed, &(bar_look){.columns = 120}, line);
        for (const char *c = strchr(line, '[') + 1; *c == '='; c++) full++;
        assert_true(full >= before);
        before = full;
    }
    assert_int_equal(before, 30);
    assert_non_null(strstr(line, "[==============================]"));
    s.step = 100;
    bar_draw(&s, &usual_speed, &(bar_look){.columns = 120}, line);
    assert_non_null(strstr(line, "[===============>              ]"));
    bar_draw(&s, &usual_speed, &(bar_look){.columns = 120, .utf8 = true}, line);
    assert_non_null(strstr(line, "\u2501\u2500"));
    s.step = 104; /* half a column more */
    bar_draw(&s, &usual_speed, &(bar_look){.columns = 120, .utf8 = true}, line);
    assert_non_null(strstr(line, "\u2501\u2578\u2500"));
    s.step = 500; /* never beyond its end */
    bar_draw(&s, &usual_speed, &(bar_look){.columns = 120}, line);
    assert_non_null(strstr(line, "[==============================]"));
}

static void waiting_is_seen(void **state) {
    char line[BAR_LINE_BYTES];
    bar_speed slow = usual_speed;
    (void)state;
    slow.wait_share = 0.31;
    bar_draw(&usual, &slow, &(bar_look){.columns = 90, .colour = true}, line);
    assert_non_null(strstr(line, "\033[33mwait 31%"));
    bar_draw(&usual, &usual_speed, &(bar_look){.columns = 90, .colour = true}, line);
    assert_null(strstr(line, "wait"));
}

/* ---- A terminal ------------------------------------------------------------------------------- */

typedef struct screen {
    char rows[100][512];
    int row, column;
} screen;

/* Does what a terminal does with \r, \n, clear to the end of the line, and colours; anything else is a letter. */
static void show(screen *s, const char *text) {
    for (; *text; text++) {
        char *row = s->rows[s->row];
        if (*text == '\r') {
            s->column = 0;
        } else if (*text == '\n') {
            s->row++;
            s->column = 0;
        } else if (*text == '\033') {
            text += 2;
            while (*text >= '0' && *text <= '9') text++;
            if (*text == 'K')
                row[s->column] = 0;
            else
                assert_int_equal(*text, 'm');
        } else {
            if (!row[s->column]) row[s->column + 1] = 0;
            row[s->column++] = *text;
        }
        assert_true(s->row < 99 && s->column < 500);
    }
}

/* Two epochs of 48 steps of 1/8 s with 8 samples each, of which 0.02 s are spent waiting; 20 s between them. */
static void train(bool quiet) {
    bar b;
    bar_state s = {.epochs = 2, .steps = 48, .run_steps = 96, .rate = 0.01, .loss = NAN, .accuracy = NAN};
    double now = 1000;
    bar_begin(&b, &s, quiet, now);
    for (s.epoch = 1; s.epoch <= 2; s.epoch++) {
        for (s.step = 1; s.step <= 48; s.step++) {
            now += 0.125;
            s.run_step++;
            s.samples += 8;
            s.wait_s += 0.02;
            s.loss = 1.0 / (double)s.run_step;
            s.accuracy = 0.5;
            bar_update(&b, &s, now);
        }
        s.val_loss = 0.25;
        s.val_accuracy = 0.75;
        s.best = s.epoch == 1;
        bar_epoch(&b, &s, now);
        now += 20; /* as long as it takes for a pipe to hear again */
    }
    s.epoch = 2;
    s.step = 48;
    bar_update(&b, &s, now);
    bar_clear(&b);
    bar_clear(&b);
    fputs("done\n", stderr);
}

/* Runs train() in a child whose standard error is `fd`, under a few settings. Returns what it wrote. */
static void run_child(int fd, int read_fd, bool quiet, const char *const *settings, char *text, size_t room) {
    size_t used = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dup2(fd, STDERR_FILENO) < 0) _exit(1);
        close(read_fd);
        static const char *const cleared[] = {"LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "TERM", "COLUMNS"};
        for (int i = 0; i < 6; i++) unsetenv(cleared[i]);
        for (; settings[0]; settings += 2) setenv(settings[0], settings[1], 1);
        train(quiet);
        _exit(0);
    }
    close(fd);
    for (ssize_t got = 1; got > 0 && used + 1 < room; used += got > 0 ? (size_t)got : 0)
        got = read(read_fd, text + used, room - used - 1); /* EIO at the end of a terminal */
    text[used] = 0;
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    close(read_fd);
}

static void on_terminal(int columns, const char *const *settings, char *text, size_t room) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = (unsigned short)columns}), 0);
    run_child(slave, master, false, settings, text, room);
}

static void in_pipe(bool quiet, char *text, size_t room) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    run_child(ends[1], ends[0], quiet, (const char *const[]){"TERM", "xterm", "LANG", "C.UTF-8", NULL}, text, room);
}

static char output[1 << 20];

/* What stays on the screen: a line for each epoch, and nothing of the bar. */
static void a_run_on_a_terminal(void **state) {
    static screen s;
    (void)state;
    on_terminal(100, (const char *const[]){"TERM", "xterm", "LANG", "en_US.UTF-8", NULL}, output, sizeof output);
    show(&s, output);
    assert_string_equal(s.rows[0], "epoch 1/2  loss 0.0208  acc 50.0%  val loss 0.2500  val acc 75.0%  best  64.0/s  "
                                   "wait 16%  0:06");
    assert_string_equal(s.rows[1], "epoch 2/2  loss 0.0104  acc 50.0%  val loss 0.2500  val acc 75.0%  lr 0.01  "
                                   "14.8/s  wait 4%  0:26");
    assert_string_equal(s.rows[2], "done");
    assert_string_equal(s.rows[3], "");
    assert_non_null(strstr(output, "\u2501"));
    assert_non_null(strstr(output, "\033[1mepoch 1/2\033[0m"));
    for (char *line = strtok(output, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        char *end = strstr(line, "\033[K");
        if (end) *end = 0;
        assert_true(columns_of(line) < 100);
    }
}

static void no_colour_no_letters_no_terminal(void **state) {
    (void)state;
    on_terminal(100, (const char *const[]){"TERM", "xterm", "NO_COLOR", "1", NULL}, output, sizeof output);
    assert_null(strstr(output, "\033[1m"));
    assert_null(strstr(output, "m")); /* the end of a colour; no word of the bar has one */
    assert_non_null(strstr(output, "[==="));
    for (const char *c = output; *c; c++) assert_true((unsigned char)*c < 0x80);
    on_terminal(100, (const char *const[]){"TERM", "xterm", "LC_ALL", "C", "LANG", "en_US.UTF-8", NULL}, output,
                sizeof output);
    assert_non_null(strstr(output, "[==="));
    on_terminal(100, (const char *const[]){"TERM", "dumb", "LANG", "C.UTF-8", NULL}, output, sizeof output);
    assert_null(strchr(output, '\033'));
    on_terminal(0, (const char *const[]){"TERM", "xterm", "COLUMNS", "50", NULL}, output, sizeof output);
    assert_null(strstr(output, "samples"));
    assert_non_null(strstr(output, "epoch 1/2"));
}

static void lines_in_a_pipe(void **state) {
    (void)state;
    in_pipe(false, output, sizeof output);
    assert_string_equal(output,
                        "epoch 1/2  loss 0.0208  acc 50.0%  val loss 0.2500  val acc 75.0%  best  lr 0.01  "
                        "64.0 samples/s  wait 16%  0:06\n"
                        "epoch 2/2  step  1/48  loss 0.0204  acc 50.0%  lr 0.01  0.81 samples/s  wait 0%  0:25 left\n"
                        "epoch 2/2  loss 0.0104  acc 50.0%  val loss 0.2500  val acc 75.0%  lr 0.01  "
                        "14.8 samples/s  wait 4%  0:26\n"
                        "epoch 2/2  step 48/48  loss 0.0104  acc 50.0%  lr 0.01  1.47 samples/s  wait 0%  0:00 left\n"
                        "done\n");
    in_pipe(true, output, sizeof output);
    assert_string_equal(output, "done\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_line),
        cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(streams),
        cmocka_unit_test(figures),
        cmocka_unit_test(every_width),
        cmocka_unit_test(the_bar_grows),
        cmocka_unit_test(waiting_is_seen),
        cmocka_unit_test(a_run_on_a_terminal),
        cmocka_unit_test(no_colour_no_letters_no_terminal),
        cmocka_unit_test(lines_in_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
