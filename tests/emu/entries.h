/*
 * The entries of all .cu files, an extern "C" __global__ function each, and how often this process has launched them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_ENTRIES_H
#define BRAID_TESTS_EMU_ENTRIES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Loads a module with a planted fault (faults.cmake), whose kernels take the place of the program's own. NULL, or why
 * it cannot be used. */
const char *emu_load_fault(const char *path);

/* Writes a file with a line "stem function launches" for every entry. 0 where it cannot. */
int emu_write_launches(const char *path);

#ifdef __cplusplus
}
#endif

#endif
