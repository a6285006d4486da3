/*
 * A GPU on the host, to run the project's own .cu files where there is none: one fibre for each
 * CUDA thread, one block at a time. It finds barriers that not all threads reach, shared memory that
 * is read before it is written (it is poisoned), races that a missing barrier opens (threads run to a
 * barrier one after the other, in alternating order) and addresses out of range (device memory lies
 * between forbidden pages). It proves nothing about memory ordering or speed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_EMU_H
#define BRAID_TESTS_EMU_EMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_MAX_THREADS 1024

/* One launch of a registered function. */
typedef struct emu_launch {
    const char *stem, *function;
    unsigned blocks, threads;
    size_t shared_bytes; /* dynamic */
    const void *args;
    size_t args_bytes;
} emu_launch;

/* Runs all blocks. NULL, or what went wrong in words. */
const char *emu_run(const emu_launch *launch);

/* 1: kernels get no counters, and find out otherwise which of their blocks comes last. */
void emu_refuse_counters(int refuse);

/* Where the emulator is, for the report of a crash: "conv2d_fwd_f32, block 3, thread 17"; NULL: in no kernel. */
const char *emu_where(void);

#ifdef __cplusplus
}

/* Static shared memory of a .cu file; both NULL where it has none. */
struct emu_range {
    unsigned char *begin, *end;
};

/* A kernel that can be launched by name: EMU_ENTRY makes one for each entry of a .cu file (ptx/entry.cuh). It takes
 * the place of one of that name in a file of that name. */
class emu_registration {
  public:
    template <class args>
    emu_registration(const char *stem, const char *name, emu_range shared, void (*function)(args))
        : emu_registration(stem, name, shared, reinterpret_cast<void (*)()>(function), call<args>, sizeof(args)) {}

  private:
    typedef void (*caller)(void (*function)(), const void *args);
    __attribute__((visibility("default"))) emu_registration(const char *stem, const char *name, emu_range shared,
                                                            void (*function)(), caller by, size_t args_bytes);

    template <class args> static void call(void (*function)(), const void *from) {
        reinterpret_cast<void (*)(args)>(function)(*static_cast<const args *>(from));
    }
};

/* The functions have another name than on a GPU, since kernels of the CPU may have the same. */
#define EMU_ENTRY(name, bounds, argument, ...)                   \
    static void emu_##name(const argument args) { __VA_ARGS__; } \
    static const emu_registration register_##name(EMU_STEM, #name, {EMU_SHARED_BEGIN, EMU_SHARED_END}, emu_##name);
#endif

#endif
