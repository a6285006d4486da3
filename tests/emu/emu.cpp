/*
 * Fibres, the barriers of blocks and warps, and the table of kernels of the emulator.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/emu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <string>
#include <vector>

#include "tests/emu/builtins.h"
#include "tests/emu/entries.h"
#include "tests/emu/scheduler.h"

extern "C" {
#include "core/dtype.h"
}

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
float emu_f16_values[65536], emu_bf16_values[65536];

namespace {

const size_t stack_bytes = 64 * 1024;
const uint32_t shared_first = 1024;    /* address of the first byte of dynamic shared memory, as on sm_90 */
const size_t shared_most = 227 * 1024; /* bytes of it that one block may have */
const unsigned named_most = 16;
const unsigned registers_all = 65536; /* of a multiprocessor: a kernel that hands them on has it alone */

struct kernel_entry {
    const char *stem, *name;
    emu_range shared; /* memory of its file, between two addresses */
    void (*function)();
    void (*call)(void (*function)(), const void *args);
    size_t args_bytes;
    unsigned long launches;
};

/* A function, so that it exists before the first registration. */
std::vector<kernel_entry> &kernel_table() {
    static std::vector<kernel_entry> table;
    return table;
}

/* How the threads of a block take turns. */
struct turn_order {
    bool forwards;
    bool turned; /* the lanes of every warp, against that */
};

/* Where a jump leads to: the compiler's own, since that of the C library takes ten times as long. */
typedef void *jump_place[5];

enum fibre_state { RUNNING, WAITING, ENDED };

/* One CUDA thread. Its stack is made once and serves every later launch. */
struct fibre {
    fibre_state state;
    const char *file; /* of the barrier it waits at */
    int line;
    emu_ready *ready; /* what it waits for; NULL: the barrier of the whole block */
    uint32_t key, value;
    const char *what;
    unsigned registers;
    bool started;
    jump_place resume;
    ucontext_t entry;
    char *stack;
    void *fake_stack; /* of the address sanitizer */
};

/* Threads that meet: those of a warp, or at a named barrier. */
struct meeting {
    unsigned arrived, round;
    int threads;     /* of a named barrier */
    emu_place place; /* of the first to come */
};

fibre fibres[EMU_MAX_THREADS];
meeting warps[EMU_MAX_THREADS / EMU_WARP], named[named_most];
unsigned char warp_slots[EMU_MAX_THREADS][64];
alignas(1024) unsigned char shared[shared_most];
size_t shared_bytes;
unsigned registers_spare; /* those that threads gave and nobody took */
std::string failure;      /* of the running block */
jump_place scheduler;
void *scheduler_fake_stack;
const void *scheduler_stack;
size_t scheduler_stack_bytes;
fibre *current;
kernel_entry *running;
const void *running_args;
bool has_values;   /* of f16 and bf16 */
unsigned replaced; /* kernels by others of the same name */

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

/* The compiler may see nothing of it: otherwise callers are compiled as if nobody came back, or with registers
 * untouched. */
#ifdef __clang__
__attribute__((noinline, noreturn)) void jump(jump_place to) { __builtin_longjmp(to, 1); }
#else
__attribute__((noipa, noreturn)) void jump(jump_place to) { __builtin_longjmp(to, 1); }
#endif

/* From a fibre back to the scheduler. Returns when the fibre is resumed. */
void suspend() {
    fibre *mine = current;
    if (__builtin_setjmp(mine->resume) == 0) {
        leave_stack(&mine->fake_stack, scheduler_stack, scheduler_stack_bytes);
        jump(scheduler);
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
    if (__builtin_setjmp(scheduler) == 0) {
        leave_stack(&scheduler_fake_stack, f->stack, stack_bytes);
        if (f->started) jump(f->resume);
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

/* By hand under the address sanitizer, which must not look at memory between two variables. */
__attribute__((no_sanitize("address"))) void poison_shared() {
#ifdef EMU_ASAN
    for (unsigned char *at = running->shared.begin; at < running->shared.end; at++)
        *static_cast<volatile unsigned char *>(at) = emu_poison;
#else
    if (running->shared.begin)
        memset(running->shared.begin, emu_poison, (size_t)(running->shared.end - running->shared.begin));
#endif
    memset(shared, emu_poison, shared_bytes);
}

std::string described(const fibre &f) {
    const std::string at = std::string(" (") + f.file + ":" + std::to_string(f.line) + ")";
    return f.ready ? std::string("for ") + f.what + at : "at a barrier" + at;
}

std::string barrier_report(unsigned threads) {
    unsigned ended = 0, waiting = 0;
    const fibre *first = nullptr;
    std::string text;
    for (unsigned t = 0; t < threads; t++) {
        ended += fibres[t].state == ENDED;
        waiting += fibres[t].state == WAITING;
        if (fibres[t].state == WAITING && !first) first = &fibres[t];
    }
    text = std::to_string(waiting) + " of " + std::to_string(threads) + " threads wait " + described(*first) + ", " +
           std::to_string(ended) + " have ended";
    for (unsigned t = 0; t < threads; t++) {
        const fibre &f = fibres[t];
        if (f.state != WAITING || (f.line == first->line && strcmp(f.file, first->file) == 0)) continue;
        return text + "; thread " + std::to_string(t) + " waits " + described(f);
    }
    return text;
}

/* Headers have one name in each file that includes them. */
bool same_file(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }

/* True where every thread waits at the same barrier. */
bool barrier_complete(unsigned threads) {
    for (unsigned t = 0; t < threads; t++) {
        const fibre &f = fibres[t];
        if (f.state != WAITING || f.ready || f.line != fibres[0].line || !same_file(f.file, fibres[0].file))
            return false;
    }
    return true;
}

bool all_ended(unsigned threads) {
    for (unsigned t = 0; t < threads; t++) {
        if (fibres[t].state != ENDED) return false;
    }
    return true;
}

void begin_block(unsigned threads) {
    poison_shared();
    memset(warps, 0, sizeof warps);
    memset(named, 0, sizeof named);
    failure.clear();
    registers_spare = 0;
    emu_units_reset();
    for (unsigned t = 0; t < threads; t++) {
        fibres[t].state = RUNNING;
        fibres[t].registers = registers_all / threads / 8 * 8;
    }
}

/* Runs every thread that can go on, each until it waits or ends. False where none could. */
bool run_round(unsigned threads, turn_order order) {
    bool moved = false;
    for (unsigned t = 0; t < threads && failure.empty(); t++) {
        const unsigned in_order = order.forwards ? t : threads - 1 - t;
        const unsigned index = order.turned && threads % 32 == 0 ? in_order ^ 31 : in_order;
        fibre &f = fibres[index];
        if (f.state == ENDED || (f.state == WAITING && (!f.ready || !f.ready(f.key, f.value)))) continue;
        resume(&f, index);
        moved = true;
    }
    return moved;
}

std::string leftover() {
    for (unsigned id = 0; id < named_most; id++) {
        if (named[id].arrived)
            return std::to_string(named[id].arrived) + " threads were left at the named barrier " + std::to_string(id);
    }
    return emu_units_leftover();
}

/* Empty, or what went wrong. Threads run forwards to one barrier and backwards to the next, and the other way round in
 * the next launch of the same kernel: a race that one order hides shows in the other. Where warps meet in between, the
 * thread that is last to a meeting goes on first; two launches of four turn the lanes of every warp, so that it is not
 * always the same one. */
std::string run_block(unsigned threads, turn_order order) {
    begin_block(threads);
    for (;;) {
        const bool moved = run_round(threads, order);
        if (!failure.empty()) return failure;
        if (all_ended(threads)) return leftover();
        if (barrier_complete(threads)) {
            for (unsigned t = 0; t < threads; t++) fibres[t].state = RUNNING;
        } else if (!moved && !emu_units_go_on(order.forwards)) {
            return barrier_report(threads);
        }
        order.forwards = !order.forwards;
    }
}

bool meeting_is_over(uint32_t key, uint32_t round) {
    const meeting &m = key < named_most ? named[key] : warps[key - named_most];
    return m.round != round;
}

bool has_registers(uint32_t, uint32_t more) { return registers_spare >= more; }

/* One thread comes to a meeting. */
void meet(meeting &m, uint32_t key, unsigned threads, bool waits, const char *what, emu_place at) {
    const uint32_t round = m.round;
    if (++m.arrived == threads) {
        m.arrived = 0;
        m.round++;
    } else if (waits) {
        emu_suspend_until(meeting_is_over, key, round, what, at);
    }
}

void fill_values() {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        emu_f16_values[bits] = f32_from_f16((uint16_t)bits);
        emu_bf16_values[bits] = f32_from_bf16((uint16_t)bits);
    }
    has_values = true;
}

kernel_entry *find_kernel(const char *stem, const char *name) {
    for (kernel_entry &entry : kernel_table()) {
        if (strcmp(entry.stem, stem) == 0 && strcmp(entry.name, name) == 0) return &entry;
    }
    return nullptr;
}

std::string run(const emu_launch *launch) {
    running = find_kernel(launch->stem, launch->function);
    if (!running) return std::string("there is no function ") + launch->function + " in " + launch->stem + ".cu";
    if (running->args_bytes != launch->args_bytes)
        return std::string(launch->function) + ": the argument has another size";
    if (launch->threads < 1 || launch->threads > EMU_MAX_THREADS)
        return std::string(launch->function) + ": bad number of threads";
    if (launch->shared_bytes > shared_most) return std::string(launch->function) + ": too much shared memory";
    if (launch->blocks == 0) return "";
    shared_bytes = launch->shared_bytes;
    running_args = launch->args;
    if (!has_values) fill_values();
    gridDim = {launch->blocks, 1, 1};
    blockDim = {launch->threads, 1, 1};
    for (unsigned t = 0; t < launch->threads; t++) {
        if (!fibres[t].stack) make_stack(&fibres[t]);
        if (!fibres[t].stack) return "no memory for the stacks of the threads";
    }
    const unsigned long number = running->launches++;
    const turn_order order = {number % 2 == 1, number / 2 % 2 == 1};
    for (unsigned turn = 0; turn < launch->blocks; turn++) { /* blocks must not depend on their order */
        const unsigned block = order.forwards ? turn : launch->blocks - 1 - turn;
        blockIdx = {block, 0, 0};
        const std::string problem = run_block(launch->threads, order);
        if (problem.empty()) continue;
        for (fibre &f : fibres) { /* abandoned in the middle: start afresh */
            if (f.stack) make_stack(&f);
        }
        return std::string(launch->function) + ", block " + std::to_string(block) + ": " + problem;
    }
    return "";
}

} // namespace

emu_registration::emu_registration(const char *stem, const char *name, emu_range shared, void (*function)(), caller by,
                                   size_t args_bytes) {
    kernel_entry *there = find_kernel(stem, name);
    replaced += there != nullptr;
    if (there)
        *there = {stem, name, shared, function, by, args_bytes, there->launches};
    else
        kernel_table().push_back({stem, name, shared, function, by, args_bytes, 0});
}

const char *emu_load_fault(const char *path) {
    const unsigned before = replaced;
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) return dlerror();
    return replaced == before ? "it has no kernel of a name that is known" : nullptr;
}

void emu_suspend_until(emu_ready *ready, uint32_t key, uint32_t value, const char *what, emu_place at) {
    current->state = WAITING;
    current->ready = ready;
    current->key = key;
    current->value = value;
    current->what = what;
    current->file = at.file;
    current->line = at.line;
    suspend();
}

void emu_barrier(const char *file, int line) { emu_suspend_until(nullptr, 0, 0, "", {file, line}); }

int emu_barrier_or(int value, const char *file, int line) {
    static int any;
    any |= value != 0;
    emu_barrier(file, line);
    const int result = any;
    emu_barrier(file, line);
    any = 0;
    emu_barrier(file, line);
    return result;
}

void emu_fail(const char *what, emu_place at) {
    failure = std::string(what) + ", thread " + std::to_string(threadIdx.x) + " (" + at.file + ":" +
              std::to_string(at.line) + ")";
    for (;;) suspend();
}

unsigned char *emu_shared_begin(void) { return shared; }

uint32_t emu_shared_address(const void *at) {
    return (uint32_t)(static_cast<const unsigned char *>(at) - shared) + shared_first;
}

unsigned char *emu_shared(uint32_t address, uint32_t bytes, emu_place at) {
    if (address < shared_first || address - shared_first + bytes > shared_bytes)
        emu_fail("an address outside of dynamic shared memory", at);
    return shared + (address - shared_first);
}

void emu_warp_meet(emu_place at) {
    const unsigned warp = threadIdx.x / EMU_WARP, rest = blockDim.x - warp * EMU_WARP;
    meeting &m = warps[warp];
    if (m.arrived == 0) m.place = at;
    if (m.place.line != at.line || !same_file(m.place.file, at.file))
        emu_fail("lanes of one warp that meet at different places", at);
    meet(m, named_most + warp, rest < EMU_WARP ? rest : EMU_WARP, true, "the other lanes of its warp", at);
}

bool emu_warp_is_last(void) { return warps[threadIdx.x / EMU_WARP].arrived == EMU_WARP - 1; }

void emu_warp_barrier(const char *file, int line) { emu_warp_meet({file, line}); }

void *emu_warp_slot(unsigned lane) { return warp_slots[threadIdx.x / EMU_WARP * EMU_WARP + lane]; }

void emu_named(int id, int threads, bool waits, emu_place at) {
    if (id < 1 || id >= (int)named_most || threads % EMU_WARP) emu_fail("a bad named barrier", at);
    meeting &m = named[id];
    if (m.arrived && m.threads != threads) emu_fail("a named barrier with two numbers of threads", at);
    m.threads = threads;
    meet(m, (uint32_t)id, (unsigned)threads, waits, "a named barrier", at);
}

void emu_registers(int count, emu_place at) {
    const unsigned wanted = (unsigned)count, had = current->registers;
    if (wanted > had && wanted - had > registers_spare)
        emu_suspend_until(has_registers, 0, wanted - had, "registers that others give", at);
    registers_spare += had - wanted; /* modulo 2^32 */
    current->registers = wanted;
}

const char *emu_run(const emu_launch *launch) {
    static std::string problem;
    problem = run(launch);
    return problem.empty() ? nullptr : problem.c_str();
}

int emu_write_launches(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    for (const kernel_entry &entry : kernel_table()) {
        (void)fprintf(file, "%s %s %lu\n", entry.stem, entry.name, entry.launches);
    }
    const int written = !ferror(file);
    return fclose(file) == 0 && written;
}

const char *emu_where(void) {
    static char text[160];
    if (!current) return nullptr;
    (void)snprintf(text, sizeof text, "%s, block %u, thread %u", running->name, blockIdx.x, threadIdx.x);
    return text;
}
