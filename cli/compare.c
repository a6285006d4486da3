/*
 * braid compare: two runs, or two folders of runs, row by row and group by group.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"

typedef struct compare_options {
    common_options common;
    int fail_on, of;
    double floor;
} compare_options;

#define OFFSET(member) offsetof(compare_options, member)
static const option compare_option_list[] = {
    {"of", 0, OPTION_CHOICE, "kernels|chosen", "kernels", "rows of the same kernel, or of whichever was chosen",
     OFFSET(of)},
    {"floor", 0, OPTION_SHARE, "F", "that of run.json, else 0.05",
     "by which two runs of one thing differ; of single runs", OFFSET(floor)},
    {"fail-on", 0, OPTION_CHOICE, "nothing|slow", "nothing", "exit 1 where a row of B is SLOW", OFFSET(fail_on)},
    {0}};

/* On standard output after a table, on standard error beside csv, json and md. */
static void print_counts(const compare_options *options, const braid_compare *compare) {
    FILE *out = options->common.format == BRAID_FORMAT_TABLE ? stdout : stderr;
    braid_compare_counts n;
    braid_compare_count(compare, &n);
    if (out == stderr && options->common.quiet) return;
    fprintf(out, "\n%d rows of %d runs against %d: %d FAST, %d SLOW, %d SAME, %d AMBIGUOUS", n.rows, n.a_runs, n.b_runs,
            n.fast, n.slow, n.same, n.ambiguous);
    if (n.left_out) fprintf(out, "; %d more are not in every run", n.left_out);
    fputc('\n', out);
    if (n.a_runs < 2 || n.b_runs < 2)
        fputs("one run of a side shows large differences only; tools/ab OLD NEW runs both in turns, several times\n",
              out);
}

static int print(const compare_options *options, const braid_compare *compare) {
    const int is_list = options->common.format == BRAID_FORMAT_CSV || options->common.format == BRAID_FORMAT_JSON;
    const braid_print_options how = output_options((braid_format)options->common.format);
    braid_table *rows = NULL, *groups = NULL;
    braid_status status = braid_compare_rows(compare, &rows);
    if (!status) status = braid_compare_groups(compare, &groups);
    if (status) {
        braid_table_destroy(rows);
        return complain_lab(status);
    }
    int code = output_table(rows, &how);
    if (!code && !is_list) {
        putchar('\n');
        code = output_table(groups, &how);
    } else {
        braid_table_destroy(groups);
    }
    return code;
}

static int run(const verb *self, int argc, char **argv) {
    compare_options options = {0};
    arguments words;
    braid_compare *compare = NULL;
    braid_compare_counts counts;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    const braid_compare_options wanted = {.chosen = options.of == 1, .floor = options.floor};
    braid_status status = braid_compare_create(words.word[0], words.word[1], &wanted, &compare);
    if (status) return complain_lab(status);
    code = print(&options, compare);
    if (!code) print_counts(&options, compare);
    braid_compare_count(compare, &counts);
    braid_compare_destroy(compare);
    if (!code && options.fail_on && counts.slow)
        code =
            complain(BRAID_ERROR_CHECK, "%d rows of %s are SLOW beside %s", counts.slow, words.word[1], words.word[0]);
    return code;
}

const verb verb_compare = {
    .name = "compare",
    .group = "Kernels and speed",
    .arguments = "A B",
    .summary = "two runs, or several of each side: which rows are faster or slower",
    .about = "A and B are csv or json files of braid bench, run folders (--out), or folders of such runs. Rows\n"
             "of one problem, kernel, device and dtype are compared, where every run has a time. A / B above 1:\n"
             "B is faster. Runs of one program differ by more than their intervals say. With several runs on\n"
             "each side the interval is that of their medians (Welch's); FAST and SLOW are false in 1 of 1000\n"
             "rows at most. SAME: it holds 1 and reaches at most 5 % from it; AMBIGUOUS: it reaches further.\n"
             "With one run on a side a claim needs 5 floors and the intervals of both, and SAME is no further\n"
             "apart than two runs of one thing. tools/ab makes several runs in turns. A group is an op; its\n"
             "mean is the geometric mean of its rows.",
    .options = compare_option_list,
    .examples = "braid compare old new\n"
                "braid compare monday/results.csv today/results.csv --fail-on slow\n"
                "braid compare old new --of chosen -o csv > rows.csv\n",
    .common = COMMON_FORMAT | COMMON_TALK,
    .least = 2,
    .most = 2,
    .run = run,
};
