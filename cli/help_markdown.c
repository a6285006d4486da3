/*
 * Help as one Markdown page, which is committed as docs/cli_reference.md; tools/check_cli holds the page to it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "help.h"

#include <string.h>

typedef struct markdown_page {
    const verb *verb;
    FILE *out;
    int rows; /* of the table that is open */
} markdown_page;

/* A cell: | ends one, and < would begin a tag. */
static void put_cell(const char *text, FILE *out) {
    for (const char *c = text; *c; c++) {
        if (*c == '|') fputc('\\', out);
        fputc(*c, out);
    }
}

static void put_option(const option *o, void *user) {
    markdown_page *page = user;
    char room[128], names[128];
    if (o->kind == OPTION_HEADING) {
        fprintf(page->out, "\n| %s | default | |\n|---|---|---|\n", o->help);
        return;
    }
    const char *normal = option_normal(page->verb, o, room, sizeof room);
    fputs("| `", page->out);
    if (o->letter) fprintf(page->out, "-%c`, `", o->letter);
    fprintf(page->out, "--%s", o->name);
    if (o->value) fputc(' ', page->out);
    put_cell(o->value ? o->value : "", page->out);
    fputs("` | ", page->out);
    put_cell(normal ? normal : "off", page->out);
    fputs(" | ", page->out);
    put_cell(o->help, page->out);
    option_aliases(page->verb, o, names, sizeof names);
    fprintf(page->out, "%s%s |\n", names[0] ? "; also " : "", names);
}

static void put_line(const char *line, FILE *out) { fprintf(out, "%s\n", line); }

static void put_verb(const verb *v, FILE *out) {
    markdown_page page = {.verb = v, .out = out};
    fprintf(out, "\n## braid %s\n\n```\nbraid %s%s%s [options]\n```\n\n", v->name, v->name, *v->arguments ? " " : "",
            v->arguments);
    help_lines(v->about, put_line, out);
    options_each(v, put_option, &page);
    if (!v->examples) return;
    fputs("\n```\n", out);
    help_lines(v->examples, put_line, out);
    fputs("```\n", out);
}

static void put_rows(const char *title, const char *heading, const help_row *row, FILE *out) {
    fprintf(out, "\n## %s\n\n| %s | means |\n|---|---|\n", title, heading);
    for (; row->name; row++) fprintf(out, "| `%s` | %s |\n", row->name, row->meaning);
}

void help_markdown(FILE *out) {
    fputs("# Reference of the command line\n\n"
          "Printed by `braid help --markdown`, from the tables that the program parses its options with. `braid VERB\n"
          "--help` and the man pages say the same. The guide is [cli.md](cli.md).\n",
          out);
    for (int i = 0; verbs[i]; i++) put_verb(verbs[i], out);
    put_rows("Environment", "variable", help_environment, out);
    put_rows("Exit codes", "code", help_exits, out);
}
