/*
 * braid help: the list of verbs, or one verb in full. Both come from the tables that the parser
 * reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"

static void print_option(const option *o, void *user) {
    char left[64], letter[8] = "    ";
    (void)user;
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
    printf("  %-34s %s\n", left, o->help);
}

static void print_examples(const char *lines) {
    puts("\nExamples:");
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        printf("  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

int help_print(const verb *v) {
    printf("braid %s%s%s%s\n\n%s\n", v->name, *v->arguments ? " " : "", v->arguments, " [options]", v->about);
    puts("\nOptions:");
    options_each(v, print_option, NULL);
    if (v->examples) print_examples(v->examples);
    return 0;
}

static int print_overview(void) {
    puts("braid: neural networks with several input streams. Kernels are checked against a plain\n"
         "reference, raced on this machine, and the fastest is used.\n\n"
         "braid VERB [arguments] [options]\n");
    for (int i = 0; verbs[i]; i++) printf("  %-9s %-26s %s\n", verbs[i]->name, verbs[i]->arguments, verbs[i]->summary);
    puts("\nbraid VERB --help explains a verb and its options.\n"
         "Results go to standard output, progress to standard error. -o csv, json or md for programs.\n\n"
         "A problem is an op, a pass, a dtype and a shape; what is left out has its default:\n"
         "  conv2d_fwd:f32:n3:b2:hw104x136:c64:k64:rs3x3:pad1     3 streams of 64 channels, batch 2\n"
         "  linear_bwd_weight:f32:b256:c256:k512:bias1\n\n"
         "Exit: 0 ok, 1 a check or gate failed, 2 usage, 3 data, 4 model file, 5 memory, 6 device, 7 disk,\n"
         "9 diverged, 130 interrupted and saved.");
    return 0;
}

static int run(const verb *self, int argc, char **argv) {
    common_options options = {0};
    arguments words;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.help) return help_print(self);
    if (words.count == 0) return print_overview();
    const verb *v = verb_find(words.word[0]);
    return v ? help_print(v) : verb_unknown(words.word[0]);
}

const verb verb_help = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "this list, or one verb in full",
    .about = "Lists the verbs, or explains one of them, as braid VERB --help does.",
    .examples = "braid help\nbraid help bench\n",
    .most = 1,
    .run = run,
};
