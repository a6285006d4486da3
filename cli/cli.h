/*
 * What the verbs share: options, messages, output, progress. One file per verb; each declares its
 * options in a table that is parsed and printed by the same code, so that help cannot lie.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_H
#define BRAID_CLI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "braid_lab.h"

#define EXIT_INTERRUPTED 130

/* ---- Options ------------------------------------------------------------------------------ */

typedef enum option_kind {
    OPTION_FLAG,    /* int: 1 when given */
    OPTION_TEXT,    /* const char * */
    OPTION_WHOLE,   /* int, 0 or more: where 0 has a meaning of its own */
    OPTION_COUNT,   /* int, 1 or more; what is not given stays as it was */
    OPTION_STEPS,   /* the same, of what there may be very many */
    OPTION_SEED,    /* uint64_t */
    OPTION_REAL,    /* double, above 0: seconds, factors */
    OPTION_SHARE,   /* double, 0 to 1 */
    OPTION_AMOUNT,  /* double, 0 or more */
    OPTION_CHOICE,  /* int: which of the words in `value`, "table|csv|json|md", counted from 0 */
    OPTION_HEADING, /* none: `help` is the title of the options that follow */
} option_kind;

typedef struct option {
    const char *name; /* without the dashes; NULL ends the list */
    char letter;      /* 0: has none */
    option_kind kind;
    const char *value;  /* what follows it in help: "N", "DIR", "a|b" */
    const char *normal; /* what holds where it is not given, in words; OPTION_REQUIRED; NULL: of a flag, which is off */
    const char *help;
    size_t offset; /* of the variable in the struct that options_parse fills */
} option;
#define OPTION_REQUIRED "required"
#define FIT_HELP "of an imported set: how images of another shape are brought to the size"
#define OPTION_GROUP(title) \
    { "", 0, OPTION_HEADING, NULL, NULL, title, 0 }

/* Options of every verb that opens a context. The first member of a verb's own struct of options. */
typedef struct common_options {
    const char *device, *cache_dir, *disable;
    int threads, repro;
    int format; /* braid_format */
    int quiet, verbose, help;
} common_options;

/* Options of every verb that takes a network: the second member of its struct of options. */
typedef struct network_options {
    int classes, batch, fusion, zero_init, dtype;
    const char *streams; /* a number, or names with commas between them */
    const char *channels, *layers, *size, *dilate, *init;
    double width, dropout; /* dropout: NETWORK_NOT_GIVEN unless it was given, as 0 may be */
    uint64_t seed;
    const char *file;           /* the model file whose network it is; NULL: the one that is named */
    const braid_data_info *set; /* whose streams, channels and classes it takes where none were typed; NULL: none */
} network_options;
#define NETWORK_NOT_GIVEN (-1)

#define MAX_ARGUMENTS 256

typedef struct verb {
    const char *name;
    const char *group;     /* the heading that it stands under in the list of verbs */
    const char *arguments; /* "PROBLEM|SUITE ..." */
    const char *summary;   /* one line */
    const char *about;     /* paragraphs of `braid VERB --help` */
    const option *options; /* the verb's own; ends at a NULL name */
    const char *normals;  /* defaults of shared options that differ here: "batch=32|size=that of the set"; NULL: none */
    const char *examples; /* whole lines */
    unsigned common;      /* COMMON_ bits: which common options it takes */
    int least, most;      /* number of arguments */
    int shares_cores;     /* 1: computes for long beside other programs */
    /* argv[0] is the first word after the verb. Returns an exit code. */
    int (*run)(const struct verb *self, int argc, char **argv);
} verb;

#define COMMON_CONTEXT 1u /* --device --threads --repro --cache-dir --disable */
#define COMMON_FORMAT 2u  /* -o */
#define COMMON_TALK 4u    /* -q */
#define COMMON_NETWORK 8u /* --streams --channels --classes --width ... */
#define COMMON_DETAIL 16u /* -v */

extern const verb verb_eval, verb_train;
extern const verb verb_bench, verb_check, verb_compare, verb_convert, verb_data, verb_demo, verb_doctor, verb_explain,
    verb_help, verb_predict, verb_profile, verb_tune, verb_version;

/* All verbs, ended by NULL. */
extern const verb *const verbs[];
const verb *verb_find(const char *name);
/* Says that there is no such verb, and which one may have been meant. Returns an exit code. */
int verb_unknown(const char *name);

typedef struct arguments {
    const char *word[MAX_ARGUMENTS];
    int count;
    const option *given[MAX_ARGUMENTS];    /* the options */
    const char *given_text[MAX_ARGUMENTS]; /* their values; "": of a flag */
    int given_count;
} arguments;

/* Fills the verb's struct of options, which begins with common_options, and the list of arguments.
 * Returns 0, or an exit code after a message. Where --help is given nothing else is looked at. */
int options_parse(const verb *v, int argc, char **argv, void *values, arguments *words);

/* Refuses options that have no effect: those of a list of names, blanks between them. Returns 0 where none was given,
 * or an exit code after "--name: why". */
int options_refuse(const arguments *words, const char *names, const char *why);

/* How many pixels an image may have, the same in every verb that reads images. */
#define OPTION_MAX_PIXELS(offset) \
    { "max-pixels", 0, OPTION_STEPS, "N", "16777216", "images with more pixels are refused by their header", offset }

/* Refuses more threads that read than a loader takes. Returns 0, or an exit code after a message. */
int options_readers(int readers);

/* Calls visit for every option of a verb, its own first, and for the headings before them. */
void options_each(const verb *v, void (*visit)(const option *o, void *user), void *user);

/* The option of a verb that a name of so many bytes means: its own name or an alias, with _ for - allowed; or a letter,
 * where that is not 0. NULL: there is none. */
const option *option_find(const verb *v, const char *name, size_t length, char letter);

/* What holds where an option of a verb is not given; NULL: of a flag. */
const char *option_normal(const verb *v, const option *o, char *room, size_t size);

/* The aliases of an option, "--lr, --learning-rate"; "": it has none. */
void option_aliases(const verb *v, const option *o, char *text, size_t size);

/* What an option does, its default and its aliases, in one line. */
void option_describe(const verb *v, const option *o, char *text, size_t size);

/* Gives an option the value that a text means. Returns 0, or an exit code after a message. */
int option_set(const verb *v, const option *o, const char *text, void *values);

/* The text of `braid VERB --help` on standard output. Returns an exit code. */
int help_print(const verb *v);

/* The word of a list (separated by one of `separators`) that is closest to what was typed, or NULL. The result is
 * good until the next call. */
const char *nearest_word(const char *typed, const char *list, const char *separators);

/* Tells of a name of --streams that a set has not, and of the one that may have been meant, out of those that the
 * message of braid_lab lists in (). Returns an exit code. */
int complain_streams(const char *asked);

/* Kinds of names. */
#define NAMES_NETWORKS 1u
#define NAMES_SUITES 2u
#define NAMES_OPS 4u /* with their passes: conv2d_fwd */

/* The name of some kinds that is closest to what was typed, or NULL. Good until the next call. */
const char *nearest_name(const char *typed, unsigned kinds);

/* The name of an op and pass, "conv2d_fwd" or "bn_stats"; 0 where there is no such pass. */
int op_full_name(braid_op_id op, braid_pass pass, char *text, size_t size);

/* A problem of an op and pass, by their name; 0 where there are none of that name. */
int op_example(const char *name, char text[BRAID_PROBLEM_TEXT]);

/* ---- Talking ------------------------------------------------------------------------------ */

/* "braid VERB: message" on standard error. Returns the code. */
__attribute__((format(printf, 2, 3))) int complain(int code, const char *format, ...);
void complain_as(const char *verb_name); /* the verb that complain() names */

/* The exit code of a failed call, after its message: of braid.h, and of braid_lab.h. */
int complain_braid(braid_status status);
int complain_lab(braid_status status);

/* The same of a problem that could not be read: its message, what may have been meant, and a whole problem. */
int problem_complain(braid_status status, const char *text);

/* ---- Paths -------------------------------------------------------------------------------- */

/* 1 where both are there and lead to the same. */
int path_is_same(const char *a, const char *b);

/* 1 where a path, which need not be there, is the folder or below it; a folder of NULL has nothing in it. */
int path_is_inside(const char *path, const char *folder);

/* ---- Networks ----------------------------------------------------------------------------- */

/* 1 where a word names one of braid's networks. */
int network_is_name(const char *word);

/* The name of a network's kind, "linet18". */
void network_kind(const braid_net *net, char *name, size_t size);

/* The network whose name is nearest to a word, or NULL. Good until the next call. */
const char *network_nearest(const char *word);

/* Says that there is no such network, and which one may have been meant. Returns an exit code. */
int network_unknown(const char *word);

/* Refuses options of networks, or those that describe one, where none is wanted: "--width: why". Returns 0 where none
 * was given, else an exit code. */
int network_refuse(const network_options *options, const char *why);
int network_refuse_description(const network_options *options, const char *why);

/* 1 where an option that describes a network was given. */
int network_is_described(const network_options *options);

/* 1 where a network can take the streams, channels and classes of a set: a linet or an mcresnet. */
int network_takes_set(const char *name);

/* The number of --streams; 0: none was given, or names. */
int network_stream_count(const network_options *options);

/* The network of a name with the options that were given. Returns 0, or an exit code after a message. */
int network_open(const char *name, const network_options *options, braid_net **net);

/* 1 where a word is the folder of a run, or a model file. */
int network_is_run(const char *word);

/* Where a word is a run: its network, and its batch, image size and dtype where they were not typed, go into the
 * options of a verb that takes networks. What they point to is good until the next call. Returns 0, or an exit code
 * after a message. */
int network_take_run(const verb *v, const char *word, const arguments *words, common_options *values);

/* Refuses a word that is no file, and a folder that has no checkpoint. Returns 0, or an exit code after a message. */
int network_check_model(const char *word);

/* Refuses --last where the word is a file: that has no checkpoints. Returns 0, or an exit code after a message. */
int network_refuse_last(const char *word, int last);

/* The model file that a word means: itself, or of the folder of a run its best checkpoint (its last, where that is
 * asked for or there is no other). Of a damaged checkpoint beside a whole older generation it is that one, after a
 * message. */
void network_find_file(const char *word, int last, char *path, size_t size);

/* The dtype, batch and image size that were given; zeros where they were not. Returns 0, or an exit code. */
braid_dtype network_dtype(const network_options *options);
int network_tf32(const network_options *options); /* 1: --dtype tf32, whose dtype is f32 */
const char *network_dtype_name(const network_options *options);
braid_model_options network_model(const network_options *options);
int network_size(const network_options *options, int64_t size[2]);

/* ---- Contexts ----------------------------------------------------------------------------- */

/* Opens the context that the options ask for. Returns 0, or an exit code after a message. */
int context_open(const common_options *options, braid_context **context);

/* ---- Output ------------------------------------------------------------------------------- */

/* Makes writing safe: standard descriptors that were closed are filled, a closed pipe and a
 * file that is too large are errors and no signals. */
void output_begin(void);

/* Closes standard output. Returns `code`, or BRAID_ERROR_DISK after a message where writing failed. A reader that
 * went away is no failure. */
int output_end(int code);

/* 1: nobody reads any more, or the disk is full; there is no point in going on. */
int output_broken(void);

/* What a terminal shows: 0 columns and no colour where standard output is none. */
braid_print_options output_options(braid_format format);

/* Prints a report or a table and destroys it; NULL is fine. Returns 0, or an exit code after a message. */
int output_report(braid_report *report, braid_format format);
int output_table(braid_table *table, const braid_print_options *options);

/* Replaces a file by a text, whole or not at all. Returns 0, or an exit code after a message. */
int output_save(const char *path, const char *text);

/* ---- Progress ----------------------------------------------------------------------------- */

/* Ctrl-C, SIGTERM and SIGHUP ask to stop; a second Ctrl-C or SIGTERM ends the program. What is ignored when the
 * program starts stays ignored. */
void interrupt_begin(void);
int interrupted(void);

/* The limits of a set that a Ctrl-C ends the reading of. */
braid_data_limits limits_of(int64_t max_pixels);

/* On standard error: in place on a terminal, a line each in a pipe, nothing when quiet. */
typedef struct progress {
    int total, quiet, on_terminal;
    double started_s, shown_s; /* at most one line a second in a pipe */
} progress;
void progress_begin(progress *p, int total, int quiet);
void progress_step(progress *p, int index, const char *what); /* index counts from 0 */
void progress_clear(const progress *p);                       /* before anything else is printed */
double clock_s(void);

#endif
