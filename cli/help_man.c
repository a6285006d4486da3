/*
 * Help as man pages, in the macros of man(7).
 *
 * SPDX-License-Identifier: MIT
 */
#include "help.h"

#include <string.h>

/* A text in which nothing steers the formatter: signs of roff are escaped, - is the sign that can be typed. */
static void put(const char *text, FILE *out) {
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            fputs("\\e", out);
        else if (*c == '-')
            fputs("\\-", out);
        else
            fputc(*c, out);
    }
}

static void put_line(const char *line, FILE *out) {
    put(line, out);
    fputc('\n', out);
}

static void put_paragraph(const char *text, FILE *out) {
    fputs(".PP\n", out);
    put_line(text, out);
}

typedef struct man_page {
    const verb *verb;
    FILE *out;
} man_page;

static void put_option(const option *o, void *user) {
    const man_page *page = user;
    char text[1024];
    if (o->kind == OPTION_HEADING) {
        fprintf(page->out, ".SS %s\n", o->help);
        return;
    }
    fputs(".TP\n.B ", page->out);
    if (o->letter) fprintf(page->out, "\\-%c, ", o->letter);
    fputs("\\-\\-", page->out);
    put(o->name, page->out);
    if (o->value) fputc(' ', page->out);
    put_line(o->value ? o->value : "", page->out);
    option_describe(page->verb, o, text, sizeof text);
    put_line(text, page->out);
}

static void put_rows(const help_row *row, FILE *out) {
    for (; row->name; row++) {
        fputs(".TP\n.B ", out);
        put_line(row->name, out);
        put_line(row->meaning, out);
    }
}

static void put_title(const char *name, const char *summary, FILE *out) {
    fprintf(out, ".\\\" Written by braid help --pages.\n.TH ");
    for (const char *c = name; *c; c++) fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, out);
    fprintf(out, " 1 \"\" \"braid %s\" \"braid\"\n.SH NAME\n", BRAID_VERSION);
    put(name, out);
    fputs(" \\- ", out);
    put_line(summary, out);
}

static void put_example_block(const char *lines, FILE *out) {
    fputs(".SH EXAMPLES\n.nf\n", out);
    help_lines(lines, put_line, out);
    fputs(".fi\n", out);
}

static void put_verb(const verb *v, FILE *out) {
    char name[64];
    man_page page = {v, out};
    snprintf(name, sizeof name, "braid-%s", v->name);
    put_title(name, v->summary, out);
    fprintf(out, ".SH SYNOPSIS\n.B braid %s\n", v->name);
    put(v->arguments, out);
    fputs("\n[options]\n.SH DESCRIPTION\n", out);
    help_paragraphs(v->about, put_paragraph, out);
    fputs(".SH OPTIONS\nOptions that take no value are off unless they are given.\n", out);
    options_each(v, put_option, &page);
    if (v->examples) put_example_block(v->examples, out);
    fputs(".SH EXIT STATUS\n", out);
    put_rows(help_exits, out);
    fputs(".SH SEE ALSO\n.BR braid (1)\n", out);
}

static void put_front(FILE *out) {
    const char *group = "";
    put_title("braid", "train and run neural networks with several input streams", out);
    fputs(".SH SYNOPSIS\n.B braid\nVERB [arguments] [options]\n.SH DESCRIPTION\n", out);
    help_paragraphs(help_intro, put_paragraph, out);
    fputs(".PP\nResults go to standard output, progress to standard error.\n", out);
    for (int i = 0; verbs[i]; i++) {
        if (strcmp(group, verbs[i]->group) != 0) fprintf(out, ".SH %s\n", group = verbs[i]->group);
        fprintf(out, ".TP\n.BR braid\\-%s (1)\n", verbs[i]->name);
        put_line(verbs[i]->summary, out);
    }
    fputs(".SH PROBLEMS\n.nf\n", out);
    help_lines(help_problems, put_line, out);
    fputs(".fi\n.SH ENVIRONMENT\n", out);
    put_rows(help_environment, out);
    fputs(".SH EXIT STATUS\n", out);
    put_rows(help_exits, out);
}

void help_man(const verb *v, FILE *out) {
    if (v)
        put_verb(v, out);
    else
        put_front(out);
}
