/*
 * Fibres, barriers and the table of kernels of the emulator.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/emu.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <string>
#include <vector>

#include "tests/emu/builtins.h"

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#ifdef EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

emu_index threadIdx, blockIdx, blockDim, gridDim;

extern "C" unsigned char __start_emu_shared[], __stop_emu_shared[]; /* from the linker */

namespace {

const size_t stack_bytes = 64 * 1024;
const unsigned char poison = 0xFF; /* a NaN in every float format, -1 in every integer */

struct kernel_entry {
    const char *stem, *name;
    void (*function)();
    void (*call)(void (*function)(), const void *args);
    size_t args_bytes;
};

/* A function, so that it exists before the first registration. */
std::vector<kernel_entry> &kernel_table() {
    static std::vector<kernel_entry> table;
    return table;
}

enum fibre_state { RUNNING, WAITING, WAITING_IN_WARP, ENDED };

/* One CUDA thread. Its stack is made once and serves every later launch. */
struct fibre {
    fibre_state state;
    const char *file; /* of the barrier it waits at */
    int line;
    bool started;
    jmp_buf resume;
    ucontext_t entry;
    char *stack;
    void *fake_stack; /* of the address sanitizer */
};

fibre fibres[EMU_MAX_THREADS];
jmp_buf scheduler;
void *scheduler_fake_stack;
const void *scheduler_stack;
size_t scheduler_stack_bytes;
fibre *current;
const kernel_entry *running;
const void *running_args;
unsigned long launches;

void leave_stack(void **save, const void *to, size_t bytes) {
#ifdef EMU_ASAN
    __sanitizer_start_switch_fiber(save, to, bytes);
#else
    (void)save, (void)to, (void)bytes;
#endif
}

void arrive_on_stack(void *saved, const void **from, size_t *bytes) {
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(saved, from, bytes);
#else
    (void)saved, (void)from, (void)bytes;
#endif
}

/* From a fibre back to the scheduler. Returns when the fibre is resumed. */
void suspend() {
    fibre *mine = current;
    if (_setjmp(mine->resume) == 0) {
        leave_stack(&mine->fake_stack, scheduler_stack, scheduler_stack_bytes);
        _longjmp(scheduler, 1);
    }
    arrive_on_stack(mine->fake_stack, nullptr, nullptr);
}

/* The life of a fibre: one launch after the other. */
void fibre_main() {
    arrive_on_stack(nullptr, &scheduler_stack, &scheduler_stack_bytes);
    for (;;) {
        running->call(running->function, running_args);
        current->state = ENDED;
        suspend();
    }
}

void make_stack(fibre *f) {
    if (!f->stack) {
        void *memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        f->stack = memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
    }
#ifdef EMU_ASAN
    if (f->stack) __asan_unpoison_memory_region(f->stack, stack_bytes);
#endif
    f->started = false;
}

/* Runs a fibre until it waits at a barrier or ends. */
void resume(fibre *f, unsigned index) {
    current = f;
    threadIdx.x = index;
    f->state = RUNNING;
    if (_setjmp(scheduler) == 0) {
        leave_stack(&scheduler_fake_stack, f->stack, stack_bytes);
        if (f->started) _longjmp(f->resume, 1);
        f->started = true;
        getcontext(&f->entry);
        f->entry.uc_stack.ss_sp = f->stack;
        f->entry.uc_stack.ss_size = stack_bytes;
        f->entry.uc_link = nullptr;
        makecontext(&f->entry, fibre_main, 0);
        setcontext(&f->entry);
    }
    arrive_on_stack(scheduler_fake_stack, nullptr, nullptr);
    current = nullptr;
}

/* By hand: the address sanitizer must not look at memory between two variables. */
__attribute__((no_sanitize("address"))) void poison_shared() {
    for (unsigned char *at = __start_emu_shared; at < __stop_emu_shared; at++)
        *static_cast<volatile unsigned char *>(at) = poison;
}

bool is_waiting(const fibre &f) { return f.state == WAITING || f.state == WAITING_IN_WARP; }

std::string barrier_report(unsigned threads) {
    unsigned ended = 0, waiting = 0;
    const fibre *first = nullptr;
    std::string text;
    for (unsigned t = 0; t < threads; t++) {
        ended += fibres[t].state == ENDED;
        waiting += is_waiting(fibres[t]);
        if (is_waiting(fibres[t]) && !first) first = &fibres[t];
    }
    text = std::to_string(waiting) + " of " + std::to_string(threads) + " threads wait at a barrier (" + first->file +
           ":" + std::to_string(first->line) + "), " + std::to_string(ended) + " have ended";
    for (unsigned t = 0; t < threads; t++) {
        const fibre &f = fibres[t];
        if (!is_waiting(f) || (f.line == first->line && strcmp(f.file, first->file) == 0)) continue;
        return text + "; thread " + std::to_string(t) + " waits at another one (" + f.file + ":" +
               std::to_string(f.line) + ")";
    }
    return text;
}

/* True where the threads [begin, end) wait at the same barrier, all of them of the block or of the warp. */
bool barrier_complete(unsigned begin, unsigned end, fibre_state kind) {
    for (unsigned t = begin; t < end; t++) {
        const fibre &f = fibres[t];
        if (f.state != kind || f.line != fibres[begin].line || strcmp(f.file, fibres[begin].file) != 0) return false;
    }
    return true;
}

bool all_ended(unsigned threads) {
    for (unsigned t = 0; t < threads; t++) {
        if (fibres[t].state != ENDED) return false;
    }
    return true;
}

/* Runs a warp until its threads wait for others than themselves. */
void run_warp(unsigned begin, unsigned end, bool forwards) {
    do {
        for (unsigned t = begin; t < end; t++) {
            const unsigned index = forwards ? t : end - 1 - (t - begin);
            resume(&fibres[index], index);
        }
        forwards = !forwards;
    } while (barrier_complete(begin, end, WAITING_IN_WARP));
}

/* Empty, or what went wrong. Threads run forwards to one barrier and backwards to the next, and the other way round in
 * the next launch: a race that one order hides shows in the other. */
std::string run_block(unsigned threads, bool forwards) {
    poison_shared();
    for (;; forwards = !forwards) {
        const unsigned warps = (threads + EMU_WARP - 1) / EMU_WARP;
        for (unsigned w = 0; w < warps; w++) {
            const unsigned begin = (forwards ? w : warps - 1 - w) * EMU_WARP;
            run_warp(begin, begin + EMU_WARP < threads ? begin + EMU_WARP : threads, forwards);
        }
        if (all_ended(threads)) return "";
        if (!barrier_complete(0, threads, WAITING)) return barrier_report(threads);
    }
}

const kernel_entry *find_kernel(const emu_launch *launch) {
    for (const kernel_entry &entry : kernel_table()) {
        if (strcmp(entry.stem, launch->stem) == 0 && strcmp(entry.name, launch->function) == 0) return &entry;
    }
    return nullptr;
}

std::string run(const emu_launch *launch) {
    running = find_kernel(launch);
    if (!running) return std::string("there is no function ") + launch->function + " in " + launch->stem + ".cu";
    if (running->args_bytes != launch->args_bytes)
        return std::string(launch->function) + ": the argument has another size";
    if (launch->threads < 1 || launch->threads > EMU_MAX_THREADS)
        return std::string(launch->function) + ": bad number of threads";
    running_args = launch->args;
    launches++;
    gridDim = {launch->blocks, 1, 1};
    blockDim = {launch->threads, 1, 1};
    for (unsigned t = 0; t < launch->threads; t++) {
        if (!fibres[t].stack) make_stack(&fibres[t]);
        if (!fibres[t].stack) return "no memory for the stacks of the threads";
    }
    for (unsigned block = 0; block < launch->blocks; block++) {
        blockIdx = {block, 0, 0};
        const std::string problem = run_block(launch->threads, launches % 2 == 0);
        if (problem.empty()) continue;
        for (fibre &f : fibres) { /* abandoned in the middle: start afresh */
            if (f.stack) make_stack(&f);
        }
        return std::string(launch->function) + ", block " + std::to_string(block) + ": " + problem;
    }
    return "";
}

} // namespace

emu_registration::emu_registration(const char *stem, const char *name, void (*function)(), caller by,
                                   size_t args_bytes) {
    kernel_table().push_back({stem, name, function, by, args_bytes});
}

static void wait_at(fibre_state kind, const char *file, int line) {
    current->state = kind;
    current->file = file;
    current->line = line;
    suspend();
}

void emu_barrier(const char *file, int line) { wait_at(WAITING, file, line); }

void emu_warp_barrier(const char *file, int line) { wait_at(WAITING_IN_WARP, file, line); }

const char *emu_run(const emu_launch *launch) {
    static std::string problem;
    problem = run(launch);
    return problem.empty() ? nullptr : problem.c_str();
}

const char *emu_where(void) {
    static char text[160];
    if (!current) return nullptr;
    (void)snprintf(text, sizeof text, "%s, block %u, thread %u", running->name, blockIdx.x, threadIdx.x);
    return text;
}
