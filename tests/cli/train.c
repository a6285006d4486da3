/*
 * Training on the command line: made, learned from, interrupted, gone on with in another process to the same bits,
 * looked at; and what is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/shell.h"

#define MAKE_DATA "$B data make sunrgbd --out d --size 32x32 --count 40 -q && "
#define LITTLE " --data d --width 0.125 --batch 8 --device cpu --effort estimate -q --cache-dir '' "

/* A run in the background, $p, behind its first checkpoint; and how it goes on. */
#define LONG \
    "$B train linet18" LITTLE "--out r --epochs 1000 & p=$!; until test -e r/last.safetensors; do sleep 0.1; done; "
#define GO_ON "$B train linet18" LITTLE "--out r --epochs 1000 --resume --steps 1"

static const command commands[] = {
    {"$B train linet18", 2, NULL, "expected --data DIR and --out RUN, got no --data"},
    {"$B train linet18 --data d", 2, NULL, "got no --out"},
    {"$B train linet18 --data nosuch --out r", 3, NULL, "nosuch"},
    {"$B train nosuch --data d --out r", 2, NULL, "nosuch"},
    {"$B train --help", 0, "--data|--resume|--epochs|--schedule|--modality-dropout|--stream-epochs|--accumulate|Ctrl-C",
     NULL},
    {"$B eval --help", 0, "--data|--split|--what|contribution|ROC-AUC", NULL},
    {"$B eval nosuch.safetensors --data d", 4, NULL, "nosuch.safetensors"},
    {"$B eval r", 2, NULL, "expected --data DIR"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --resume", 4, NULL, "last.safetensors"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 3 -o json && $B eval r --data d -o csv -q --device cpu && "
               "$B train linet18" LITTLE "--out r",
     2, "\"steps\": 3|streams,stream,accuracy,loss,contribution,samples|all,|without,rgb,|only,orth,",
     "expected a folder without a run|!Traceback"},
    /* eval tells what the best epoch told, to the last digit */
    {MAKE_DATA "$B train linet18" LITTLE
               "--out r --epochs 3 -o json > t && $B eval r --what streams -o json -q --data d "
               "--batch 8 --device cpu --cache-dir '' > e && "
               "grep -o '\"best_accuracy\": [^,]*' t | cut -d: -f2 > a && "
               "grep -o '\"accuracy\": [^,]*' e | head -1 | cut -d: -f2 > b && test -s a && cmp a b && echo same",
     0, "same", NULL},
    /* an mlp takes its widths from the set, and an image as a row */
    {"$B data make fmnist86 --out f --count 100 -q && $B train mlp --data f --out r --epochs 4 -q --effort estimate "
     "--device cpu --cache-dir '' && $B eval r --data f -q --device cpu --what streams -o csv && "
     "$B train mlp --layers 784,10 --data f --out r2 -q",
     2, "best accuracy|all,", "f: expected 784 numbers in stream features, got 7396"},
    {MAKE_DATA "$B train mlp --data d --out r -q", 2, NULL, "expected 1 stream"},
    {MAKE_DATA "$B train linet18" LITTLE "--out a --steps 10 --dtype bf16 && $B train linet18" LITTLE
               "--out b --steps 5 --dtype bf16 && $B train linet18" LITTLE
               "--out b --steps 10 --dtype bf16 --resume && "
               "cmp a/metrics.jsonl b/metrics.jsonl && cmp a/last.safetensors b/last.safetensors",
     0, "", NULL},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 1 -o csv", 0,
     "state,epochs,steps,best_accuracy,best_loss,run\ndone,1,|,r\n", NULL},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 && $B train linet18" LITTLE "--out r --resume --seed 5", 2,
     "", "the options that the run began with, got seed 5 in place of 0; give it those, or take another folder"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 && $B train linet34" LITTLE "--out r --resume", 4, "",
     "expected a run of linet34, got one of|linet18"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 && $B train linet18" LITTLE
               "--out r --resume --width 0.25 --batch 4",
     2, "", "expected the network that the run began with|0.125|0.25"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 && $B train linet18" LITTLE "--out r --resume --batch 4", 2,
     "", "got batch 4 in place of 8"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 && $B data make sunrgbd --out e --size 32x32 --count 48 -q "
               "&& $B train linet18" LITTLE "--out r --resume --stratified --monitor val_loss --data e",
     2, "", "got monitor val_loss in place of val_accuracy, samples 48 in place of 40, stratified 1 in place of 0"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 --loss focal --class-weights", 2, "",
     "expected cross entropy with class weights, got focal"},
    /* what is known of the whole run is told by a run that goes on: the best epoch, also where it found none */
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 2 -o csv > a && $B train linet18" LITTLE
               "--out r --epochs 2 --resume -o csv > b && cmp a b && cat b && grep -c summary r/metrics.jsonl",
     0, "best_accuracy|done,2,|\n1\n", NULL},
    /* a summary is there as long as nothing was added to the run */
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 2 > log && cp r/metrics.jsonl m && $B train linet18" LITTLE
               "--out r --epochs 3 --steps 4 --resume && cmp r/metrics.jsonl m && grep -c summary m",
     0, "steps          10\n|\n1\n", NULL},
    /* --resume alone has every option of the run: bits and rows are those of a run that was never stopped */
    {MAKE_DATA
     "for r in 'a --epochs 3' 'b --epochs 3 --steps 4'; do $B train linet18" LITTLE
     "--out $r --lr 2e-3 --augment --streams rgb,depth --clip 2 --modality-dropout 0.2 --seed 5 > log || exit 9; "
     "done; $B train --resume b -q --epochs 3 && cmp a/metrics.jsonl b/metrics.jsonl && "
     "cmp a/last.safetensors b/last.safetensors && $B convert --list b/last.safetensors | grep options",
     0, "epochs         3\nsteps          15\n|metadata.braid.options|data=d?rate=2e-3?clip=2?augment=?",
     "d: not used by this network: the stream orth"},
    /* in other words, with another length, from a set that was moved, and with a network that is typed again */
    {MAKE_DATA "$B train linet18" LITTLE
               "--out r --steps 2 > log && $B train --resume --out r --steps 3 -q && mv d e && "
               "$B train linet18 --resume r --data e --steps 4 -q && $B train r linet18 --resume --steps 5 -q",
     0, "steps   3\n|steps   4\n|steps          5\n", NULL},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 > log && mv d e && $B train --resume r -q", 3, NULL,
     "d: there is no such folder|that is the --data which the run began with; if it was moved, add --data DIR"},
    /* what is typed again must agree: both values are named */
    {MAKE_DATA "$B train linet18" LITTLE
               "--out r --steps 2 > log && for o in '--batch 4' '--augment' '--smoothing 0.1' "
               "'--optimiser sgd' '--dtype bf16'; do $B train --resume r -q $o; test $? = 2 || exit 99; done",
     0, NULL,
     "got batch 4 in place of 8|got augment 1 in place of 0|got smoothing 0.1|in place of 0|got optimiser sgd in place "
     "of adamw|got dtype bf16 in place of f32"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 > log && $B train --resume r -q --width 0.25", 2, NULL,
     "r: expected the network that the run began with, \"width\":0.125, got \"width\":0.25; leave it out"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 2 > log && cp -r r q && $B train --resume r --out q -q", 2,
     NULL, "--resume: expected one run, got q and r"},
    /* a longer run has the schedule that it would have had from the start */
    {MAKE_DATA "$B train linet18" LITTLE
               "--out r --epochs 2 > log && $B train linet18 --data d --width 0.125 --batch 8 "
               "--device cpu --effort estimate --cache-dir '' --out r --epochs 3 --resume",
     0, "epochs         3", "cosine:t_max=3:"},
    /* options that mean nothing where they are given */
    {"$B train linet18 --data d --out r --min-delta 1", 2, NULL, "--min-delta: expected --patience beside it"},
    {"$B train linet18 --data d --out r --modality-ramp 1", 2, NULL, "--modality-ramp: expected --modality-dropout"},
    {"$B train linet18 --data d --out r --modality-start 1", 2, NULL, "--modality-start: expected --modality-dropout"},
    {"$B train linet18 --data d --out r --modality-down", 2, NULL, "--modality-down: expected --modality-dropout"},
    {"$B train linet18 --data d --out r --optimiser sgd --nesterov --momentum 0", 2, NULL,
     "--nesterov: expected --momentum above 0, got 0"},
    {"$B train linet18 --data d --out r --effort estimate --tune 3", 2, NULL, "--tune: expected --effort measure or"},
    {"$B eval r --data d --seed 1", 2, NULL, "--seed: expected none, the model file has all parameters"},
    {"$B data make fmnist86 --out f --count 20 -q && $B train lenet86 --data f --out r --size 86x86 -q; code=$?; "
     "test ! -e r && exit $code",
     2, NULL, "--size: expected none for a set like fmnist86"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --classes 3; code=$?; test ! -e r && exit $code", 2, NULL,
     "--classes: expected 15 or more for the labels of d, got 3"},
    /* sets are never written to */
    {MAKE_DATA "ln -s d e; cp -r d f; for o in d d/ d/train/run d/a/b/c e/r; do $B train linet18" LITTLE
               "--out $o; test $? = 2 || exit 1; done; diff -r d f",
     0, NULL, "--out: expected a folder outside of the set d, which is never written to, got d/a/b/c"},
    /* a run that goes on is as long as it began, unless it is told otherwise */
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 2 > log && $B train linet18" LITTLE
               "--out r --resume && $B train linet18" LITTLE "--out q --steps 3 > log && $B train linet18" LITTLE
               "--out q --resume && $B train linet18" LITTLE "--out q --resume --steps 7",
     0, "epochs         2\nsteps          10\n|steps   3\n|steps          7\n", NULL},
    {MAKE_DATA "ln -s nowhere r; $B train linet18" LITTLE "--out r --steps 1", 7, NULL,
     "r: expected a folder, got a link that leads nowhere"},
    {MAKE_DATA "sed -i s/14/13/ d/train/labels.txt; $B train linet18" LITTLE "--out r --steps 1 --class-weights", 0,
     "steps ",
     "--class-weights: d: class 14 (study_space) has no training samples, and no weight in any loss\n|!class 13"},
    /* a schedule beside --steps ends with them */
    {MAKE_DATA
     "$B train linet18 --data d --width 0.125 --batch 8 --device cpu --effort estimate --cache-dir '' --out r "
     "--steps 10 --schedule cosine",
     0, "epochs         2\nsteps          10\n", "cosine:t_max=2:"},
    /* an epoch whose last sample is left out ends with its last step */
    {"$B data make sunrgbd --out d --size 32x32 --count 41 -q && $B train linet18" LITTLE "--out r --steps 5", 0,
     "epochs         1\nsteps          5\n", NULL},
    /* what is refused late leaves nothing, or the folder that was there */
    {MAKE_DATA "$B train linet18" LITTLE
               "--out x/r --batch 1; test ! -e x || exit 99; mkdir r && $B train linet18" LITTLE
               "--out r/ --batch 1; code=$?; ls -A r; exit $code",
     2, NULL, "--batch 1: expected 2 or more samples"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 --dropout 0.5 > log && $B train linet18 --data d --batch 8 "
               "--device cpu --effort estimate -q --cache-dir '' --out r --steps 2 --resume --dropout 0",
     2, NULL, "expected the network that the run began with|\"dropout\":0.0"},
    /* of a run that goes on, what is typed must be true, and what is not typed is as the run has it */
    {"$B data make fmnist86 --out f --count 50 -q && for more in '' --resume '--resume --layers 7396,256,10' "
     "'--resume --layers 7396,64,10'; do $B train mlp --data f --batch 16 --classes 10 --out r --epochs 1 -q "
     "--effort estimate --device cpu --cache-dir '' $more || exit 99; done",
     99, "done", "expected the network that the run began with|[7396,256,10]|[7396,64,10]"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 && for more in '--channels 3,1,1' '--streams 3' "
               "'--classes 15' '--channels 3,3,1'; do $B train linet18 --data d --batch 8 --device cpu "
               "--effort estimate -q --cache-dir '' --out r --steps 1 --resume $more || exit 99; done",
     99, "done", "expected the network that the run began with|\"channels\":[3,3,1]|!1.0"},
    /* kernels that are not there any more are counted, in one line; those that are, are not */
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 > log && BRAID_ISA=none $B train linet18" LITTLE
               "--out r --steps 2 --resume",
     0, "steps   2\n", "braid train: | of the |kernels that the run began with cannot be taken here|BRAID_ISA"},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 > log && $B train linet18" LITTLE
               "--out r --steps 2 --resume",
     0, "steps   2\n", "!kernels"},
    /* streams are watched on training samples, too, which changes no bit of the run */
    {MAKE_DATA
     "$B train linet18" LITTLE "--out plain --epochs 3 --augment > log && $B train linet18" LITTLE
     "--out r --epochs 3 --augment --stream-epochs 1 --stream-samples 11 > log && $B train linet18" LITTLE
     "--out q --epochs 3 --steps 7 --augment --stream-epochs 1 --stream-samples 11 > log && $B train linet18" LITTLE
     "--out q --epochs 3 --augment --stream-epochs 1 --stream-samples 11 --resume > log && "
     "cmp q/metrics.jsonl r/metrics.jsonl && cmp q/last.safetensors r/last.safetensors && "
     "grep -o '\"train_loss\":[^,]*' plain/metrics.jsonl > a && "
     "grep -o '\"train_loss\":[^,]*' r/metrics.jsonl > b && cmp a b && wc -l < a && cat r/metrics.jsonl",
     0, "3\n|\"stream_2_train_acc\":0.|\"best_train_loss\":|!train_acc\":null", NULL},
    {"$B train linet18 --data d --out r --stream-samples 9", 2, NULL,
     "--stream-samples: expected --stream-epochs beside"},
    {"$B train linet18 --data d --out r --bad-sample=drop", 2, NULL, "--bad-sample: expected stop|skip, got \"drop\""},
    {"$B train linet18 --data d --out r --verify-every -1", 2, NULL, "--verify-every: expected a whole number from 0"},
    /* numbers of training have ranges of their own, 0 among them where it has a meaning */
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 --optimiser sgd --momentum 0 --smoothing 0 --dropout 0 "
               "--modality-dropout 0 --min-delta 0 --clip 100000 --patience 0 --stream-epochs 0 --save-steps 0",
     0, "done", NULL},
    {"$B train linet18 --data d --out r --smoothing 1.5", 2, NULL, "--smoothing: expected a number from 0 to 1, got"},
    {"$B train linet18 --data d --out r --clip -1", 2, NULL, "--clip: expected a number from 0 to 1e30, got \"-1\""},
    {"$B train linet18 --data d --out r --tune 0", 2, NULL, "--tune: expected a number above 0, up to 86400, got"},
    {"$B train linet18 --data d --out r --momentum 0", 2, NULL, "--momentum: expected --optimiser sgd or rmsprop"},
    /* no momentum is no momentum: the first update is the same, the next are not; not given is 0.9 */
    {MAKE_DATA "for m in 'none --momentum 0' 'much --momentum 0.9' usual; do "
               "$B train linet18" LITTLE "--optimiser sgd --epochs 1 --out $m || exit 99; done; "
               "cmp much/metrics.jsonl usual/metrics.jsonl && ! cmp -s none/metrics.jsonl usual/metrics.jsonl",
     0, "", NULL},
    /* none of something that there must be is refused, and not taken for the default */
    {"$B train linet18 --data d --out r --epochs 0", 2, NULL, "--epochs: expected a whole number from 1 to 1000000"},
    {"$B train linet18 --data d --out r --steps 0", 2, NULL, "--steps: expected a whole number from 1 to 1000000000,"},
    {"$B train linet18 --data d --out r --steps 1000000000", 3, NULL, "d: "},
    {"$B train linet18 --data d --out r --steps 1000000001", 2, NULL, "--steps: expected a whole number from 1"},
    /* the focal loss has its two numbers; with an exponent near 0 it is nearly cross entropy, times its factor */
    {"$B train linet18 --data d --out r --focal-gamma 1", 2, NULL, "--focal-gamma: expected --loss focal, got another"},
    {"$B train linet18 --data d --out r --focal-alpha 1 --loss mse", 2, NULL, "--focal-gamma: expected --loss focal"},
    {MAKE_DATA "for how in 'c --loss cross_entropy' 'f --loss focal --focal-alpha 2 --focal-gamma 1e-6' "
               "'u --loss focal' 'w --loss focal --focal-alpha 1 --focal-gamma 2'; do "
               "$B train linet18" LITTLE
               "--epochs 1 --rate 0 --seed 3 --out $how > log || exit 99; done; cmp u/metrics.jsonl "
               "w/metrics.jsonl && loss() { grep -o '\"val_loss\":[^,]*' $1/metrics.jsonl | cut -d: -f2; } && "
               "echo $(loss c) $(loss f) | awk '{ print ($2 / $1 > 1.9999 && $2 / $1 < 2.0001) ? \"twice\" : $0 }'",
     0, "twice", NULL},
    /* one sample is too few for statistics, whatever the batch is */
    {"$B data make sunrgbd --out d --size 32x32 --count 40 -q && for s in rgb depth orth; do "
     "find d/train/$s -type f | sort | tail -n +2 | xargs rm; done; "
     "head -1 d/train/labels.txt > l && mv l d/train/labels.txt; $B train linet18" LITTLE "--out r --epochs 1",
     3, "", "d: expected 2 or more training samples for this network, got 1: "},
    {"$B train linet18 --data d --out r --accumulate 0", 2, NULL, "--accumulate: expected a whole number from 1"},
    {"$B train linet18 --data d --out r --readers 0", 2, NULL, "--readers: expected a whole number from 1"},
    {"$B train linet18 --data d --out r --streams 0", 2, NULL, "--streams: expected a whole number from 1"},
    {"$B train linet18 --data d --out r --nesterov", 2, NULL, "--nesterov: expected --optimiser sgd"},
    {MAKE_DATA
     "$B train linet18 --data d --width 0.125 --batch 8 --device cpu --effort estimate --cache-dir '' "
     "--out r --epochs 1 --rate 2e-4,depth=9e-5,shared=7e-6 --weight-decay 1e-4,shared=3e-3 && cat r/metrics.jsonl",
     0, "\"stream_0_lr\":0.0002|\"stream_1_lr\":9|\"stream_2_lr\":0.0002",
     "adamw, rate rgb=0.0002,depth=9e-05,orth=0.0002,integration=0.0002,shared=7e-06, weight decay rgb=0.0001|"
     "wait "},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --steps 1 --rate thermal=1", 2, "",
     "expected a group of this network (rgb, depth, orth, integration, shared), got \"thermal\""},
    /* 40 samples make three batches of 13, and one that is left over */
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 2 --batch 13 --modality-dropout 0.9", 0, "steps          6",
     NULL},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 9 --patience 1 --min-delta 2", 0,
     "done: stopped early|epochs         3", NULL},
    {MAKE_DATA "$B train linet18" LITTLE "--out r --epochs 4 --patience 1 --min-delta 2 && $B train linet18" LITTLE
               "--out r --epochs 4 --patience 0 --resume",
     0, "done: stopped early|epochs         3|epochs         4", NULL},
    {MAKE_DATA "( " LONG "kill -TERM $p; wait $p ); test $? = 130 && " GO_ON, 0, "interrupted|state", "stopping"},
    /* whoever stops a run in the races at its start, more than a hundred of them, waits for one at most */
    {MAKE_DATA "$B train linet18 --data d --width 0.125 --batch 8 --device cpu --effort exhaustive -q --cache-dir c "
               "--out r & p=$!; until ls c/*.wisdom; do sleep 0.1; done > found 2>&1; kill -TERM $p; wait $p; "
               "test $? = 130 && test -s r/last.safetensors && test $(ls c | wc -l) -lt 70 && echo few",
     0, "interrupted|few", "stopping"},
    /* a run that is stopped before its only step makes it when it is resumed */
    {MAKE_DATA
     "$B train linet18 --data d --width 0.125 --batch 8 --device cpu --effort exhaustive -q --cache-dir c "
     "--out r --steps 1 & p=$!; until ls c/*.wisdom; do sleep 0.1; done > found 2>&1; kill -TERM $p; wait $p; "
     "test $? = 130 && $B train --resume r -q",
     0, "interrupted|steps   0\n|state   done\n|steps   1\n", "stopping"},
    /* threads that wait leave the cores to others soon, unless the user has said how they wait */
    {MAKE_DATA
     "for set in A=1 OMP_WAIT_POLICY=active; do env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT $set $B train linet18" LITTLE
     "--epochs 1000 --out r & p=$!; until test -e r/last.safetensors; do sleep 0.1; done; "
     "tr '\\0' '\\n' < /proc/$p/environ | grep SPINCOUNT || echo as set; kill -9 $p; wait $p; rm -r r; done",
     0, "GOMP_SPINCOUNT=3000\nas set\n", ""},
    /* one run at a time in a folder; one that was killed holds it no longer */
    {MAKE_DATA "$B train linet18" LITTLE
               "--out r --epochs 1000 & p=$!; until test -e r/last.safetensors; do sleep 0.1; "
               "done; $B train linet18" LITTLE "--out r; a=$?; $B train linet18" LITTLE
               "--out r --epochs 1000 --resume; b=$?; kill -9 $p; wait $p; $B train linet18" LITTLE
               "--out r --epochs 1000 --resume --steps 1; echo codes $a $b $?",
     0, "codes 2 2 0", "r: expected a folder that no run is at work in, got one whose run has not ended"},
    /* Ctrl-C, which a shell lets jobs in the background ignore unless it is told otherwise */
    {MAKE_DATA "( env --default-signal=INT " LONG "kill -INT $p; wait $p ); test $? = 130 && " GO_ON, 0,
     "interrupted|state", "stopping"},
    /* a terminal that is closed, and says so twice */
    {MAKE_DATA "( " LONG "kill -HUP $p; kill -HUP $p; wait $p ); test $? = 130 && " GO_ON, 0, "interrupted|state",
     "stopping"},
    {MAKE_DATA
     "echo '$B train linet18 --data d --width 0.125 --batch 8 --device cpu --effort estimate --cache-dir c "
     "--out r --epochs 1000 & trap \"kill -HUP $!\" HUP; wait; wait $!; echo $? > code' > s; "
     "script -qec 'sh s' typed > log & p=$!; until test -e r/last.safetensors; do sleep 0.1; done; kill -9 $p; "
     "n=0; until test -s code -o $n = 300; do sleep 0.1; n=$((n + 1)); done; cat code",
     0, "130\n", ""},
    /* what is ignored at the start stays ignored: the run goes on, until it is told to stop in another way */
    {MAKE_DATA "( nohup " LONG "n=$(wc -l < r/metrics.jsonl); kill -INT $p; kill -HUP $p; "
               "until test $(wc -l < r/metrics.jsonl) -gt $((n + 3)) || ! kill -0 $p; do sleep 0.1; done; "
               "test $(wc -l < r/metrics.jsonl) -gt $((n + 3)) || exit 99; kill -TERM $p; wait $p )",
     130, "interrupted", "stopping"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS];
    shell_tests(tests, commands, COMMANDS);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
