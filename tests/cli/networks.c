/*
 * Networks on the command line: explain, profile, tune, bench and predict. What predict computes is held against the
 * golden files, at odd sizes and with batches that are cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "braid.h"
#include "tests/support/shell.h"

#define ESTIMATE " --effort estimate --device cpu -q "
#define TUNE "$B tune mlp --layers 4,3 --batch 8 --phase eval --device cpu -q "
#define LINET "$B explain linet18 --width 0.0625 --batch 2 --size 40x48" ESTIMATE
#define PREDICT "$B predict $G/linet18_n3.weights.safetensors --device cpu -q --out y "
#define ODD "--input $G/inputs.c3_1_1.2x47x35.safetensors "
#define ROWS "--input $G/inputs.rows.5x320.safetensors "

static const command commands[] = {
    /* explain */
    {LINET, 0,
     "network     linet18, batch 2, 40x48, f32, a training step with AdamW|parameters|memory| %)|!{|"
     "graph| ops), again |"
     "(saves memory)|problems|calls  segment|against|others (-v lists them)|update|!waits",
     NULL},
    {LINET "-v", 0, "segment|waits|!others (-v|adamw|conv2d_fwd:f32:n3:b2", NULL},
    {LINET "-o csv | head -1", 0, "step,segment,ms,share,ops,waits_for,problem,kernel,architecture,part,why\n", NULL},
    {LINET "-o md", 0, "- network: linet18|- graph: || calls | segment |", NULL},
    {LINET "--phase eval", 0, "a forward pass|again 0|backward 0, update 0|!adamw", NULL},
    {"$B explain ssae --dtype bf16 --batch 8" ESTIMATE, 0, "ssae, batch 8, bf16, a training step|linear", NULL},
    {"$B explain mcresnet18 --fusion gated --width 0.0625 --size 33x33" ESTIMATE, 0, "mcresnet18, batch 2, 33x33",
     NULL},
    {"$B explain mlp --layers 30,20,10" ESTIMATE, 0, "mlp, batch 256, f32", NULL},
    {"$B explain linet18 --help", 0, "PROBLEM|NET|--phase|--batch|--size|against", NULL},
    /* names */
    {"$B explain linet19", 2, NULL, "unknown network \"linet19\"; did you mean linet18?"},
    {"$B profile linet19", 2, NULL, "unknown network \"linet19\"; did you mean linet18?"},
    {"$B tune mcresnet15", 2, NULL, "unknown network \"mcresnet15\"; did you mean mcresnet1"},
    {"$B profile elephants", 2, NULL, "unknown network \"elephants\"; expected linet"},
    {"$B explain elephants", 2, NULL, "elephants"},
    {"$B profile linear_fwd:f32:b8:c32:k15", 2, NULL, "unknown network"},
    /* options that cannot be meant */
    {"$B explain linear_fwd:f32:b8:c32:k15 --batch 3", 2, NULL, "--batch: expected with a network, got a problem"},
    {"$B explain linear_fwd:f32:b8:c32:k15 --width 2", 2, NULL, "--width: expected with a network"},
    {"$B explain linear_fwd:f32:b8:c32:k15 --phase eval", 2, NULL, "--phase: expected with a network"},
    {"$B explain linet18 --phase evl", 2, NULL, "--phase: expected train|eval, got \"evl\"; did you mean eval?"},
    {"$B explain linet18 --size 40", 2, NULL, "--size: expected a height and a width such as 416x544, got \"40\""},
    {"$B explain linet18 --channels 3,x", 2, NULL, "--channels: expected at most|got \"x\""},
    {"$B explain linet18 --streams 9", 2, NULL, "linet18: streams: expected|9"},
    {"$B explain linet18 --layers 3,4", 2, NULL, "layers"},
    {"$B explain ssae --width 2", 2, NULL, "ssae: |width"},
    {"$B explain ssae --size 3x4", 2, NULL, "--size: expected none, ssae takes rows"},
    {"$B explain lenet86 --size 50x50", 2, NULL, "--size: expected 86x86 for lenet86, got 50x50"},
    {"$B explain mlp", 2, NULL, "mlp: layers: expected 2 to 16 widths"},
    {"$B explain linet18 --init tail", 2, NULL, "init: expected head or seed, got \"tail\""},
    {"$B tune ssae --cache-dir ''", 2, NULL, "--cache-dir: expected a folder"},
    {"$B tune", 2, NULL, "expected NET|RUN, got nothing"},
    {"$B profile", 2, NULL, "expected NET|RUN, got nothing"},
    {"$B bench ssae smoke", 2, NULL, "got \"smoke\" beside a network"},
    {"$B bench ssae --gate", 2, NULL, "--gate: expected with problems and suites, got a network"},
    {"$B bench smoke --batch 3", 2, NULL, "--batch: expected with networks"},
    {"$B bench smoke --what step", 2, NULL, "--what: expected with networks"},
    /* a run in place of a network: its network, batch, size and dtype, unless others are typed */
    {"$B data make sunrgbd --out d --size 32x40 --count 12 -q && $B train linet18 --data d --out r --streams rgb,depth "
     "--width 0.0625 --batch 6 --dtype bf16 --epochs 1 --device cpu --effort estimate -q > log && "
     "$B explain r" ESTIMATE "&& $B explain r/last.safetensors --batch 3 --size 48x48 --dtype f32 --phase eval" ESTIMATE
     "&& $B profile r --rounds 1" ESTIMATE "&& $B tune r --seconds 0.01 --device cpu -q",
     0,
     "network     linet18, batch 6, 32x40, bf16, a training step with AdamW\n|linet18, batch 3, 48x48, f32, a forward|"
     "untuned",
     "braid train: d: not used by this network: the stream orth"},
    {"$B data make fmnist86 --out f --count 9 -q && "
     "$B train mlp --data f --layers 7396,8,10 --out r --batch 3 --steps 1 "
     "--device cpu --effort estimate -q > log && $B bench r r/last.safetensors --what forward --seconds 0.05 --device "
     "cpu -q -o csv && $B bench r smoke",
     2, "mlp_forward:f32:b3,|!b256", "got \"smoke\" beside a network"},
    {"$B explain .", 4, NULL, ".: expected the folder of a run, got one without best."},
    /* a limit of seconds ends a tuning that is not done; without one it is done, and then all is remembered */
    {TUNE "--cache-dir c --seconds 0.001 && " TUNE "--cache-dir c && " TUNE "--cache-dir c --seconds 0.001", 0,
     "0 of 1 problems measured now, 0 remembered|1 left untuned: the same command measures more|"
     "1 of 1 problems measured now, 0 remembered|0 of 1 problems measured now, 1 remembered",
     NULL},
    /* check */
    {"$B check mlp-784-256x2-10 --steps 3 --runs 1 --dtype f16 --device cpu -q", 0,
     "launched  run 0|replayed  run 1|2 passed, 0 failed", NULL},
    {"$B check mlp-784-256x2-10 --dtype f64 --device cpu", 2, NULL, "--dtype: expected f32, tf32, bf16 or f16"},
    /* profile, tune and bench */
    {"$B profile mlp-784-256x2-10 --batch 4 --rounds 1 --trace here/step.json" ESTIMATE " && cat here/step.json", 0,
     "whole|traceEvents|adamw__cpu|thread_name", NULL},
    {"$B profile mlp-784-256x2-10 --batch 4 --rounds 1 --trace /proc/nowhere/step.json" ESTIMATE, 7, "whole",
     "/proc/nowhere"},
    {"$B profile linet18 --batch 100000 --size 416x544" ESTIMATE, 5, NULL, "needs|free are|fits"},
    {"$B profile linet18 --width 0.0625 --size 33x35 --rounds 2" ESTIMATE, 0,
     "ms, measured call by call|linet18, batch 2, 33x35|% of the time|!no time is known", NULL},
    {"$B profile ssae --phase eval --batch 4 --rounds 1 -o csv" ESTIMATE, 0, "step,segment,ms|forward|!backward", NULL},
    {"$B tune mlp --layers 5,4 --batch 8 --phase eval --device cpu", 0, "tuned       |measured now, 0 remembered|races",
     "[1/|] "},
    {"$B tune mlp --layers 5,4 --batch 8 --phase eval --device cpu -q", 0, "tuned       0 of |!calls  segment", NULL},
    {"$B bench ssae --what forward --batch 4 --device cpu --seconds 0.05 -q", 0, "ssae_forward:f32:b4|braid_plan|own",
     NULL},
    {"$B bench ssae --what step --batch 2 --device cpu --seconds 0.05 --cache-dir '' -q -o csv", 0,
     "layout_copy_bytes,buffers,load\n|ssae_step:f32:b2,braid_plan,own,cpu,f32,", NULL},
    {"$B tune linet18 --width 0.0625 --size 33x35 --device cpu -q & sleep 1.5; kill -TERM $!; wait $!", 130, "tuned",
     "stopping"},
    /* predict: what must be told */
    {"$B predict", 2, NULL, "expected RUN|MODEL|, got nothing"},
    {"$B predict m", 2, NULL,
     "expected files (STREAM=FILE ...), --data DIR, or --input FILE with --out FILE, got none"},
    {"$B predict m --input x", 2, NULL, "got no --out"},
    {PREDICT ODD "--dtype f64", 2, NULL, "--dtype: expected f32, tf32, bf16 or f16 for a prediction, got f64"},
    {PREDICT ODD "--size 3x4", 2, NULL, "--size: expected with --data, the inputs have their size"},
    {PREDICT ODD "--width 2", 2, NULL, "--width: expected with --net"},
    {PREDICT ODD "--net linet19", 2, NULL, "did you mean linet18"},
    {PREDICT ODD "--net linet18", 4, NULL, "expected the tensors of this network; of another shape|!missing|!extra"},
    {PREDICT ODD "--net linet18 --width 0.03125 --classes 7", 4, NULL,
     "of another shape 2 (fc.weight F32 5x16, fc.bias F32 5)"},
    {PREDICT ODD "--net linet18 --width 0.03125 --classes 5 && ls", 0, "2 samples, 5 outputs each: y\n|y\n", NULL},
    {PREDICT ODD "--net ssae", 4, NULL, "missing|extra"},
    /* predict: inputs */
    {PREDICT "--input $G/inputs.c3_1.4x33x41.safetensors", 3, NULL,
     "expected a tensor \"orth\" for stream 2 of the network, got only: rgb, depth"},
    {PREDICT "--input $G/inputs.c1_1_1_1.4x33x41.safetensors", 3, NULL,
     "rgb: expected [B,3,H,W] or [B,3] (3 channels), got [4,1,33,41]"},
    {PREDICT ROWS, 3, NULL, "expected a tensor \"rgb\" for stream 0 of the network, got only: features"},
    {PREDICT "--input nosuch", 3, NULL, "nosuch: could not open"},
    {"head -c 5000 $G/inputs.c3_1_1.2x47x35.safetensors > cut; " PREDICT "--input cut; code=$?; ls; exit $code", 3,
     "cut\n|!y\n", "cut: "},
    /* predict: numbers that are not finite, of the input and of the output; nothing is written */
    {"for n in '\\0\\0\\300\\177' '\\0\\0\\200\\177'; do cp $G/inputs.c3_1_1.2x47x35.safetensors x; chmod u+w x; "
     "printf $n | dd of=x bs=1 seek=$(($(stat -c %s x) - 4)) conv=notrunc 2> log; " PREDICT
     "--input x; test $? = 9 || exit 1; done; ls",
     0, "x\n|!y\n", "braid predict: x: sample 1: expected finite numbers in orth, got nan|in orth, got inf"},
    {"cp $G/inputs.rows.5x320.safetensors x; chmod u+w x; truncate -s -1280 x; "
     "for i in $(seq 320); do printf '\\346\\261\\141\\177'; done >> x; "
     "$B predict $G/ssae.weights.safetensors --dtype f16 --device cpu -q --input x --out y; code=$?; ls; exit $code",
     9, "x\n|!y\n", "x: sample 4: expected finite numbers in the outputs, got "},
    /* predict: models */
    {"for o in '--top 1' '--readers 2' '-o csv'; do $B predict nosuch --out y $o " ROWS
     "; test $? = 2 || exit 99; done",
     0, NULL, "--top: expected with files or --data, got --input|--readers: expected with|--output: expected with"},
    {"$B predict nosuch -q --out y " ROWS, 4, NULL, "nosuch: could not open"},
    {"$B predict $G/inputs.rows.5x320.safetensors -q --out y " ROWS, 4, NULL,
     "expected the description of a network|got none|--net NET"},
    {"head -c 30000 $G/ssae.weights.safetensors > m; $B predict m -q --out y " ROWS "; code=$?; ls; exit $code", 4,
     "m\n|!y\n", "m: "},
    {"echo hello > m; $B predict m -q --out y " ROWS, 4, NULL, "m: "},
    {"$B predict $G/ssae.weights.safetensors --device cpu -q --out /proc/nowhere/y " ROWS, 2, NULL, "/proc/nowhere"},
    {"$B predict $G/ssae.weights.safetensors --device cpu -q --out y " ROWS "> /dev/full", 7, NULL, "No space left"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* ---- json ------------------------------------------------------------------------------------ */

/* Grouped and call by call, a plan adds up to the same. */
static void explain_json(void **state) {
    json_t *plan = shell_json(LINET "-o json"), *row;
    size_t index;
    int64_t calls = 0;
    (void)state;
    json_array_foreach(json_object_get(plan, "problems"), index, row) {
        assert_non_null(json_string_value(json_object_get(row, "problem")));
        calls += json_integer_value(json_object_get(row, "calls"));
    }
    assert_true(calls > 100);
    assert_int_equal(calls, (int64_t)json_array_size(json_object_get(plan, "steps")));
    json_array_foreach(json_object_get(plan, "steps"), index, row) {
        assert_int_equal(json_integer_value(json_object_get(row, "step")), (int64_t)index);
        assert_non_null(json_string_value(json_object_get(row, "kernel")));
        assert_non_null(json_string_value(json_object_get(row, "why")));
    }
    double arena = json_number_value(json_object_get(plan, "arena_bytes"));
    assert_true(arena > 0 && arena < json_number_value(json_object_get(plan, "sum_bytes")));
    assert_non_null(strstr(json_string_value(json_object_get(plan, "network")), "\"kind\":\"linet18\""));
    json_decref(plan);
}

/* The short name of a problem is what explain takes. */
static void short_problems(void **state) {
    char line[512];
    json_t *plan = shell_json("$B explain lenet86 --batch 2" ESTIMATE "-o json"), *row;
    size_t index;
    (void)state;
    assert_true(json_array_size(json_object_get(plan, "problems")) > 5);
    json_array_foreach(json_object_get(plan, "problems"), index, row) {
        braid_problem problem;
        const char *text = json_string_value(json_object_get(row, "problem"));
        if (braid_problem_parse(text, &problem)) fail_msg("%s: %s", text, braid_message());
        assert_null(strstr(text, ":n1"));
        assert_null(strstr(text, ":f32"));
    }
    snprintf(line, sizeof line, "$B explain %s" ESTIMATE,
             json_string_value(json_object_get(json_array_get(json_object_get(plan, "problems"), 0), "problem")));
    assert_int_equal(shell_run(line), 0);
    json_decref(plan);
}

/* What explain calls a problem can be read; its full form is written back as it was. */
static void assert_read(const json_t *plan, const char *table) {
    const json_t *row;
    size_t index;
    assert_true(json_array_size(json_object_get(plan, table)) > 0);
    json_array_foreach(json_object_get(plan, table), index, row) {
        char again[BRAID_PROBLEM_TEXT];
        braid_problem problem;
        const char *text = json_string_value(json_object_get(row, "problem"));
        if (braid_problem_parse(text, &problem)) fail_msg("%s: %s", text, braid_message());
        assert_int_equal(braid_problem_print(&problem, again, sizeof again), BRAID_OK);
        if (strcmp(table, "steps") == 0) assert_string_equal(again, text);
    }
}

static void problems_of_networks_are_read(void **state) {
    static const char *const nets[] = {"linet18 --width 0.0625 --size 40x48", "mcresnet18 --width 0.0625 --size 40x48",
                                       "lenet86", "ssae", "mlp --layers 30,20,10"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof nets / sizeof nets[0]; i++) {
        char line[512];
        snprintf(line, sizeof line, "$B explain %s --batch 2 --dtype f16 --phase %s" ESTIMATE "-o json", nets[i / 2],
                 i % 2 ? "eval" : "train");
        json_t *plan = shell_json(line);
        assert_read(plan, "steps");
        assert_read(plan, "problems");
        json_decref(plan);
    }
}

static void bench_json(void **state) {
    json_t *rows = shell_json("$B bench lenet86 --what train --batch 2 --device cpu --seconds 0.05 -q -o json");
    json_t *row = json_array_get(rows, 0);
    double median = json_number_value(json_object_get(row, "median_ms"));
    (void)state;
    assert_int_equal(json_array_size(rows), 1);
    assert_int_equal(json_object_size(row), 20);
    assert_string_equal(json_string_value(json_object_get(row, "problem")), "lenet86_train:f32:b2:hw86x86");
    assert_true(median > 0 && json_number_value(json_object_get(row, "gflops")) > 0);
    assert_true(json_number_value(json_object_get(row, "low_ms")) <= median);
    assert_true(json_number_value(json_object_get(row, "high_ms")) >= median);
    json_decref(rows);
}

/* ---- predict against the golden files -------------------------------------------------------- */

typedef struct prediction_case {
    const char *name;    /* of tests/golden/NAME.safetensors */
    const char *weights; /* NAME.weights.safetensors */
    const char *inputs;
    const char *options; /* where the model file describes another network */
} prediction_case;

static const prediction_case predictions[] = {
    {"lenet86.predict", "lenet86", "lenet86.2x86x86", ""},
    {"linet18_n1.predict_odd", "linet18_n1", "c3.1x51x37", ""},
    {"linet18_n3.predict_odd", "linet18_n3", "c3_1_1.2x47x35", ""},
    {"linet18_n3.eval", "linet18_n3", "c3_1_1.4x33x41", ""},
    {"linet18_n4.predict_odd", "linet18_n4", "c1_1_1_1.1x45x39", ""},
    {"linet50_n2.predict_odd", "linet50_n2", "c1_1.1x49x37", ""},
    {"linet50_n2.predict_dilated", "linet50_n2", "c1_1.1x49x37",
     "--net linet50 --streams 2 --channels 1,1 --classes 5 --width 0.03125 --dilate 0,0,1"},
    {"mcresnet18_concat.predict_odd", "mcresnet18_concat", "c3_1.1x49x37", ""},
    {"mcresnet18_gated.predict_odd", "mcresnet18_gated", "c3_1.1x49x37", ""},
    {"mcresnet18_weighted.predict_odd", "mcresnet18_weighted", "c3_1.1x49x37", ""},
    {"mlp.predict", "mlp", "rows.5x30", ""},
    {"ssae.predict", "ssae", "rows.5x320", ""},
};
#define PREDICTIONS (sizeof predictions / sizeof predictions[0])
#define MOST_NUMBERS 4096

typedef struct wanted_tensor {
    const char *name;
    int64_t count, first;
} wanted_tensor;

static void find_tensor(void *user, const braid_file_tensor *t) {
    wanted_tensor *w = user;
    if (strcmp(t->name, w->name) != 0) return;
    w->first = t->rank ? t->dims[0] : 1;
    w->count = 1;
    for (int axis = 0; axis < t->rank; axis++) w->count *= t->dims[axis];
}

/* All numbers of a tensor. Returns how many; *samples is its first axis. */
static int64_t read_tensor(const char *path, const char *name, double *data, int64_t *samples) {
    wanted_tensor w = {.name = name};
    if (braid_file_describe(path, NULL, find_tensor, &w, NULL)) fail_msg("%s", braid_message());
    if (w.count < 1 || w.count > MOST_NUMBERS) fail_msg("%s: %s has %lld numbers", path, name, (long long)w.count);
    if (braid_file_read(path, name, BRAID_DTYPE_F64, data, (size_t)w.count * sizeof *data))
        fail_msg("%s", braid_message());
    *samples = w.first;
    return w.count;
}

static void expect_classes(const double *logits, int64_t count, int64_t samples) {
    double classes[MOST_NUMBERS];
    int64_t each = count / samples, first;
    assert_int_equal(read_tensor(shell_path("y"), "classes", classes, &first), samples);
    for (int64_t b = 0; b < samples; b++)
        for (int64_t k = 0; k < each; k++) assert_true(logits[b * each + k] <= logits[b * each + (int64_t)classes[b]]);
}

/* Within `tolerance` of the largest of what PyTorch has in f64. */
static void predicts(const prediction_case *c, const char *options, double tolerance) {
    char line[1024], golden[256];
    double expected[MOST_NUMBERS], got[MOST_NUMBERS], largest = 0, worst = 0;
    int64_t samples, got_samples;
    snprintf(golden, sizeof golden, "tests/golden/%s.safetensors", c->name);
    snprintf(line, sizeof line,
             "$B predict $G/%s.weights.safetensors --input $G/inputs.%s.safetensors --out y --device cpu -q %s %s",
             c->weights, c->inputs, c->options, options);
    int code = shell_run(line);
    char *err = shell_read("err");
    if (code) fail_msg("%s: exit %d: %s", line, code, err);
    free(err);
    int64_t count = read_tensor(golden, "f64.logits", expected, &samples);
    assert_int_equal(read_tensor(shell_path("y"), "logits", got, &got_samples), count);
    assert_int_equal(got_samples, samples);
    for (int64_t j = 0; j < count; j++) {
        largest = fmax(largest, fabs(expected[j]));
        worst = fmax(worst, isfinite(got[j]) ? fabs(got[j] - expected[j]) : INFINITY);
    }
    if (!(worst <= tolerance * largest))
        fail_msg("%s: expected at most %g, got %g from PyTorch", line, tolerance * largest, worst);
    expect_classes(got, count, samples);
}

static void predicts_f32(void **state) { predicts(*state, "", 1e-4); }
static void predicts_one_by_one(void **state) { predicts(*state, "--batch 1", 1e-4); }
static void predicts_in_pieces(void **state) { predicts(*state, "--batch 3", 1e-4); }
static void predicts_bf16(void **state) { predicts(*state, "--dtype bf16", 3e-2); }

/* Streams of different batches. The file is made here: none of the golden ones is wrong. */
static void different_batches(void **state) {
    static float numbers[3 * 3 * 33 * 33];
    const braid_file_tensor tensors[] = {{.name = "rgb", .rank = 4, .dims = {3, 3, 33, 33}},
                                         {.name = "depth", .rank = 4, .dims = {3, 1, 33, 33}},
                                         {.name = "orth", .rank = 4, .dims = {2, 1, 33, 33}}};
    const void *const data[] = {numbers, numbers, numbers};
    (void)state;
    assert_int_equal(shell_run("true"), 0);
    char path[128];
    snprintf(path, sizeof path, "%s.safetensors", shell_path("../batches"));
    assert_int_equal(braid_file_write(path, tensors, data, 3), BRAID_OK);
    assert_int_equal(shell_run(PREDICT "--input ../batches.safetensors"), 3);
    char *err = shell_read("err");
    if (!strstr(err, "orth: expected the batch and size of rgb, [3,3,33,33], got [2,1,33,33]"))
        fail_msg("got: %s", err);
    free(err);
}

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static void (*const ways[])(void **) = {predicts_f32, predicts_one_by_one, predicts_in_pieces, predicts_bf16};
    static const char *const words[] = {"f32", "one by one", "in pieces", "bf16"};
    static struct CMUnitTest tests[COMMANDS + 4 * PREDICTIONS + 5];
    static char names[4 * PREDICTIONS][96];
    size_t count = COMMANDS;
    shell_tests(tests, commands, COMMANDS);
    for (size_t i = 0; i < 4 * PREDICTIONS; i++) {
        snprintf(names[i], sizeof names[i], "predict %s, %s", predictions[i / 4].name, words[i % 4]);
        tests[count++] = (struct CMUnitTest){
            .name = names[i], .test_func = ways[i % 4], .initial_state = (void *)&predictions[i / 4]};
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(different_batches);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(explain_json);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(short_problems);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(problems_of_networks_are_read);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(bench_json);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
