/*
 * What may have been meant by a word that is no problem, op, suite, network or run: the nearest name of each kind, and
 * for a problem of a known op an example.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <string.h>

#include "cli.h"

#define NAMES_BYTES 8192

static void add_name(char *names, const char *name) {
    size_t used = strlen(names);
    snprintf(names + used, NAMES_BYTES - used, " %s", name);
}

int op_full_name(braid_op_id op, braid_pass pass, char *text, size_t size) {
    const char *pass_name = braid_pass_name(op, pass);
    if (!pass_name || (!*pass_name && pass != BRAID_PASS_FWD)) return 0;
    snprintf(text, size, "%s%s%s", braid_op_id_name(op), *pass_name ? "_" : "", pass_name);
    return 1;
}

/* Calls for every op and pass until one is found by name. Returns 1, and which it is. */
static int find_op(const char *name, braid_op_id *op, braid_pass *pass) {
    char full[64];
    for (int o = 0; o < BRAID_OP_COUNT; o++) {
        for (int p = 0; p < BRAID_PASS_COUNT; p++) {
            if (!op_full_name((braid_op_id)o, (braid_pass)p, full, sizeof full) || strcmp(full, name) != 0) continue;
            *op = (braid_op_id)o;
            *pass = (braid_pass)p;
            return 1;
        }
    }
    return 0;
}

static void add_ops(char *names) {
    char full[64];
    for (int o = 0; o < BRAID_OP_COUNT; o++)
        for (int p = 0; p < BRAID_PASS_COUNT; p++)
            if (op_full_name((braid_op_id)o, (braid_pass)p, full, sizeof full)) add_name(names, full);
}

static void add_networks(char *names) {
    for (int i = 0; braid_net_name(i); i++) add_name(names, braid_net_name(i));
}

static void add_suites(char *names) {
    char *suites = NULL;
    if (braid_suite_names(&suites)) return;
    add_name(names, suites);
    braid_text_destroy(suites);
}

const char *nearest_name(const char *typed, unsigned kinds) {
    char names[NAMES_BYTES] = "";
    if (kinds & NAMES_NETWORKS) add_networks(names);
    if (kinds & NAMES_SUITES) add_suites(names);
    if (kinds & NAMES_OPS) add_ops(names);
    return nearest_word(typed, names, " ");
}

/* ---- Problems ------------------------------------------------------------------------------- */

/* A problem of an op with all of its fields. */
static int make_example(braid_op_id op, braid_pass pass, char text[BRAID_PROBLEM_TEXT]) {
    braid_problem problem, plain;
    if (braid_problem_draw_round(op, pass, 1, &problem)) return 0;
    plain = problem;
    plain.dtype = BRAID_DTYPE_F32;
    return !braid_problem_print(braid_problem_check(&plain) ? &problem : &plain, text, BRAID_PROBLEM_TEXT);
}

/* The letters of a field, up to its value. */
static size_t field_letters(const char *field) {
    size_t length = 0;
    while (isalpha((unsigned char)field[length]) || field[length] == '_') length++;
    return length;
}

static const char dtypes[] = "f32 f16 bf16 f64 tf32";

/* 1 where a word is one of a list with blanks between. */
static int is_among(const char *word, const char *list) {
    size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && !strncmp(at, word, length)) return 1;
    return 0;
}

/* The next field of a problem, after the colon at `at`. */
static void take_field(const char *at, char field[64]) {
    snprintf(field, 64, "%.*s", (int)strcspn(at + 1, ":"), at + 1);
}

static void list_fields(const char *printed, char *names) {
    char field[64];
    for (const char *at = strchr(printed, ':'); at; at = strchr(at + 1, ':')) {
        take_field(at, field);
        if (is_among(field, dtypes)) continue;
        field[field_letters(field)] = 0;
        add_name(names, field);
    }
}

/* What may have been meant by a field that the op has not: "pad1" for "padd1", "f32" for "fp32". */
static const char *nearest_field(const char *field, const char *names, char *meant, size_t size) {
    char letters[64];
    size_t length = field_letters(field);
    snprintf(letters, sizeof letters, "%.*s", (int)length, field);
    const char *dtype = strchr(letters, 'f') ? nearest_word(field, dtypes, " ") : NULL;
    if (dtype) return dtype;
    const char *name = nearest_word(letters, names, " ");
    if (name) snprintf(meant, size, "%s%s", name, field + length);
    return name ? meant : NULL;
}

/* The first field of a problem that the op has not, and what may have been meant; NULL: there is none, or nothing is
 * near. */
static const char *mend_field(const char *text, const char *names, char *meant, size_t size) {
    char field[64], letters[64];
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
        take_field(at, field);
        snprintf(letters, sizeof letters, "%.*s", (int)field_letters(field), field);
        if (is_among(field, dtypes) || is_among(letters, names)) continue;
        return nearest_field(field, names, meant, size);
    }
    return NULL;
}

int op_example(const char *name, char text[BRAID_PROBLEM_TEXT]) {
    braid_op_id op;
    braid_pass pass;
    return find_op(name, &op, &pass) && make_example(op, pass, text);
}

int problem_complain(braid_status status, const char *text) {
    char name[64], example[BRAID_PROBLEM_TEXT] = "", names[NAMES_BYTES] = "", meant[128], why[1024];
    braid_op_id op;
    braid_pass pass;
    snprintf(why, sizeof why, "%s", braid_message());
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    if (!find_op(name, &op, &pass)) {
        const char *nearest = nearest_name(name, NAMES_OPS);
        return complain((int)status, "%s%s%s%s", why, nearest ? "; did you mean " : "", nearest ? nearest : "",
                        nearest ? "?" : "; docs/problems.md lists them");
    }
    if (!make_example(op, pass, example)) return complain((int)status, "%s", why);
    list_fields(example, names);
    const char *mended = mend_field(text, names, meant, sizeof meant);
    if (mended) return complain((int)status, "%s; did you mean %s? A whole problem is %s", why, mended, example);
    return complain((int)status, "%s; a whole problem is %s", why, example);
}
