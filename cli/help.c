/*
 * braid help: the list of verbs, or one verb in full; and the same as man pages, as Markdown and as a completion.
 *
 * SPDX-License-Identifier: MIT
 */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_WIDTH 100
#define OPTION_COLUMN 36 /* where the text of an option begins */
#define VERB_COLUMN 11

typedef struct help_options {
    common_options common;
    const char *pages;
    int markdown;
} help_options;

#define OFFSET(member) offsetof(help_options, member)
static const option help_option_list[] = {
    {"markdown", 0, OPTION_FLAG, NULL, NULL, "all verbs as one Markdown page, docs/cli_reference.md", OFFSET(markdown)},
    {"pages", 0, OPTION_TEXT, "DIR", "none", "write man pages and the completion for bash into DIR", OFFSET(pages)},
    {0}};

const char help_intro[] = "braid: neural networks with several input streams. Kernels are checked against a plain\n"
                          "reference, raced on this machine, and the fastest is used.";
const char help_problems[] =
    "A problem is an op, a pass, a dtype and a shape; what is left out has its default:\n"
    "  conv2d_fwd:f32:n3:b2:hw104x136:c64:k64:rs3x3:pad1     3 streams of 64 channels, batch 2\n"
    "  linear_bwd_weight:f32:b256:c256:k512:bias1";
const help_row help_exits[] = {{"0", "ok"},         {"1", "a check or gate failed"},
                               {"2", "usage"},      {"3", "data"},
                               {"4", "model file"}, {"5", "memory"},
                               {"6", "device"},     {"7", "disk, also standard output that cannot be written"},
                               {"9", "diverged"},   {"130", "interrupted and saved"},
                               {NULL, NULL}};
const help_row help_environment[] = {
    {"BRAID_DEVICE", "where to run, where --device does not say it"},
    {"BRAID_CACHE_DIR", "folder of the measured choices, where --cache-dir does not say it; empty: none is kept"},
    {"BRAID_DISABLE", "candidates to leave out, where --disable does not say it"},
    {"BRAID_SUITE_PATH", "folders of suites, with colons between them"},
    {"BRAID_LIBRARY_PATH", "folders where libraries of vendors are looked for first"},
    {"BRAID_BUSY", "ignore: believe races beside other work, and remember them"},
    {"BRAID_LOG", "what to log on standard error: plan,choose"},
    {"OMP_NUM_THREADS", "threads of the CPU, where --threads does not say it"},
    {"NO_COLOR", "no colour on a terminal"},
    {NULL, NULL}};

/* ---- Texts ---------------------------------------------------------------------------------- */

void help_lines(const char *text, void (*line)(const char *line, FILE *out), FILE *out) {
    char one[512];
    while (*text) {
        size_t length = strcspn(text, "\n");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        line(one, out);
        text += length + (text[length] == '\n');
    }
}

void help_paragraphs(const char *text, void (*paragraph)(const char *line, FILE *out), FILE *out) {
    char all[4096];
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(all, sizeof all, "%.*s", (int)length, text);
        for (char *c = all; *c; c++)
            if (*c == '\n') *c = ' ';
        paragraph(all, out);
        text += length + strspn(text + length, "\n");
    }
}

/* Words from column `at` on, broken so that no line is longer than a page; further lines begin at `indent`. */
static void print_wrapped(const char *text, int at, int indent) {
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > indent && at + 1 + length > PAGE_WIDTH) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* ---- For people ----------------------------------------------------------------------------- */

static void print_option(const option *o, void *user) {
    char left[96], letter[8] = "    ", text[1024];
    if (o->kind == OPTION_HEADING) {
        printf("\n%s:\n", o->help);
        return;
    }
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
    option_describe(user, o, text, sizeof text);
    int wide = (int)strlen(left) >= OPTION_COLUMN;
    printf(wide ? "%s\n%*s" : "%s%*s", left, wide ? OPTION_COLUMN : OPTION_COLUMN - (int)strlen(left), "");
    print_wrapped(text, OPTION_COLUMN, OPTION_COLUMN);
}

static void print_paragraph(const char *text, FILE *out) {
    (void)out;
    print_wrapped(text, 0, 0);
    putchar('\n');
}

static void print_example(const char *line, FILE *out) { fprintf(out, "  %s\n", line); }

int help_print(const verb *v) {
    printf("braid %s%s%s%s\n\n", v->name, *v->arguments ? " " : "", v->arguments, " [options]");
    help_paragraphs(v->about, print_paragraph, stdout);
    fputs("Options that take no value are off unless they are given.\n", stdout);
    options_each(v, print_option, (void *)(uintptr_t)v);
    if (!v->examples) return 0;
    puts("\nExamples:");
    help_lines(v->examples, print_example, stdout);
    return 0;
}

static void print_verbs(void) {
    const char *group = "";
    for (int i = 0; verbs[i]; i++) {
        if (strcmp(group, verbs[i]->group) != 0) printf("\n%s:\n", group = verbs[i]->group);
        printf("  %-*s", VERB_COLUMN - 2, verbs[i]->name);
        print_wrapped(verbs[i]->summary, VERB_COLUMN, VERB_COLUMN);
    }
}

static int print_overview(void) {
    printf("%s\n\nbraid VERB [arguments] [options]\n", help_intro);
    print_verbs();
    printf("\nbraid VERB --help explains a verb and its options.\n"
           "Results go to standard output, progress to standard error. -o csv, json or md for programs.\n\n"
           "%s\n\nExit: ",
           help_problems);
    for (const help_row *row = help_exits; row->name; row++)
        printf("%s %s%s", row->name, row->meaning, row[1].name ? row == help_exits + 4 ? ",\n" : ", " : ".\n");
    return 0;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void write_man(const void *v, FILE *out) { help_man(v, out); }
static void write_bash(const void *unused, FILE *out) {
    (void)unused;
    help_bash(out);
}

static int save_page(const char *folder, const char *name, void (*write)(const void *user, FILE *out),
                     const void *user) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return complain(BRAID_ERROR_MEMORY, "no memory for %s", name);
    write(user, out);
    int failed = ferror(out);
    failed |= fclose(out) != 0;
    braid_status status = failed ? BRAID_OK : braid_text_save(folder, name, text);
    free(text);
    if (failed) return complain(BRAID_ERROR_MEMORY, "no memory for %s", name);
    return status ? complain_lab(status) : 0;
}

static int save_pages(const char *folder) {
    char name[64];
    int code = save_page(folder, "braid.1", write_man, NULL);
    for (int i = 0; verbs[i] && !code; i++) {
        snprintf(name, sizeof name, "braid-%s.1", verbs[i]->name);
        code = save_page(folder, name, write_man, verbs[i]);
    }
    return code ? code : save_page(folder, "braid.bash", write_bash, NULL);
}

static int run(const verb *self, int argc, char **argv) {
    help_options options = {0};
    arguments words;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (words.count && (options.pages || options.markdown))
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected no verb beside it, got %s",
                        options.pages ? "--pages" : "--markdown", words.word[0]);
    if (options.pages) return save_pages(options.pages);
    if (options.markdown) {
        help_markdown(stdout);
        return 0;
    }
    if (words.count == 0) return print_overview();
    const verb *v = verb_find(words.word[0]);
    return v ? help_print(v) : verb_unknown(words.word[0]);
}

const verb verb_help = {
    .name = "help",
    .group = "About braid",
    .arguments = "[VERB]",
    .summary = "this list, or one verb in full",
    .about = "Lists the verbs, or explains one of them, as braid VERB --help does.",
    .options = help_option_list,
    .examples = "braid help\nbraid help bench\nbraid help --pages pages && man pages/braid-train.1\n",
    .most = 1,
    .run = run,
};
