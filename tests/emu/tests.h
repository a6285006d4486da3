/*
 * The tests on the emulator, which share one program: `emu NAME arguments...` (emu_main.c). Each is a main of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_TESTS_H
#define BRAID_TESTS_EMU_TESTS_H

int emu_kernels(int count, char **words);
int emu_golden(int count, char **words); /* main of tests/plan/golden.c */
int emu_chains(void);
int emu_fused(void);
int emu_networks(void);
int emu_not_finite(void);
int emu_pays(void);
int emu_side_queue(void);
int emu_stages(void);
int emu_sums(void);
int emu_support(void);
int emu_training(void);

#endif
