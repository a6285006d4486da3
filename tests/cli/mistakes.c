/*
 * Typical mistakes on the command line: each is told what was expected, what came, and what to type. A row is a line
 * with its exit code and the words that must stand on standard error; nothing may be left behind. The first test makes
 * the sets and the run that the others take.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "tests/support/shell.h"

#define QUICK " --device cpu --effort estimate -q --cache-dir '' "
#define IMAGES "rgb=../e/val/rgb/00000.png depth=../e/val/depth/00000.png orth=../e/val/orth/00000.png"
#define CONV "conv2d_fwd:f32:b2:hw8x8:c4:k4:rs3x3"

static void makes_sets_and_a_run(void **state) {
    static const command line = {
        "cd .. && $B data make sunrgbd --out d --size 32x32 --count 20 -q && "
        "$B data make sunrgbd --out e --size 48x40 --count 5 -q && "
        "$B data make mimii --out s --size 1 --count 4 -q && $B data make fmnist86 --out f --count 9 -q && "
        "cp -r d mixed && cp e/train/rgb/00000.png mixed/train/rgb/00003.png && "
        "$B train linet18 --data d --out r --width 0.125 --batch 8 --epochs 1" QUICK "&& "
        "$B train lenet86 --data f --out l --epochs 1" QUICK,
        0, "done", ""};
    (void)state;
    shell_expect((void *[]){(void *)&line});
}

static const command commands[] = {
    /* verbs */
    {"$B trani", 2, NULL, "unknown verb \"trani\"; did you mean \"train\"?"},
    {"$B", 2, NULL, "expected a verb, got nothing; braid help"},
    {"$B help exlpain", 2, NULL, "unknown verb \"exlpain\"; did you mean \"explain\"?"},
    {"$B -v", 2, NULL, "expected a verb first, got the option -v|braid --version"},
    {"$B data chezk ../d", 2, NULL,
     "expected import, make, check, stats, preview or bench|got \"chezk\"; did you mean check?"},
    /* options: misspelt, of elsewhere, of another verb, without a value, with a wrong one */
    {"$B train linet18 --data ../d --out q --epohcs 3", 2, NULL, "unknown option --epohcs; did you mean --epochs?"},
    {"$B train linet18 --data ../d --out q --learnig-rate 3", 2, NULL, "did you mean --learning-rate?"},
    {"$B train linet18 --data ../d --out q --gpu", 2, NULL, "unknown option --gpu; did you mean --device cuda:0?"},
    {"$B train linet18 --data ../d --out q --fp16", 2, NULL, "unknown option --fp16; did you mean --dtype f16?"},
    {"$B bench smoke --json", 2, NULL, "unknown option --json; did you mean -o json?"},
    {"$B eval ../r --data ../d --epochs 3", 2, NULL, "--epochs: it belongs to demo, train; braid eval --help lists"},
    {"$B train linet18 --data ../d --out q --epochs", 2, NULL, "--epochs: expected N after it, got nothing"},
    {"$B train linet18 --data ../d --out --epochs 3", 2, NULL, "--out: expected RUN after it, got the option --epochs"},
    {"$B train linet18 --data ../d --out q --epochs two", 2, NULL,
     "--epochs: expected a whole number from 1 to 1000000, got \"two\""},
    {"$B train linet18 --data ../d --out q --modality-dropout 30", 2, NULL,
     "--modality-dropout: expected a number from 0 to 1, got \"30\""},
    {"$B train linet18 --data ../d --out q --optimiser adamm", 2, NULL, "got \"adamm\"; did you mean adamw?"},
    {"$B train linet18 --data ../d --out q --dtype fp16", 2, NULL,
     "--dtype: expected f32|, got \"fp16\"; did you mean"},
    {"$B train linet18 --data ../d --out q --output q2", 2, NULL, "expected the format table|did you mean --out q2?"},
    {"$B train linet18 --data ../d --out q --rate fast" QUICK, 2, "", "--rate: expected a number|, got \"fast\""},
    {"$B train linet18 --data ../d --out q --schedule cosin" QUICK, 2, "",
     "--schedule: expected one of constant, cosine, |, got \"cosin\""},
    {"$B train linet18 --data ../d --out q --nesterov", 2, NULL, "--nesterov: expected --optimiser sgd, got another"},
    {"$B train linet18 --data ../d --out q --size 32", 2, NULL,
     "--size: expected a height and a width such as 416x544"},
    /* networks */
    {"$B train linet81 --data ../d --out q", 2, NULL, "unknown network \"linet81\"; did you mean linet18?"},
    {"$B tune mcresnet15", 2, NULL, "unknown network \"mcresnet15\"; did you mean mcresnet1"},
    {"$B train --data ../d --out q", 2, NULL, "expected NET, got nothing|braid train --resume RUN"},
    {"$B train linet18 ../d --out q", 2, NULL, "expected one network, got \"../d\" after linet18"},
    {"$B explain linet18 --layers 3,4", 2, NULL,
     "linet18: expected no option layers, which this network does not have"},
    {"$B explain linet18 --channels 3,1", 2, NULL, "--channels: expected 3 numbers|got 2: \"3,1\"; --streams 2 asks"},
    /* problems, ops, fields and suites */
    {"$B explain conv2d_foward:hw8x8", 2, NULL, "got \"conv2d_foward\"; did you mean conv2d_fwd?"},
    {"$B explain " CONV ":padd1", 2, NULL, "got \"padd1\"; did you mean pad1? A whole problem is conv2d_fwd:f32:"},
    {"$B explain conv2d_fwd:fp32:b2", 2, NULL, "got \"fp32\"; did you mean f32?"},
    {"$B bench conv2d_fwd:f32:b2:hw8x8:c4:k4", 2, NULL, "expected rs (filter) from 1|; a whole problem is conv2d_fwd:"},
    {"$B bench conv2d_fwd", 2, NULL, "expected a problem with its shape, such as conv2d_fwd:|got the op conv2d_fwd"},
    {"$B bench smoke --rows 3", 2, NULL, "--rows: expected with --prove"},
    {"$B bench smoke --prove --gate", 2, NULL, "--gate: expected without --prove"},
    {"$B compare a", 2, NULL, "expected A B"},
    {"$B compare nowhere nothing", 3, NULL, "nowhere: expected a file or a folder, got nothing"},
    {"$B bench smok", 2, NULL, "no suite \"smok\"|did you mean smoke?"},
    {"$B check bn_stat", 2, NULL, "unknown op \"bn_stat\"; did you mean bn_stats?"},
    {"$B bench nosuch.txt", 3, NULL, "cannot open the suite nosuch.txt: No such file"},
    {"$B bench " CONV " --disable onedn", 2, NULL, "disable: expected names of kernels|onednn|got \"onedn\""},
    /* devices */
    {"$B train linet18 --data ../d --out q --device gpu", 2, NULL, "device: expected cpu, cuda:0 |got 'gpu'"},
    {"$B train linet18 --data ../d --out q --device cuda:99", 6, NULL, "cuda:99"},
    /* data */
    {"$B train linet18 --data ../nosuch --out q", 3, NULL, "../nosuch: there is no such folder; braid data make"},
    {"$B train linet18 --data ../d/train --out q", 3, NULL, "../d/train: expected a data set: train/ with labels.txt"},
    {"$B train linet18 --data ../d/train/labels.txt --out q", 3, NULL, "expected the folder of a data set, got a file"},
    {"$B train linet18 --data ../d --out q --streams rgb,dept", 2, NULL, "--streams rgb,dept: |did you mean depth?"},
    {"$B train lenet86 --data ../d --out q", 2, NULL,
     "expected 1 stream for lenet86, got 3; a set like sunrgbd is for"},
    {"$B train linet18 --data ../s --out q", 2, NULL, "expected 3 streams for linet18, got 1; a set like mimii is for"},
    {"$B train linet18 --data ../mixed --out q --width 0.125 --epochs 1" QUICK, 3, "",
     "expected 32x32 pixels|got 48x40|; to resize all images add --size 32x32"},
    {"$B data make sunrgdb --out x", 2, NULL, "got \"sunrgdb\"; did you mean sunrgbd?"},
    {"$B data make sunrgbd", 2, NULL, "make: expected --out DIR, the folder to write, got none"},
    {"$B data make sunrgbd --out ../d", 2, NULL, "../d: expected an empty folder or none, got one with "},
    /* runs and models */
    {"$B train linet18 --data ../d --out ../r", 2, NULL,
     "expected a folder without a run, got one with last.safetensors; to continue it: braid train --resume ../r"},
    {"touch q; $B train linet18 --data ../d --out q", 2, NULL, "--out: expected a folder for the run, got the file q"},
    {"$B train linet18 --data ../d --out /proc/q" QUICK, 7, "", "/proc/q: could not make the folder"},
    {"$B train --resume", 2, NULL, "--resume: expected the folder of the run, got none; type braid train --resume RUN"},
    {"$B train --resume nosuch", 2, NULL, "expected the folder of a run, got \"nosuch\"; there is no such folder"},
    {"$B train --resume ../d", 2, NULL, "expected --data DIR, got none: ../d does not tell"},
    {"$B train ../r --data ../d", 2, NULL, "got the folder ../r; to continue a run: braid train --resume ../r"},
    {"$B eval nosuch --data ../d", 4, NULL, "nosuch: could not open: |expected the folder of a run or a model file"},
    {"$B eval ../d --data ../d", 4, NULL, "../d: expected the folder of a run, got one without best.safetensors"},
    {"$B eval ../r", 2, NULL, "expected --data DIR, got none"},
    {"$B eval ../r --net lenet86 --data ../d", 4, NULL, "expected the tensors of this network; missing "},
    {"$B explain ../d", 4, NULL, "../d: expected the folder of a run, got one without"},
    {"$B explain ../r --width 2", 2, NULL, "--width: expected none: the run has its own network"},
    {"echo '{' > m.safetensors; $B eval m.safetensors --data ../d", 4, NULL, "m.safetensors: |safetensors"},
    /* predictions */
    {"$B predict ../r", 2, NULL, "expected files (STREAM=FILE ...), --data DIR, or --input FILE with --out FILE, got"},
    {"$B predict ../r --data ../d ../d/val", 2, NULL, "expected one of files, --data and --input, got files beside"},
    {"$B predict ../r rgb=../d/val/rgb/00000.png" QUICK, 2, NULL, "unknown option --effort: it belongs to "},
    {"$B predict ../r rbg=../d/val/rgb/00000.png -q", 3, NULL,
     "expected STREAM=FILE, the stream being one of rgb, depth"},
    {"$B predict ../r " IMAGES " -q", 3, NULL,
     "expected 32x32 pixels|got 48x40|; add --resize, which brings images to 32x32"},
    {"$B predict ../r ../d -q", 3, NULL,
     "expected a folder for a stream (rgb, depth|got none; a data set is given as --data ../d"},
    {"$B predict ../r --data ../d --out x.json -o csv", 2, NULL,
     "--out: expected a name that ends in .csv, as -o says, got x.json"},
    {"$B predict ../r --data ../d --out nosuch/x.csv", 2, NULL, "got nosuch/x.csv, in a folder that is not there"},
    {"echo mine > x.csv; $B predict ../r --data ../d --out x.csv", 2, NULL, "got x.csv, a file without outputs, which"},
    /* measured choices that are kept nowhere */
    {"BRAID_CACHE_DIR= $B tune ssae", 2, NULL, "BRAID_CACHE_DIR: expected a folder to keep what is measured, got \"\""},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* What is refused leaves no run. */
static void leaves_nothing(void **state) {
    const command *c = *state;
    char line[1024];
    shell_expect(state);
    snprintf(line, sizeof line, "%s > out 2>&1; ls; test ! -e q/last.safetensors", c->line);
    assert_int_equal(shell_run(line), 0);
}

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS + 1];
    tests[0] = (struct CMUnitTest)cmocka_unit_test(makes_sets_and_a_run);
    shell_tests(tests + 1, commands, COMMANDS);
    for (size_t i = 1; i <= COMMANDS; i++) {
        const command *c = tests[i].initial_state;
        if (strstr(c->line, "--out q ")) tests[i].test_func = leaves_nothing;
    }
    return cmocka_run_group_tests(tests, begin, shell_end);
}
