/*
 * CRC-32C (Castagnoli), the checksum of iSCSI and of TensorFlow's record files.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_CRC32C_H
#define BRAID_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *data, size_t bytes);

#endif
