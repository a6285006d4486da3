/*
 * Streams with names of the user's own, on the command line: found in the folders of a set, kept in checkpoints, and
 * those that a network does not use told.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/shell.h"

#define LITTLE " --data d --width 0.0625 --batch 8 --device cpu --effort estimate -q --cache-dir '' "
#define TRAIN "$B train linet18" LITTLE
#define MAKE "$B data make sunrgbd --out d --size 32x32 --count 30 -q && "

/* A set of rgb, lidar and thermal. */
#define OWN                                                                                        \
    MAKE "for s in train val test; do mv d/$s/depth d/$s/thermal; mv d/$s/orth d/$s/lidar; done; " \
         "sed -i 's/depth_/thermal_/g; s/orth_/lidar_/g' d/norm_stats.json && "

/* One more stream, of three channels, without statistics. */
#define NIGHT "for s in train val test; do cp -r d/$s/rgb d/$s/night; done; rm d/norm_stats.json; "

#define LOUD "$B train linet18 --data d --width 0.0625 --batch 8 --device cpu --effort estimate --cache-dir '' "

static const command commands[] = {
    {OWN "$B data check d -q", 0, "problems  0", NULL},
    /* trained, interrupted and gone on with to the same bits, judged, asked */
    {OWN TRAIN "--out a --steps 6 > log && " TRAIN "--out b --steps 3 > log && " TRAIN "--out b --steps 6 --resume && "
               "cmp a/last.safetensors b/last.safetensors && $B eval a --data d -q --device cpu --what streams -o csv",
     0, "steps          6|without,rgb,|without,lidar,|without,thermal,|only,thermal,", NULL},
    {OWN LOUD
     "--out r --steps 1 --rate 1e-3,thermal=5e-4 && $B predict r rgb=d/test/rgb/00000.png "
     "thermal=d/test/thermal/00000.png lidar=d/test/lidar/00000.png -q && $B predict r d/test --top 1 -q -o csv "
     "&& $B predict r --data d --split test --top 1 -q -o csv && "
     "grep -ao 'stream_names[^]]*]' r/last.safetensors",
     0, "d/test/rgb/00000.png|d/test/rgb/00005.png,1,|label|[\\\"rgb\\\",\\\"lidar\\\",\\\"thermal\\\"]",
     "streams rgb (3 channels), lidar (1 channel), thermal (1 channel)\n|lidar=0.001,thermal=0.0005,"},
    /* channels come from the files, and what is typed of them must be true */
    {MAKE NIGHT TRAIN "--out r --steps 1 --channels 3,1,1,3 && " TRAIN "--out q --steps 1 --channels 3,1,3,1", 2,
     "steps ", "d: expected 3 channels in stream orth, got 1"},
    {MAKE NIGHT TRAIN "--out r --steps 1 --channels 3,1,1", 2, NULL,
     "--channels: expected 4 numbers, one for each stream of linet18, got 3"},
    {MAKE NIGHT LOUD "--out r --steps 1", 0, "steps ", "depth (1 channel), orth (1 channel), night (3 channels)\n"},
    /* fewer than the set has: the first, or those that are named; all others are told, in one line */
    {OWN TRAIN "--out r --steps 1 --streams 1 && $B predict r d/test --top 1 -q -o csv && "
               "$B eval r --data d -q --device cpu --what streams -o csv",
     0, "d/test/rgb/00005.png,1,|all,",
     "braid train: d: not used by this network: the streams lidar, thermal\n|"
     "braid eval: d: not used by this network: the streams lidar, thermal\n"},
    {OWN TRAIN
     "--out r --steps 1 --streams thermal,rgb && " TRAIN "--out r --steps 2 --streams thermal,rgb --resume && "
     "grep -ao 'stream_names[^]]*]' r/last.safetensors && " TRAIN "--out r --steps 3 --streams rgb,thermal --resume",
     2, "steps   2\n|[\\\"thermal\\\",\\\"rgb\\\"]",
     "d: not used by this network: the stream lidar\n|"
     "r: expected the streams that the run began with, thermal,rgb, got rgb,thermal"},
    {OWN "$B train mcresnet18" LITTLE "--out r --steps 1 && $B train mcresnet18" LITTLE
         "--out q --steps 1 --streams thermal,lidar && $B eval q --data d -q --device cpu --what streams -o csv",
     0, "without,thermal,|without,lidar,", "the stream thermal\n|the stream rgb\n"},
    {OWN TRAIN "--out r --streams rgb,depth", 2, NULL,
     "--streams rgb,depth: d: the set has 3 streams (rgb, lidar, thermal), expected 2 (rgb, depth)"},
    {OWN TRAIN "--out r --streams 4", 2, NULL,
     "--streams 4: d: the set has 3 streams (rgb, lidar, thermal), expected 4"},
    {"$B train linet18" LITTLE "--out r --streams rgb,,ir; $B train linet18" LITTLE "--out r --streams 2.5; "
     "$B train mcresnet18" LITTLE "--out r --streams a,b,c",
     2, NULL, "from 1 to 8, or as many names of 1 to 31 letters|got \"rgb,,ir\"|got \"2.5\"|stream_names: expected 2"},
    /* a model whose streams the set has not; a file that tells nothing of its network, whose streams are typed */
    {OWN TRAIN "--out r --steps 1 > log && mv d/val/lidar d/val/sonar && mv d/train/lidar d/train/sonar && "
               "mv d/test/lidar d/test/sonar && $B eval r --data d -q --device cpu",
     3, NULL, "d: the set has 3 streams (rgb, sonar, thermal), expected 3 (rgb, lidar, thermal)"},
    {OWN TRAIN
     "--out r --steps 1 > log && $B eval r --net linet18 --width 0.0625 --streams rgb,lidar,thermal --data d -q "
     "--device cpu --what streams -o csv",
     0, "without,lidar,", NULL},
    /* names that would be taken for something else */
    {OWN "mkdir d/train/a=b && " TRAIN "--out r", 3, NULL,
     "d: expected the name of a stream without , and =, got \"a=b\""},
    {OWN "for s in train val test; do mv d/$s/lidar d/$s/shared; done; rm d/norm_stats.json; " TRAIN "--out r", 2, NULL,
     "linet18: stream_names: expected 1 to 31 letters|\"shared\""},
    {OWN "for s in train val test; do mv d/$s/rgb d/$s/image; mv d/$s/lidar d/$s/features; done; "
         "rm d/norm_stats.json; " TRAIN
         "--out r --steps 1 --streams image,features > log && $B eval r --data d -q --device cpu --what streams -o csv",
     0, "without,image,|without,features,", "the stream thermal\n"},
    /* any network of images learns from any set of them */
    {"$B data make fmnist86 --out d --count 20 -q && $B train linet18" LITTLE "--out r --steps 1 && "
     "$B predict r d/t10k-86-images-idx3-ubyte --top 1 -q -o csv",
     0, "steps |t10k", NULL},
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
