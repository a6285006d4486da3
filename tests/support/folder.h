/*
 * A test in a folder of its own, which it finds empty and as its working folder:
 *
 *     cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FOLDER_H
#define BRAID_TESTS_FOLDER_H

int folder_enter(void **state);
int folder_leave(void **state); /* also restores the file calls of the system */

/* Entries of a folder, without . and .. */
int folder_entries(const char *folder);

/* Those of them whose names begin so. */
int folder_begin_with(const char *folder, const char *start);

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

#endif
