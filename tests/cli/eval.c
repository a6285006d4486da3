/*
 * Evaluation on the command line: figures, streams, classes, confusion and scores in every format, and streams watched
 * in training. The first test makes the sets and the runs that the others look at. What is compared number by number
 * runs in this process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/eval.h"
#include "tests/support/shell.h"

#define LITTLE " --batch 8 --device cpu --effort estimate -q --cache-dir '' "
#define EVAL "$B eval -q --device cpu --cache-dir '' "
#define CLASSES 15

static void makes_and_trains(void **state) {
    static const command lines[] = {
        {"cd .. && $B data make sunrgbd --out d --size 32x32 --count 30 -q && "
         "$B data make mimii --out m --size 1 --count 10 -q && "
         "$B train linet18 --data d --out r --width 0.125 --epochs 2 --stream-epochs 1" LITTLE " && "
         "$B train mcresnet18 --data d --out c --width 0.125 --epochs 1" LITTLE " && "
         "$B train ssae --data m --out s --epochs 5" LITTLE " && "
         "$B data make fmnist86 --out f --count 9 -q && $B train lenet86 --data f --out l --epochs 1" LITTLE,
         0, "", "braid train: d: not used by this network: the stream orth\n"},
        {"grep -o '\"stream_[0-2]_[a-z_]*\"' ../r/metrics.jsonl | sort | uniq -c", 0,
         "2 \"stream_0_val_acc\"|2 \"stream_1_blanked_acc\"|2 \"stream_2_blanked_loss\"|2 \"stream_2_contribution\"",
         NULL},
        {"grep -aoh 'contribution/[a-z]*' ../r/events.out.tfevents.* | sort | uniq -c", 0,
         "2 contribution/depth|2 contribution/orth|2 contribution/rgb", NULL},
    };
    (void)state;
    for (size_t j = 0; j < sizeof lines / sizeof lines[0]; j++) shell_expect((void *[]){(void *)&lines[j]});
}

/* ---- In this process ---------------------------------------------------------------------- */

/* Standard output goes to a file until `printed` takes what is in it. */
static int saved_output;

static void catch_output(void) {
    char path[160];
    fflush(stdout);
    saved_output = dup(STDOUT_FILENO);
    snprintf(path, sizeof path, "%s", shell_path("caught"));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(saved_output >= 0 && file >= 0);
    dup2(file, STDOUT_FILENO);
    close(file);
}

static char *caught(void) {
    fflush(stdout);
    dup2(saved_output, STDOUT_FILENO);
    close(saved_output);
    return shell_read("work/caught");
}

/* braid eval RUN --data SET, both beside the work folder, with two more words, as JSON. */
static json_t *evaluate(const char *run, const char *set, const char *name, const char *value) {
    char paths[2][160];
    json_error_t error;
    snprintf(paths[0], sizeof paths[0], "%s", shell_path(run));
    snprintf(paths[1], sizeof paths[1], "%s", shell_path(set));
    char *words[] = {paths[0],   "--data", paths[1],      (char *)name, (char *)value, "-q",
                     "--device", "cpu",    "--cache-dir", "",           "-o",          "json"};
    catch_output();
    int code = verb_eval.run(&verb_eval, (int)(sizeof words / sizeof words[0]), words);
    char *text = caught();
    json_t *value_read = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (code || !value_read) fail_msg("exit %d, %s:\n%s", code, error.text, text);
    free(text);
    return value_read;
}

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!value) fail_msg("expected a \"%s\"", key);
    return json_is_null(value) ? NAN : json_number_value(value);
}

/* What one part says must be what the others say. */
static void parts_agree(void **state) {
    json_t *all = evaluate("../r", "../d", "--split", "train");
    const json_t *confusion = json_object_get(all, "confusion"), *classes = json_object_get(all, "classes");
    const json_t *streams = json_object_get(all, "streams");
    double samples = 0, correct = 0, recalls = 0;
    (void)state;
    assert_int_equal(json_array_size(confusion), CLASSES);
    assert_int_equal(json_array_size(classes), CLASSES);
    assert_int_equal(json_array_size(streams), 7);
    for (size_t c = 0; c < CLASSES; c++) {
        const json_t *row = json_array_get(confusion, c), *class = json_array_get(classes, c);
        const char *name = json_string_value(json_object_get(class, "name"));
        double sum = 0;
        assert_string_equal(name, json_string_value(json_object_get(row, "true")));
        for (size_t k = 0; k < CLASSES; k++)
            sum += number(row, json_string_value(json_object_get(json_array_get(classes, k), "name")));
        assert_true(sum == 2 && number(class, "samples") == 2);
        assert_true(number(class, "correct") == number(row, name));
        samples += sum;
        correct += number(row, name);
        recalls += number(class, "recall");
    }
    assert_true(samples == number(all, "samples"));
    assert_true(fabs(number(all, "accuracy") - correct / samples) < 1e-8);
    assert_true(fabs(number(all, "balanced_accuracy") - recalls / CLASSES) < 1e-8);
    for (size_t j = 0; j < 7; j++) {
        const json_t *row = json_array_get(streams, j), *first = json_array_get(streams, 0);
        double lost = number(first, "accuracy") - number(row, "accuracy");
        assert_true(number(row, "samples") == samples);
        for (size_t k = 0; k < j; k++) assert_true(number(row, "loss") != number(json_array_get(streams, k), "loss"));
        if (j >= 1 && j <= 3)
            assert_true(fabs(number(row, "contribution") - lost) < 1e-8);
        else
            assert_true(isnan(number(row, "contribution")));
    }
    assert_true(fabs(number(json_array_get(streams, 0), "accuracy") - correct / samples) < 1e-8);
    json_decref(all);
}

/* Of two streams one without the other is the other alone. */
static void two_streams(void **state) {
    json_t *all = evaluate("../c", "../d", "--what", "streams");
    const json_t *streams = json_object_get(all, "streams");
    static const char *const names[] = {"", "rgb", "depth", "rgb", "depth"};
    (void)state;
    assert_int_equal(json_array_size(streams), 5);
    for (size_t j = 0; j < 5; j++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(streams, j), "stream")), names[j]);
    for (size_t i = 0; i < 2; i++) {
        assert_true(number(json_array_get(streams, 1 + i), "loss") == number(json_array_get(streams, 4 - i), "loss"));
        assert_true(number(json_array_get(streams, 1 + i), "loss") != number(json_array_get(streams, 0), "loss"));
    }
    json_decref(all);
}

/* The areas are those of the scores that are listed, a file each. */
static void scores_agree(void **state) {
    json_t *all = evaluate("../s", "../m", "--split", "usual");
    const json_t *scores = json_object_get(all, "scores");
    double right = 0, pairs = 0, sum = 0;
    size_t files = json_array_size(scores);
    (void)state;
    assert_true(files >= 2 && number(all, "files") == (double)files &&
                number(all, "abnormal_files") * 2 == (double)files);
    for (size_t i = 0; i < files; i++) {
        const json_t *one = json_array_get(scores, i);
        const char *file = json_string_value(json_object_get(one, "file"));
        const char *class = json_string_value(json_object_get(one, "class"));
        sum += number(one, "score") / (double)files; /* all files are of one length */
        assert_non_null(strstr(file, strcmp(class, "normal") ? "/abnormal/" : "/normal/"));
        for (size_t j = 0; j < files; j++) {
            const json_t *other = json_array_get(scores, j);
            if (!strcmp(class, "normal") || strcmp(json_string_value(json_object_get(other, "class")), "normal"))
                continue;
            pairs++;
            right += number(one, "score") > number(other, "score");
        }
    }
    assert_true(fabs(number(all, "roc_auc") - right / pairs) < 1e-8 && right > pairs / 2);
    assert_true(number(all, "pr_auc") > 0 && number(all, "pr_auc") <= 1);
    if (!(fabs(sum - number(all, "loss")) < 0.05 * sum)) fail_msg("scores %g, loss %g", sum, number(all, "loss"));
    json_decref(all);
}

/* ---- Printing ----------------------------------------------------------------------------- */

#define MANY 50

/* A result of so many classes, where class c is taken for c + 1, c + 2 times, and for itself once. */
static void invent(eval_result *r, braid_data_info *info, int classes, int64_t *counts, braid_class_metrics *each) {
    memset(counts, 0, sizeof *counts * (size_t)classes * (size_t)classes);
    for (int c = 0; c < classes; c++) {
        counts[c * classes + c] = 1;
        counts[c * classes + (c + 1) % classes] += c + 2;
    }
    *r = (eval_result){.model = "m", .info = info, .classes = classes, .counts = counts, .each = each};
    info->folder = "d";
    braid_confusion_measure(counts, classes, each, &r->whole);
}

static void prints(const eval_result *r, braid_format format, const char *const *words) {
    catch_output();
    int code = eval_print(r, EVAL_CONFUSION, format);
    char *text = caught();
    assert_int_equal(code, 0);
    for (; *words; words++)
        if (!strstr(text, *words)) fail_msg("expected \"%s\" in:\n%s", *words, text);
    free(text);
}

/* True classes are rows; names that two classes have, or that the heading has, get a number. */
static void matrices(void **state) {
    static const char *const names[] = {"cat", "dog", "cat", "true"};
    int64_t counts[16];
    braid_class_metrics each[4];
    braid_data_info info = {.classes = 4, .class_names = names};
    eval_result r;
    (void)state;
    assert_int_equal(shell_run("true"), 0);
    invent(&r, &info, 4, counts, each);
    prints(&r, BRAID_FORMAT_CSV,
           (const char *[]){"true,class_0,dog,class_2,class_3\n",
                            "cat,1,2,0,0\ndog,0,1,3,0\ncat,0,0,1,4\ntrue,5,0,0,1\n", NULL});
    prints(&r, BRAID_FORMAT_TABLE,
           (const char *[]){"true     0  1  2  3\n", " 0 cat   1  2  -  -\n", " 3 true  5  -  -  1\n", NULL});
    info.class_names = NULL;
    prints(&r, BRAID_FORMAT_CSV, (const char *[]){"true,0,1,2,3\n", "\n3,5,0,0,1\n", NULL});
}

/* The largest first, those of one size in their order, and no more than 20. */
static void mistakes(void **state) {
    static int64_t counts[MANY * MANY];
    static braid_class_metrics each[MANY];
    braid_data_info info = {.classes = 2, .class_names = (const char *[]){"cat", "dog"}};
    eval_result r;
    (void)state;
    assert_int_equal(shell_run("true"), 0);
    invent(&r, &info, MANY, counts, each);
    counts[10 * MANY + 3] = 51;   /* as many as those of class 49 */
    counts[20 * MANY + 20] = 200; /* no mistakes */
    braid_confusion_measure(counts, MANY, each, &r.whole);
    const char *const words[] = {"The most frequent mistakes\n",
                                 "10            3                   51           80%\n",
                                 "49            cat                 51           98%\n",
                                 "48            49                  50           98%\n",
                                 "The whole matrix",
                                 NULL};
    prints(&r, BRAID_FORMAT_TABLE, words);
    char *text = shell_read("work/caught");
    assert_true(strstr(text, words[1]) < strstr(text, words[2]) && strstr(text, words[2]) < strstr(text, words[3]));
    assert_non_null(strstr(text, "\n31            32 "));
    assert_null(strstr(text, "\n30            31 "));
    assert_null(strstr(text, "\n20            20 "));
    free(text);
    prints(&r, BRAID_FORMAT_CSV, (const char *[]){"true,cat,dog,2,3,", "\n10,0,0,0,51,", NULL});
}

static const command commands[] = {
    {EVAL "../r --data ../d", 0,
     "balanced accuracy|without   rgb|only      orth|precision|study_space|Confusion: a row for each true class", NULL},
    {EVAL "../r --data ../d -o csv", 0,
     "streams,stream,accuracy,loss,contribution,samples|all,,|without,rgb,|only,orth,", NULL},
    {EVAL "../r --data ../d -o csv --what classes", 0,
     "class,name,samples,answers,correct,precision,recall,f1|0,bathroom,|14,study_space,", NULL},
    {EVAL "../r --data ../d -o csv --what confusion | tee c && test $(wc -l <c) = 16", 0,
     "true,bathroom,bedroom,|bathroom,|study_space,", NULL},
    {EVAL "../r --data ../d -o md --what confusion", 0, "- accuracy: |### Confusion| 14 study_space |", NULL},
    {EVAL "../r --data ../d --what classes", 0, "precision", NULL},
    {EVAL "../r --last --data ../d --what classes -o json", 0, "r/last.safetensors|\"classes\"", NULL},
    {EVAL "../r --data ../d --what scores", 2, NULL, "--what: expected streams, classes or confusion, got scores"},
    {EVAL "../s --data ../m --what confusion", 2, NULL, "--what: expected scores for a network without classes"},
    {EVAL "../s --data ../m", 0, "split           test|ROC-AUC|PR-AUC|abnormal files", NULL},
    {EVAL "../s --data ../m --split val", 0, "not defined where all files are of one kind|split           val", NULL},
    {EVAL "../s --data ../m --split val -o json", 0, "\"roc_auc\": null|\"pr_auc\": null", NULL},
    {EVAL "../s --data ../m -o csv", 0, "file,class,score|normal/|abnormal/", NULL},
    {EVAL "../l --data ../f -o csv", 0, "class,name,samples|0,", NULL}, /* one stream; too few for validation */
    {EVAL "../l --data ../f", 0, "split              test|!only", NULL},
    {EVAL "../l --data ../f --split val", 3, NULL, "expected samples in the split val, got none"},
    {EVAL "../r --data ../d --split nosuch", 2, NULL, "usual"},
    /* the size and the statistics of training, which the set need not have; --size is another size */
    {"$B train linet18 --data ../d --out z --size 48x40 --width 0.125 --epochs 1 -o json" LITTLE "> t && " EVAL
     "z --data ../d --batch 8 --what streams -o csv > a && " EVAL
     "z --data ../d --batch 8 --what streams -o csv --size 48x40 | cmp - a && cp -r ../d x && "
     "sed -i 's/0[.][0-9]*/0.3/g' x/norm_stats.json && ! cmp -s x/norm_stats.json ../d/norm_stats.json && " EVAL
     "z --data x --batch 8 --what streams -o csv | cmp - a && " EVAL
     "z --data ../d --batch 8 --what streams -o csv --size 32x32 > b && ! cmp -s a b && "
     "grep -o '\"best_loss\": [^,]*' t | cut -d' ' -f2 > l && cut -d, -f4 a | sed -n 2p | cmp - l && echo same",
     0, "same", NULL},
    /* the classes of training, in their order: not swapped, not fewer, not more, for eval as for predict */
    {"cp -r ../d x && cd x && sed 's/^0: .*/0: bedroom/;s/^1: .*/1: bathroom/' class_names.txt > ../swapped && "
     "sed 's/^14: .*//' class_names.txt | grep . > ../fewer && { cat class_names.txt; echo '15: attic'; } > ../more && "
     "sed -i 's/^14$/0/' */labels.txt && cd .. && for names in swapped fewer more; do cp $names x/class_names.txt; "
     "for verb in eval predict; do $B $verb ../r --data x --device cpu -q; test $? = 3 || exit 1; done; done",
     0, NULL,
     "braid eval: x: expected the classes that ../r/best.safetensors was trained on, as class 0 \"bathroom\", got "
     "\"bedroom\"|braid predict: x: expected the classes|class 14 \"study_space\", got none|"
     "class 15 none, got \"attic\""},
    /* a damaged checkpoint beside a whole older generation */
    {"cp -r ../r x && cp x/last.safetensors x/best.previous.safetensors && truncate -s -1 x/best.safetensors && " EVAL
     "x --data ../d -o json --what classes",
     0, "x/best.previous.safetensors", "x/best.safetensors: |went back to x/best.previous.safetensors"},
    {"cp -r ../r x && rm x/best.safetensors && cp x/last.safetensors x/best.previous.safetensors && " EVAL
     "x --data ../d -o json --what classes",
     0, "x/best.previous.safetensors", "went back to x/best.previous.safetensors"},
    {"cp -r ../r x && truncate -s -1 x/best.safetensors && cp x/best.safetensors x/best.previous.safetensors && " EVAL
     "x --data ../d",
     4, NULL, "x/best.safetensors: |!went back"},
    {"$B train ssae --data ../m --out s --epochs 1 --stream-epochs 1" LITTLE "; code=$?; test ! -e s && exit $code", 2,
     NULL, "--stream-epochs: expected a network with several streams, got one"},
    {"$B train ssae --data ../m --out s --stratified" LITTLE, 2, NULL,
     "--stratified: expected samples of several classes in ../m, got one class"},
    {"script -qec \"stty cols 70; " EVAL "../r --data ../d --what confusion\" /dev/null", 0,
     "The most frequent mistakes|--what confusion -o csv|of the class", NULL},
};
/* A card that another program wrote, with blanks between its parts and letters as numbers, is compared as any other. */
static void cards_may_be_spelled_otherwise(void **state) {
    feeding f = {0};
    char *card = NULL, spaced[4096] = "";
    size_t used = 0;
    (void)state;
    assert_int_equal(shell_run("$B data make sunrgbd --out x --size 16 --count 2 -q"), 0);
    assert_int_equal(braid_data_open(shell_path("x"), NULL, &f.data), BRAID_OK);
    f.info = braid_data_describe(f.data);
    assert_int_equal(braid_data_card(f.data, &card), BRAID_OK);
    for (const char *c = card; *c && used + 8 < sizeof spaced; c++) {
        used += (size_t)snprintf(spaced + used, sizeof spaced - used, *c == 'b' ? "\\u0062" : "%c", *c);
        if (strchr(":[", *c)) spaced[used++] = ' ';
    }
    assert_int_equal(card_check_classes(spaced, &f, "a model"), 0);
    assert_non_null(strstr(spaced, "\\u0062athroom"));
    assert_int_equal(card_check_classes("{\"classes\": [ \"a\" ]}", &f, "a model"), BRAID_ERROR_DATA);
    assert_int_equal(card_check_classes("no card", &f, "a model"), BRAID_ERROR_DATA);
    braid_text_destroy(card);
    braid_data_destroy(f.data);
}

#define COMMANDS (sizeof commands / sizeof commands[0])

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static struct CMUnitTest tests[7 + COMMANDS] = {
        cmocka_unit_test(makes_and_trains),
        cmocka_unit_test(parts_agree),
        cmocka_unit_test(two_streams),
        cmocka_unit_test(scores_agree),
        cmocka_unit_test(matrices),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(cards_may_be_spelled_otherwise),
    };
    shell_tests(tests + 7, commands, COMMANDS);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
