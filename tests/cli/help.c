/*
 * Help in all its forms: the tables of options are whole, aliases mean what they say, man pages name every option and
 * are read by groff without a word, the completion completes, and docs/cli_reference.md is what the program prints.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "tests/support/shell.h"

/* bash with the completion, asked for what follows the words of a line; $1 is the line with blanks. */
#define COMPLETE                                                                                              \
    "$B help --pages p && complete() { PATH=$(dirname $B):$PATH bash -c 'complete() { :; }; . p/braid.bash; " \
    "read -ra COMP_WORDS <<<\"$0\"; [[ $0 == *\" \" ]] && COMP_WORDS+=(\"\"); "                               \
    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _braid; printf \"%s\\n\" \"${COMPREPLY[@]}\"' \"$1\"; } && "

static const command commands[] = {
    {"$B --help", 0, "Start:\n|Data and networks:\n|Kernels and speed:\n|About braid:\n|  train    train a network",
     NULL},
    {"$B train --help", 0,
     "\nLength:\n|\nUpdates:\n|\nLoss:\n|\nNetwork:\n|\nDevice and kernels:\n|\nOutput:\n|(default: 10; with --resume|"
     "also --lr, --learning-rate)|also --workers|also --batch-size|(default: 32; also|(required; with --resume",
     NULL},
    {"for v in train bench predict; do $B $v --help; done | sed '/^Examples/,$d' | awk 'length > 100' | wc -l", 0,
     "0\n", NULL},
    /* aliases, with _ as good as - */
    {"$B train linet18 --data d --out r --lr 1 --learning_rate 2 --batch-size x", 2, NULL, "--batch: expected a whole"},
    {"$B eval r --data d --workers 0", 2, NULL, "--readers: expected a whole number from 1"},
    {"$B train linet18 --data d --out r --optimizer sdg", 2, NULL, "--optimiser: expected |did you mean sgd"},
    {"$B train linet18 --data d --out r --weight_decay", 2, NULL, "--weight_decay: expected R[,GROUP=R...] after it"},
    {"$B doctor --lr 3", 2, NULL, "unknown option --lr: it belongs to train"},
    /* pages */
    {"$B help --pages p && ls p | wc -l && for f in p/*.1; do groff -man -ww -Tutf8 $f >> text || exit 9; done; "
     "test -s text && grep -c . p/braid.bash > n && bash -n p/braid.bash",
     0, "17\n", NULL},
    {"$B help --pages p && man -l p/braid-train.1 | col -bx | tr -s ' \\n' '  '", 0,
     "NAME braid-train - train a network|--rate R[,GROUP=R...]|(default: 0.001; sgd 0.01; also --lr, --learning-rate)",
     NULL},
    {"$B help --pages p bench", 2, NULL, "--pages: expected no verb beside it, got bench"},
    {"$B help --pages /proc/nowhere", 7, NULL, "/proc/nowhere"},
    {"$B help --markdown | awk '!/^[|]/ && length > 120' | wc -l", 0, "0\n", NULL},
    /* completion */
    {COMPLETE "complete 'braid tr' && complete 'braid train --res' && complete 'braid train linet3' && "
              "complete 'braid explain --eff' && complete 'braid explain x --effort e' && complete 'braid help pro'",
     0, "train\n--resume\nlinet34\n--effort\nestimate\nexhaustive\nprofile\n", NULL},
    {COMPLETE "BRAID_SUITE_PATH=$S complete 'braid bench smo' && complete 'braid predict r --net lenet' && "
              "touch mine.txt && complete 'braid bench mi'",
     0, "smoke\nlenet86\nmine.txt\n", NULL},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* ---- The tables ----------------------------------------------------------------------------- */

typedef struct seen_options {
    const verb *verb;
    char names[4096]; /* with a blank on each side */
    const char *page; /* a man page, - as \- */
    int count;
} seen_options;

/* An option that takes a value says what holds without it; names and letters are there once. */
static void check_option(const option *o, void *user) {
    seen_options *seen = user;
    char word[64];
    if (o->kind == OPTION_HEADING) return;
    snprintf(word, sizeof word, " %s ", o->name);
    if (strstr(seen->names, word)) fail_msg("braid %s has --%s twice", seen->verb->name, o->name);
    strncat(seen->names, word, sizeof seen->names - strlen(seen->names) - 1);
    if ((o->kind == OPTION_FLAG) != (o->normal == NULL))
        fail_msg("braid %s: --%s: a value has a default, and a flag has none", seen->verb->name, o->name);
    assert_int_equal(o->kind == OPTION_FLAG, o->value == NULL);
    assert_ptr_equal(option_find(seen->verb, o->name, strlen(o->name), 0), o);
    if (o->letter) assert_ptr_equal(option_find(seen->verb, "", 0, o->letter), o);
    seen->count++;
}

static void tables_are_whole(void **state) {
    (void)state;
    for (int i = 0; verbs[i]; i++) {
        seen_options seen = {.verb = verbs[i]};
        options_each(verbs[i], check_option, &seen);
        assert_true(seen.count > 0);
        assert_true(verbs[i]->group && verbs[i]->summary && verbs[i]->about);
    }
}

/* A default that a verb has of its own is one of an option that it has. */
static void own_defaults_are_of_options(void **state) {
    char name[64], room[128];
    (void)state;
    for (int i = 0; verbs[i]; i++) {
        for (const char *at = verbs[i]->normals; at && *at; at += strcspn(at, "|"), at += *at == '|') {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "="), at);
            const option *o = option_find(verbs[i], name, strlen(name), 0);
            if (!o) fail_msg("braid %s has no --%s", verbs[i]->name, name);
            assert_ptr_equal(option_normal(verbs[i], o, room, sizeof room), room);
        }
    }
}

static void check_in_page(const option *o, void *user) {
    seen_options *seen = user;
    char word[64] = "\\-\\-";
    size_t used = strlen(word);
    if (o->kind == OPTION_HEADING) return;
    for (const char *c = o->name; *c && used + 2 < sizeof word; c++) {
        if (*c == '-') word[used++] = '\\';
        word[used++] = *c;
    }
    word[used] = 0;
    if (!strstr(seen->page, word)) fail_msg("braid-%s.1 does not name --%s", seen->verb->name, o->name);
    seen->count++;
}

static void man_pages_name_every_option(void **state) {
    (void)state;
    assert_int_equal(shell_run("$B help --pages p"), 0);
    for (int i = 0; verbs[i]; i++) {
        char path[64];
        snprintf(path, sizeof path, "work/p/braid-%s.1", verbs[i]->name);
        char *page = shell_read(path);
        seen_options seen = {.verb = verbs[i], .page = page};
        options_each(verbs[i], check_in_page, &seen);
        assert_true(seen.count > 0);
        free(page);
    }
}

static void the_reference_is_printed(void **state) {
    char *page = calloc(1, 1u << 20);
    FILE *file = fopen("docs/cli_reference.md", "r");
    (void)state;
    assert_true(page && file);
    page[fread(page, 1, (1u << 20) - 1, file)] = 0;
    fclose(file);
    assert_int_equal(shell_run("$B help --markdown"), 0);
    char *printed = shell_read("out");
    if (strcmp(page, printed) != 0) fail_msg("docs/cli_reference.md is not what braid help --markdown prints");
    free(printed);
    free(page);
}

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS + 4];
    shell_tests(tests, commands, COMMANDS);
    tests[COMMANDS] = (struct CMUnitTest)cmocka_unit_test(tables_are_whole);
    tests[COMMANDS + 1] = (struct CMUnitTest)cmocka_unit_test(own_defaults_are_of_options);
    tests[COMMANDS + 2] = (struct CMUnitTest)cmocka_unit_test(man_pages_name_every_option);
    tests[COMMANDS + 3] = (struct CMUnitTest)cmocka_unit_test(the_reference_is_printed);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
