/*
 * The CUDA device where there is no GPU: what is missing is said, and with a fake driver (tests/backend/fake_cuda)
 * every error of the driver becomes a status once and stays, but for a lack of memory, behind which the device goes on.
 * Each case has its own process, because a process opens the driver once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/device.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/images.h"
#include "core/memory.h"
#include "tests/backend/child_case.h"
#include "tests/backend/fake_cuda/libcuda.h"

#ifndef BRAID_FAKE_CUDA_FOLDER
#define BRAID_FAKE_CUDA_FOLDER "" /* set by tests/emu/CMakeLists.txt, which builds it */
#endif

static fake_cuda_fail_function *fake_fail;
static fake_cuda_calls_function *fake_calls;

/* Puts the fake driver in front of the system's and finds its controls. */
static int with_fake(void) {
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_CUDA_FOLDER, 1) == 0);
    void *library = dlopen(BRAID_FAKE_CUDA_FOLDER "/libcuda.so.1", RTLD_NOW);
    EXPECT(library != NULL);
    void *fail_address = dlsym(library, "fake_cuda_fail"), *calls_address = dlsym(library, "fake_cuda_calls");
    EXPECT(fail_address && calls_address);
    memcpy(&fake_fail, &fail_address, sizeof fail_address);
    memcpy(&fake_calls, &calls_address, sizeof calls_address);
    return 0;
}

/* ---- Without a driver ------------------------------------------------------------------------- */

static int missing(void) {
    device *d = NULL;
    EXPECT(backend_cuda.count() == 0);
    EXPECT(says("libcuda.so.1"));
    EXPECT(backend_cuda.open(0, &d) == BRAID_ERROR_DEVICE && d == NULL);
    EXPECT(says("libcuda.so.1"));
    return 0;
}

static void test_missing_driver(void **state) {
    (void)state;
    void *real = dlopen("libcuda.so.1", RTLD_NOW);
    if (real) {
        print_message("skip: this machine has an NVIDIA driver\n");
        skip();
    }
    run_in_child(missing);
}

/* ---- With the fake driver ----------------------------------------------------------------------- */

static int init_fails(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    fake_fail("cuInit", 1, 999, 0);
    EXPECT(backend_cuda.count() == 0);
    EXPECT(says("does not start") && says("fake error 999"));
    EXPECT(backend_cuda.open(0, &d) == BRAID_ERROR_DEVICE && d == NULL);
    EXPECT(fake_calls() == 1);
    return 0;
}

static int no_device(void) {
    EXPECT(with_fake() == 0);
    fake_fail("cuInit", 1, 100, 0);
    EXPECT(backend_cuda.count() == 0 && says("sees no GPU"));
    return 0;
}

/* The driver does not survive a fork: the child is told so at once, and does not call it. */
static int in_a_child(void) {
    const cuda_driver *driver = NULL;
    int status = 0;
    EXPECT(with_fake() == 0);
    EXPECT(driver_open(&driver) == BRAID_OK);
    pid_t child = fork();
    if (child == 0) {
        const int calls = fake_calls();
        if (driver_open(&driver) != BRAID_ERROR_DEVICE || driver || fake_calls() != calls) _exit(1);
        _exit(!says("child of its fork") || !says("spawn"));
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(driver_open(&driver) == BRAID_OK);
    return 0;
}

static void test_after_a_fork(void **state) {
    (void)state;
    if (access(BRAID_FAKE_CUDA_FOLDER "/libcuda.so.1", R_OK) != 0) {
        print_message("skip: this build has no fake driver\n");
        skip();
    }
    run_in_child(in_a_child);
}

static void row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    (void)hint;
    *(int *)user += strcmp(section, "cuda") == 0 && name[0] && value[0];
}

static braid_status launch_once(void *context, int i) {
    int args[2] = {1, 2};
    (void)i;
    return cuda_launch(context, &(cuda_call){.stem = cuda_images[0].stem,
                                             .function = "any",
                                             .blocks = 3,
                                             .threads = 256,
                                             .shared_bytes = 100000,
                                             .args = args,
                                             .args_bytes = sizeof args});
}

/* Launches on the side queue, more than are remembered one by one, some joined on the way. */
static braid_status put_on_side(device *d) {
    for (int j = 0; j < 2 * SIDE_EVENTS; j++) {
        TRY(d->backend->side_begin(d));
        TRY(launch_once(d, 0));
        TRY(d->backend->side_end(d, 3 * j));
        TRY(launch_once(d, 0));
        if (j % 5 == 4) TRY(d->backend->join(d, 3 * j - 7));
    }
    return BRAID_OK;
}

/* Launches as a recording, run twice. */
static braid_status use_recording(device *d) {
    recording *kept = NULL;
    char byte = 1;
    braid_status status = d->backend->record(d);
    if (!status) {
        status = launch_once(d, 0);
        if (!status) status = put_on_side(d);
        if (!status && d->backend->upload(d, &byte, &byte, 1) != BRAID_ERROR_ARGUMENT) status = BRAID_ERROR_CHECK;
        braid_status ended = d->backend->record_end(d, status ? NULL : &kept);
        if (!status) status = ended;
    }
    for (int i = 0; i < 2 && !status; i++) status = d->backend->replay(d, kept);
    d->backend->forget(d, kept);
    return status;
}

/* Times of each of a row and of short launches, what a launch queues, and a copy that is read later. */
static braid_status use_times(device *d, const void *memory, const char *text) {
    double seconds[3] = {1, 1, 1};
    queued_work work = {0};
    reading *late = NULL;
    const void *data = NULL;
    braid_status status = d->backend->time_each(d, launch_once, d, 3, seconds);
    if (!status && (seconds[0] != 0 || seconds[2] != 0)) status = BRAID_ERROR_CHECK; /* an event takes as long */
    if (!status) status = d->backend->time_launches(d, launch_once, d, 300, seconds);
    if (!status && !(seconds[0] > 0)) status = BRAID_ERROR_CHECK;
    if (!status) status = d->backend->look_at(d, launch_once, d, &work);
    if (!status && (work.kernels != 1 || work.copies || work.zeros || work.rearranging)) status = BRAID_ERROR_CHECK;
    if (!status) status = d->backend->reading_create(d, strlen(text) + 1, &late);
    if (!status) status = d->backend->reading_ask(d, late, memory);
    if (!status) status = d->backend->reading_get(d, late, &data);
    if (!status && strcmp(data, text) != 0) status = BRAID_ERROR_CHECK;
    d->backend->reading_destroy(d, late);
    return status;
}

/* Everything the device does, stopping at the first failure. */
static braid_status use(device *d) {
    char text[] = "0123456789", back[sizeof text] = {0};
    void *memory = NULL;
    double seconds = 0;
    braid_status status = d->backend->alloc(d, 2 * sizeof text, &memory);
    if (!status) status = d->backend->upload(d, memory, text, sizeof text);
    if (!status) status = d->backend->copy(d, (char *)memory + sizeof text, memory, sizeof text);
    if (!status) status = d->backend->download(d, back, (char *)memory + sizeof text, sizeof text);
    if (!status) status = d->backend->zero(d, memory, sizeof text);
    if (!status) status = launch_once(d, 0);
    if (!status) status = use_recording(d);
    if (!status) status = d->backend->time(d, launch_once, d, 3, &seconds);
    if (!status) status = use_times(d, (char *)memory + sizeof text, text);
    if (!status) status = d->backend->synchronize(d);
    d->backend->free(d, memory);
    if (!status && (strcmp(text, back) != 0 || seconds != 0.002)) status = BRAID_ERROR_CHECK;
    return status;
}

static int works(void) {
    device *d = NULL;
    cuda_tensor_map map;
    int rows = 0;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.count() == 2);
    EXPECT(backend_cuda.open(2, &d) == BRAID_ERROR_DEVICE && says("cuda:2"));
    EXPECT(backend_cuda.open(1, &d) == BRAID_OK);
    EXPECT(strcmp(d->name, "cuda:1") == 0 && strcmp(d->model, "Fake GPU 1") == 0);
    EXPECT(d->features == (FEATURE_SM80 | FEATURE_SM90A));
    EXPECT(strstr(d->identity, "capability 9.0") && strstr(d->identity, "driver 13.0"));
    EXPECT(use(d) == BRAID_OK);
    EXPECT(d->backend->cache_bytes(d) == 132 && d->backend->free_bytes(d) == (size_t)1 << 29);
    d->backend->describe(d, row, &rows);
    EXPECT(rows >= 6);
    EXPECT(cuda_launch(d, &(cuda_call){.stem = "no_such_stem", .function = "f", .blocks = 1, .threads = 32}) ==
           BRAID_ERROR_DEVICE);
    EXPECT(says("no_such_stem") && use(d) == BRAID_OK);
    EXPECT(cuda_launch(d, &(cuda_call){.stem = "no_such_stem", .function = "f", .blocks = 0}) == BRAID_OK);
    EXPECT(cuda_refuses_tensor_maps(d) != NULL); /* the fake driver is as old as those without them */
    EXPECT(cuda_tensor_map_make(&map, d, &(cuda_tensor){.rank = 2}) == BRAID_ERROR_DEVICE);
    EXPECT(says("cuTensorMapEncodeTiled") && use(d) == BRAID_OK);
    backend_cuda.close(d);
    backend_cuda.close(NULL);
    EXPECT(memory_live() == 0);
    return 0;
}

/* Uploads of all sizes arrive whole, through pinned memory that is used again and again. */
static int uploads(void) {
    const size_t sizes[] = {
        1, 255, 257, STAGING_CHUNK_BYTES - 1, STAGING_CHUNK_BYTES + 1, (STAGING_CHUNKS + 12) * STAGING_CHUNK_BYTES};
    const size_t most = (STAGING_CHUNKS + 12) * STAGING_CHUNK_BYTES;
    device *d = NULL;
    void *memory = NULL;
    unsigned char *from = malloc(most), *back = malloc(most);
    EXPECT(from && back && with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK && d->backend->alloc(d, most, &memory) == BRAID_OK);
    for (size_t n = 0; n < 4 * sizeof sizes / sizeof sizes[0]; n++) {
        size_t bytes = sizes[n % (sizeof sizes / sizeof sizes[0])];
        for (size_t j = 0; j < bytes; j++) from[j] = (unsigned char)(j * 31 + j / 251 + n);
        EXPECT(d->backend->upload(d, memory, from, bytes) == BRAID_OK);
        EXPECT(d->backend->download(d, back, memory, bytes) == BRAID_OK);
        EXPECT(memcmp(from, back, bytes) == 0);
    }
    EXPECT(d->backend->zero(d, memory, most) == BRAID_OK && d->backend->download(d, back, memory, most) == BRAID_OK);
    for (size_t j = 0; j < most; j++) EXPECT(back[j] == 0);
    d->backend->free(d, memory);
    backend_cuda.close(d);
    free(from);
    free(back);
    EXPECT(memory_live() == 0);
    return 0;
}

/* Functions are told apart by their names, not by where a launcher keeps them: one launcher builds all its names in the
 * same buffer. */
static int names(void) {
    char name[16] = "first";
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    const cuda_call call = {.stem = cuda_images[0].stem, .function = name, .blocks = 1, .threads = 32};
    EXPECT(cuda_launch(d, &call) == BRAID_OK);
    fake_fail("cuModuleGetFunction", 1, CU_ERROR_OUT_OF_MEMORY, 1);
    strcpy(name, "second");
    EXPECT(cuda_launch(d, &call) == BRAID_ERROR_MEMORY && says("finding second"));
    strcpy(name, "first");
    EXPECT(cuda_launch(d, &call) == BRAID_OK);
    backend_cuda.close(d);
    EXPECT(memory_live() == 0);
    return 0;
}

/* ---- With a driver and a library for other GPUs --------------------------------------------------- */

/* The images of this program are for sm_80 and sm_90a (tests/emu/CMakeLists.txt). */
static const char *age; /* the compute capability of the next case's GPU */

static int fits(void) {
    device *d = NULL;
    EXPECT(setenv("FAKE_CUDA_CAPABILITY", age, 1) == 0 && with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    backend_cuda.close(d);
    EXPECT(memory_live() == 0);
    return 0;
}

static int does_not_fit(void) {
    device *d = NULL;
    EXPECT(setenv("FAKE_CUDA_CAPABILITY", age, 1) == 0 && with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_ERROR_DEVICE && d == NULL);
    EXPECT(says("built for other GPUs (sm_80, sm_90a)") && says("compute capability is 12.0") && says("GPUS=all"));
    EXPECT(memory_live() == 0);
    return 0;
}

/* The function that the next case makes fail, at which call, and what the message must name. */
static const char *victim, *named;
static int victim_call;

/* Out of memory is no fault: it is said, and the device goes on. */
static int out_of_memory(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    fake_fail(victim, 1, CU_ERROR_OUT_OF_MEMORY, 1);
    EXPECT(use(d) == BRAID_ERROR_MEMORY);
    EXPECT(says("no memory for ") && says(named) && says("536870912"));
    EXPECT(use(d) == BRAID_OK);
    backend_cuda.close(d);
    EXPECT(memory_live() == 0);
    return 0;
}

static int opening_without_memory(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    fake_fail(victim, 1, CU_ERROR_OUT_OF_MEMORY, 1);
    EXPECT(backend_cuda.open(0, &d) == BRAID_ERROR_MEMORY && d == NULL);
    EXPECT(says("no memory for ") && says(named));
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK && use(d) == BRAID_OK);
    backend_cuda.close(d);
    EXPECT(memory_live() == 0);
    return 0;
}

/* Loading queues nothing, and a launch that was loaded loads nothing any more. */
static int loads(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    fake_fail("cuLaunchKernel", 1, 700, 0);
    EXPECT(d->backend->load(d, launch_once, d, 2) == BRAID_OK);
    fake_fail("cuModuleLoadData", 1, CU_ERROR_OUT_OF_MEMORY, 0);
    EXPECT(launch_once(d, 0) == BRAID_OK && use(d) == BRAID_OK);
    backend_cuda.close(d);
    EXPECT(memory_live() == 0);
    return 0;
}

/* A plan for whose kernels there is no memory is not made; a smaller one is, on the same context, and its runs load
 * nothing. A recording for which there is no memory ends its run, and the next one makes it. */
static int plan_without_memory(void) {
    const unsigned all = BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE;
    braid_context *context = NULL;
    braid_net *net = NULL;
    braid_model *model = NULL;
    braid_plan *plan = NULL;
    braid_plan_request request = {.phase = BRAID_PHASE_TRAIN,
                                  .batch = 6,
                                  .optimiser = BRAID_OPTIMISER_ADAM,
                                  .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    EXPECT(with_fake() == 0);
    EXPECT(braid_context_create(&(braid_context_options){.device = "cuda:0", .cache_dir = ""}, &context) == BRAID_OK);
    EXPECT(braid_net_create("mlp", &(braid_net_options){.layers = {9, 8, 7}}, &net) == BRAID_OK);
    EXPECT(braid_model_create(context, net, NULL, &model) == BRAID_OK);
    fake_fail(victim, victim_call, CU_ERROR_OUT_OF_MEMORY, 1);
    EXPECT(braid_plan_create(model, &request, &plan) == BRAID_ERROR_MEMORY && plan == NULL && says("no memory for "));
    request.batch = 2;
    EXPECT(braid_plan_create(model, &request, &plan) == BRAID_OK);
    fake_fail("cuModuleLoadData", 1, 999, 0);
    EXPECT(braid_plan_run(plan, all) == BRAID_OK);
    fake_fail("cuGraphInstantiateWithFlags", 1, CU_ERROR_OUT_OF_MEMORY, 1);
    EXPECT(braid_plan_run(plan, all) == BRAID_ERROR_MEMORY && says("recording"));
    fake_fail("cuModuleLoadData", 1, 999, 0);
    for (int i = 0; i < 3; i++) EXPECT(braid_plan_run(plan, all) == BRAID_OK);
    braid_plan_destroy(plan);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    return 0;
}

/* The first error is the answer to everything from then on, and the driver is not called any more. */
static int fault_stays(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    fake_fail(victim, victim_call, 700, 0);
    EXPECT(use(d) == BRAID_ERROR_DEVICE);
    EXPECT(says("fake error 700"));
    char first[512];
    (void)snprintf(first, sizeof first, "%s", braid_message());
    int calls = fake_calls();
    void *memory = NULL;
    EXPECT(d->backend->alloc(d, 16, &memory) == BRAID_ERROR_DEVICE && says(first));
    EXPECT(d->backend->synchronize(d) == BRAID_ERROR_DEVICE && says(first));
    EXPECT(launch_once(d, 0) == BRAID_ERROR_DEVICE && says(first));
    EXPECT(use(d) == BRAID_ERROR_DEVICE && says(first));
    EXPECT(d->backend->free_bytes(d) == 0);
    backend_cuda.close(d);
    EXPECT(fake_calls() == calls);
    EXPECT(memory_live() == 0);
    return 0;
}

/* A fault that shows when the device is closed, or when a recording is ended: behind it the driver is not called. */
static int late_faults(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK && use(d) == BRAID_OK);
    fake_fail("cuStreamSynchronize", 1, 700, 0);
    int calls = fake_calls();
    backend_cuda.close(d);
    EXPECT(fake_calls() == calls + 2 && memory_live() == 0); /* the context, the queue */
    return 0;
}

static int join_fails(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    EXPECT(d->backend->record(d) == BRAID_OK && d->backend->side_begin(d) == BRAID_OK && launch_once(d, 0) == BRAID_OK);
    EXPECT(d->backend->side_end(d, 1) == BRAID_OK);
    fake_fail("cuStreamWaitEvent", 1, 700, 0);
    int calls = fake_calls();
    EXPECT(d->backend->record_end(d, NULL) == BRAID_ERROR_DEVICE && says("joining what the side queue has"));
    EXPECT(fake_calls() == calls + 2);
    backend_cuda.close(d);
    EXPECT(fake_calls() == calls + 2 && memory_live() == 0);
    return 0;
}

/* A launch on the side queue for whose code there is no memory: the recording is dropped, and the device goes on. */
static int no_memory_on_side(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_OK);
    for (int joined = 0; joined < 2; joined++) {
        EXPECT(d->backend->record(d) == BRAID_OK);
        for (int j = 0; j < joined; j++)
            EXPECT(d->backend->side_begin(d) == BRAID_OK && d->backend->side_end(d, j) == BRAID_OK);
        EXPECT(d->backend->side_begin(d) == BRAID_OK);
        fake_fail("cuModuleLoadData", 1, CU_ERROR_OUT_OF_MEMORY, 1);
        EXPECT(
            cuda_launch(d, &(cuda_call){.stem = cuda_images[1].stem, .function = "any", .blocks = 1, .threads = 32}) ==
            BRAID_ERROR_MEMORY);
        EXPECT(d->backend->record_end(d, NULL) == BRAID_OK && use(d) == BRAID_OK);
    }
    backend_cuda.close(d);
    EXPECT(memory_live() == 0);
    return 0;
}

static int open_fails(void) {
    device *d = NULL;
    EXPECT(with_fake() == 0);
    EXPECT(backend_cuda.count() == 2);
    fake_fail(victim, victim_call, 700, 0);
    EXPECT(backend_cuda.open(0, &d) == BRAID_ERROR_DEVICE && d == NULL);
    EXPECT(says("fake error 700"));
    EXPECT(memory_live() == 0);
    return 0;
}

static void test_driver_does_not_start(void **state) {
    (void)state;
    run_in_child(init_fails);
    run_in_child(no_device);
}

static void test_works(void **state) {
    (void)state;
    run_in_child(works);
    run_in_child(uploads);
}

static void test_other_gpus(void **state) {
    (void)state;
    static const char *const taken[] = {"75", "80", "89", "90"}; /* 75: planning refuses it */
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        age = taken[i];
        run_in_child(fits);
    }
    age = "120";
    run_in_child(does_not_fit);
}

/* A function of the driver that takes memory, and what the message names. */
typedef struct taker {
    const char *symbol, *named;
} taker;

static void run_takers(const taker *takers, size_t count, int (*run)(void)) {
    for (size_t i = 0; i < count; i++) {
        victim = takers[i].symbol;
        named = takers[i].named;
        run_in_child(run);
    }
}

static void test_out_of_memory(void **state) {
    static const taker used[] = {{"cuMemAlloc_v2", "allocating 22 bytes"},
                                 {"cuModuleLoadData", "loading the kernels of "},
                                 {"cuModuleGetFunction", "finding any in "},
                                 {"cuFuncSetAttribute", "any"},
                                 {"cuGraphInstantiateWithFlags", "readying a recording"},
                                 {"cuEventCreate", "making events"},
                                 {"cuMemAllocHost_v2", "making 11 bytes of pinned memory"}};
    (void)state;
    run_takers(used, sizeof used / sizeof used[0], out_of_memory);
    run_in_child(no_memory_on_side);
}

static void test_opening_without_memory(void **state) {
    static const taker used[] = {{"cuDevicePrimaryCtxRetain", "opening the primary context"},
                                 {"cuStreamCreate", "making a queue"},
                                 {"cuEventCreate", "making a queue"},
                                 {"cuMemAlloc_v2", "making counters"},
                                 {"cuMemAllocHost_v2", "making 41943040 bytes of pinned memory"}};
    (void)state;
    run_takers(used, sizeof used / sizeof used[0], opening_without_memory);
}

static void test_plans_load(void **state) {
    static const char *const used[] = {"cuModuleLoadData", "cuModuleGetFunction"};
    (void)state;
    run_in_child(loads);
    run_in_child(names);
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        victim = used[i];
        for (victim_call = 1; victim_call <= 4; victim_call++) run_in_child(plan_without_memory);
    }
}

static void test_faults_stay(void **state) {
    static const char *const used[] = {
        "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",      "cuMemAlloc_v2",        "cuMemcpyHtoDAsync_v2",
        "cuStreamSynchronize", "cuMemcpyDtoDAsync_v2",    "cuMemcpyDtoHAsync_v2", "cuModuleLoadData",
        "cuModuleGetFunction", "cuFuncSetAttribute",      "cuLaunchKernel",       "cuEventRecord",
        "cuEventSynchronize",  "cuEventElapsedTime",      "cuMemsetD8Async",      "cuStreamEndCapture",
        "cuGraphLaunch",       "cuStreamBeginCapture_v2", "cuGraphExecDestroy",   "cuGraphInstantiateWithFlags",
        "cuStreamWaitEvent"};
    (void)state;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        victim = used[i];
        victim_call = 1;
        run_in_child(fault_stays);
    }
    victim = "cuLaunchKernel";
    for (victim_call = 2; victim_call <= 4; victim_call++) run_in_child(fault_stays);
    victim = "cuCtxPushCurrent_v2";
    for (victim_call = 2; victim_call <= 10; victim_call++) run_in_child(fault_stays);
    run_in_child(late_faults);
    run_in_child(join_fails);
}

static void test_opening_fails(void **state) {
    static const char *const used[] = {
        "cuDeviceGetCount",    "cuDeviceGet",        "cuDeviceGetName",     "cuDeviceGetAttribute",
        "cuDeviceTotalMem_v2", "cuStreamCreate",     "cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRetain",
        "cuEventCreate",       "cuCtxPopCurrent_v2", "cuMemAllocHost_v2",   "cuMemAlloc_v2",
        "cuMemsetD8Async"};
    (void)state;
    victim_call = 1;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        victim = used[i];
        run_in_child(open_fails);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_driver),
        cmocka_unit_test(test_driver_does_not_start),
        cmocka_unit_test(test_after_a_fork),
        cmocka_unit_test(test_works),
        cmocka_unit_test(test_other_gpus),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_opening_without_memory),
        cmocka_unit_test(test_plans_load),
        cmocka_unit_test(test_faults_stay),
        cmocka_unit_test(test_opening_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
