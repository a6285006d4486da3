/*
 * Which instruction sets this process may use. A set counts when the CPU has it and the system saves
 * its registers (xgetbv); AMX also needs the kernel's permission, asked for once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"

static const unsigned cpu_sets[] = {FEATURE_AVX2, FEATURE_AVX512, FEATURE_AVX512_BF16, FEATURE_AMX_BF16};
enum { CPU_SET_COUNT = sizeof cpu_sets / sizeof cpu_sets[0] };

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct cpuid_words {
    unsigned a, b, c, d;
} cpuid_words;

/* Zeros where the CPU does not have the leaf. */
static cpuid_words cpuid_leaf(unsigned leaf, unsigned subleaf) {
    cpuid_words w = {0, 0, 0, 0};
    __get_cpuid_count(leaf, subleaf, &w.a, &w.b, &w.c, &w.d);
    return w;
}

static int has_bits(unsigned word, unsigned bits) { return (word & bits) == bits; }

/* XCR0: the register files that the system saves on a switch. Needs OSXSAVE. */
static unsigned saved_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#define XCR0_YMM 0x6u      /* SSE and AVX */
#define XCR0_ZMM 0xe6u     /* with the mask and the upper registers of AVX-512 */
#define XCR0_TILE 0x60000u /* tile configuration and tile data */

static int amx_permission; /* 1: granted */

static void ask_amx_permission(void) {
    const long request_permission = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    amx_permission = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

static unsigned detect(void) {
    const cpuid_words one = cpuid_leaf(1, 0), seven = cpuid_leaf(7, 0), seven_one = cpuid_leaf(7, 1);
    if (!has_bits(one.c, bit_OSXSAVE | bit_AVX)) return 0;
    const unsigned saved = saved_registers();
    const int avx2 = has_bits(saved, XCR0_YMM) && has_bits(one.c, bit_FMA | bit_F16C) && has_bits(seven.b, bit_AVX2);
    const int avx512 = avx2 && has_bits(saved, XCR0_ZMM) &&
                       has_bits(seven.b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
    const int bf16 = avx512 && has_bits(seven_one.a, 1u << 5);
    const int amx = bf16 && has_bits(saved, XCR0_TILE) && has_bits(seven.d, 1u << 22 | 1u << 24);
    return (avx2 ? FEATURE_AVX2 : 0) | (avx512 ? FEATURE_AVX512 : 0) | (bf16 ? FEATURE_AVX512_BF16 : 0) |
           (amx ? FEATURE_AMX_BF16 : 0);
}

static int amx_permitted(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_amx_permission);
    return amx_permission;
}

void cpu_model(char *name, size_t bytes) {
    char brand[49] = "";
    if (cpuid_leaf(0x80000000u, 0).a >= 0x80000004u) {
        for (unsigned i = 0; i < 3; i++) {
            const cpuid_words w = cpuid_leaf(0x80000002u + i, 0);
            memcpy(brand + (size_t)16 * i, &w, 16);
        }
    }
    size_t length = strlen(brand);
    while (length > 0 && brand[length - 1] == ' ') brand[--length] = '\0';
    snprintf(name, bytes, "%s", length ? brand + strspn(brand, " ") : "x86-64 CPU");
}

static unsigned cpu_family(unsigned word) {
    const unsigned base = word >> 8 & 15u;
    return base == 15 ? base + (word >> 20 & 255u) : base;
}

void cpu_signature(char *text, size_t bytes) {
    const unsigned word = cpuid_leaf(1, 0).a, family = cpu_family(word);
    const unsigned model = (word >> 4 & 15u) + (family >= 15 || family == 6 ? word >> 12 & 0xf0u : 0);
    snprintf(text, bytes, "family %u model %u stepping %u", family, model, word & 15u);
}

int cpu_full_avx512(void) {
    const unsigned amd = 0x68747541u, zen4_family = 25; /* "Auth" of AuthenticAMD */
    const int halved = cpuid_leaf(0, 0).b == amd && cpu_family(cpuid_leaf(1, 0).a) <= zen4_family;
    return (cpu_hardware() & FEATURE_AVX512) && !halved;
}

#else

static unsigned detect(void) { return 0; }

static int amx_permitted(void) { return 0; }

void cpu_model(char *name, size_t bytes) { snprintf(name, bytes, "CPU"); }

void cpu_signature(char *text, size_t bytes) { snprintf(text, bytes, "not x86-64"); }

int cpu_full_avx512(void) { return 0; }

#endif

static unsigned hardware;

static void detect_once(void) { hardware = detect(); }

unsigned cpu_hardware(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, detect_once);
    return hardware;
}

/* The sets up to the one that BRAID_ISA names; all where it is not set. False for an unknown word. */
static int isa_mask(unsigned *mask) {
    const char *word = getenv("BRAID_ISA");
    *mask = ~0u;
    if (!word || !*word) return 1;
    if (strcmp(word, "none") == 0) {
        *mask = 0;
        return 1;
    }
    for (int i = 0; i < CPU_SET_COUNT; i++) {
        if (strcmp(word, feature_name(cpu_sets[i])) == 0) {
            *mask = cpu_sets[i] * 2 - 1;
            return 1;
        }
    }
    return 0;
}

unsigned cpu_features(void) {
    unsigned mask;
    isa_mask(&mask);
    unsigned features = cpu_hardware() & mask;
    if ((features & FEATURE_AMX_BF16) && !amx_permitted()) features &= ~FEATURE_AMX_BF16;
    return features;
}

braid_status cpu_check_isa(void) {
    unsigned mask;
    if (isa_mask(&mask)) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "BRAID_ISA: expected none, avx2, avx512, avx512_bf16 or amx_bf16, got '%.40s'",
                getenv("BRAID_ISA"));
}
