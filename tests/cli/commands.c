/*
 * The command line from outside: every case is a shell line with the exit code it must have and
 * words that must stand on standard output and standard error (tests/support/shell.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shell.h"

#define SMALL "linear_fwd:f32:b8:c32:k15:bias1"
#define QUICK " --device cpu --seconds 0.02 -q "
#define KEYS                                                                                         \
    "problem,kernel,kind,device,dtype,median_ms,low_ms,high_ms,gflops,gbs,roofline,ratio,ratio_low," \
    "ratio_high,baseline,verdict,max_err,layout_copy_bytes,buffers,load"

/* weights-86.bin, all values 0. */
#define MAKE_BIN                                                       \
    "{ printf '\\012\\0\\0\\0\\310\\0\\0\\0'; head -c 808 /dev/zero; " \
    "printf '\\120\\014\\0\\0'; head -c 12616 /dev/zero; "             \
    "printf '\\040\\242\\0\\0'; head -c 166020 /dev/zero; "            \
    "printf '\\112\\001\\0\\0'; head -c 1324 /dev/zero; } > w.bin; "

#define ROOMS "$B data make sunrgbd --out x --count 6 --size 16x20 -q && "
/* The header of a PNG of 60000x60000. */
#define BOMB                                                                  \
    "printf '\\211PNG\\r\\n\\032\\n\\0\\0\\0\\rIHDR"                          \
    "\\0\\0\\352\\140\\0\\0\\352\\140\\010\\002\\0\\0\\0\\017\\260\\342\\025" \
    "\\0\\0\\0\\0IDAT\\065\\257\\006\\036' > bomb && "

static const command commands[] = {
    /* the front door */
    {"$B", 2, NULL, "expected a verb|braid help"},
    {"$B help", 0, "doctor|demo|bench|explain|check|convert|help|version|Exit: 0 ok", NULL},
    {"$B --help", 0, "braid VERB", NULL},
    {"$B -h", 0, "braid VERB", NULL},
    {"$B version", 0, "braid 0.|ABI", NULL},
    {"$B --version", 0, "braid 0.", NULL},
    {"$B help bench", 0, "PROBLEM|SUITE|--gate|Examples:", NULL},
    {"$B help nosuch", 2, NULL, "unknown verb \"nosuch\""},
    {"$B help bench check", 2, NULL, "at most 1 argument|check"},
    /* verbs that do not exist, also those that are planned */
    {"$B bnech", 2, NULL, "unknown verb \"bnech\"|did you mean \"bench\""},
    {"$B exp", 2, NULL, "did you mean \"explain\""},
    {"$B ''", 2, NULL, "unknown verb \"\""},
    {"$B --device cpu bench", 2, NULL, "expected a verb first|--device"},
    {"$B \"$(printf 'a\\033[31m')\"", 2, NULL, "a?[31m"},
    /* help of every verb */
    {"$B doctor --help", 0, "--quick|--device|--threads|-o, --output|table|csv|json|md", NULL},
    {"$B demo --help", 0, "--seed|--device|--quiet", NULL},
    {"$B bench --help", 0, "--filter|--list|--seconds|--gate|--out|--repro|--cache-dir|--disable|layout_copy_bytes",
     NULL},
    {"$B explain --help", 0, "--effort|--again|measure|estimate|exhaustive", NULL},
    {"$B check --help", 0, "--count|--seed|!--verbose", NULL},
    {"$B convert --help", 0, "--list|weights-86.bin|.safetensors|-o, --output", NULL},
    {"$B help --help", 0, "[VERB]", NULL},
    {"$B version --help", 0, "ABI", NULL},
    {"$B bench -h nosuch --gate", 0, "--gate", NULL},
    /* options */
    {"$B bench " SMALL " --gaet", 2, NULL, "unknown option --gaet|did you mean --gate"},
    {"$B bench " SMALL " --zzzzzz", 2, NULL, "unknown option --zzzzzz|--seconds"},
    {"$B bench " SMALL " -z", 2, NULL, "unknown option -z"},
    {"$B bench " SMALL " --seconds", 2, NULL, "--seconds: expected S after it, got nothing"},
    {"$B bench " SMALL " --seconds fast", 2, NULL, "--seconds: expected a number above 0|got \"fast\""},
    {"$B bench " SMALL " --seconds -1", 2, NULL, "--seconds|got \"-1\""},
    {"$B bench " SMALL " --seconds nan", 2, NULL, "got \"nan\""},
    {"$B bench " SMALL " --threads two", 2, NULL, "--threads: expected a whole number|got \"two\""},
    {"$B bench " SMALL " --threads=-3", 2, NULL, "got \"-3\""},
    {"$B bench " SMALL " --threads 99999999999999999999", 2, NULL, "--threads"},
    {"$B bench " SMALL " -o xml", 2, NULL, "--output: expected table|csv|json|md, got \"xml\""},
    {"$B bench " SMALL " -o jsn", 2, NULL, "did you mean json"},
    {"$B bench " SMALL " --gate=yes", 2, NULL, "takes no value|got \"yes\""},
    {"$B bench " SMALL " --repro always", 2, NULL, "--repro: expected run|got \"always\""},
    {"$B check --seed -1", 2, NULL, "--seed: expected a whole number|got \"-1\""},
    {"$B check --seed 18446744073709551616", 2, NULL, "--seed"},
    {"$B check --count 1.5", 2, NULL, "--count|got \"1.5\""},
    {"$B demo -o json", 2, NULL, "unknown option -o"},
    {"$B explain " SMALL " --effort meas", 2, NULL, "did you mean measure"},
    /* arguments */
    {"$B bench", 2, NULL, "expected PROBLEM|--list"},
    {"$B explain", 2, NULL, "expected PROBLEM|NET|RUN, got nothing"},
    {"$B explain " SMALL " " SMALL, 2, NULL, "at most 1 argument"},
    {"$B doctor now", 2, NULL, "expected no argument, got \"now\""},
    {"$B demo now", 2, NULL, "expected no argument"},
    {"$B version now", 2, NULL, "expected no argument"},
    {"$B bench nosuite", 2, NULL, "no suite \"nosuite\"|linet3|smoke|path of a suite file"},
    {"$B bench ./nosuch.txt", 3, NULL, "cannot open the suite ./nosuch.txt"},
    {"$B bench nosuch.txt", 3, NULL, "cannot open"},
    {"echo linear_fwd:f32:b2 > bad.txt; $B bench ./bad.txt", 2, NULL, "./bad.txt, line 1: "},
    {"echo '# none' > none.txt; $B bench ./none.txt", 3, NULL, "found none"},
    {"$B bench smoke --filter nosuch --list", 2, NULL, "no problem contains \"nosuch\""},
    {"$B check conv2", 2, NULL, "unknown op \"conv2\"|did you mean conv2d_fwd"},
    {"$B check convolution", 2, NULL, "unknown op \"convolution\"|bn_stats"},
    /* problems that cannot be meant: the library's message, the same for three verbs */
    {"$B bench conv2d_fwd:f33:b1:hw8x8:c4:k4:rs3x3", 2, NULL, "f33"},
    {"$B bench conv2d_sideways:f32:b1:hw8x8:c4:k4:rs3x3", 2, NULL, "conv2d_sideways"},
    {"$B bench " SMALL ":n99", 2, NULL, "braid bench: "},
    {"$B explain conv2d_fwd:f32:b1:hw8x8:c4:k4:rs3x3:st-1", 2, NULL, "st"},
    {"$B explain conv2d_fwd:f32:b1:hw2x2:c4:k4:rs9x9", 2, NULL, "braid explain: "},
    {"$B check linear_fwd:f32:b-2:c3:k4", 2, NULL, "b"},
    {"$B check linear_fwd:", 2, NULL, "braid check: "},
    {"$B explain 'linear_fwd:f32:b8:c32:k15:nosuch3'", 2, NULL, "nosuch"},
    /* devices and folders */
    {"$B bench " SMALL " --device toaster", 2, NULL, "toaster"},
    {"$B doctor --device cuda:99", 6, NULL, "cuda"},
    {"$B doctor --quick --device cpu --cache-dir /proc/nowhere/x; test $? -le 7", 0, "", ""},
    /* lists */
    {"$B bench --list", 0, "fused|linear|linet3|linet3_bf16|smoke", NULL},
    {"$B bench smoke --list", 0, "conv2d_fwd:f32:n3:b2:hw13x17:c3,1,1|bn_bwd_apply", NULL},
    {"$B bench linet3 --list | wc -l", 0, "61", NULL},
    {"$B bench linet3 --list --filter bn_stats,linear_fwd | wc -l", 0, "6", NULL},
    {"cp \"$S/smoke.txt\" mine.txt; $B bench ./mine.txt --list", 0, "linear_fwd", NULL},
    {"mkdir s; cp \"$S/smoke.txt\" s/mine.txt; BRAID_SUITE_PATH=s $B bench mine --list", 0, "linear_fwd", NULL},
    /* measuring */
    {"$B bench " SMALL QUICK, 0, "linear_fwd:f32:n1:b8:c32:k15:bias1:mask0|ms|verdict|chosen|1 problem", NULL},
    {"$B bench " SMALL " --device cpu --seconds 0.02", 0, "chosen", "[1/1] linear_fwd|!\033"},
    {"$B bench " SMALL " " SMALL QUICK " | grep -c verdict", 0, "1", NULL},
    {"$B bench " SMALL " " SMALL QUICK "-o csv | tee rows; grep -c ^problem, rows", 0, KEYS "\n|\n1\n", NULL},
    {"$B bench " SMALL QUICK "-o md", 0, "| kernel ||---|chosen", NULL},
    {"$B bench " SMALL QUICK "-o csv --disable onednn,openblas", 0, ",ref,|!vendor|!onednn|!openblas", "!vendor"},
    {"$B bench " SMALL QUICK "--disable onednn,openblas --gate", 0, "gate OK|!vendor", "!vendor"},
    {"$B bench " SMALL QUICK "--repro threads --threads 1 --cache-dir ''", 0, "chosen", NULL},
    {"$B bench " SMALL QUICK "--out run && ls run && head -1 run/results.csv", 0, "run.json|results.csv|" KEYS, NULL},
    {"$B bench " SMALL QUICK "--warm -o csv", 0, ",warm,|!,cold,", NULL},
    {"$B bench linear_fwd:f32:b512:c256:k256 --prove --rows 2 --out p " QUICK "&& wc -l < p/rows.csv && cat p/sums.csv",
     0, "false claims|\n7\nplanted,rows,busy,fast,slow,same,ambiguous,false_claims,found\n0,2,", NULL},
    {"$B bench " SMALL QUICK "-o csv > a.csv; $B compare a.csv a.csv; $B compare a.csv a.csv -o json --of chosen", 0,
     "B is|1.00x|SAME|all|rows of 1 runs against 1|\"verdict\": \"SAME\"", "one run of a side shows large"},
    {"printf 'problem,kernel,median_ms\\na:b,k,1\\n' > a.csv; sed s/,1$/,2/ a.csv > b.csv; $B compare a.csv b.csv -q "
     "--fail-on slow",
     1, "SLOW", "1 rows of b.csv are SLOW beside a.csv"},
    {"$B bench " SMALL QUICK "--out /proc/nowhere", 7, "chosen", "/proc/nowhere"},
    {"$B bench conv2d_scale_bias_act:b1:hw6x6:c8:k8:rs3x3:pad1:act=relu:add1 " QUICK, 0,
     "conv2d_scale_bias_act__chain|chosen|1 problem|1 with a chain and no vendor kernel: fused faster on ", NULL},
    {"$B explain " SMALL QUICK "--cache-dir ''", 0,
     "problem|work|FLOP per byte|roofline|measured now|kernel|chosen|why", NULL},
    {"$B explain " SMALL QUICK, 0, "remembered from an earlier race", NULL},
    {"$B explain " SMALL QUICK "--effort estimate", 0, "cost model|chosen", NULL},
    {"$B explain " SMALL QUICK "-o md", 0, "- problem: linear_fwd||---", NULL},
    {"$B check linear --count 2 -q --device cpu", 0, "linear_fwd__ref|linear_bwd_data__ref| passed, 0 failed, |!conv2d",
     NULL},
    {"$B check cast --count 6 --each --vendors 1 --seconds 9 -q --device cpu", 0,
     "cast__ref|Distinct problems:|op    f32| distinct problems, | passed, 0 failed, ", NULL},
    {"$B check linear --list --device cpu", 0,
     "linear_fwd linear_fwd__ref ref|linear_bwd_data linear_bwd_data__cpu_indirect_gemm_portable own|!conv2d|!passed",
     "!check"},
    {"$B check " SMALL " --list --device cpu", 2, "!ref", "--list: expected an op or nothing, got linear_fwd"},
    {"$B check tiles --list --device cpu", 2, "!ref", "--list: expected an op or nothing, got tiles"},
    {"printf 'linear_fwd:b2:c3:k4\\n# but this\\nlinear_bwd_data:b5:c7:k3\\n' >two.txt &&"
     "$B check two.txt --count 2 --device cpu",
     0, "linear_fwd__ref|linear_bwd_data__ref|2 distinct problems| passed, 0 failed, ", "[1/4] linear_fwd"},
    {"$B check nowhere/two.txt --device cpu", 3, NULL, "nowhere/two.txt"},
    {"printf 'linear_fwd:b2:c3\\n' >bad.txt; $B check ./bad.txt --device cpu", 2, NULL, "bad.txt, line 1"},
    {"$B check bn_stats --count 1 --device cpu", 0, "bn_stats__ref", "[1/1] bn_stats"},
    {"$B check " SMALL " --seed 7 -q --device cpu", 0, "linear_fwd__ref| passed, 0 failed, ", NULL},
    {"$B check linear_fwd --count 1 -q -o csv --device cpu", 0, "kernel,kind,problems,skipped,compared",
     " passed, 0 failed, "},
    {"$B doctor --quick --device cpu", 0, "cpu|model|threads", NULL},
    {"$B doctor --quick --device cpu -o csv", 0, "section,name,value,hint", NULL},
    /* weight files */
    {"$B convert", 2, NULL, "expected FROM TO"},
    {"$B convert w.bin", 2, NULL, "expected FROM TO, got only \"w.bin\""},
    {"$B convert a b c", 2, NULL, "at most 2 arguments"},
    {"$B convert --list a b", 2, NULL, "--list: expected one FILE, got \"b\""},
    {"$B convert w.bin w.pt", 2, NULL, "ends in .safetensors or in .bin"},
    {"$B convert w.bin w.safetensors", 4, NULL, "w.bin: could not open: No such file"},
    {"$B convert --list w.safetensors", 4, NULL, "w.safetensors: could not open"},
    {MAKE_BIN "$B convert w.bin w.safetensors && $B convert w.safetensors v.bin && cmp w.bin v.bin", 0, NULL, NULL},
    {MAKE_BIN "$B convert w.bin w.safetensors && $B convert --list w.safetensors", 0,
     "metadata.braid.net|lenet86|verified|tensors             8|conv1.weight  f32|16x4x7x7|162.0 KiB|!braid.checksum",
     NULL},
    {MAKE_BIN "$B convert w.bin w.safetensors && $B convert --list w.safetensors -o csv", 0,
     "name,dtype,shape,bytes\n|fc1.weight,f32,32x1296,165888", NULL},
    {MAKE_BIN "$B convert w.bin w.safetensors && $B convert --list w.safetensors -o json", 0,
     "\"tensor_count\": 8|\"shape\": \"10x32\"|\"bytes\": 1280", NULL},
    {MAKE_BIN "$B convert w.bin w.safetensors && $B convert --list w.safetensors -o md", 0, "| fc2.bias | f32 | 10 |",
     NULL},
    {MAKE_BIN
     "$B convert w.bin w.safetensors && printf x | dd of=w.safetensors bs=1 seek=9000 conv=notrunc 2>/dev/null; "
     "$B convert --list w.safetensors",
     4, NULL, "expected the checksum|copy it again"},
    {MAKE_BIN
     "$B convert w.bin w.safetensors && head -c 1000 w.safetensors > c.safetensors; $B convert c.safetensors x.bin",
     4, NULL, "cut"},
    {MAKE_BIN "echo >> w.bin; $B convert w.bin w.safetensors; code=$?; ls; exit $code", 4, "w.bin|!w.safetensors",
     "at most 180788 bytes"},
    {MAKE_BIN "$B convert w.bin /proc/nowhere/w.safetensors", 7, NULL, "/proc/nowhere"},
    {"printf '\\377\\0\\0\\0\\0\\0\\0\\0{' > h.safetensors; $B convert --list h.safetensors", 4, NULL,
     "h.safetensors: expected a header"},
    /* data sets: usage */
    {"$B data", 2, NULL, "| make KIND --out DIR"},
    {"$B data make", 2, NULL, "make KIND --out DIR"},
    {"$B data make sunrgdb --out x", 2, NULL,
     "expected sunrgbd, fmnist86 or mimii, got \"sunrgdb\"|did you mean sunrgbd"},
    {"$B data make sunrgbd", 2, NULL, "expected --out DIR"},
    {"$B data maek sunrgbd", 2, NULL,
     "expected import, make, check, stats, preview or bench|got \"maek\"; did you mean make?"},
    {"$B data make sunrgbd --out x --size 48*64", 2, NULL, "--size: expected HEIGHTxWIDTH"},
    {"$B data make sunrgbd --out x --size 4x4", 2, NULL, "size: expected 16x16 to 4096x4096, got 4x4"},
    {"$B data make fmnist86 --out x --size 28", 2, NULL, "expected 86x86"},
    {"$B data make mimii --out x --size 1000", 2, NULL, "1 to 600 seconds"},
    {"mkdir x; echo > x/y; $B data make sunrgbd --out x", 2, NULL, "x: expected an empty folder or none"},
    {"$B data make mimii --out x --size 16x16", 2, NULL, "--size: expected seconds such as 4|got \"16x16\""},
    {"$B data make sunrgbd --out x --count 1 --size 16 -q; $B data bench x --readers 257", 2, NULL,
     "--readers: expected 1 to 256 threads that read, got 257"},
    {": > x; $B data check x", 3, NULL, "x: expected the folder of a data set, got a file"},
    {"$B data foo", 2, NULL, "make KIND --out DIR|, got \"foo\" alone"},
    {"$B data check nosuch", 3, NULL, "nosuch: there is no such folder"},
    {"mkdir x; $B data check x", 3, NULL, "x: expected a data set|sunrgbd|fmnist86|mimii"},
    {"$B data --help", 0, "import FOLDER|make KIND|--range|--size|--count|--seed|--out|Exit 3", NULL},
    /* data sets: made and found whole, the same for the same seed */
    {ROOMS "$B data check x", 0, "kind      sunrgbd|files     30|problems  0|train|val|test|bathroom", "[1/30]"},
    /* a set whose making was stopped is none; one that was refused leaves nothing behind */
    {"for k in 'sunrgbd --size 200x200' mimii fmnist86; do $B data make $k --count 9000 --out x -q & sleep 0.7; "
     "kill -TERM $!; wait $!; test $? = 130 || exit 1; $B data check x -q; test $? = 3 || exit 2; "
     "$B train linet18 --data x --out r --device cpu -q; test $? = 3 || exit 3; rm -r x; done",
     0, NULL,
     "samples; x is no whole set, and is refused as one: to make it again, rm -r x, then the same command|"
     "braid data: x: expected a whole set, got one whose making was stopped|braid train: x: expected a whole set"},
    {"$B data make fmnist86 --size 9 --out x -q; test $? = 2 && $B data make fmnist86 --count 9 --out x -q && ls x", 0,
     "t10k-86|!UNFINISHED", "size: expected 86x86"},
    {"mkdir y; for k in sunrgbd fmnist86 mimii; do for o in x/y/z y; do $B data make $k --size 999999 --out $o -q; "
     "test $? = 2 || exit 99; done; done; ls -A; ls -A y",
     0, "y\n|!x|!UNFINISHED", "size: expected "},
    /* options of one part have no effect in another */
    {"for o in out size count seed readers batch seconds; do $B data check x --$o 5; test $? = 2 || exit 99; done", 0,
     NULL, "--out: expected with another part of data, got check|--count: expected with another |--seconds: expected "},
    {"for o in readers batch seconds; do $B data make mimii --out x --$o 5; test $? = 2 || exit 99; done; "
     "$B data make mimii --out x -o json",
     2, NULL, "--readers: expected with another part of data, got make|--output: expected with another part"},
    {"for o in out size count seed; do $B data bench x --$o 5; test $? = 2 || exit 99; done", 0, NULL,
     "--size: expected with another part of data, got bench|--seed: expected "},
    {"$B train linet18 -v", 2, NULL, "unknown option -v"},
    /* a reader that left is no failure, also where there is something to complain of */
    {ROOMS "rm x/test/rgb/00000.png; { $B data check x -q; echo $? > code; } | true; cat code", 0, "3\n",
     "x: 1 problem|!standard output"},
    {ROOMS "$B data check x -q -o csv", 0, "file,problem\n|!x/", NULL},
    {ROOMS "$B data check x -q -o json", 0, "\"kind\": \"sunrgbd\"|\"problems\": []|\"samples\": 1", NULL},
    {ROOMS "$B data make sunrgbd --out y --count 6 --size 16x20 -q && diff -r x y", 0, NULL, NULL},
    {ROOMS "$B data make sunrgbd --out y --count 6 --size 16x20 --seed 2 -q; diff -rq x y | grep -c rgb", 0, "10",
     NULL},
    {"$B data make sunrgbd --out x --count 2 --size 16", 0, NULL,
     "[1/4] train|x is a set like sunrgbd|braid data check x"},
    {"$B data make sunrgbd --out x --size 16 --count 5 -q && $B data bench x --readers 2 --seconds 0.01 -o csv", 0,
     "readers,samples_per_s,images_per_s,mb_per_s,ms_per_sample,cpu_ms_per_sample,samples|1,|2,", NULL},
    {"$B data make fmnist86 --out x --count 20 -q && $B data bench x --readers 1 --seconds 0.01", 0, "samples/s", NULL},
    {"$B data bench nosuch", 3, NULL, "nosuch"},
    {"$B data bench x --readers 0", 2, NULL, "--readers: expected a whole number from 1 to 1000000, got \"0\""},
    {"$B data bench x --batch 0", 2, NULL, "--batch: expected a whole number from 1 to 1000000, got \"0\""},
    {"$B data make sunrgbd --out zero --count 0 || ! test -e zero", 0, NULL, "--count: expected a whole number from 1"},
    {"$B predict m.safetensors x --batch 0", 2, NULL, "--batch: expected a whole number from 1"},
    {"$B predict m.safetensors x --top 0", 2, NULL, "--top: expected a whole number from 1"},
    {"$B eval r --data x --readers 0", 2, NULL, "--readers: expected a whole number from 1"},
    {"$B explain linet18 --streams 0", 2, NULL, "--streams: expected a whole number from 1"},
    {"$B explain linet18 --classes 0", 2, NULL, "--classes: expected a whole number from 1"},
    {"$B profile linet18 --rounds 0", 2, NULL, "--rounds: expected a whole number from 1"},
    {"$B check linear_fwd --count 0", 2, NULL, "--count: expected a whole number from 1"},
    {"$B bench " SMALL " --threads 0", 2, NULL, "--threads: expected a whole number from 1"},
    {"$B data make fmnist86 --out x --count 10 -q && $B data check x -q", 0, "fmnist86|files     4|t_shirt", NULL},
    {"$B data make mimii --out x --count 4 --size 1 -q && $B data check x -q", 0, "mimii|abnormal", NULL},
    /* data sets: every bad file is listed, whichever it is */
    {ROOMS "rm x/train/depth/00001.png x/val/orth/00000.png; $B data check x -q", 3,
     "problems  2|x/train/depth/00001.png|missing|x/val/orth/00000.png", "x: 2 problems"},
    {ROOMS "truncate -s 70 x/train/rgb/00002.png; $B data check x -q", 3,
     "x/train/rgb/00002.png|PNG: the file ends too early (at byte ", "x: 1 problem"},
    {ROOMS "printf 'x' | dd of=x/test/rgb/00000.png bs=1 seek=60 conv=notrunc 2>/dev/null; $B data check x -q", 3,
     "x/test/rgb/00000.png|PNG: ", "x: 1 problem"},
    {ROOMS "$B data make sunrgbd --out y --count 1 --size 16x16 -q; cp y/train/rgb/00000.png x/train/rgb/00001.png; "
           "$B data check x -q",
     3, "x/train/rgb/00001.png|expected 16x20 pixels with 3 channel(s) of 8 bits|got 16x16", "x: 1 problem"},
    {ROOMS "cp x/train/rgb/00000.png x/train/depth/00001.png; $B data check x -q -o csv", 3,
     "x/train/depth/00001.png,|1 channel(s) of 16 bits|with 3 of 8", "x: 1 problem"},
    {ROOMS "printf '0\\n15\\n' > x/val/labels.txt; $B data check x -q", 3,
     "x/val/labels.txt|expected a class from 0 to 14", "x: 1 problem"},
    {ROOMS "rm x/train/labels.txt; : > x/val/labels.txt; $B data check x -q", 3,
     "x/train/labels.txt|could not open|x/val/labels.txt|expected labels, got none", "problems"},
    {ROOMS "echo 0: a > x/class_names.txt; echo '{}' > x/norm_stats.json; $B data check x -q -o csv", 3,
     "norm_stats.json,rgb_mean: expected a list of 3 numbers|expected a class from 0 to 0", "problems"},
    {ROOMS BOMB "cp bomb x/train/rgb/00000.png; $B data check x -q", 3, "x/train/rgb/00000.png|too many pixels",
     "x: 1 problem"},
    {ROOMS
     "mkfifo pipe; mv pipe x/train/rgb/00000.png 2>/dev/null; rm x/train/rgb/00000.png; mkdir x/train/rgb/00000.png; "
     "$B data check x -q",
     3, "x/train/rgb/00000.png|got a folder or a device", "x: 1 problem"},
    /* a set without a sample is none: check says so, as train does */
    {"$B data make fmnist86 --out x --count 10 -q; printf '\\0\\0\\10\\3\\0\\0\\0\\0\\0\\0\\0\\126\\0\\0\\0\\126' > "
     "x/train-86-images-idx3-ubyte; printf '\\0\\0\\10\\1\\0\\0\\0\\0' > x/train-86-labels-idx1-ubyte; "
     "$B data check x -q",
     3, "x/train-86-images-idx3-ubyte |expected images, got none", "x: 1 problem"},
    /* names of sounds in capitals are names of sounds */
    {"$B data make mimii --out x --count 10 -q && $B data check x -q | grep files > a && "
     "f=$(find x -name '*.wav' | sort | tail -1) && "
     "mv $f ${f%wav}WAV && $B data check x -q | grep files > b && cmp a b && cat a",
     0, "files ", NULL},
    {"$B data make fmnist86 --out x --count 10 -q; truncate -s 9999 x/train-86-images-idx3-ubyte; $B data check x -q",
     3, "x/train-86-images-idx3-ubyte|expected 10 x 86 x 86 bytes after the header, got 9983", "x: 1 problem"},
    {"$B data make mimii --out x --count 4 --size 1 -q; truncate -s 9999 x/0_dB_fan/fan/id_00/normal/00000001.wav; "
     "$B data check x -q",
     3, "normal/00000001.wav|the file is cut short", "x: 1 problem"},
    {ROOMS "$B data check x -q > /dev/full", 7, NULL, "No space left"},
    {"$B data make sunrgbd --out /proc/nowhere/x", 7, NULL, "/proc/nowhere"},
    {"$B data make sunrgbd --out x --size 400x400 --count 1000 -q & sleep 1; kill -TERM $!; wait $!", 130, NULL,
     "stopping"},
    /* output that cannot be written, and readers that leave */
    {"$B help > /dev/full", 7, NULL, "cannot write to standard output: No space left"},
    {"$B help bench > /dev/full", 7, NULL, "No space left"},
    {"$B bench linet3 --list > /dev/full", 7, NULL, "No space left"},
    {"$B doctor --quick --device cpu > /dev/full", 7, NULL, "No space left"},
    {"$B bench " SMALL QUICK "-o json > /dev/full", 7, NULL, "No space left"},
    {"$B check linear_fwd --count 1 -q --device cpu > /dev/full", 7, NULL, "No space left"},
    {"$B version >&-", 7, NULL, "cannot write to standard output"},
    {"$B bench " SMALL QUICK ">&-", 7, NULL, "cannot write to standard output"},
    {"$B version 2>&- <&-", 0, "braid 0.", NULL},
    {"$B nosuch 2>&-", 2, NULL, NULL},
    {"$B nosuch 2> /dev/full", 2, NULL, NULL},
    {"$B bench linet3 --list | head -1", 0, "conv2d_fwd", NULL},
    {"(trap '' PIPE; $B help; echo code $? >&2) | true", 0, NULL, "code 0"},
    /* Ctrl-C keeps what was measured */
    {"$B bench smoke smoke smoke -o csv --device cpu --seconds 1 & sleep 2; kill -TERM $!; wait $!", 130,
     KEYS "\n\"conv2d_fwd:", "stopping after the current step"},
    {"$B check --count 100000 --device cpu -q & sleep 1; kill -TERM $!; wait $!", 130, " passed, 0 failed, ",
     "stopping"},
    /* the terminal */
    {"NO_COLOR=1 script -qec \"$B bench " SMALL QUICK "\" /dev/null", 0, "chosen|!\033[3", ""},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void check_row_keys(json_t *row) {
    char keys[] = KEYS;
    size_t count = 0;
    for (char *key = strtok(keys, ","); key; key = strtok(NULL, ","), count++)
        if (!json_object_get(row, key)) fail_msg("the row has no key %s", key);
    assert_int_equal(json_object_size(row), count);
}

static void bench_json(void **state) {
    (void)state;
    json_t *rows = shell_json("$B bench " SMALL QUICK "-o json");
    int chosen = 0;
    size_t index;
    json_t *row;
    assert_true(json_is_array(rows) && json_array_size(rows) > 0);
    json_array_foreach(rows, index, row) {
        check_row_keys(row);
        assert_true(json_number_value(json_object_get(row, "median_ms")) > 0);
        assert_string_equal(json_string_value(json_object_get(row, "dtype")), "f32");
        chosen += strstr(json_string_value(json_object_get(row, "verdict")), "chosen") != NULL;
    }
    assert_int_equal(chosen, 1);
    json_decref(rows);
}

static void run_json(void **state) {
    static const char *const keys[] = {"rows", "schema", "date", "version", "abi", "argv", "problems", "machine"};
    (void)state;
    json_t *run = shell_json("$B bench " SMALL QUICK "--out run >/dev/null && cat run/run.json");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) assert_non_null(json_object_get(run, keys[i]));
    assert_true(json_array_size(json_object_get(run, "rows")) > 0);
    check_row_keys(json_array_get(json_object_get(run, "rows"), 0));
    assert_string_equal(json_string_value(json_array_get(json_object_get(run, "argv"), 0)), SMALL);
    json_decref(run);
}

static void other_json(void **state) {
    (void)state;
    json_t *doctor = shell_json("$B doctor --quick --device cpu -o json");
    assert_true(json_array_size(json_object_get(doctor, "machine")) > 3);
    assert_true(json_is_array(json_object_get(doctor, "missing")));
    json_decref(doctor);
    json_t *explain = shell_json("$B explain " SMALL QUICK "-o json");
    assert_true(json_array_size(json_object_get(explain, "candidates")) > 0);
    assert_true(json_number_value(json_object_get(explain, "flops")) > 0);
    assert_true(json_is_string(json_object_get(explain, "why")));
    json_decref(explain);
    json_t *check = shell_json("$B check linear_fwd --count 1 -q -o json --device cpu");
    assert_true(json_integer_value(json_object_get(check, "passed")) > 0);
    assert_int_equal(json_integer_value(json_object_get(check, "failed")), 0);
    assert_int_equal(json_array_size(json_object_get(check, "failures")), 0);
    json_decref(check);
}

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS + 3];
    shell_tests(tests, commands, COMMANDS);
    tests[COMMANDS] = (struct CMUnitTest)cmocka_unit_test(bench_json);
    tests[COMMANDS + 1] = (struct CMUnitTest)cmocka_unit_test(run_json);
    tests[COMMANDS + 2] = (struct CMUnitTest)cmocka_unit_test(other_json);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
