/*
 * Predictions for files and sets: every kind of network, files as training read them, the answers of eval, and what
 * is refused. The sets and runs are made once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shell.h"

#define QUICK " --device cpu -q "
#define TRAIN QUICK "--effort estimate --cache-dir '' > log "
#define ROOM(k) \
    "rgb=$M/d/test/rgb/0000" #k ".png depth=$M/d/test/depth/0000" #k ".png orth=$M/d/test/orth/0000" #k ".png "
#define PREDICT(run) "$B predict $M/" run QUICK

/* Three sets and a run on each; a second network on two of the streams, at another size. */
#define MAKE                                                                                              \
    "mkdir ../made && cd ../made && $B data make sunrgbd --out d --size 32x40 --count 40 -q && "          \
    "$B data make fmnist86 --out f --count 40 -q && $B data make mimii --out m --count 6 --size 1 -q && " \
    "$B train linet18 --data d --out rooms --width 0.125 --batch 8 --epochs 2" TRAIN                      \
    "&& $B train mcresnet18 --data d --out small --width 0.125 --batch 8 --size 24x28 --steps 2" TRAIN    \
    "&& $B train lenet86 --data f --out fashion --epochs 1" TRAIN                                         \
    "&& $B train ssae --data m --out fans --epochs 2" TRAIN

static const command commands[] = {
    /* every kind */
    {PREDICT("rooms") ROOM(3), 0, "rank  class  name|test/rgb/00003.png\n     1 |\n     3 |!\n     4 |!label", NULL},
    {PREDICT("rooms") ROOM(3) "--top 1 -o csv", 0, "sample,rank,class,name,probability\n|/00003.png,1,|!,2,", NULL},
    {PREDICT("rooms/last.safetensors") ROOM(3) "--top 99 -o md", 0, "sample| rank | 15 |! 16 ", NULL},
    {PREDICT("small") "rgb=$M/d/test/rgb/00001.png depth=$M/d/test/depth/00001.png", 0, "test/rgb/00001.png", NULL},
    {PREDICT("fashion") "$M/f/t10k-86-images-idx3-ubyte --top 1", 0, "idx3-ubyte image 0|image 7|!image 8", NULL},
    {PREDICT("fans") "$M/m/0_dB_fan/fan/id_00/abnormal -o csv", 0, "sample,windows,score\n|00000.wav,28,", NULL},
    {PREDICT("fans") "--data $M/m", 0, "windows|score|label|abnormal", NULL},
    {"$B predict --help", 0, "--top|--resize|--like|STREAM=FILE|Nothing is measured", NULL},
    /* files say what the set says: the same rows but for the labels */
    {PREDICT("rooms") "$M/d/test -o csv > a && " PREDICT("rooms") "--data $M/d --split test -o csv > b && "
                                                                  "cut -d, -f1-5 b | cmp - a && wc -l < a",
     0, "25\n", NULL},
    {PREDICT("small") "rgb=$M/d/test/rgb depth=$M/d/test/depth -o csv > a && " PREDICT(
         "small") "--data $M/d --split test -o csv > b && cut -d, -f1-5 b | cmp - a",
     0, NULL, "d: not used by this network: the stream orth\n"},
    {"cp -r $M/d x && sed -i 's/0[.][0-9]*/0.3/g' x/norm_stats.json && " PREDICT(
         "rooms") "x/test -o csv > a && " PREDICT("rooms") "--data x --split test -o csv > b && cut -d, -f1-5 b | cmp "
                                                           "- a",
     0, NULL, NULL},
    {"cp -r $M/rooms x && cp x/last.safetensors x/best.previous.safetensors && truncate -s -1 x/best.safetensors && "
     "$B predict x" QUICK ROOM(3),
     0, "00003.png", "went back to x/best.previous.safetensors"},
    {PREDICT("fashion") "$M/f/t10k-86-images-idx3-ubyte -o csv > a && " PREDICT(
         "fashion") "--data $M/f --split test -o csv > b && cut -d, -f1-5 b | cmp - a",
     0, NULL, NULL},
    {PREDICT("fans") "$M/m/0_dB_fan/fan/id_00/normal/00000000.wav $M/m/0_dB_fan/fan/id_00/abnormal/00000000.wav "
                     "-o csv > a && " PREDICT("fans") "--data $M/m -o csv > b && cut -d, -f1-3 b | head -3 | cmp - a",
     0, NULL, NULL},
    /* a name that ends in a format gets what would be printed, and is written again; nothing is printed */
    {PREDICT("rooms") "--data $M/d --split test -o csv > a && " PREDICT(
         "rooms") "--data $M/d --split test -o csv --out x.csv && " PREDICT("rooms") "--data $M/d --split test --out "
                                                                                     "x.csv && cmp a x.csv",
     0, NULL, NULL},
    {PREDICT("rooms") ROOM(3) "-o json > a && " PREDICT("rooms") ROOM(3) "--out x.json && cmp a x.json && " PREDICT(
         "rooms") ROOM(3) "--out x.json && $B predict $M/rooms --device cpu " ROOM(3) "--out x.md && cat x.md",
     0, "| sample | rank |", "wrote x.md"},
    {PREDICT("rooms") ROOM(3) "-o csv --out x.json; test $? = 2 && ! test -e x.json", 0, NULL, "ends in .csv, as -o"},
    {PREDICT("rooms") "--input $M/rooms/last.safetensors --out x.csv", 2, NULL, "a name such as y.safetensors with"},
    /* the order of samples and words is the caller's; --out has the logits of all */
    {PREDICT("rooms") ROOM(3) ROOM(1) "--top 1 --out y && $B convert --list y", 0, "00003.png|00001.png|2x15|classes",
     NULL},
    {"cp -r $M/d/test/. t; mv t/depth x; " PREDICT("rooms") "depth=x orth=t/orth rgb=t/rgb --top 1", 0,
     "t/rgb/00007.png", NULL},
    /* a model without a card: a set tells how */
    {"$B predict $G/lenet86.weights.safetensors" QUICK "$M/f/t10k-86-images-idx3-ubyte", 3, NULL,
     "expected the size and the statistics|braid.data in the metadata|--like DIR"},
    {"$B predict $G/lenet86.weights.safetensors" QUICK "--like $M/f $M/f/t10k-86-images-idx3-ubyte --top 1", 0,
     "image 7", NULL},
    {"$B predict $G/linet18_n3.weights.safetensors" QUICK "--like $M/d " ROOM(1), 3, NULL,
     "expected the names of 5 classes, as the network has, got 15"},
    {"$B predict $G/linet18_n3.weights.safetensors" QUICK "--data $M/d", 3, NULL, "expected a label from 0 to 4"},
    /* the card of a run counts, whatever --like says */
    {"cp -r $M/d x && sed -i 's/0[.][0-9]*/0.3/g' x/norm_stats.json && sed -i s/bathroom/pool/ x/class_names.txt "
     "&& " PREDICT("rooms") ROOM(1) "--top 15 -o csv > a && " PREDICT("rooms")
         ROOM(1) "--top 15 -o csv --like x > b && "
                 "cmp a b",
     0, NULL, "--like x is not used: ../made/rooms/best.safetensors tells itself how"},
    /* classes without a name are called by their number, also where the run goes on */
    {"for more in '--classes 20' --resume; do $B train linet18 --data $M/d --out r --width 0.125 --batch 8 --epochs 1 "
     "--class-weights $more" TRAIN
     "|| exit 1; done; $B predict r" QUICK ROOM(1) "--top 20 -o csv > a && "
                                                   "cut -d, -f3,4 a | sort -n | tail -6 && "
                                                   "$B predict r --data $M/d --split test --top 20 -o csv" QUICK
                                                   "> b && cut -d, -f1-5 b | grep -c ',class 1[5-9],' && "
                                                   "$B eval r --data $M/d" QUICK "> log",
     0, "14,|!14,class|15,class 15\n16,class 16\n17,class 17\n18,class 18\n19,class 19\n40\n", "!expected"},
    {"$B train lenet86 --data $M/f --out r --classes 12 --steps 1" TRAIN "&& $B predict r" QUICK
     "$M/f/t10k-86-images-idx3-ubyte --top 12 -o csv",
     0, ",11,class 11,|!class 9", NULL},
    /* names are no commands to the terminal */
    {"f=$(printf 'a\\033[31m\\302\\233b'); cp $M/f/t10k-86-images-idx3-ubyte $f; "
     "for o in '--top 1' '--top 3' '--top 1 -o md' '--top 1 -o json'; do $B predict $M/fashion" QUICK "$f $o; done",
     0, "\na\\x1b[31m\\x9bb image 0  |\na\\x1b[31m\\x9bb image 7\n|\n| a\\x1b[31m\\x9bb image 1 |a\\u001B[31m|!\033",
     NULL},
    /* what is refused */
    {PREDICT("rooms"), 2, NULL, "expected files (STREAM=FILE ...), --data DIR"},
    {PREDICT("rooms") ROOM(1) "--data $M/d", 2, NULL, "expected one of files, --data and --input"},
    {PREDICT("rooms") "--data $M/d --resize", 2, NULL, "--resize: expected with files"},
    {PREDICT("rooms") ROOM(1) "--split train", 2, NULL, "--split: expected with --data|got files"},
    {PREDICT("rooms") ROOM(1) "--readers 100000", 2, NULL, "--readers: expected 1 to 256 threads"},
    {PREDICT("rooms") "--data $M/d --size 99999x99999", 2, NULL,
     "size: expected 1 to 65535 pixels on a side|got 99999x99999"},
    {"for verb in eval predict; do $B $verb $M/rooms/best.safetensors --last --data $M/d" QUICK
     "; test $? = 2 || exit 1; done",
     0, NULL, "braid eval: --last: expected the folder of a run, got the file |braid predict: --last: expected"},
    {PREDICT("rooms") ROOM(1) "--size 9x9", 2, NULL, "--size: expected with --data"},
    {PREDICT("rooms") "rgb=$M/d/test/rgb/00001.png orth=$M/d/test/orth/00001.png --top 1 -o csv", 0,
     "d/test/rgb/00001.png,1,", "braid predict: no files of stream depth: it is blanked"},
    {PREDICT("rooms") ROOM(1) "depth=$M/d/test/depth/00002.png", 3, NULL,
     "stream depth: expected as many files as rgb has, 1, got 2"},
    {PREDICT("rooms") "$M/d/test/rgb/00001.png", 3, NULL,
     "rgb/00001.png: expected STREAM=FILE|one of rgb, depth, orth"},
    {PREDICT("rooms") "rgb=nosuch.png", 3, NULL, "nosuch.png: there is no such file"},
    {PREDICT("rooms") "$M/f", 3, NULL, "f: expected a folder for a stream (rgb, depth, orth), got none"},
    {"mkdir x; " PREDICT("fans") "x", 3, NULL, "x: expected files that end in .wav, got none"},
    {"cp -r $M/d/test/. t; mv t/depth/00002.png t/depth/9.png; " PREDICT("rooms") "t", 3, NULL,
     "t/depth/00003.png: expected the file of depth that belongs to |t/rgb/00002.png"},
    {"cp -r $M/d/test/. t; rm t/depth/00007.png; " PREDICT("rooms") "t", 3, NULL,
     "stream depth: expected as many files as rgb has, 8, got 7"},
    {"head -c 70 $M/d/test/rgb/00001.png > cut.png; " PREDICT("rooms") "rgb=cut.png depth=$M/d/test/depth/00001.png "
                                                                       "orth=$M/d/test/orth/00001.png",
     3, NULL, "cut.png: PNG: the file ends too early"},
    {PREDICT("rooms") "rgb=$M/d/test/depth/00001.png depth=$M/d/test/depth/00001.png orth=$M/d/test/orth/00001.png", 3,
     NULL, "depth/00001.png: expected 32x40 pixels with 3 channel(s) of 8 bits as in training, got 32x40 with 1 of 16"},
    {"$B data make sunrgbd --out x --count 1 --size 16x16 -q; " PREDICT("rooms") "x/test", 3, NULL,
     "expected 32x40 pixels|as in training, got 16x16"},
    {"$B data make sunrgbd --out x --count 1 --size 16x16 -q; " PREDICT("rooms") "x/test --resize", 0,
     "x/test/rgb/00000.png", NULL},
    {PREDICT("fashion") "$M/d/test/rgb/00000.png", 3, NULL, "expected 86x86 pixels with 1 channel, got 32x40 with 3"},
    {PREDICT("fashion") "$M/f/t10k-86-labels-idx1-ubyte", 3, NULL, "labels-idx1-ubyte: expected images of 86x86"},
    {"head -c 5000 $M/m/0_dB_fan/fan/id_00/normal/00000000.wav > cut.wav; " PREDICT("fans") "cut.wav", 3, NULL,
     "cut.wav: |cut short"},
    {PREDICT("fans") "$M/d/class_names.txt", 3, NULL, "class_names.txt: "},
    {PREDICT("fans") "--resize $M/m/0_dB_fan/fan/id_00/normal/00000000.wav", 2, NULL, "resize: expected with images"},
    /* outputs replace outputs, but no model: not the one that is read, nor its run's, nor another */
    {"cp -r $M/rooms r && cp r/best.safetensors m && cp m n && cp $G/lenet86.weights.safetensors w && ln m l && "
     "for o in r/best.safetensors ./r//last.safetensors r/best.previous.safetensors m; do "
     "$B predict r" QUICK ROOM(
         1) "--out $o; test $? = 2 || exit 1; done; "
            "$B predict m" QUICK ROOM(
                1) "--out l; test $? = 2 && cd r && "
                   "$B predict ." QUICK ROOM(
                       1) "--out last.previous.safetensors; test $? = 2 && cd .. && "
                          "$B predict w" QUICK
                          "--net lenet86 --input x --out w; test $? = 2 && cmp w $G/lenet86.weights.safetensors && "
                          "cmp m n && cmp r/best.safetensors n && cmp r/last.safetensors $M/rooms/last.safetensors && "
                          "test ! -e r/best.previous.safetensors -o -e $M/rooms/best.previous.safetensors && "
                          "$B predict r" QUICK ROOM(1) "--out y && $B predict r" QUICK ROOM(1) "--out y",
     0, "00001.png",
     "got r/best.safetensors, the model that is read|got ./r//last.safetensors, a place in the folder of the run|"
     "got m, a model file, which would be lost; take another name|got l, the model that is read"},
    /* nor what is read, nor anything in the run or the set, nor a file that holds something else */
    {"cp $M/d/test/rgb/00001.png X && cp X Y && " PREDICT(
         "rooms") "rgb=X depth=$M/d/test/depth/00001.png orth=$M/d/test/orth/00001.png --out X; code=$?; "
                  "cmp X Y && exit $code",
     2, NULL, "--out: expected a file for the outputs, got X, a file that is read; take another name"},
    {"cp $M/f/t10k-86-images-idx3-ubyte X && cp X Y && ln X Z && " PREDICT("fashion") "X --out Z; code=$?; cmp X Y && "
                                                                                      "exit $code",
     2, NULL, "got Z, a file that is read"},
    {"cp $G/inputs.rows.5x320.safetensors x && $B predict $G/ssae.weights.safetensors --input x --out ./x" QUICK
     "; code=$?; cmp x $G/inputs.rows.5x320.safetensors && exit $code",
     2, NULL, "got ./x, the file of --input"},
    {"cp -r $M/d d && cp -r $M/rooms r && for o in d/class_names.txt d/test/labels.txt d/new d/test/rgb/new; do "
     "$B predict r --data d --out $o" QUICK "; test $? = 2 || exit 1; done; for o in r/metrics.jsonl r/new; do "
     "$B predict r --data d --out $o" QUICK "; test $? = 2 || exit 1; done; diff -r d $M/d && diff -r r $M/rooms",
     0, NULL,
     "got d/class_names.txt, a place in the set of --data|got d/test/rgb/new, a place in the set|"
     "got r/metrics.jsonl, a place in the folder of the run|got r/new, a place in the folder of the run"},
    {"cp $M/rooms/last.safetensors x && truncate -s -1 x && cp x y && "
     "cp $G/inputs.rows.5x320.safetensors z && echo mine > t && for o in x z t; do " PREDICT("rooms")
         ROOM(1) "--out $o; test $? = 2 || exit 1; done; cmp x y && "
                 "cmp z $G/inputs.rows.5x320.safetensors && grep -q mine t",
     0, NULL, "got x, a file without outputs, which would be lost|got z, a file without|got t, a file without"},
    {"cp -r $M/d d && for w in 'd/test --out d/test/new' 'd/test --out d/test/rgb/00018.png' 'rgb=d/test/rgb "
     "depth=d/test/depth orth=d/test/orth --out d/test/orth/new'; do " PREDICT(
         "rooms") "$w; test $? = 2 || exit 1; done; "
                  "diff -r d $M/d",
     0, NULL, "got d/test/new, a place in a folder that is read|got d/test/rgb/00018.png, a place in a folder"},
    /* a place that cannot be written to is told before the work; what is no file is not replaced by one */
    {"mkdir f; mkfifo p; ln -s nowhere l; for o in f f/ p l '' nosuch/y /proc/nowhere/y /dev/null; do " PREDICT("rooms")
         ROOM(1) "--out \"$o\"; test $? = 2 || exit 1; done; test -d f -a -p p -a -L l -a -c /dev/null -a ! -e nowhere",
     0, NULL,
     "got f, a folder|got f/, a folder|got p, a pipe or a device|got l, a link|got \"\", in a folder that is not there|"
     "got nosuch/y, in a folder that is not there|got /proc/nowhere/y, in a folder|got /dev/null, a pipe or a device"},
    {"mkfifo p; $B profile mlp --layers 4,3 --effort estimate --device cpu -q --cache-dir '' --trace p; code=$?; "
     "test -p p && exit $code",
     7, "", "p: expected a file or nothing to replace, got a folder or a device"},
    {PREDICT("rooms") ROOM(1) "> /dev/full", 7, NULL, "No space left"},
    {PREDICT("nosuch") ROOM(1), 4, NULL, "nosuch: could not open"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* The share of first rows whose class is the label is the accuracy that eval finds. */
static void agrees_with_eval(void **state) {
    size_t index;
    json_t *row, *rows = shell_json(PREDICT("rooms") "--data $M/d --split train --top 1 -o json");
    double right = 0;
    (void)state;
    json_array_foreach(rows, index, row) {
        right +=
            !strcmp(json_string_value(json_object_get(row, "name")), json_string_value(json_object_get(row, "label")));
        assert_int_equal(json_integer_value(json_object_get(row, "rank")), 1);
    }
    assert_int_equal(json_array_size(rows), 40);
    right /= (double)json_array_size(rows);
    json_decref(rows);
    assert_int_equal(shell_run("$B eval $M/rooms --data $M/d --split train --what streams -o csv" QUICK), 0);
    char *out = shell_read("out"), *line = strstr(out, "\nall,,");
    assert_non_null(line);
    double accuracy = strtod(line + strlen("\nall,,"), NULL);
    if (!(fabs(accuracy - right) < 1e-9)) fail_msg("eval says %g, predict %g: %s", accuracy, right, out);
    assert_true(right > 0);
    free(out);
}

/* The probabilities of all classes add up to one, and fall. */
static void probabilities(void **state) {
    size_t index;
    json_t *row, *rows = shell_json(PREDICT("rooms") ROOM(2) "--top 15 -o json");
    double sum = 0, before = 1;
    (void)state;
    json_array_foreach(rows, index, row) {
        double p = json_number_value(json_object_get(row, "probability"));
        assert_true(p > 0 && p <= before);
        sum += before = p;
    }
    assert_int_equal(json_array_size(rows), 15);
    assert_true(fabs(sum - 1) < 1e-6);
    json_decref(rows);
}

static int begin(void **state) {
    (void)state;
    if (shell_begin(BRAID_PROGRAM)) return 1;
    setenv("M", "../made", 1);
    return shell_run(MAKE);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS + 2];
    shell_tests(tests, commands, COMMANDS);
    tests[COMMANDS] = (struct CMUnitTest)cmocka_unit_test(agrees_with_eval);
    tests[COMMANDS + 1] = (struct CMUnitTest)cmocka_unit_test(probabilities);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
