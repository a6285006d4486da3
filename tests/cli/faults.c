/*
 * What a user sees when something goes wrong: exit code and message, and that the last checkpoint is as it was. One
 * line for each fault of docs/faults.md that needs no GPU; a fault whose commands are in another test is named there.
 * The sets and runs are made once, in $M.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdlib.h>

#include "tests/support/shell.h"

#define QUICK " --device cpu -q "
#define LITTLE " --data $M/f --batch 5 --effort estimate --cache-dir ''" QUICK
#define TRAIN "$B train lenet86" LITTLE
#define COPY "cp -r $M/r r && cp r/last.safetensors old && "
#define SAME " && cmp r/last.safetensors old"
#define ROOMS "cp -r $M/d d && "

/* Sets of clothes, rooms and fans, and a run of three updates. */
#define MAKE                                                                                                         \
    "mkdir ../made && cd ../made && $B data make fmnist86 --out f --count 20 -q && "                                 \
    "$B data make sunrgbd --out d --count 4 --size 16x20 -q && $B data make mimii --out m --count 4 --size 1 -q && " \
    "$B train lenet86 --data f --batch 5 --effort estimate --cache-dir '' --out r --steps 3" QUICK "> log"

/* An npy file that holds a pickle, 16x20. */
#define PICKLE                                                                                                \
    "{ printf '\\223NUMPY\\1\\0v\\0'; printf '%-117s\\n' \"{'descr': '|O', 'fortran_order': False, 'shape': " \
    "(16, 20), }\"; head -c 2560 /dev/zero; } > pickle && "

static const command commands[] = {
    /* 1: files that are cut or damaged: training names the file and the byte; partial pixels are never used */
    {ROOMS
     "truncate -s 90 d/train/rgb/00001.png; $B train linet18 --data d --out r --width 0.125 --steps 9 --batch 4" QUICK
     "--cache-dir ''",
     3, NULL, "d/train/rgb/00001.png: PNG: the file ends too early (at byte "},
    {"cp -r $M/f f; truncate -s 9999 f/train-86-images-idx3-ubyte; $B train lenet86 --data f --out r" QUICK, 3, NULL,
     "f/train-86-images-idx3-ubyte: |expected |braid data check f"},
    /* 2: another size */
    {ROOMS
     "cp $M/d/train/rgb/00000.png d/train/depth/00001.png; $B train linet18 --data d --out r --width 0.125 --batch 4 "
     "--steps 9 --cache-dir ''" QUICK,
     3, NULL, "d/train/depth/00001.png|expected|channel"},
    /* 3: a stream without a file */
    {ROOMS "rm d/train/depth/00001.png; $B train linet18 --data d --out r" QUICK, 3, NULL, "d/train/depth/00001.png"},
    /* 4: bombs: tests/cli/commands.c. 5: labels that are no class, before anything is trained */
    {ROOMS "sed -i 1s/.*/99/ d/train/labels.txt; $B train linet18 --data d --out r" QUICK
           "; code=$?; test ! -e r || ls r; "
           "exit $code",
     3, NULL, "d/train/labels.txt: line 1: expected a class from 0 to 14, got \"99\""},
    /* 6: a loss that is no number; weights that are none never become a checkpoint, and the last good one is there */
    {TRAIN "--out r --optimiser sgd --rate 80000 --epochs 9", 9, NULL, "step |expected a finite |sample"},
    {COPY TRAIN "--out r --resume --epochs 9 --rate 80000; test $? = 9 && $B eval r --data $M/f --split test" QUICK, 0,
     "", "expected finite numbers|nothing was saved"},
    /* 10: no GPU */
    {"CUDA_VISIBLE_DEVICES=-1 " TRAIN "--out r --steps 1 --device cuda:0", 6, NULL, "cuda|--device cpu"},
    /* 12: a disk that takes no file of this size: tried again, gone on, told at the end; what was there stays */
    {COPY "(ulimit -f 100; " TRAIN "--out r --resume --steps 5 --save-steps 1); test $? = 7" SAME
          " && ls -A r | grep -c '^[.]'; " TRAIN
          "--out r --resume --steps 5 -o csv && $B convert --list r/last.safetensors",
     0, "0\n|conv1.weight", "not saved: r/last.safetensors: could not write: File too large; the run goes on"},
    {TRAIN "--out /proc/nowhere/r --steps 1", 7, NULL, "/proc/nowhere"},
    {COPY "rm -r r/metrics.jsonl && mkdir r/metrics.jsonl && " TRAIN "--out r --resume --steps 5; test $? = 3" SAME, 0,
     NULL, "r/metrics.jsonl"},
    /* 13, 14: kill -9 at any moment: it goes on, nothing is left of the dead. To the bit: tests/train/kills.c */
    {"for ms in 3 5 7; do " TRAIN
     "--out b --steps 12 --save-steps 1 $(test -e b/last.safetensors && echo --resume) > log & "
     "sleep 0.$ms; kill -9 $! 2>/dev/null; wait $!; done 2>/dev/null; " TRAIN
     "--out b --steps 12 $(test -e b/last.safetensors && echo --resume); ls -A b | grep -c '^[.]'; true",
     0, "steps |12|0\n", NULL},
    /* 15, 16, 17: tests/plan/wisdom_folder.c, tests/plan/wisdom.c */
    /* 18: tests/plan/verify.c. 19: model files that lie */
    {"printf '\\0\\0\\0\\0\\0\\0\\0\\177{' > h.safetensors; $B eval h.safetensors --data $M/f" QUICK, 4, NULL,
     "h.safetensors: |expected"},
    {COPY "truncate -s -1 r/last.safetensors; $B convert --list r/last.safetensors", 4, NULL,
     "r/last.safetensors: |expected"},
    {COPY "printf x | dd of=r/last.safetensors bs=1 seek=90000 conv=notrunc 2>/dev/null; $B convert --list "
          "r/last.safetensors",
     4, NULL, "checksum"},
    /* 13 again: a damaged checkpoint: the older generation, and it is said */
    {COPY TRAIN "--out r --resume --steps 5 > log; printf x | dd of=r/last.safetensors bs=1 seek=90000 conv=notrunc "
                "2>/dev/null; " TRAIN "--out r --resume --steps 6",
     0, "steps   6", "went back to r/last.previous.safetensors"},
    /* 20: a pickle */
    {ROOMS PICKLE "cp pickle d/train/depth/00001.png; $B data check d -q", 3,
     "d/train/depth/00001.png|npy: ", "1 problem"},
    /* 21: a pipe in the place of a file holds nobody up */
    {ROOMS "rm d/train/rgb/00000.png; mkfifo d/train/rgb/00000.png; $B data check d -q", 3,
     "d/train/rgb/00000.png|got a folder or a device", "1 problem"},
    {"mkfifo p; $B eval p --data $M/f" QUICK, 4, NULL, "p: |got a folder or a device"},
    /* 22: sizes that do not fit */
    {"$B check conv2d_fwd:b2147483647:hw2147483647:c2147483647:k2147483647:rs1" QUICK, 5, NULL,
     "expected at most|elements|use a smaller problem"},
    {"$B check linear_fwd:b99999999999999999999:c1:k1" QUICK, 2, NULL, "99999999999999999999"},
    {TRAIN "--out r --batch 999999999999", 2, NULL, "--batch: expected a whole number"},
    /* 23: nothing to do */
    {"$B explain linear_fwd:b0:c3:k4 --effort estimate" QUICK, 0, "linear_fwd", NULL},
    {TRAIN "--out r --batch 0", 2, NULL, "--batch: expected a whole number from 1 to 1000000, got \"0\""},
    {ROOMS ": > d/train/labels.txt; rm d/train/*/*.png; $B train linet18 --data d --out r" QUICK, 3, NULL,
     "d/train/labels.txt: expected labels, got none"},
    /* 24: sizes that are not round, groups that do not divide */
    {"$B check conv2d_fwd:f32:b1:hw5x7:c3:k5:rs3:pad1" QUICK, 0, " passed, 0 failed", NULL},
    {"$B check conv2d_fwd:b1:hw4:c5:k4:rs1:g2" QUICK, 2, NULL, "g|5"},
    /* 25: a dtype that no kernel has */
    {"$B check conv2d_fwd:i32:b1:hw4:c4:k4:rs1" QUICK, 2, NULL, "i32"},
    /* 27: tests/cli/train.c; a reader that leaves */
    {"(trap '' PIPE; $B convert --list $M/r/last.safetensors; echo code $? >&2) | true", 0, NULL, "code 0"},
    /* 29: another network, a header that was changed, another set */
    {COPY "$B train mlp" LITTLE "--out r --resume; test $? = 4" SAME, 0, NULL, "r: expected a run of mlp, got one of "},
    {COPY "sed -i 's/\\\\\"format\\\\\":1/\\\\\"format\\\\\":2/' r/last.safetensors; " TRAIN "--out r --resume", 4,
     NULL, "the header: expected the checksum"},
    {"$B eval $M/r --data $M/d" QUICK, 2, NULL, "expected 1 streams for this network, got 3"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static int begin(void **state) {
    (void)state;
    if (shell_begin(BRAID_PROGRAM)) return 1;
    setenv("M", "../made", 1);
    return shell_run(MAKE);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        tests[i] = (struct CMUnitTest){
            .name = commands[i].line, .test_func = shell_expect, .initial_state = (void *)&commands[i]};
    return cmocka_run_group_tests(tests, begin, shell_end);
}
