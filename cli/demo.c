/*
 * braid demo: a tour in under a minute on two cores. Every stop is a command that a user could type, run by this very
 * program and shown as it is typed: a set is made, a small LINet learns it, is interrupted by SIGTERM and resumed, is
 * evaluated and asked; then kernels race. All of it lies in a folder that was not there before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

typedef struct demo_options {
    common_options common;
    const char *out;
    uint64_t seed;
    int count, epochs;
    double seconds;
} demo_options;

#define OFFSET(member) offsetof(demo_options, member)
static const option demo_option_list[] = {
    {"out", 0, OPTION_TEXT, "DIR", "braid-demo, or braid-demo-2 where that exists, ...", "folder to make", OFFSET(out)},
    {"count", 0, OPTION_COUNT, "N", "1500", "training samples", OFFSET(count)},
    {"epochs", 0, OPTION_COUNT, "N", "10", "of training, 2 or more", OFFSET(epochs)},
    {"seconds", 0, OPTION_REAL, "S", "1", "time budget of each race", OFFSET(seconds)},
    {"seed", 0, OPTION_SEED, "S", "1", "where the random numbers start", OFFSET(seed)},
    {0}};

#define PATH_BYTES 4096
#define MOST_WORDS 40

typedef struct tour {
    const demo_options *options;
    char folder[PATH_BYTES], rooms[PATH_BYTES + 16], run[PATH_BYTES + 16], metrics[PATH_BYTES + 32];
    int stop; /* the stops are numbered */
} tour;

static const char *bold = "", *dim = "", *plain = "";

static void set_colours(void) {
    if (!output_options(BRAID_FORMAT_TABLE).colour) return;
    bold = "\033[1m";
    dim = "\033[2m";
    plain = "\033[0m";
}

static void print_title(tour *t, const char *title) {
    printf("\n%s%d. %s%s\n", bold, ++t->stop, title, plain);
    fflush(stdout);
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* The words of a command, and those of them that a reader need not see. */
typedef struct command_line {
    const char *words[MOST_WORDS + 1];
    int count, shown;
} command_line;

static void add_words(command_line *c, const char *const *words) {
    for (; *words && c->count < MOST_WORDS; words++) c->words[c->count++] = *words;
}

/* What every command that computes gets from the demo's own options. */
static void add_common(command_line *c, const common_options *o, char threads[16]) {
    c->shown = c->count;
    snprintf(threads, 16, "%d", o->threads);
    if (o->device) add_words(c, (const char *const[]){"--device", o->device, NULL});
    if (o->threads) add_words(c, (const char *const[]){"--threads", threads, NULL});
    if (o->cache_dir) add_words(c, (const char *const[]){"--cache-dir", o->cache_dir, NULL});
    if (o->disable) add_words(c, (const char *const[]){"--disable", o->disable, NULL});
    if (o->repro) add_words(c, (const char *const[]){"--repro", "threads", NULL});
    if (o->quiet) add_words(c, (const char *const[]){"--quiet", NULL});
}

static void show(const command_line *c) {
    printf("%s$ braid", dim);
    for (int j = 0; j < c->shown; j++) printf(" %s", c->words[j]);
    printf("%s\n", plain);
    fflush(stdout);
}

/* Starts this program with the words of a command. */
static int start(const command_line *c, pid_t *child) {
    char *argv[MOST_WORDS + 2] = {"braid"};
    for (int j = 0; j < c->count; j++) argv[j + 1] = (char *)c->words[j];
    *child = fork();
    if (*child < 0) return complain(BRAID_ERROR_MEMORY, "cannot start %s: %s", c->words[0], strerror(errno));
    if (*child > 0) return 0;
    execv("/proc/self/exe", argv);
    _exit(BRAID_ERROR_DEVICE);
}

/* Its exit code. Ctrl-C reaches the child, too, which saves what it has. */
static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return complain(BRAID_ERROR_DEVICE, "cannot wait for a command: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERRUPTED;
}

static int run_command(const tour *t, const char *const *words, int computes) {
    command_line c = {.count = 0};
    char threads[16];
    pid_t child;
    add_words(&c, words);
    c.shown = c.count;
    if (computes) add_common(&c, &t->options->common, threads);
    show(&c);
    int code = start(&c, &child);
    if (!code) code = wait_for(child);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}

/* ---- Training ------------------------------------------------------------------------------- */

/* Rows of the run so far: one for each epoch. */
static int epochs_done(const tour *t) {
    FILE *file = fopen(t->metrics, "r");
    int rows = 0, letter;
    while (file && (letter = fgetc(file)) != EOF) rows += letter == '\n';
    if (file) fclose(file);
    return rows;
}

/* 1: the child has ended, and waits to be waited for. */
static int has_ended(pid_t child) {
    siginfo_t ended = {0};
    return waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == child;
}

/* Sends SIGTERM, which is the same as Ctrl-C and not ignored in the background, somewhere in the second epoch. A user
 * who was quicker has sent one already. */
static void interrupt_later(const tour *t, pid_t child) {
    const struct timespec little = {.tv_nsec = 20000000};
    while (epochs_done(t) < 1) {
        if (interrupted() || has_ended(child)) return;
        nanosleep(&little, NULL);
    }
    for (int j = 0; j < 10; j++) nanosleep(&little, NULL);
    if (!interrupted()) kill(child, SIGTERM);
}

static int train(const tour *t, const char *epochs, int resume) {
    command_line c = {.count = 0};
    char threads[16];
    pid_t child;
    if (resume)
        add_words(&c, (const char *const[]){"train", "--resume", t->run, NULL});
    else
        add_words(&c, (const char *const[]){"train", "linet18", "--data", t->rooms, "--out", t->run, "--width", "0.125",
                                            "--epochs", epochs, "--rate", "0.003", "--effort", "estimate", NULL});
    add_common(&c, &t->options->common, threads);
    show(&c);
    int code = start(&c, &child);
    if (code) return code;
    if (!resume) interrupt_later(t, child);
    return wait_for(child);
}

/* A short run may be over before the signal comes; then there is nothing to go on with. */
static int show_training(tour *t) {
    char epochs[16];
    snprintf(epochs, sizeof epochs, "%d", t->options->epochs);
    print_title(t, "A small LINet learns it. Three streams side by side; after the first epoch it is interrupted");
    int code = train(t, epochs, 0);
    if (code != EXIT_INTERRUPTED || interrupted()) return code;
    print_title(t, "Interrupted and saved. --resume continues bit for bit, with the options that it began with");
    return train(t, epochs, 1);
}

/* ---- Data, judging, asking ------------------------------------------------------------------- */

static int show_data(tour *t) {
    char count[16], seed[32];
    snprintf(count, sizeof count, "%d", t->options->count);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)t->options->seed);
    print_title(t, "A data set: 15 kinds of room, each sample an rgb, a depth and an orth image");
    return run_command(t,
                       (const char *const[]){"data", "make", "sunrgbd", "--out", t->rooms, "--size", "32", "--count",
                                             count, "--seed", seed, t->options->common.quiet ? "--quiet" : NULL, NULL},
                       0);
}

static int show_eval(tour *t) {
    print_title(t, "How good is it, and what does each stream add? Each is blanked in turn");
    return run_command(t, (const char *const[]){"eval", t->run, "--data", t->rooms, "--what", "streams", NULL}, 1);
}

static int show_prediction(tour *t) {
    static const char *const streams[] = {"rgb", "depth", "orth"};
    char words[3][PATH_BYTES + 64], label[PATH_BYTES + 64];
    int answer = -1;
    for (int i = 0; i < 3; i++)
        snprintf(words[i], sizeof words[i], "%s=%s/test/%s/00000.png", streams[i], t->rooms, streams[i]);
    print_title(t, "One sample it has never seen: three files in, classes out");
    int code = run_command(t, (const char *const[]){"predict", t->run, words[0], words[1], words[2], NULL}, 1);
    if (code) return code;
    snprintf(label, sizeof label, "%s/test/labels.txt", t->rooms);
    FILE *file = fopen(label, "r");
    if (file && fscanf(file, "%d", &answer) == 1) printf("   %s says: class %d\n", label, answer);
    if (file) fclose(file);
    return 0;
}

static int show_race(tour *t) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%g", t->options->seconds);
    print_title(t, "Why is it quick? Kernels are checked, then race; the fastest is taken, a tie goes to the vendor");
    return run_command(
        t,
        (const char *const[]){"bench", "conv2d_fwd:f32:n3:b2:hw26x34:c128:k128:rs3x3:pad1", "--seconds", seconds, NULL},
        1);
}

/* ---- The tour -------------------------------------------------------------------------------- */

static void print_machine_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    (void)user, (void)section, (void)hint;
    printf("   %-18s %s\n", name, value);
}

static int show_machine(tour *t) {
    braid_context *context = NULL;
    print_title(t, "This machine");
    int code = context_open(&t->options->common, &context);
    if (code) return code;
    braid_status status = braid_context_describe(context, print_machine_row, NULL);
    braid_context_destroy(context);
    return status ? complain_braid(status) : 0;
}

static void show_end(const tour *t, double started_s) {
    printf("\n%sWhere it lies%s\n", bold, plain);
    printf("   %s/  the images, their labels and statistics\n", t->rooms);
    printf("   %s/  best.safetensors and last.safetensors: the model, with all that predict and --resume need;\n",
           t->run);
    printf("   %*s   metrics.jsonl and event files: tensorboard --logdir %s\n", (int)strlen(t->run), "", t->run);
    printf("\n%sTry next%s\n", bold, plain);
    printf("   braid eval %s --data %s\n", t->run, t->rooms);
    printf("   braid predict %s %s/test --top 1\n", t->run, t->rooms);
    puts("   braid explain linet18    every kernel of a network, and why it was taken");
    puts("   braid train --help       for your own data; docs/data.md has the folders and files");
    puts("   braid doctor             what is missing here, and how to get it");
    printf("\n%.0f seconds; remove %s when you have seen enough\n", clock_s() - started_s, t->folder);
}

/* A folder that is not there yet. */
static int make_folder(tour *t) {
    const char *wanted = t->options->out ? t->options->out : "braid-demo";
    int used = snprintf(t->folder, sizeof t->folder, "%s", wanted);
    for (int j = 2; mkdir(t->folder, 0777) != 0; j++) {
        if (errno != EEXIST || j > 1000 || used < 0 || (size_t)used + 8 > sizeof t->folder)
            return complain(BRAID_ERROR_DISK, "%s: cannot make the folder: %s", t->folder, strerror(errno));
        snprintf(t->folder + used, sizeof t->folder - (size_t)used, "-%d", j);
    }
    snprintf(t->rooms, sizeof t->rooms, "%s/rooms", t->folder);
    snprintf(t->run, sizeof t->run, "%s/run", t->folder);
    snprintf(t->metrics, sizeof t->metrics, "%s/metrics.jsonl", t->run);
    return 0;
}

static int go(tour *t) {
    static int (*const stops[])(tour *) = {show_machine, show_data,       show_training,
                                           show_eval,    show_prediction, show_race};
    double started_s = clock_s();
    int code = make_folder(t);
    set_colours();
    if (!code)
        printf("%sbraid %s: networks with several input streams%s. All of this is real; it lies in %s\n", bold,
               braid_version(), plain, t->folder);
    for (size_t j = 0; j < sizeof stops / sizeof stops[0] && !code; j++) {
        code = stops[j](t);
        if (!code && interrupted()) code = EXIT_INTERRUPTED;
    }
    if (!code) show_end(t, started_s);
    return code;
}

static int run(const verb *self, int argc, char **argv) {
    demo_options options = {.seed = 1, .seconds = 1, .count = 1500, .epochs = 10};
    arguments words;
    tour t = {.options = &options};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (options.epochs < 2)
        return complain(BRAID_ERROR_ARGUMENT, "--epochs: expected 2 or more, got %d", options.epochs);
    interrupt_begin();
    return go(&t);
}

const verb verb_demo = {
    .name = "demo",
    .group = "Start",
    .arguments = "",
    .summary = "a tour in under a minute: data, training, Ctrl-C, resuming, evaluation, prediction, races",
    .about = "Makes a small set of rgb, depth and orth images, trains a small LINet on it, interrupts and resumes it,\n"
             "shows its accuracy and what each stream adds, asks it about one sample, and races some kernels. Each\n"
             "stop is a command that you can type, and is shown. Everything lies in a new folder.",
    .options = demo_option_list,
    .examples = "braid demo\nbraid demo --device cpu --threads 1 --out tour\n",
    .common = COMMON_CONTEXT | COMMON_TALK,
    .shares_cores = 1,
    .run = run,
};
