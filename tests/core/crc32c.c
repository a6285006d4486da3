/*
 * Tests of core/crc32c: the answers of RFC 3720, and one bit at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "core/crc32c.h"

static void known_answers(void **state) {
    unsigned char data[48];
    (void)state;
    assert_int_equal(crc32c("", 0), 0);
    assert_int_equal(crc32c("123456789", 9), 0xe3069283);
    memset(data, 0, 32);
    assert_int_equal(crc32c(data, 32), 0x8a9136aa);
    memset(data, 0xff, 32);
    assert_int_equal(crc32c(data, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++) data[i] = (unsigned char)i;
    assert_int_equal(crc32c(data, 32), 0x46dd794e);
    for (int i = 0; i < 32; i++) data[i] = (unsigned char)(31 - i);
    assert_int_equal(crc32c(data, 32), 0x113fdb5c);
    static const unsigned char read_command[48] = {
        0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
    assert_int_equal(crc32c(read_command, 48), 0xd9963a56);
}

static uint32_t one_bit_at_a_time(const unsigned char *data, size_t bytes) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < 8 * bytes; i++) {
        uint32_t bit = (crc ^ (uint32_t)data[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void any_length(void **state) {
    unsigned char data[300];
    (void)state;
    for (int i = 0; i < 300; i++) data[i] = (unsigned char)(i * i * 7 + i);
    for (size_t bytes = 0; bytes <= 300; bytes++) assert_int_equal(crc32c(data, bytes), one_bit_at_a_time(data, bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(any_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
