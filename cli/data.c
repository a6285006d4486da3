/*
 * braid data: the parts and their options; make, check and bench: synthetic sets in the real formats, every bad file
 * before training, and how fast samples come.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "data.h"

#define OWN(member) offsetof(data_options, member)

static const option data_option_list[] = {
    OPTION_GROUP("data import, make and preview"),
    {"out", 0, OPTION_TEXT, "PATH", OPTION_REQUIRED,
     "import: the folder for the manifest; make: the folder to write, empty or not there yet; preview: the picture",
     OWN(out)},
    {"size", 0, OPTION_TEXT, "HxW|S", "import: that of most files; make: 48x64; mimii: 4",
     "size of the samples; of mimii the seconds of a sound", OWN(size)},
    {"seed", 0, OPTION_SEED, "S", "1", "where the random numbers start: of splits, of synthetic sets", OWN(seed)},
    OPTION_GROUP("data import"),
    {"streams", 0, OPTION_TEXT, "A,B", "found by their names",
     "folders, endings of names or columns that are streams, in their order", OWN(streams)},
    {"range", 0, OPTION_TEXT, "STREAM=LOW..HIGH", "measured",
     "what counts of a quantity, such as depth=0.3..8m; further ones after commas", OWN(range)},
    {"mask", 0, OPTION_TEXT, "A,B", "none", "streams that get one more channel: 1 where there is a value", OWN(mask)},
    {"fit", 0, OPTION_TEXT, "stretch|crop|pad", "stretch", "how images of another shape are brought to the size",
     OWN(fit)},
    OPTION_GROUP("data make"),
    {"count", 0, OPTION_COUNT, "N", "sunrgbd 1500, fmnist86 2000, mimii 60",
     "training samples; a fifth as many in each other split. preview: samples in the picture, 6", OWN(count)},
    OPTION_GROUP("data bench"),
    {"readers", 0, OPTION_COUNT, "N", "2", "threads that read, from 1 to N", OWN(readers)},
    {"batch", 0, OPTION_COUNT, "B", "16", "samples at a time", OWN(batch)},
    {"seconds", 0, OPTION_REAL, "S", "2", "at least so long for each row", OWN(seconds)},
    OPTION_GROUP("all but data make"),
    OPTION_MAX_PIXELS(OWN(max_pixels)),
    {0}};

int data_on_progress(void *user, int64_t done, int64_t total, const char *what) {
    progress *p = user;
    if (done == 0) progress_begin(p, total > 1000000000 ? 1000000000 : (int)total, p->quiet);
    progress_step(p, done > 1000000000 ? 1000000000 : (int)done, what);
    return interrupted();
}

/* "48x64", or one number for both. */
int data_parse_size(const char *text, int64_t size[2]) {
    char *end;
    if (!text) return 0;
    size[0] = size[1] = strtoll(text, &end, 10);
    if (end != text && *end == 'x') size[1] = strtoll(end + 1, &end, 10);
    if (end == text || *end || size[0] < 1 || size[1] < 1)
        return complain(BRAID_ERROR_ARGUMENT, "--size: expected HEIGHTxWIDTH or a whole number, got \"%s\"", text);
    return 0;
}

static int find_kind(const char *word, braid_data_kind *kind) {
    for (int k = 0; k <= BRAID_DATA_MIMII; k++)
        if (!strcmp(word, braid_data_kind_name((braid_data_kind)k))) {
            *kind = (braid_data_kind)k;
            return 0;
        }
    const char *nearest = nearest_word(word, "sunrgbd fmnist86 mimii", " ");
    return complain(BRAID_ERROR_ARGUMENT, "make: expected sunrgbd, fmnist86 or mimii, got \"%s\"%s%s%s", word,
                    nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

int data_stopped(braid_status status) { return interrupted() ? EXIT_INTERRUPTED : complain_lab(status); }

static int make(const data_options *options, const char *const *words, int count) {
    const char *word = words[0];
    (void)count;
    progress p = {.quiet = options->common.quiet};
    braid_data_make_options wanted = {
        .count = options->count, .seed = options->seed, .progress = data_on_progress, .user = &p};
    braid_data_kind kind = BRAID_DATA_SUNRGBD;
    int code = find_kind(word, &kind);
    if (!code) code = data_parse_size(options->size, wanted.size);
    if (!code && kind == BRAID_DATA_MIMII && options->size && strchr(options->size, 'x'))
        code = complain(BRAID_ERROR_ARGUMENT, "--size: expected seconds such as 4 for the sounds of mimii, got \"%s\"",
                        options->size);
    if (code) return code;
    if (!options->out) return complain(BRAID_ERROR_ARGUMENT, "make: expected --out DIR, the folder to write, got none");
    braid_status status = braid_data_make(kind, options->out, &wanted);
    progress_clear(&p);
    if (status) return complain(interrupted() ? EXIT_INTERRUPTED : (int)status, "%s", braid_lab_message());
    if (!options->common.quiet)
        fprintf(stderr, "%s is a set like %s; look at it with: braid data check %s\n", options->out, word,
                options->out);
    return 0;
}

static int print_check(const data_options *options, const char *folder, braid_data_check_result *result) {
    long long bad = result->problem_count, listed = braid_table_rows(result->problems);
    char rest[64];
    int csv = options->common.format == BRAID_FORMAT_CSV;
    braid_report *report = NULL;
    braid_status status = braid_report_create(&report);
    if (!status) status = braid_report_add_text(report, "kind", "kind", braid_data_kind_name(result->kind));
    if (!status) status = braid_report_add_number(report, "files", "files", (double)result->files);
    if (!status) status = braid_report_add_number(report, "problem_count", "problems", (double)bad);
    snprintf(rest, sizeof rest, "The first %lld problems are listed.", listed);
    braid_table *first = csv ? result->problems : result->counts, *second = csv ? result->counts : result->problems;
    braid_table *warnings = result->warnings;
    *result = (braid_data_check_result){0};
    if (!status)
        status = braid_report_add_table(report, csv ? "problems" : "counts", "", first);
    else
        braid_table_destroy(first);
    if (!status && (braid_table_rows(warnings) || options->common.format == BRAID_FORMAT_JSON))
        status = braid_report_add_table(report, "warnings", "warnings", warnings);
    else
        braid_table_destroy(warnings);
    if (!status && (bad || options->common.format == BRAID_FORMAT_JSON))
        status = braid_report_add_table(report, csv ? "counts" : "problems", "", second);
    else
        braid_table_destroy(second);
    if (!status && listed < bad) status = braid_report_add_words(report, rest);
    if (status) {
        braid_report_destroy(report);
        return complain_lab(status);
    }
    int code = output_report(report, (braid_format)options->common.format);
    if (!code && bad) code = complain(BRAID_ERROR_DATA, "%s: %lld problem%s", folder, bad, bad == 1 ? "" : "s");
    return code;
}

static int check(const data_options *options, const char *const *words, int count) {
    const char *folder = words[0];
    (void)count;
    progress p = {.quiet = options->common.quiet};
    braid_data_check_result result;
    const braid_data_limits limits = limits_of(options->max_pixels);
    braid_status status = braid_data_check(folder, &limits, data_on_progress, &p, &result);
    progress_clear(&p);
    return status ? data_stopped(status) : print_check(options, folder, &result);
}

/* ---- How fast samples come ------------------------------------------------------------------ */

static const braid_column bench_columns[] = {{"readers", "readers", BRAID_CELL_COUNT, 7, 0, 0, 0},
                                             {"samples_per_s", "samples/s", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                             {"images_per_s", "images/s", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                             {"mb_per_s", "MB/s", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                             {"ms_per_sample", "ms/sample", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                             {"cpu_ms_per_sample", "cpu ms/sample", BRAID_CELL_NUMBER, 13, 0, 0, 0},
                                             {"samples", "samples", BRAID_CELL_COUNT, 8, 0, 0, 0}};

/* What was measured, and how long it took. */
typedef struct pace {
    double seconds;
    braid_loader_times times;
} pace;

/* Whole epochs until the time is over; a first one, which also brings the files into memory, does not count. */
static braid_status read_epochs(braid_loader *loader, double least, pace *p) {
    double began = 0;
    braid_loader_times before = {0};
    for (int64_t epoch = 0; epoch < 2 || p->seconds < least; epoch++) {
        braid_batch batch = {.count = 1};
        if (epoch == 1) {
            began = clock_s();
            before = braid_loader_measure(loader);
        }
        braid_status status = braid_loader_start(loader, epoch, 0);
        while (!status && batch.count > 0 && !interrupted()) status = braid_loader_next(loader, &batch);
        if (status || interrupted()) return status;
        p->seconds = clock_s() - began;
    }
    p->times = braid_loader_measure(loader);
    p->times.samples -= before.samples;
    p->times.loaded -= before.loaded;
    p->times.loading_s -= before.loading_s;
    p->times.working_s -= before.working_s;
    return BRAID_OK;
}

static braid_status add_pace(braid_table *table, const braid_data_info *info, int readers, const pace *p) {
    double samples = (double)p->times.samples, loaded = (double)p->times.loaded, bytes = 0;
    for (int i = 0; i < info->streams; i++)
        bytes += (double)(info->size[0] * info->size[1] * info->channels[i]) * (info->dtype == BRAID_DTYPE_U8 ? 1 : 4);
    const double cells[] = {readers,
                            samples / p->seconds,
                            samples / p->seconds * info->streams,
                            samples / p->seconds * bytes / 1e6,
                            p->times.loading_s / loaded * 1e3,
                            p->times.working_s / loaded * 1e3,
                            samples};
    braid_status status = BRAID_OK;
    for (size_t j = 0; j < sizeof cells / sizeof cells[0] && !status; j++)
        status = braid_table_add_number(table, cells[j]);
    return status;
}

static braid_status measure(const braid_data *data, const data_options *options, int readers, braid_table *table) {
    braid_loader *loader = NULL;
    pace p = {0};
    const braid_loader_options wanted = {.batch = options->batch, .threads = readers};
    braid_status status = braid_loader_create(data, &wanted, &loader);
    if (!status) status = read_epochs(loader, options->seconds, &p);
    braid_loader_destroy(loader);
    if (status || interrupted()) return status;
    return add_pace(table, braid_data_describe(data), readers, &p);
}

static int bench(const data_options *options, const char *const *words, int count) {
    const char *folder = words[0];
    (void)count;
    braid_data *data = NULL;
    braid_table *table = NULL;
    int code = options_readers(options->readers);
    if (code) return code;
    const braid_data_options wanted = {.limits = limits_of(options->max_pixels)};
    braid_status status = braid_data_open(folder, &wanted, &data);
    if (!status)
        status = braid_table_create(bench_columns, (int)(sizeof bench_columns / sizeof bench_columns[0]), &table);
    for (int n = 1; n <= options->readers && !status && !interrupted(); n++) status = measure(data, options, n, table);
    braid_data_destroy(data);
    if (!status && !interrupted()) {
        const braid_print_options print = output_options((braid_format)options->common.format);
        return output_table(table, &print);
    }
    braid_table_destroy(table);
    return data_stopped(status);
}

static const struct {
    const char *name;
    int (*run)(const data_options *options, const char *const *words, int count);
    int most;           /* words after the name */
    const char *others; /* options that have no effect here */
} parts[] = {{"import", data_import, MAX_ARGUMENTS, "count readers batch seconds"},
             {"make", make, 1, "streams range mask fit readers batch seconds max-pixels output"},
             {"check", check, 1, "out size count seed streams range mask fit readers batch seconds"},
             {"stats", data_stats, 1, "out size count seed streams range mask fit readers batch seconds"},
             {"preview", data_preview, 1, "seed streams range mask readers batch seconds output"},
             {"bench", bench, 1, "out size count seed streams range mask fit"}};
#define PARTS "import make check stats preview bench"

static int run(const verb *self, int argc, char **argv) {
    data_options options = {.seed = 1, .readers = 2, .batch = 16, .seconds = 2};
    arguments words;
    char why[64];
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
        if (strcmp(words.word[0], parts[j].name) != 0) continue;
        snprintf(why, sizeof why, "expected with another part of data, got %s", parts[j].name);
        code = options_refuse(&words, parts[j].others, why);
        if (code) return code;
        if (words.count < 2 || words.count - 1 > parts[j].most)
            return complain(BRAID_ERROR_ARGUMENT, "%s: expected one argument, got %d", parts[j].name, words.count - 1);
        interrupt_begin();
        return parts[j].run(&options, words.word + 1, words.count - 1);
    }
    const char *nearest = nearest_word(words.word[0], PARTS, " ");
    return complain(BRAID_ERROR_ARGUMENT,
                    "expected import, make, check, stats, preview or bench and what it is for, got \"%s\"%s%s%s",
                    words.word[0], nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

const verb verb_data = {
    .name = "data",
    .group = "Data and networks",
    .arguments = "import FOLDER|TABLE ... --out SET | make KIND --out DIR | check|stats|preview|bench SET",
    .summary = "make a set of your own files or a synthetic one; check, measure, show and time a set",
    .about = "import makes a set of folders, tables or lists of images: a manifest that names the files where they\n"
             "are, and their statistics. Files of a sample have the same name but for their stream; a class is a\n"
             "folder, or the column label of a table. docs/data.md has every layout. stats measures the files of a\n"
             "set: size, range, holes, mean and deviation of each stream and split. preview draws samples x streams.\n"
             "\n"
             "make writes a set of the kind sunrgbd (RGB, depth and orth images whose label depends on all\n"
             "three), fmnist86 (grey images in IDX files) or mimii (sounds of machines), in exactly the files of\n"
             "the real sets, the same for the same seed. check recognises the kind of a folder, reads every file,\n"
             "prints how many samples each split and class has, and lists every file that is missing, truncated,\n"
             "of another size or unreadable. Exit 3 where there is one. bench reads the training samples over and\n"
             "over with 1 to N threads, as training does, and prints how many come in a second, and how long a\n"
             "thread needs for one: by the clock, and of the CPU. Files are in memory by then, as far as it goes.",
    .options = data_option_list,
    .examples = "braid data import photos --out mine\n"
                "braid data import samples.csv --out mine --range depth=0.3..8m --size 224x224 --fit crop\n"
                "braid data stats mine\nbraid data preview mine --out picture.png\n"
                "braid data make sunrgbd --out rooms\nbraid data make sunrgbd --out rooms --size 416x544 --count 100\n"
                "braid data check rooms\nbraid data check rooms -o json\nbraid data bench rooms --readers 2\n",
    .common = COMMON_FORMAT | COMMON_TALK,
    .least = 2,
    .most = MAX_ARGUMENTS,
    .run = run,
};
