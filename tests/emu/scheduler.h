/*
 * Between the scheduler of the emulator (emu.cpp) and its units of sm_90 (units.cpp).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_SCHEDULER_H
#define BRAID_TESTS_EMU_SCHEDULER_H

#include <string>

#include "tests/emu/block.h"

const unsigned char emu_poison = 0xFF; /* a NaN in every float format, -1 in every integer */

/* Stops the running fibre until `ready` says so of `key` and `value`; `what` it waits for goes into a report. */
typedef bool emu_ready(uint32_t key, uint32_t value);
void emu_suspend_until(emu_ready *ready, uint32_t key, uint32_t value, const char *what, emu_place at);

/* A new block begins. */
void emu_units_reset(void);

/* Nobody can go on: something that was under way happens now. False where nothing is. */
bool emu_units_go_on(bool newest);

/* All threads have ended: empty, or what they left undone. */
std::string emu_units_leftover(void);

#endif
