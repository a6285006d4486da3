/*
 * Tests of train/history: the lines, what is dropped when a file is opened again (cut at every byte, and killed at
 * any moment), columns, and every failure.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "braid_train.h"
#include "core/json.h"
#include "core/memory.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "train/history.h"

#define FILE_NAME "metrics.jsonl"

static void put(const char *text) { assert_int_equal(files_replace(FILE_NAME, text, strlen(text)), BRAID_OK); }

static void assert_text(const char *expected) {
    char *text;
    size_t bytes;
    assert_int_equal(files_read(FILE_NAME, 1 << 20, BRAID_ERROR_DATA, &text, &bytes), BRAID_OK);
    assert_string_equal(text, expected);
    assert_int_equal(bytes, strlen(expected));
    memory_free(text);
}

/* The row of an epoch of 10 steps. */
static braid_status add_epoch(history *h, int64_t epoch) {
    const double rates[] = {0.1 / (double)epoch, 0.02};
    const history_value values[] = {{"train_loss", 1.0 / (double)epoch, NULL, 0, NULL},
                                    {"val_accuracy", epoch == 2 ? NAN : 0.25 * (double)epoch, NULL, 0, NULL},
                                    {"learning_rates", 0, rates, 2, NULL}};
    return history_add(h, &(history_row){HISTORY_EPOCH, epoch, 10 * epoch, values, 3});
}

/* clang-format off */
#define HEAD(epoch, step) "{\"kind\":\"epoch\",\"epoch\":" #epoch ",\"step\":" #step
#define LINE_1 HEAD(1, 10) ",\"train_loss\":1,\"val_accuracy\":0.25,\"learning_rates\":[0.1,0.02]}\n"
#define LINE_2 HEAD(2, 20) ",\"train_loss\":0.5,\"val_accuracy\":null,\"learning_rates\":[0.05,0.02]}\n"
#define LINE_3 HEAD(3, 30) ",\"train_loss\":0.3333333333333333,\"val_accuracy\":0.75," \
                           "\"learning_rates\":[0.03333333333333333,0.02]}\n"
/* clang-format on */

static history_place until(int64_t step) { return (history_place){INT64_MAX, step}; }

static void open_with(history *h, int64_t last_step) {
    assert_int_equal(history_open(h, FILE_NAME, until(last_step)), BRAID_OK);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void lines(void **state) {
    history h;
    (void)state;
    open_with(&h, -1);
    assert_int_not_equal(access(FILE_NAME, F_OK), 0); /* there is nothing to tell yet */
    assert_int_equal(history_sync(&h), BRAID_OK);
    for (int epoch = 1; epoch <= 3; epoch++) assert_int_equal(add_epoch(&h, epoch), BRAID_OK);
    assert_text(LINE_1 LINE_2 LINE_3); /* before it is closed */
    assert_int_equal(history_sync(&h), BRAID_OK);
    history_close(&h);
    history_close(&h);
    assert_int_equal(memory_live(), 0);
}

static void kinds_of_values(void **state) {
    history h;
    json_t *nested = json_pack("{s:b, s:f}", "stopped_early", 1, "best_metric", 0.1);
    const history_value values[] = {{"a", -1e-300, NULL, 0, NULL},
                                    {"b", INFINITY, NULL, 0, NULL},
                                    {"c", 0, &(double){NAN}, 1, NULL},
                                    {"d", 0, &(double){1}, 0, NULL},
                                    {"early_stopping", 0, NULL, 0, nested}};
    (void)state;
    open_with(&h, -1);
    assert_int_equal(history_add(&h, &(history_row){HISTORY_SUMMARY, 1, INT64_MAX, values, 5}), BRAID_OK);
    assert_text("{\"kind\":\"summary\",\"epoch\":1,\"step\":9223372036854775807,\"a\":-1e-300,\"b\":null,\"c\":[null],"
                "\"d\":[],\"early_stopping\":{\"best_metric\":0.10000000000000001,\"stopped_early\":true}}\n");
    json_decref(nested);
    history_close(&h);
}

static void long_rows(void **state) {
    enum { MANY = 3000 };
    static double list[MANY];
    static char name[129];
    json_t *columns;
    history h;
    (void)state;
    for (int i = 0; i < MANY; i++) list[i] = -1.2345678901234567e-300 * (i + 1);
    memset(name, 'n', 128);
    const history_value values[] = {{name, 0, list, MANY, NULL}, {"x", -1.2345678901234567e-300, NULL, 0, NULL}};
    open_with(&h, -1);
    assert_int_equal(history_add(&h, &(history_row){HISTORY_EPOCH, INT64_MIN, INT64_MIN, values, 2}), BRAID_OK);
    history_close(&h);
    assert_int_equal(history_read(FILE_NAME, &columns), BRAID_OK);
    const json_t *read = json_array_get(json_object_get(columns, name), 0);
    assert_int_equal(json_array_size(read), MANY);
    for (size_t i = 0; i < MANY; i++) assert_true(json_real_value(json_array_get(read, i)) == list[i]);
    json_decref(columns);
}

static void refusals(void **state) {
    static const char *const names[] = {"", "a b", "a\"", "kind", "epoch", "step", "a-b", NULL};
    static char longest[130];
    history h;
    (void)state;
    open_with(&h, -1);
    for (int i = 0; i < 8; i++) {
        const history_value value = {.name = names[i]};
        assert_int_equal(history_add(&h, &(history_row){HISTORY_STEP, 1, 1, &value, 1}), BRAID_ERROR_ARGUMENT);
        if (i < 3 || !names[i])
            assert_int_equal(history_add(&h, &(history_row){names[i], 1, 1, NULL, 0}), BRAID_ERROR_ARGUMENT);
    }
    memset(longest, 'a', 129);
    assert_int_equal(history_add(&h, &(history_row){longest, 1, 1, NULL, 0}), BRAID_ERROR_ARGUMENT);
    assert_int_not_equal(access(FILE_NAME, F_OK), 0);
    history_close(&h);
    assert_int_equal(history_open(&h, "missing/" FILE_NAME, until(-1)), BRAID_OK);
    assert_int_equal(add_epoch(&h, 1), BRAID_ERROR_DISK);
    history_close(&h);
    assert_int_equal(history_open(&h, ".", until(1)), BRAID_ERROR_DATA);
    assert_int_equal(memory_live(), 0);
}

/* ---- Opening again ---------------------------------------------------------------------------- */

/* A file that ends anywhere: whole lines stay, the rest goes, and the run goes on. */
static void cut_at_every_byte(void **state) {
    static const char whole[] = LINE_1 LINE_2;
    const size_t first = strlen(LINE_1);
    (void)state;
    for (size_t bytes = 0; bytes <= strlen(whole); bytes++) {
        history h;
        char expected[1024];
        assert_int_equal(files_replace(FILE_NAME, whole, bytes), BRAID_OK);
        open_with(&h, INT64_MAX);
        snprintf(expected, sizeof expected, "%s%s", bytes < first ? "" : LINE_1, bytes < strlen(whole) ? "" : LINE_2);
        assert_text(expected);
        assert_int_equal(add_epoch(&h, 3), BRAID_OK);
        strcat(expected, LINE_3);
        assert_text(expected);
        history_close(&h);
    }
}

static void a_last_line_of_zeros(void **state) {
    static const char zeros[] = LINE_1 "\0\0\0\0\0\0\0\n"; /* what a power cut leaves on some file systems */
    history h;
    (void)state;
    assert_int_equal(files_replace(FILE_NAME, zeros, sizeof zeros - 1), BRAID_OK);
    open_with(&h, INT64_MAX);
    assert_text(LINE_1);
    history_close(&h);
}

static void later_steps_are_dropped(void **state) {
    history h;
    (void)state;
    put(LINE_1 LINE_2 LINE_3);
    open_with(&h, 20);
    assert_text(LINE_1 LINE_2);
    assert_int_equal(add_epoch(&h, 3), BRAID_OK);
    assert_text(LINE_1 LINE_2 LINE_3);
    history_close(&h);
    open_with(&h, 19);
    assert_text(LINE_1);
    history_close(&h);
    open_with(&h, 0);
    assert_text("");
    history_close(&h);
    put(LINE_1 LINE_2 LINE_3); /* a run that is at the last step of its third epoch */
    assert_int_equal(history_open(&h, FILE_NAME, (history_place){2, 30}), BRAID_OK);
    assert_text(LINE_1 LINE_2);
    history_close(&h);
    put("a note\n" LINE_1 "[1]\n" LINE_2 LINE_3); /* whole lines that are no rows are someone's own */
    open_with(&h, 20);
    assert_text("a note\n" LINE_1 "[1]\n" LINE_2);
    history_close(&h);
    open_with(&h, -1);
    assert_text("");
    history_close(&h);
}

/* A child that adds rows is killed: what it told is there, at most one row more, and nothing in pieces. */
static void killed_at_any_moment(void **state) {
    int64_t epoch = 0;
    (void)state;
    put("");
    for (int kills = 0; kills < 40; kills++) {
        int ends[2];
        json_t *columns;
        history h;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            if (history_open(&h, FILE_NAME, until(INT64_MAX)) != BRAID_OK) _exit(1);
            for (int64_t next = epoch + 1;; next++)
                if (add_epoch(&h, next) != BRAID_OK || write(ends[1], &next, sizeof next) != sizeof next) _exit(2);
        }
        close(ends[1]);
        nanosleep(&(struct timespec){.tv_nsec = 100000 * kills}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(ends[0], &epoch, sizeof epoch) == sizeof epoch) continue;
        close(ends[0]);
        open_with(&h, INT64_MAX);
        history_close(&h);
        assert_int_equal(history_read(FILE_NAME, &columns), BRAID_OK);
        size_t rows = json_array_size(json_object_get(columns, "epoch"));
        assert_in_range(rows, epoch, epoch + 1);
        for (size_t i = 0; i < rows; i++)
            assert_int_equal(json_integer_value(json_array_get(json_object_get(columns, "epoch"), i)), i + 1);
        json_decref(columns);
        epoch = (int64_t)rows;
    }
    assert_true(epoch > 40);
}

/* ---- Columns -------------------------------------------------------------------------------- */

static void columns_of_rows(void **state) {
    json_t *columns;
    char *text;
    size_t bytes;
    (void)state;
    put(LINE_1 "{\"kind\":\"step\",\"epoch\":1,\"step\":15,\"train_loss\":7}\n"
               "{\"kind\":\"summary\",\"epoch\":1,\"step\":15,\"best\":1,\"other\":2}\n"
               "{\"kind\":\"epoch\",\"epoch\":2,\"step\":20,\"val_loss\":5}\n"
               "no row\n"
               "{\"kind\":\"summary\",\"epoch\":1,\"step\":15,\"best\":3}\n"
               "{\"kind\":\"epoch\",\"epoch\":3,\"st");
    assert_int_equal(history_read(FILE_NAME, &columns), BRAID_OK);
    assert_int_equal(json_write(columns, &text, &bytes), BRAID_OK);
    assert_string_equal(text, "{\"best\":3,\"epoch\":[1,2],\"learning_rates\":[[0.10000000000000001,0.02],null],"
                              "\"other\":2,\"step\":[10,20],\"train_loss\":[1,null],\"val_accuracy\":[0.25,null],"
                              "\"val_loss\":[null,5]}");
    memory_free(text);
    json_decref(columns);
    assert_int_equal(history_read("missing", &columns), BRAID_ERROR_DATA);
    assert_null(columns);
    assert_int_equal(memory_live(), 0);
}

/* The same as numbers, from the public interface: lists of rows are columns of their own. */
static void columns_as_numbers(void **state) {
    static const char *const names[] = {"epoch", "learning_rates_0", "learning_rates_1",
                                        "step",  "train_loss",       "val_accuracy"};
    braid_history *h;
    (void)state;
    put(LINE_1 LINE_2 LINE_3 "{\"kind\":\"summary\",\"epoch\":3,\"step\":30,\"best\":{\"epoch\":1}}\n"
                             "{\"kind\":\"epoch\",\"epoch\":4,\"st");
    assert_int_equal(braid_history_open(".", &h), BRAID_OK);
    assert_int_equal(braid_history_epochs(h), 3);
    assert_int_equal(braid_history_count(h), 6);
    for (int j = 0; j < 6; j++) {
        int found = 0;
        for (int k = 0; k < 6; k++) found += !strcmp(braid_history_name(h, k), names[j]);
        assert_int_equal(found, 1);
    }
    assert_null(braid_history_name(h, 6));
    assert_null(braid_history_name(h, -1));
    const double *loss = braid_history_values(h, "train_loss"), *accuracy = braid_history_values(h, "val_accuracy");
    const double *rate = braid_history_values(h, "learning_rates_0"), *step = braid_history_values(h, "step");
    assert_true(loss[0] == 1 && loss[1] == 0.5 && loss[2] == 1.0 / 3);
    assert_true(accuracy[0] == 0.25 && isnan(accuracy[1]) && accuracy[2] == 0.75);
    assert_true(rate[0] == 0.1 && rate[1] == 0.05 && rate[2] == 0.1 / 3);
    assert_true(braid_history_values(h, "learning_rates_1")[2] == 0.02 && step[2] == 30);
    assert_null(braid_history_values(h, "learning_rates"));
    assert_null(braid_history_values(h, "val_loss"));
    assert_string_equal(braid_history_summary(h), "{\"best\":{\"epoch\":1}}");
    braid_history_destroy(h);
    put(LINE_1 "{\"kind\":\"epoch\",\"epoch\":2,\"step\":20,\"learning_rates\":[5],\"val_loss\":4}\n");
    assert_int_equal(braid_history_open(".", &h), BRAID_OK); /* what a row has not is no number */
    assert_true(braid_history_values(h, "learning_rates_0")[1] == 5);
    assert_true(isnan(braid_history_values(h, "learning_rates_1")[1]) && isnan(braid_history_values(h, "val_loss")[0]));
    assert_string_equal(braid_history_summary(h), "{}");
    braid_history_destroy(h);
    assert_int_equal(braid_history_open("missing", &h), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_message(), "missing/metrics.jsonl"));
    assert_null(h);
    assert_int_equal(braid_history_open(NULL, &h), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_history_open(".", NULL), BRAID_ERROR_ARGUMENT);
    braid_history_destroy(NULL);
    assert_int_equal(memory_live(), 0);
}

/* ---- Faults --------------------------------------------------------------------------------- */

static void a_disk_that_was_full(void **state) {
    static const int errors[] = {ENOSPC, EIO, EDQUOT};
    (void)state;
    fail_files_install();
    for (int i = 0; i < 3; i++) {
        history h;
        open_with(&h, -1);
        assert_int_equal(add_epoch(&h, 1), BRAID_OK);
        fail_files_arm(FAIL_WRITE, 1, FAIL_PERSISTENT, errors[i]);
        assert_int_equal(add_epoch(&h, 2), BRAID_ERROR_DISK);
        assert_int_equal(history_sync(&h), BRAID_ERROR_DISK);
        fail_files_disarm();
        assert_text(LINE_1);
        fail_files_arm(FAIL_WRITE, 1, FAIL_PERSISTENT, FAIL_SHORT);
        assert_int_equal(i == 0 ? history_sync(&h) : add_epoch(&h, 3), BRAID_OK); /* what waits comes first */
        fail_files_disarm();
        assert_text(i == 0 ? LINE_1 LINE_2 : LINE_1 LINE_2 LINE_3);
        history_close(&h);
        assert_int_equal(memory_live(), 0);
    }
}

/* A line that was cut off by a full disk while the process lives: the next one takes its place. */
static void a_torn_line_is_overwritten(void **state) {
    history h;
    (void)state;
    open_with(&h, -1);
    assert_int_equal(add_epoch(&h, 1), BRAID_OK);
    FILE *file = fopen(FILE_NAME, "a");
    assert_non_null(file);
    fputs("{\"kind\":\"ep", file);
    fclose(file);
    assert_int_equal(add_epoch(&h, 2), BRAID_OK);
    assert_text(LINE_1 LINE_2);
    history_close(&h);
}

static braid_status open_and_add(void) {
    history h;
    TRY(history_open(&h, FILE_NAME, until(20)));
    braid_status status = add_epoch(&h, 3);
    if (status == BRAID_OK) status = history_sync(&h);
    history_close(&h);
    return status;
}

/* Whatever fails, rows 1 and 2 are there. */
static void everything_fails(void **state) {
    int64_t failures = 1;
    (void)state;
    fail_files_install();
    for (int64_t nth = 1; failures > 0; nth++) {
        put(LINE_1 LINE_2 LINE_3);
        fail_files_arm(FAIL_ANY_FILE_CALL & ~FAIL_CLOSE, nth, FAIL_ONCE, EIO);
        braid_status status = open_and_add();
        failures = fail_files_disarm();
        assert_true(failures ? status == BRAID_ERROR_DISK || status == BRAID_ERROR_DATA : status == BRAID_OK);
        assert_int_equal(memory_live(), 0);
        history h;
        open_with(&h, 20);
        assert_text(LINE_1 LINE_2);
        history_close(&h);
    }
    fail_files_remove();
    fail_alloc_install();
    failures = 1;
    for (int64_t nth = 1; failures > 0; nth++) {
        put(LINE_1 LINE_2 LINE_3);
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = open_and_add();
        failures = fail_alloc_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        assert_int_equal(memory_live(), 0);
    }
    failures = 1;
    for (int64_t nth = 1; failures > 0; nth++) {
        braid_history *columns = NULL;
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = braid_history_open(".", &columns);
        failures = fail_alloc_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        assert_int_equal(columns == NULL, failures > 0);
        braid_history_destroy(columns);
        assert_int_equal(memory_live(), 0);
    }
    fail_alloc_remove();
}

/* A link may lead anywhere: it is refused before the run begins, and what it leads to stays. */
static void links_are_refused(void **state) {
    history h;
    (void)state;
    assert_int_equal(files_replace("outside", "mine", 4), BRAID_OK);
    assert_int_equal(symlink("outside", FILE_NAME), 0);
    assert_int_equal(history_open(&h, FILE_NAME, until(-1)), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), FILE_NAME ": expected a file, got a symbolic link"));
    history_close(&h);
    assert_text("mine");
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines),
        IN_FOLDER(kinds_of_values),
        IN_FOLDER(long_rows),
        IN_FOLDER(refusals),
        IN_FOLDER(cut_at_every_byte),
        IN_FOLDER(a_last_line_of_zeros),
        IN_FOLDER(later_steps_are_dropped),
        IN_FOLDER(killed_at_any_moment),
        IN_FOLDER(columns_of_rows),
        IN_FOLDER(columns_as_numbers),
        IN_FOLDER(a_disk_that_was_full),
        IN_FOLDER(links_are_refused),
        IN_FOLDER(a_torn_line_is_overwritten),
        IN_FOLDER(everything_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
