/*
 * Reports: named values, paragraphs and tables in the order they were added. The same report is an
 * object for programs (json) and a page for people (table, markdown).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/reals.h"
#include "report/table.h"

/* Either a value or a table or, with a title alone, a paragraph. */
typedef struct part {
    char *key, *title;
    json_t *value;
    braid_table *table;
} part;

struct braid_report {
    part *parts;
    int count;
};

braid_status braid_report_create(braid_report **report) {
    if (!report) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_report_create: expected a place for it, got NULL");
    *report = NULL;
    return lab_new(sizeof **report, (void **)report);
}

static void part_destroy(part *p) {
    free(p->key);
    free(p->title);
    json_decref(p->value);
    braid_table_destroy(p->table);
}

void braid_report_destroy(braid_report *report) {
    if (!report) return;
    for (int i = 0; i < report->count; i++) part_destroy(&report->parts[i]);
    free(report->parts);
    free(report);
}

/* Takes value and table, also on failure. */
static braid_status add_part(braid_report *report, const char *key, const char *title, json_t *value,
                             braid_table *table) {
    part p = {.value = value, .table = table};
    braid_status status = BRAID_OK;
    if (!report) status = lab_fail(BRAID_ERROR_ARGUMENT, "report: expected a report to add to, got NULL");
    if (!status && key) status = lab_copy_text(key, &p.key);
    if (!status && title) status = lab_copy_text(title, &p.title);
    if (!status) status = lab_resize((void **)&report->parts, (size_t)report->count + 1, sizeof p);
    if (status) {
        part_destroy(&p);
        return status;
    }
    report->parts[report->count++] = p;
    return BRAID_OK;
}

static braid_status add_value(braid_report *report, const char *key, const char *title, json_t *value) {
    if (!value) return lab_fail(BRAID_ERROR_MEMORY, "no memory for the value \"%s\" of a report", key ? key : "");
    return add_part(report, key, title, value, NULL);
}

braid_status braid_report_add_text(braid_report *report, const char *key, const char *title, const char *text) {
    return add_value(report, key, title, text ? json_text(text) : json_null());
}

braid_status braid_report_add_number(braid_report *report, const char *key, const char *title, double number) {
    if (!isfinite(number)) return add_value(report, key, title, json_null());
    if (number == floor(number) && fabs(number) < 9e15)
        return add_value(report, key, title, json_integer((json_int_t)number));
    return add_value(report, key, title, json_real(number));
}

braid_status braid_report_add_list(braid_report *report, const char *key, const char *const *texts, int count) {
    if (!texts && count > 0) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_report_add_list: expected texts, got NULL");
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++) {
        if (json_array_append_new(list, texts[i] ? json_text(texts[i]) : json_null()) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    return add_value(report, key, NULL, list);
}

braid_status braid_report_add_words(braid_report *report, const char *words) {
    return add_part(report, NULL, words, NULL, NULL);
}

braid_status braid_report_add_table(braid_report *report, const char *key, const char *title, braid_table *table) {
    return add_part(report, key, title, NULL, table);
}

static braid_status print_json(const braid_report *report, FILE *out) {
    json_t *object = json_object();
    int broken = !object;
    for (int i = 0; !broken && i < report->count; i++) {
        const part *p = &report->parts[i];
        if (!p->key) continue;
        json_t *value = p->table ? table_objects(p->table, 0) : json_incref(p->value);
        broken = json_object_set_new(object, p->key, value) != 0;
    }
    braid_status status =
        broken ? lab_fail(BRAID_ERROR_MEMORY, "no memory for the JSON of a report") : json_print(object, out);
    json_decref(object);
    return status;
}

/* Values that people see, too: a text or a number. */
static int is_shown(const part *p) { return p->value && p->title; }

static braid_status fill_row(const braid_report *report, braid_table *row) {
    for (int i = 0; i < report->count; i++) {
        const part *p = &report->parts[i];
        if (!is_shown(p)) continue;
        LAB_TRY(json_is_number(p->value) ? braid_table_add_number(row, json_number_value(p->value))
                                         : braid_table_add_text(row, json_string_value(p->value)));
    }
    return BRAID_OK;
}

/* All values as one row. */
static braid_status print_row(const braid_report *report, const braid_print_options *options, FILE *out) {
    braid_column *columns = NULL;
    braid_table *row = NULL;
    int count = 0;
    if (report->count == 0) return BRAID_OK;
    LAB_TRY(lab_resize((void **)&columns, (size_t)report->count, sizeof *columns));
    for (int i = 0; i < report->count; i++) {
        const part *p = &report->parts[i];
        if (!is_shown(p)) continue;
        columns[count++] = (braid_column){
            .key = p->key, .title = p->title, .cell = json_is_number(p->value) ? BRAID_CELL_NUMBER : BRAID_CELL_TEXT};
    }
    braid_status status = count ? braid_table_create(columns, count, &row) : BRAID_OK;
    if (!status && row) status = fill_row(report, row);
    if (!status && row) status = table_print(row, options, out);
    braid_table_destroy(row);
    free(columns);
    return status;
}

static braid_status print_csv(const braid_report *report, const braid_print_options *options, FILE *out) {
    for (int i = 0; i < report->count; i++)
        if (report->parts[i].table) return table_print(report->parts[i].table, options, out);
    return print_row(report, options, out);
}

/* The titles of a run of values are padded to one width. */
static int widest_title(const braid_report *report) {
    int widest = 0;
    for (int i = 0; i < report->count; i++) {
        const part *p = &report->parts[i];
        int width = p->value && p->title ? text_width(p->title) : 0;
        if (width > widest) widest = width;
    }
    return widest;
}

static void print_value(const part *p, int title_width, int markdown, FILE *out) {
    char real[REAL_TEXT_BYTES];
    if (markdown)
        fprintf(out, "- %s: ", p->title);
    else
        fprintf(out, "%s%*s  ", p->title, title_width - text_width(p->title), "");
    if (json_is_string(p->value))
        fprintf(out, "%s\n", json_string_value(p->value));
    else if (json_is_integer(p->value))
        fprintf(out, "%lld\n", (long long)json_integer_value(p->value));
    else if (json_is_real(p->value) && real_format(real, sizeof real, "%.4g\n", json_real_value(p->value)) > 0)
        fputs(real, out);
    else
        fputs("-\n", out);
}

static braid_status print_page(const braid_report *report, const braid_print_options *options, FILE *out) {
    int markdown = options->format == BRAID_FORMAT_MD, width = widest_title(report), was_value = 1;
    for (int i = 0; i < report->count; i++) {
        const part *p = &report->parts[i];
        int is_value = p->value != NULL;
        if (is_value && !p->title) continue;
        if (i > 0 && !(is_value && was_value)) fputc('\n', out);
        was_value = is_value;
        if (is_value) {
            print_value(p, width, markdown, out);
            continue;
        }
        if (p->title) fprintf(out, p->table && markdown ? "### %s\n\n" : "%s\n", p->title);
        if (p->table) LAB_TRY(table_print(p->table, options, out));
    }
    return BRAID_OK;
}

static braid_status print_report(const braid_report *report, const braid_print_options *options, FILE *out) {
    braid_print_options whole = *options;
    whole.first_row = 0;
    whole.no_heading = 0;
    if (whole.format == BRAID_FORMAT_JSON) return print_json(report, out);
    if (whole.format == BRAID_FORMAT_CSV) return print_csv(report, &whole, out);
    return print_page(report, &whole, out);
}

braid_status braid_report_print(const braid_report *report, const braid_print_options *options, char **text) {
    const braid_print_options plain = {.format = BRAID_FORMAT_TABLE};
    lab_text gathered;
    if (text) *text = NULL;
    if (!report || !text)
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_report_print: expected a report and a place for text, got NULL");
    LAB_TRY(lab_text_begin(&gathered));
    return lab_text_end(&gathered, print_report(report, options ? options : &plain, gathered.stream), text);
}
