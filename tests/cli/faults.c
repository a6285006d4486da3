/*
 * What a user sees when something goes wrong: exit code and message, and that the last checkpoint is as it was. One
 * line for each fault of docs/faults.md that needs no GPU (tests/cli/cuda.c has those); a fault whose commands are in
 * another test is named there.
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
#define SKIP \
    "$B train linet18 --data d --width 0.125 --batch 50 --effort estimate --cache-dir '' --bad-sample=skip" QUICK
#define BIG "$B data make sunrgbd --out d --count 1100 --size 16x16 -q && "
#define ALONE                                                                                                 \
    "$B train linet18 --data d --width 0.0625 --seed 3 --threads 1 --effort estimate --cache-dir '' --out r " \
    "--bad-sample=skip" QUICK
#define COPY "cp -r $M/r r && cp r/last.safetensors old && "
#define SAME " && cmp r/last.safetensors old"
#define ROOMS "cp -r $M/d d && "

/* Rooms, and a run on them with one update an epoch. */
#define WILD \
    "$B train linet18 --data d --out r --width 0.125 --optimiser sgd --threads 1 --effort estimate --cache-dir ''" QUICK
#define ROOMS20 "$B data make sunrgbd --out d --size 16x16 --count 20 --seed 1 -q && "

/* Two updates on the rooms of d. */
#define TINY \
    "$B train linet18 --data d --out r --width 0.125 --batch 2 --epochs 1 --effort estimate --cache-dir ''" QUICK

/* Sets of clothes, rooms and fans, and a run of three updates. */
#define MAKE                                                                                                         \
    "mkdir ../made && cd ../made && $B data make fmnist86 --out f --count 20 -q && "                                 \
    "$B data make sunrgbd --out d --count 4 --size 16x20 -q && $B data make mimii --out m --count 4 --size 1 -q && " \
    "$B train lenet86 --data f --batch 5 --effort estimate --cache-dir '' --out r --steps 3" QUICK "> log"

/* Races of a small network; the last line tells how many were measured, and how many remembered. */
#define RACE "$B tune mlp --layers 4,3 --batch 8 --phase eval --cache-dir c" QUICK

/* An OpenBLAS whose products are all 0, in l. */
#define WRONG_LIBRARY                                                                                                 \
    "mkdir l && printf '%s' 'int openblas_get_parallel(void) { return 2; } char *openblas_get_corename(void) "        \
    "{ return \"Zen\"; } char *openblas_get_config(void) { return \"OpenBLAS 9.9\"; } void cblas_sgemm(int o, int "   \
    "s, int t, int m, int n, int k, float x, float *a, int p, float *b, int q, float y, float *c, int r) { for (int " \
    "i = 0; i < m; i++) for (int j = 0; j < n; j++) c[i * r + j] = 0; }' > w.c && "                                   \
    "cc -w -shared -fPIC -o l/libopenblas.so.0 w.c && "

#define COMPILE "cc -w -shared -fPIC -o l/libopenblas.so.0 w.c && "

/* One that is right, and slow. */
#define RIGHT_LIBRARY                                                                                            \
    "export BRAID_LIBRARY_PATH=$PWD/l; mkdir l && printf '%s' 'int openblas_get_parallel(void) { return 2; } "   \
    "char *openblas_get_corename(void) { return \"Zen\"; } char *openblas_get_config(void) { return "            \
    "\"OpenBLAS 9.9\"; } void cblas_sgemm(int o, int s, int t, int m, int n, int k, float x, float *a, int p, "  \
    "float *b, int q, float y, float *c, int r) { for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { "    \
    "double v = y == 0 ? 0 : c[i * r + j]; for (int l = 0; l < k; l++) v += (double)(s == 112 ? a[l * p + i] : " \
    "a[i * p + l]) * (t == 112 ? b[j * q + l] : b[l * q + j]); c[i * r + j] = v; } }' > w.c && " COMPILE

/* Runs $L where t is a disk of 200 KB. */
#define SMALL_DISK "unshare -Urm sh -c 'mount -t tmpfs -o size=200k t t && eval \"$L\" 2>&1'"

/* $P before a command lets it read no more than others may: root reads all, unless it is bound. */
#define BOUND "test $(id -u) != 0 || P='setpriv --bounding-set=-dac_override,-dac_read_search'; $P cat "
#define OR_SKIP " > log 2>&1 && { echo skipped: could not open: Permission denied >&2; exit 7; }; "

/* An npy file that holds a pickle, 16x20. */
#define PICKLE                                                                                                \
    "{ printf '\\223NUMPY\\1\\0v\\0'; printf '%-117s\\n' \"{'descr': '|O', 'fortran_order': False, 'shape': " \
    "(16, 20), }\"; head -c 2560 /dev/zero; } > pickle && "

/* A second of 3e38 at 16000 Hz, as floats. */
#define LOUD                                                                                          \
    "{ printf 'RIFF\\044\\372\\0\\0WAVEfmt \\020\\0\\0\\0\\003\\0\\001\\0\\200\\076\\0\\0\\0\\372'; " \
    "printf '\\0\\0\\004\\0\\040\\0data\\0\\372\\0\\0'; "                                             \
    "for i in $(seq 16000); do printf '\\256\\261\\141\\177'; done; } "

static const command commands[] = {
    /* 1: files that are cut or damaged: training names the file and the byte; partial pixels are never used */
    {ROOMS
     "truncate -s 90 d/train/rgb/00001.png; $B train linet18 --data d --out r --width 0.125 --steps 9 --batch 4" QUICK
     "--cache-dir ''",
     3, NULL, "d/train/rgb/00001.png: PNG: the file ends too early (at byte "},
    {"cp -r $M/f f; truncate -s 9999 f/train-86-images-idx3-ubyte; $B train lenet86 --data f --out r" QUICK, 3, NULL,
     "f/train-86-images-idx3-ubyte: |expected |braid data check f"},
    /* 1, left out: one in a thousand is, and listed; two are not */
    {"$B data make sunrgbd --out d --count 1000 --size 16x16 -q && truncate -s 90 d/train/rgb/00007.png && " SKIP
     "--out r --epochs 1 && cat r/bad_samples.txt && truncate -s 0 d/train/depth/00700.png && " SKIP
     "--out r --epochs 2 --resume",
     3, "steps          20|train\t7\td/train/rgb/00007.png: PNG: the file ends too early",
     "left out sample 7 of train: d/train/rgb/00007.png|2 of the 1000 of train that cannot be read, and at most one in "
     "1000 is left out: r/bad_samples.txt"},
    {ROOMS "truncate -s 90 d/val/rgb/00000.png; $B train linet18 --data d --out r --width 0.125 --batch 4 --epochs 1 "
           "--cache-dir '' --bad-sample=skip" QUICK,
     3, NULL, "d/val/rgb/00000.png|1 of the 1 of val"},
    /* 1: one alone in its batch, the last of epoch 1, then the first of a batch of two: the run goes on, and resumes */
    {BIG ": > d/train/rgb/00780.png; " ALONE "--batch 7 --epochs 2 && " ALONE "--batch 7 --epochs 3 --resume", 0,
     "epochs         3\n|steps          471\n", "left out sample 780 of train"},
    {BIG ": > d/train/rgb/00892.png; " ALONE "--batch 2 --steps 552 && " ALONE "--batch 2 --steps 555 --resume", 0,
     "steps          555\n", "left out sample 892 of train"},
    /* 1: what was left out before counts when a run goes on, also where it is whole again, and has one line */
    {BIG ": > d/train/rgb/00525.png; mkdir r; echo earlier > r/bad_samples.txt; " ALONE "--batch 50 --steps 2 && " ALONE
         "--batch 50 --steps 44 --resume && cat r/bad_samples.txt && wc -l r/bad_samples.txt && "
         "cp d/train/rgb/00524.png d/train/rgb/00525.png && : > d/train/rgb/00780.png && " ALONE
         "--batch 50 --steps 66 --resume",
     3, "train\t525\td/train/rgb/00525.png|1 r/bad_samples.txt|!earlier", "2 of the 1100 of train that cannot be read"},
    /* 1: a list that cannot be written, or that is a pipe, ends no run */
    {BIG ": > d/train/rgb/00525.png; mkdir r; echo mine > f; ln -s ../f r/bad_samples.txt; " ALONE
         "--batch 50 --steps 2 && cat f",
     0, "steps   2\n|mine\n|!train\t525",
     "r/bad_samples.txt: could not write|got a symbolic link; remove it|left out sample 525"},
    {BIG ": > d/train/rgb/00525.png; mkdir r; mkfifo r/bad_samples.txt; " ALONE "--batch 50 --steps 1 && " ALONE
         "--batch 50 --steps 23 --resume",
     0, "steps          23\n", "r/bad_samples.txt: could not write|left out sample 525"},
    /* 1: a run whose folder was moved lists nothing in the one that has its name by then */
    {BIG ALONE
     "--batch 50 --epochs 1000 & p=$!; until test -e r/last.safetensors; do sleep 0.1; done; "
     "mv r other && mkdir r && : > d/val/rgb/00219.png; wait $p; code=$?; ls -A r; test $code = 3 -o $code = 7",
     0, NULL, "r"},
    /* 1: where no image of a stream can be read, that is what is told first */
    {ROOMS "for f in d/*/rgb/*; do : > $f; done; " TINY, 3, NULL, "braid train: d/train/rgb/00000.png: |!norm_stats"},
    /* 2: another size */
    {ROOMS
     "cp $M/d/train/rgb/00000.png d/train/depth/00001.png; $B train linet18 --data d --out r --width 0.125 --batch 4 "
     "--steps 9 --cache-dir ''" QUICK,
     3, NULL, "d/train/depth/00001.png|expected|channel"},
    /* 3: a stream without a file */
    {ROOMS "rm d/train/depth/00001.png; $B train linet18 --data d --out r" QUICK, 3, NULL, "d/train/depth/00001.png"},
    {ROOMS "mkdir d/val/a d/test/z; mv d/train/orth . && $B data check d -q; test $? = 3 && rmdir d/*/[az] && " TINY, 3,
     "d/train/orth/00003.png |missing|d/train/a/00000.png |d/val/z/00000.png ",
     "d: 17 problems|d/train/orth/00000.png: missing, and more: braid data check d"},
    {ROOMS TINY " --streams 4; test $? = 2 && " TINY " > log && rm -r d/*/orth && $B eval r --data d" QUICK, 3, NULL,
     "--streams 4: d: the set has 3 streams (rgb, depth, orth), expected 4\n|"
     "d: the set has 2 streams (rgb, depth), expected 3 (rgb, depth, orth)|such as train/orth: rename|!missing"},
    /* channels that were not typed are not guessed */
    {ROOMS TINY " --channels 3,1; test $? = 2 && " TINY " --channels 3,1 --streams 2", 0, "steps ",
     "--channels: expected 3 numbers, one for each stream of linet18, got 2: \"3,1\"; --streams 2 "},
    /* 3: two images of one sample, here one that is empty */
    {ROOMS ": > d/train/rgb/00001.jpg; $B data check d -q; test $? = 3 && " TINY, 3,
     "d/train/rgb/00001.png |expected one image of a sample, got one that ends in .jpg, too|d/train/rgb/00001.jpg ",
     "d: 2 problems|d/train/rgb/00001.png: expected one image of a sample"},
    /* 4: bombs: tests/cli/commands.c, tests/cli/budgets.c; the limit of pixels, of every verb that reads images */
    {ROOMS "$B data check d -q --max-pixels 319", 3, "", "d: |problems"},
    {ROOMS "$B data check d -q --max-pixels 320", 0, "", NULL},
    {ROOMS TINY " --max-pixels 319", 3, NULL,
     "expected at most 319 pixels, got 16x20: too many pixels; --max-pixels 320 allows them"},
    {ROOMS TINY " --max-pixels 320 >log && $B eval r --data d --max-pixels 9" QUICK, 3, NULL, "too many pixels"},
    {ROOMS TINY " >log && $B predict r --data d --max-pixels 9" QUICK, 3, NULL, "too many pixels"},
    {ROOMS "$B data bench d --max-pixels 9 -q", 3, NULL, "too many pixels"},
    /* 5: labels that are no class, before anything is trained */
    {ROOMS "sed -i 1s/.*/99/ d/train/labels.txt; $B train linet18 --data d --out r" QUICK
           "; code=$?; test ! -e r || ls r; "
           "exit $code",
     3, NULL, "d/train/labels.txt: line 1: expected a class from 0 to 14, got \"99\""},
    /* 5: a sound of numbers so large that its spectrum is none */
    {"cp -r $M/m m; s=$(find m -path '*/normal/*' | sort | tail -1); " LOUD "> $s; $B data check m -q; test $? = 3 && "
     "$B train ssae --data m --out r --effort estimate --cache-dir ''" QUICK,
     3, "/normal/|.wav |expected a spectrum of finite numbers, got ",
     "1 problem|/normal/|.wav: expected a spectrum of finite numbers, got |!sample "},
    /* 6: a loss that is no number; weights that are none never become a checkpoint, and the last good one is there */
    {TRAIN "--out r --optimiser sgd --rate 80000 --epochs 9", 9, NULL, "step |expected a finite |sample"},
    {COPY TRAIN "--out r --resume --epochs 9 --rate 80000; test $? = 9 && $B eval r --data $M/f --split test" QUICK, 0,
     "", "expected finite numbers|nothing was saved"},
    /* 6: weights that are finite while validation is not: nothing is saved; the last good checkpoint, best and metrics
     * are as they were, and the run goes on from it */
    {ROOMS20 WILD "--rate 1e15 --epochs 1; code=$?; ls r; exit $code", 9, "",
     "epoch 1, step 1: expected a finite loss of validation, got |in a batch of samples 0, 1, 2, 3; nothing of it is "
     "saved|there is no checkpoint yet|--rate"},
    {ROOMS20 WILD "--epochs 2 > log && cp -r r old && " WILD "--epochs 8 --rate 1e3 --resume; test $? = 9 && "
                  "for f in last last.previous best; do cmp r/$f.safetensors old/$f.safetensors || exit 99; done; "
                  "grep -v summary old/metrics.jsonl | cmp - r/metrics.jsonl && " WILD "--epochs 3 --resume",
     0, "epochs         3\n",
     "epoch 3, step 3: expected a finite loss of validation|the last good checkpoint is r/last.safetensors|--resume"},
    /* 6: an epoch without validation whose parameters give no loss: the step and the samples; it has no row */
    {ROOMS20 "rm -r d/val && " WILD
             "--rate 1e308 --epochs 3; code=$?; cat r/metrics.jsonl; ls r/*.safetensors; exit $code",
     9, "!kind|!safetensors",
     "step 1: checkpoint: expected a finite loss of |nothing was saved; |in a batch of samples |--rate"},
    /* 6: weights that are finite, and whose next loss is not: a save between steps is refused, and so is the last */
    {COPY TRAIN "--out r --resume --steps 9 --save-steps 1 --rate 1e12; test $? = 9 && " TRAIN
                "--out r --resume --steps 4 --rate 1e12; test $? = 9" SAME " && " TRAIN "--out r --resume --steps 5",
     0, "steps          5\n",
     "step 4: checkpoint: expected a finite loss of the parameters after this step, got |nothing was saved; |the last "
     "good checkpoint is r/last.safetensors"},
    /* 7: updates done twice change nothing; a wrong bit: tests/train/verify.c */
    {TRAIN
     "--out a --steps 4 && " TRAIN
     "--out b --steps 4 --verify-every 2 && n=$($B convert --list a/last.safetensors | sed -n 's/^bytes *//p') "
     "&& test $n -gt 1000 && for r in a b; do tail -c $n $r/last.safetensors > $r.bits; done && cmp a.bits b.bits",
     0, "done", NULL},
    /* 8: a network that does not fit, before anything is written */
    {"$B train linet18 --data $M/d --size 4000x4000 --batch 100 --effort estimate --out r --cache-dir ''" QUICK
     "; code=$?; ls -A r; exit $code",
     5, NULL, "plan of batch|needs|free are|GB for the reading of data; "},
    /* 8: and before anything is read */
    {ROOMS
     ": > d/train/rgb/00001.png; $B train linet18 --data d --size 4000x4000 --batch 100 --effort estimate --out r "
     "--cache-dir ''" QUICK,
     5, NULL, "plan of batch 4|needs|free are|!00001.png"},
    /* 10: no GPU */
    {"CUDA_VISIBLE_DEVICES=-1 " TRAIN "--out r --steps 1 --device cuda:0", 6, NULL, "cuda|--device cpu"},
    /* 11: no memory beyond the program itself, which holds the kernels of its GPUs: said in words, or enough */
    {"kb=8000; until (ulimit -v $kb; $B --version) > log 2> err || test $kb -gt 400000; do kb=$((kb + 1000)); done; "
     "for more in 1000 5000 9000 13000 21000; do (ulimit -v $((kb + more)); " TRAIN
     "--threads 1 --out r$more --steps 1) > log 2> err; code=$?; test $code = 0 -o $code = 5 || { cat err; exit 1; }; "
     "test $code = 0 || { cat err; grep -q 'braid train: ' err || exit 1; }; done",
     0, "no memory for", NULL},
    /* 12: a disk without room for a checkpoint, before anything is trained */
    {"export L=\"" TRAIN "--out t/r --steps 3\"; mkdir t; unshare -Urm true 2>/dev/null && exec " SMALL_DISK
     "; echo skipped: no disk of 0 MiB free for the checkpoints of a run, got none; exit 7",
     7, "MiB free for the checkpoints of a run, got", ""},
    /* 12: a disk that takes no file of this size: tried again, gone on, told at the end; what was there stays */
    {COPY "(ulimit -f 100; " TRAIN "--out r --resume --steps 5 --save-steps 1); test $? = 7" SAME
          " && ls -A r | grep -c '^[.]'; " TRAIN
          "--out r --resume --steps 5 -o csv && $B convert --list r/last.safetensors",
     0, "0\n|conv1.weight", "not saved: r/last.safetensors: could not write: File too large; the run goes on"},
    {TRAIN "--out /proc/nowhere/r --steps 1", 7, NULL, "/proc/nowhere"},
    {COPY "rm -rf r/metrics.jsonl && mkdir r/metrics.jsonl && " TRAIN "--out r --resume --steps 5; test $? = 3" SAME, 0,
     NULL, "r/metrics.jsonl"},
    /* 13, 14: kill -9 at any moment: it goes on, nothing is left of the dead. To the bit: tests/train/kills.c */
    {"for ms in 3 5 7; do " TRAIN
     "--out b --steps 12 --save-steps 1 $(test -e b/last.safetensors && echo --resume) > log & "
     "sleep 0.$ms; kill -9 $! 2>/dev/null; wait $!; done 2>/dev/null; " TRAIN
     "--out b --steps 12 $(test -e b/last.safetensors && echo --resume); ls -A b | grep -c '^[.]'; true",
     0, "steps |12|0\n", NULL},
    /* 15: processes that share a cache: each finds its way, and what they leave is whole; a cache that is only read */
    {"for i in 1 2 3 4; do " RACE "> log$i & done; wait; " RACE "&& ls -A c | grep -vc 'wisdom$'", 1,
     "0 of 1 problems measured now, 1 remembered|\n0\n", NULL},
    {RACE "> log; chmod 500 c; " RACE "; chmod 700 c", 0, "0 of 1 problems measured now, 1 remembered", NULL},
    /* 16: entries that are damaged: measured again, and mended */
    {RACE "> log; sed -i 's/median_s/median_x/' c/*; BRAID_LOG=wisdom " RACE "> a; tail -1 a; : > $(ls c/*); " RACE
          "> a; tail -1 a; " RACE "> a; tail -1 a",
     0, "1 of 1 problems measured now, 0 remembered|0 of 1 problems measured now, 1 remembered",
     "not used: c/|checksum"},
    /* 17: of another machine, here another number of threads; of another build: tests/race/wisdom.c */
    {RACE "--threads 1 > log; " RACE "--threads 2", 0, "1 of 1 problems measured now, 0 remembered", NULL},
    /* 18: a library that computes wrongly has no time, and is never chosen */
    {WRONG_LIBRARY "BRAID_LIBRARY_PATH=$PWD/l $B explain linear_fwd:b64:c64:k64 --seconds 0.05 --cache-dir ''" QUICK
                   "| tee o | grep openblas; grep chosen o",
     0, "FAIL|wrong in exact mode|chosen|!chosen    linear_fwd__cpu_openblas", NULL},
    /* 18: another file of the same version: what was measured with the first is measured again */
    {RIGHT_LIBRARY RACE "> a; tail -1 a; " RACE "> a; tail -1 a; echo 'int other;' >> w.c; " COMPILE RACE
                        "> a; grep -q '1 of 1 problems measured now' a && echo again",
     0, "1 of 1 problems measured now, 0 remembered|0 of 1 problems measured now, 1 remembered|again", NULL},
    /* 19: model files that lie */
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
     0, "steps |6\n", "went back to r/last.previous.safetensors"},
    /* 13: a checkpoint that the system does not let us read is not a damaged one, and metrics are no data */
    {COPY "chmod 0 r/last.safetensors; " BOUND "r/last.safetensors" OR_SKIP "$P " TRAIN
          "--out r --resume --steps 5; test $? = 7 && $P $B eval r/last.safetensors --data $M/f" QUICK,
     7, "", "could not open: Permission denied"},
    {COPY ": > r/metrics.jsonl; chmod 0 r/metrics.jsonl; " BOUND "r/metrics.jsonl" OR_SKIP "$P " TRAIN
          "--out r --resume --steps 5",
     7, "", "could not open: Permission denied"},
    {COPY "truncate -s -1 r/last.safetensors; " TRAIN "--out r --resume --steps 5", 4, NULL, "r/last.safetensors: "},
    /* 20: a pickle */
    {ROOMS PICKLE "cp pickle d/train/depth/00001.png; $B data check d -q", 3,
     "d/train/depth/00001.png|npy: ", "1 problem"},
    /* 21: a pipe in the place of a file holds nobody up */
    {ROOMS "rm d/train/rgb/00000.png; mkfifo d/train/rgb/00000.png; $B data check d -q", 3,
     "d/train/rgb/00000.png|got a folder or a device", "1 problem"},
    {"mkfifo p; $B eval p --data $M/f" QUICK, 4, NULL, "p: |got a folder or a device"},
    /* 21: links out of a set are refused by name and target, in check and training; links within it are fine */
    {ROOMS
     "mv d/train/rgb/00001.png . && ln -s ../../../00001.png d/train/rgb && $B data check d -q; test $? = 3 && " TINY,
     3, "d/train/rgb/00001.png  expected a place in |/work/d, got a link to ../../../00001.png; put a copy there",
     "d/train/rgb/00001.png: expected a place in |got a link to ../../../00001.png"},
    {ROOMS "mv d/val v && ln -s \"$PWD/v\" d/val && mv d/norm_stats.json . && ln -s ../norm_stats.json d && "
           "$B data check d -q; test $? = 3 && " TINY,
     3, "d/val/labels.txt |got one through the link d/val to /|d/norm_stats.json |got a link to ../norm_stats.json",
     "2 problems|d/val/labels.txt: expected a place in "},
    {ROOMS "mv d/train d/t && ln -s t d/train && ln -sf \"$PWD/d/t/rgb/00001.png\" d/t/rgb/00000.png && ln -s d e && "
           "$B data check e -q",
     0, "problems  0", NULL},
    {"cp -r $M/f f; mv f/train-86-labels-idx1-ubyte l && ln -s ../l f/train-86-labels-idx1-ubyte; $B data check f -q; "
     "test $? = 3 && $B train lenet86 --data f --out r" QUICK,
     3, "f/train-86-labels-idx1-ubyte |got a link to ../l", "f/train-86-labels-idx1-ubyte: expected a place in "},
    {"cp -r $M/m m; s=$(find m -name '*.wav' | head -1); mv $s w && ln -s \"$PWD/w\" $s; ln -s / m/all; "
     "$B data check m -q; test $? = 3 && $B train ssae --data m --out r" QUICK,
     3, ".wav |/w; put a copy there|m/all |got a link to /;", "2 problems|expected a place in "},
    /* 22: sizes that do not fit; a batch larger than the set needs no more memory than the set */
    {"(ulimit -v 4000000; $B train linet18 --data $M/d --out r --width 0.125 --batch 1000000 --epochs 1 --threads 1 "
     "--effort estimate --cache-dir ''" QUICK ")",
     0, "steps          1\n", NULL},
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
    /* the statistics of the data are those that the run began with */
    {ROOMS TINY " && sed -i 's/\"depth_mean\": *\\[ *0[.]/&0/' d/norm_stats.json && " TINY " --resume; code=$?; "
                "rm d/norm_stats.json; " TINY " --resume; exit $code",
     2, "",
     "r/last.safetensors: expected the mean of stream depth that the run began with, 0.|, got 0.0|norm_stats.json|"
     "mean of stream rgb"},
    /* and there are validation samples, or none, as there were */
    {ROOMS20 WILD "--epochs 1 > log && cp -r r old && mv d/val v && " WILD "--epochs 2 --resume; code=$?; "
                  "diff -r r old && exit $code",
     2, "",
     "r/last.safetensors: expected a set with validation samples, as the run began, got none; give it the data that it "
     "began with, or begin a run in another folder"},
    {ROOMS20 WILD "--epochs 1 > log && cp -r r old && sed -i '$d' d/val/labels.txt && rm d/val/*/00003.png && " WILD
                  "--epochs 2 --resume; code=$?; diff -r r old && exit $code",
     2, "",
     "r: expected 4 samples in val, as the run began, got 3; give it the data that it began with, or begin a run in "
     "another folder"},
    {ROOMS20 WILD "--epochs 1 > log && sed -i '1s/.*/3/' d/val/labels.txt && " WILD "--epochs 2 --resume", 0,
     "epochs         2\n", "d: the labels of val are not those that the run began with|!labels of train"},
    /* 13: a best epoch whose file is gone: the older one, with metrics of its own, else the next epoch is the best */
    {ROOMS20 WILD "--epochs 1 > log && : > r/best.safetensors && " WILD "--epochs 1 --resume && " WILD
                  "--epochs 2 --resume > log && cmp r/best.safetensors r/last.safetensors && echo next",
     0, "next|!best accuracy",
     "r/best.safetensors: expected the best epoch so far, got no whole file; the next epoch is the best"},
    {ROOMS20 WILD "--monitor val_loss --epochs 1 -o csv > a && cp r/best.safetensors r/best.previous.safetensors && "
                  ": > r/best.safetensors && " WILD "--monitor val_loss --epochs 1 --resume -o csv > b && cmp a b",
     0, "", "r/best.safetensors: |went back to r/best.previous.safetensors"},
    /* and so are its classes */
    {ROOMS TINY " && sed -i 's/bathroom/bath]\\\"room/' d/class_names.txt && " TINY " --resume", 2, "",
     "r: expected the classes that the run began with, [\"bathroom\",|got [\"bath]|class_names.txt"},
    /* 29: another network, a header that was changed, another set */
    {COPY "$B train mlp" LITTLE "--out r --resume; test $? = 4" SAME, 0, NULL, "r: expected a run of mlp, got one of "},
    {COPY "sed -i 's/\\\\\"format\\\\\":2/\\\\\"format\\\\\":1/' r/last.safetensors; " TRAIN "--out r --resume", 4,
     NULL, "the header: expected the checksum"},
    {"$B eval $M/r --data $M/d" QUICK, 2, NULL, "expected 1 stream for lenet86, got 3"},
    /* 36: more threads than libgomp bears */
    {"OMP_NUM_THREADS=1000000 $B check conv2d_fwd:b8:hw16:c16:k16:rs3", 0, "passed", ""},
    /* 29: a state that no run has, in a file without checksums: tests/train/combinations.c has more of them */
    {COPY "sed -i 's/braid.checksum/braid.checksux/; s/braid.written/braid.writtex/; "
          "s/\\\\\"keeps\\\\\":-1/\\\\\"keeps\\\\\":-2/' "
          "r/last.safetensors; cp -r r s; " TRAIN "--out r --resume --steps 5; code=$?; diff -r r s && exit $code",
     4, "", "r/last.safetensors: expected keeps of -1, 0 or 1"},
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
    shell_tests(tests, commands, COMMANDS);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
