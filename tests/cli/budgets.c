/*
 * What a small file can cost: each row is a valid file and a hostile one in its place, and a verb that reads it. The
 * hostile file may take 2 s of the CPU and 256 MiB more than the valid one for each MiB that it has (or a part of one).
 * The memory is held by RLIMIT_AS, set to what the valid file needed and the budget; a hang ends by RLIMIT_CPU.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid.h"
#include "core/memory.h"
#include "data/image.h"
#include "data/limits.h"
#include "model/model.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/shell.h"

#define SECONDS 2
#define MIB ((size_t)1 << 20)
#define MEMORY (256 * MIB)
#define MOST_SECONDS 60 /* before a hang is ended */
#ifdef __SANITIZE_ADDRESS__
#define SLOWER 5 /* and address space is not limited */
#define HAS_LIMIT 0
#elif defined __SANITIZE_THREAD__
#define SLOWER 10
#define HAS_LIMIT 0
#else
#define SLOWER 1
#define HAS_LIMIT 1
#endif

/* Both run in a folder that has copies of what is in $M: f, d and m are sets, r and k runs on f. */
typedef struct budget {
    const char *name, *hostile; /* a line that puts the hostile file in its place */
    const char *verb;
    int mib;           /* of the hostile file, rounded up */
    int code;          /* the exit code that is expected */
    const char *words; /* of its message */
} budget;

#define QUICK " --device cpu --threads 1 -q"
#define BRACKETS "{ printf '['; yes '[],' | tr -d '\\n' | head -c 1048570; printf '[]]'; }"
#define LITTLE " --data f --batch 5 --effort estimate --cache-dir ''" QUICK

static const budget budgets[] = {
    {"labels: newlines", "head -c 1048576 /dev/zero | tr '\\0' '\\n' >d/train/labels.txt", "data check d -q", 1, 3,
     "d: 4194"},
    {"labels: samples without images", "yes 0 | head -c 1048576 >d/train/labels.txt", "data check d -q", 1, 3, "d: 15"},
    {"labels: 16 MiB", "head -c 16777216 /dev/zero | tr '\\0' '\\n' >d/train/labels.txt", "data check d -q", 16, 3,
     "d: 67108840 problems"},
    {"class names", "seq 0 70000 | sed 's/$/: abcdefg/' >d/class_names.txt", "data check d -q", 1, 0, NULL},
    {"class names and labels",
     "seq 0 70000 | sed 's/$/: abcdefg/' >d/class_names.txt; "
     "yes 69999 | head -c 1048575 >d/train/labels.txt",
     "data check d -q", 2, 3, "problems"},
    {"statistics", BRACKETS " >d/norm_stats.json", "data check d -q", 1, 3, "1 problem"},
    {"statistics: 120 MiB", "for i in $(seq 120); do " BRACKETS "; done >d/norm_stats.json", "data check d -q", 1, 3,
     "1 problem"},
    {"PNG", "cp $M/bomb.png d/train/rgb/00000.png", "data check d -q", 1, 3, "problem"},
    {"JPEG", "rm d/train/rgb/00000.png; cp $M/bomb.jpg d/train/rgb/00000.jpg", "data check d -q", 1, 3, "problem"},
    {"PNG of more pixels", "cp $M/large.png d/train/rgb/00000.png", "data check d -q", 1, 3, "problem"},
    {"8 readers", "rm -r d/val d/test; for i in 0 1 2 3 4 5 6 7; do cp $M/bomb.png d/train/rgb/0000$i.png; done",
     "train linet18 --data d --out q --size 32x32 --readers 8 --batch 8 --steps 1 --width 0.0625 --streams rgb "
     "--effort estimate --cache-dir ''" QUICK,
     8, 0, NULL},
    {"WAV", "cp $(find $M/long -name '*.wav' | head -1) $(find m -name '*.wav' | head -1)", "data check m -q", 2, 0,
     NULL},
    {"IDX", "cp $M/many/* f/", "data check f -q", 2, 0, NULL},
    {"card of a model", "cp $M/card.safetensors r/best.safetensors", "eval r --data f" QUICK, 1, 3, "JSON"},
    {"card of a model: 90 MiB", "cp $M/card90.safetensors r/best.safetensors", "eval r --data f" QUICK, 90, 3,
     "the card of the data: expected JSON of at most 16777216 bytes"},
    {"state of a run", "cp $M/state.safetensors r/last.safetensors; rm -f r/last.previous* r/best*",
     "train lenet86" LITTLE " --out r --resume", 1, 4, "last.safetensors"},
    {"state of a run: 90 MiB", "cp $M/state90.safetensors r/last.safetensors; rm -f r/last.previous* r/best*",
     "train lenet86" LITTLE " --out r --resume", 90, 4, "expected JSON of at most 16777216 bytes"},
    {"metrics of a run", "head -c 1048576 /dev/zero | tr '\\0' '\\n' >>r/metrics.jsonl",
     "train lenet86" LITTLE " --out r --resume --steps 4", 1, 0, ""},
    {"bad samples of a run", "head -c 1048576 /dev/zero | tr '\\0' '\\n' >>r/bad_samples.txt",
     "train lenet86" LITTLE " --out r --resume --steps 4 --bad-sample skip", 1, 0, ""},
    {"network of a model",
     "sed -i 's/braid.checksum/braid.checksux/; s/braid.written/braid.writtex/; "
     "s/.7396,10,10,10,10]/[99999,99999,9,10]/' k/*.safetensors",
     "eval k --data f" QUICK, 1, 4, "safetensors: expected the tensors of the network that it describes, with 1000"},
    {"suite", "head -c 1048576 /dev/zero | tr '\\0' '\\n' >s.txt", "bench ./s.txt --cache-dir ''" QUICK, 1, 3, "s.txt"},
};
#define BUDGETS (sizeof budgets / sizeof budgets[0])

/* ---- Files --------------------------------------------------------------------------------- */

static void save(const char *name, const void *data, size_t bytes) {
    char path[160];
    snprintf(path, sizeof path, "%s/../made/%s", shell_path("."), name);
    FILE *file = fopen(path, "w");
    assert_true(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* Images of one colour, which are small files. */
static void save_images(void) {
    enum { SIDE = 4096 };
    void *pixels, *png;
    size_t bytes;
    assert_int_equal(memory_calloc((size_t)SIDE * SIDE, 6, "pixels", &pixels), BRAID_OK);
    image i = {.height = SIDE, .width = SIDE, .channels = 3, .bits = 16, .pixels = pixels};
    assert_int_equal(png_encode(&i, &png, &bytes), BRAID_OK);
    assert_true(bytes < MIB);
    save("bomb.png", png, bytes);
    memory_free(png);
    const braid_data_limits more = {.max_pixels = (int64_t)8192 * 8192};
    limits_begin(&more);
    i.height = i.width = 2 * SIDE;
    i.channels = 1;
    i.bits = 8;
    assert_int_equal(png_encode(&i, &png, &bytes), BRAID_OK);
    limits_end();
    assert_true(bytes < MIB);
    save("large.png", png, bytes);
    memory_free(png);
    unsigned char *jpeg = jpeg_file_make(pixels, SIDE, SIDE, 3, 1, &bytes);
    assert_true(bytes < MIB);
    save("bomb.jpg", jpeg, bytes);
    free(jpeg);
    memory_free(pixels);
}

static char *brackets(size_t bytes) {
    char *text = malloc(bytes + 4);
    assert_non_null(text);
    text[0] = '[';
    for (size_t k = 1; k < bytes; k++) text[k] = "[],"[(k - 1) % 3];
    memcpy(text + 1 + (bytes - 1) / 3 * 3, "1]", 3);
    return text;
}

/* lenet86 with so much of brackets as its card, or as the state of its run. */
static void save_model(const char *name, size_t bytes, int is_state) {
    char path[160], *text = brackets(bytes);
    braid_context *context;
    braid_net *net;
    braid_model *model;
    snprintf(path, sizeof path, "%s/../made/%s", shell_path("."), name);
    assert_int_equal(
        braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1, .cache_dir = ""}, &context),
        BRAID_OK);
    assert_int_equal(braid_net_create("lenet86", NULL, &net), BRAID_OK);
    assert_int_equal(braid_model_create(context, net, NULL, &model), BRAID_OK);
    if (!is_state) assert_int_equal(braid_model_set_text(model, "braid.data", text), BRAID_OK);
    assert_int_equal(is_state ? model_save_training(model, path, text) : braid_model_save(model, path), BRAID_OK);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    free(text);
}

#define MAKE                                                                                                       \
    "rm -rf ../made; mkdir ../made && cd ../made && $B data make fmnist86 --out f --count 20 -q && "               \
    "$B data make fmnist86 --out many --count 140 -q && "                                                          \
    "$B data make sunrgbd --out d --count 8 --size 16x20 -q && cp d/train/rgb/00000.png x.png && "                 \
    "$B data make mimii --out m --count 4 --size 1 -q && $B data make mimii --out long --count 2 --size 33 -q && " \
    "$B train lenet86 --out r --steps 3" LITTLE " >log && "                                                        \
    "$B train mlp --layers 7396,10,10,10,10 --out k --steps 1" LITTLE " >log"

static int begin(void **state) {
    (void)state;
    if (shell_begin(BRAID_PROGRAM)) return 1;
    setenv("M", "../../made", 1);
    setenv("B", BRAID_PROGRAM, 1);
    setenv("MALLOC_ARENA_MAX", "1", 1); /* what the allocator sets aside for a thread is not what a file costs */
    if (shell_run(MAKE)) return 1;
    save_images();
    save_model("card.safetensors", MIB, 0);
    save_model("card90.safetensors", 90 * MIB, 0);
    save_model("state.safetensors", MIB, 1);
    save_model("state90.safetensors", 90 * MIB, 1);
    return 0;
}

/* ---- Costs --------------------------------------------------------------------------------- */

typedef struct cost {
    int code, signal;
    double seconds; /* of the CPU */
    size_t address_space;
} cost;

/* In the child: the verb, in a folder of the work folder. `most` of 0: any address space. */
static void become(const char *folder, const char *verb, size_t most) {
    char line[2048];
    const struct rlimit memory = {most, most}, time = {MOST_SECONDS * SLOWER, MOST_SECONDS * SLOWER};
    snprintf(line, sizeof line, "cd %s && exec $B %s >out 2>err", shell_path(folder), verb);
    if (most && setrlimit(RLIMIT_AS, &memory) != 0) _exit(99);
    if (setrlimit(RLIMIT_CPU, &time) != 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(99);
    raise(SIGSTOP);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(99);
}

static size_t peak_of(pid_t child) {
    char path[64], line[256];
    size_t kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) sscanf(line, "VmPeak: %zu", &kib);
    fclose(file);
    return kib << 10;
}

/* The child stops once more before it is gone, and tells then what it had. */
static cost measure(const char *folder, const char *verb, size_t most) {
    cost c = {.code = -1};
    struct rusage used;
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) become(folder, verb, most);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)); /* NOLINT */
    for (long pass = 0;;) {
        ptrace(PTRACE_CONT, child, NULL, (void *)pass); /* NOLINT */
        assert_int_equal(wait4(child, &status, 0, &used), child);
        if (!WIFSTOPPED(status)) break;
        int is_exit = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
        if (is_exit) c.address_space = peak_of(child);
        pass = is_exit || WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
    }
    c.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c.seconds = (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
                1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return c;
}

static void costs_little(void **state) {
    const budget *b = *state;
    char line[2048];
    snprintf(line, sizeof line,
             "mkdir small large && cd small && "
             "cp -r $M/f $M/d $M/m $M/r $M/k $M/x.png . && cp -r . ../large && cd ../large && %s",
             b->hostile);
    if (shell_run(line)) fail_msg("%s: could not be made", b->name);
    cost small = measure("small", b->verb, 0);
    size_t most = small.address_space + (size_t)b->mib * MEMORY;
    cost large = measure("large", b->verb, HAS_LIMIT ? most : 0);
    char *err = shell_read("work/large/err");
    printf("%-32s %5.2f s %5zu MiB of address space; valid %5.2f s %5zu MiB\n", b->name, large.seconds,
           large.address_space / MIB, small.seconds, small.address_space / MIB);
    if (large.code != b->code || (b->words && !strstr(err, b->words)))
        fail_msg("%s: expected exit %d and \"%s\", got %d, signal %d:\n%s", b->name, b->code, b->words ? b->words : "",
                 large.code, large.signal, err);
    if (large.seconds > small.seconds + SECONDS * b->mib * SLOWER)
        fail_msg("%s: took %.2f s, with a valid file %.2f s", b->name, large.seconds, small.seconds);
    free(err);
}

int main(int count, char **arguments) {
    static struct CMUnitTest tests[BUDGETS];
    size_t used = 0;
    for (size_t i = 0; i < BUDGETS; i++)
        if (count < 2 || strstr(budgets[i].name, arguments[1]))
            tests[used++] = (struct CMUnitTest){
                .name = budgets[i].name, .test_func = costs_little, .initial_state = (void *)(uintptr_t)&budgets[i]};
    return _cmocka_run_group_tests("budgets", tests, used, begin, shell_end);
}
