/*
 * The shapes of wgmma.cuh: one struct for each number of columns, a multiple of 8 up to 256. The lists of
 * registers grow by the four of each further 8 columns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_WGMMA_SHAPES_CUH
#define BRAID_KERNELS_CUDA_PTX_WGMMA_SHAPES_CUH

#include <stdint.h>

#include "kernels/cuda/ptx/number.cuh"

/* How assembly names the accumulators. */
#define WGMMA_NAMES_8 "%0, %1, %2, %3"
#define WGMMA_NAMES_16 WGMMA_NAMES_8 ", %4, %5, %6, %7"
#define WGMMA_NAMES_24 WGMMA_NAMES_16 ", %8, %9, %10, %11"
#define WGMMA_NAMES_32 WGMMA_NAMES_24 ", %12, %13, %14, %15"
#define WGMMA_NAMES_40 WGMMA_NAMES_32 ", %16, %17, %18, %19"
#define WGMMA_NAMES_48 WGMMA_NAMES_40 ", %20, %21, %22, %23"
#define WGMMA_NAMES_56 WGMMA_NAMES_48 ", %24, %25, %26, %27"
#define WGMMA_NAMES_64 WGMMA_NAMES_56 ", %28, %29, %30, %31"
#define WGMMA_NAMES_72 WGMMA_NAMES_64 ", %32, %33, %34, %35"
#define WGMMA_NAMES_80 WGMMA_NAMES_72 ", %36, %37, %38, %39"
#define WGMMA_NAMES_88 WGMMA_NAMES_80 ", %40, %41, %42, %43"
#define WGMMA_NAMES_96 WGMMA_NAMES_88 ", %44, %45, %46, %47"
#define WGMMA_NAMES_104 WGMMA_NAMES_96 ", %48, %49, %50, %51"
#define WGMMA_NAMES_112 WGMMA_NAMES_104 ", %52, %53, %54, %55"
#define WGMMA_NAMES_120 WGMMA_NAMES_112 ", %56, %57, %58, %59"
#define WGMMA_NAMES_128 WGMMA_NAMES_120 ", %60, %61, %62, %63"
#define WGMMA_NAMES_136 WGMMA_NAMES_128 ", %64, %65, %66, %67"
#define WGMMA_NAMES_144 WGMMA_NAMES_136 ", %68, %69, %70, %71"
#define WGMMA_NAMES_152 WGMMA_NAMES_144 ", %72, %73, %74, %75"
#define WGMMA_NAMES_160 WGMMA_NAMES_152 ", %76, %77, %78, %79"
#define WGMMA_NAMES_168 WGMMA_NAMES_160 ", %80, %81, %82, %83"
#define WGMMA_NAMES_176 WGMMA_NAMES_168 ", %84, %85, %86, %87"
#define WGMMA_NAMES_184 WGMMA_NAMES_176 ", %88, %89, %90, %91"
#define WGMMA_NAMES_192 WGMMA_NAMES_184 ", %92, %93, %94, %95"
#define WGMMA_NAMES_200 WGMMA_NAMES_192 ", %96, %97, %98, %99"
#define WGMMA_NAMES_208 WGMMA_NAMES_200 ", %100, %101, %102, %103"
#define WGMMA_NAMES_216 WGMMA_NAMES_208 ", %104, %105, %106, %107"
#define WGMMA_NAMES_224 WGMMA_NAMES_216 ", %108, %109, %110, %111"
#define WGMMA_NAMES_232 WGMMA_NAMES_224 ", %112, %113, %114, %115"
#define WGMMA_NAMES_240 WGMMA_NAMES_232 ", %116, %117, %118, %119"
#define WGMMA_NAMES_248 WGMMA_NAMES_240 ", %120, %121, %122, %123"
#define WGMMA_NAMES_256 WGMMA_NAMES_248 ", %124, %125, %126, %127"

/* The same as operands of the assembly statement. */
#define WGMMA_FOUR(sum, i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define WGMMA_SUMS_8(sum) WGMMA_FOUR(sum, 0)
#define WGMMA_SUMS_16(sum) WGMMA_SUMS_8(sum), WGMMA_FOUR(sum, 4)
#define WGMMA_SUMS_24(sum) WGMMA_SUMS_16(sum), WGMMA_FOUR(sum, 8)
#define WGMMA_SUMS_32(sum) WGMMA_SUMS_24(sum), WGMMA_FOUR(sum, 12)
#define WGMMA_SUMS_40(sum) WGMMA_SUMS_32(sum), WGMMA_FOUR(sum, 16)
#define WGMMA_SUMS_48(sum) WGMMA_SUMS_40(sum), WGMMA_FOUR(sum, 20)
#define WGMMA_SUMS_56(sum) WGMMA_SUMS_48(sum), WGMMA_FOUR(sum, 24)
#define WGMMA_SUMS_64(sum) WGMMA_SUMS_56(sum), WGMMA_FOUR(sum, 28)
#define WGMMA_SUMS_72(sum) WGMMA_SUMS_64(sum), WGMMA_FOUR(sum, 32)
#define WGMMA_SUMS_80(sum) WGMMA_SUMS_72(sum), WGMMA_FOUR(sum, 36)
#define WGMMA_SUMS_88(sum) WGMMA_SUMS_80(sum), WGMMA_FOUR(sum, 40)
#define WGMMA_SUMS_96(sum) WGMMA_SUMS_88(sum), WGMMA_FOUR(sum, 44)
#define WGMMA_SUMS_104(sum) WGMMA_SUMS_96(sum), WGMMA_FOUR(sum, 48)
#define WGMMA_SUMS_112(sum) WGMMA_SUMS_104(sum), WGMMA_FOUR(sum, 52)
#define WGMMA_SUMS_120(sum) WGMMA_SUMS_112(sum), WGMMA_FOUR(sum, 56)
#define WGMMA_SUMS_128(sum) WGMMA_SUMS_120(sum), WGMMA_FOUR(sum, 60)
#define WGMMA_SUMS_136(sum) WGMMA_SUMS_128(sum), WGMMA_FOUR(sum, 64)
#define WGMMA_SUMS_144(sum) WGMMA_SUMS_136(sum), WGMMA_FOUR(sum, 68)
#define WGMMA_SUMS_152(sum) WGMMA_SUMS_144(sum), WGMMA_FOUR(sum, 72)
#define WGMMA_SUMS_160(sum) WGMMA_SUMS_152(sum), WGMMA_FOUR(sum, 76)
#define WGMMA_SUMS_168(sum) WGMMA_SUMS_160(sum), WGMMA_FOUR(sum, 80)
#define WGMMA_SUMS_176(sum) WGMMA_SUMS_168(sum), WGMMA_FOUR(sum, 84)
#define WGMMA_SUMS_184(sum) WGMMA_SUMS_176(sum), WGMMA_FOUR(sum, 88)
#define WGMMA_SUMS_192(sum) WGMMA_SUMS_184(sum), WGMMA_FOUR(sum, 92)
#define WGMMA_SUMS_200(sum) WGMMA_SUMS_192(sum), WGMMA_FOUR(sum, 96)
#define WGMMA_SUMS_208(sum) WGMMA_SUMS_200(sum), WGMMA_FOUR(sum, 100)
#define WGMMA_SUMS_216(sum) WGMMA_SUMS_208(sum), WGMMA_FOUR(sum, 104)
#define WGMMA_SUMS_224(sum) WGMMA_SUMS_216(sum), WGMMA_FOUR(sum, 108)
#define WGMMA_SUMS_232(sum) WGMMA_SUMS_224(sum), WGMMA_FOUR(sum, 112)
#define WGMMA_SUMS_240(sum) WGMMA_SUMS_232(sum), WGMMA_FOUR(sum, 116)
#define WGMMA_SUMS_248(sum) WGMMA_SUMS_240(sum), WGMMA_FOUR(sum, 120)
#define WGMMA_SUMS_256(sum) WGMMA_SUMS_248(sum), WGMMA_FOUR(sum, 124)

/* One instruction: a, b, add, transpose_a and transpose_b are the names of the operands behind the accumulators. */
#define WGMMA_INSTRUCTION(columns, type, a, b, add, transpose_a, transpose_b)                        \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n"                                                 \
    "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" WGMMA_NAMES_##columns \
        "}, " a ", " b ", p, 1, 1, " transpose_a ", " transpose_b ";\n}\n"

#define WGMMA_SHAPE(columns, a, b, add, transpose_a, transpose_b)                                            \
    template <> struct wgmma_shape<columns> {                                                                \
        template <int ta, int tb>                                                                            \
        static __device__ __forceinline__ void run(float (&sum)[columns / 2], uint64_t left, uint64_t right, \
                                                   int32_t more, f16) {                                      \
            asm volatile(WGMMA_INSTRUCTION(columns, "f16", a, b, add, transpose_a, transpose_b)              \
                         : WGMMA_SUMS_##columns(sum)                                                         \
                         : "l"(left), "l"(right), "r"(more), "n"(ta), "n"(tb));                              \
        }                                                                                                    \
        template <int ta, int tb>                                                                            \
        static __device__ __forceinline__ void run(float (&sum)[columns / 2], uint64_t left, uint64_t right, \
                                                   int32_t more, bf16) {                                     \
            asm volatile(WGMMA_INSTRUCTION(columns, "bf16", a, b, add, transpose_a, transpose_b)             \
                         : WGMMA_SUMS_##columns(sum)                                                         \
                         : "l"(left), "l"(right), "r"(more), "n"(ta), "n"(tb));                              \
        }                                                                                                    \
    };

template <int columns> struct wgmma_shape;
WGMMA_SHAPE(8, "%4", "%5", "%6", "%7", "%8")
WGMMA_SHAPE(16, "%8", "%9", "%10", "%11", "%12")
WGMMA_SHAPE(24, "%12", "%13", "%14", "%15", "%16")
WGMMA_SHAPE(32, "%16", "%17", "%18", "%19", "%20")
WGMMA_SHAPE(40, "%20", "%21", "%22", "%23", "%24")
WGMMA_SHAPE(48, "%24", "%25", "%26", "%27", "%28")
WGMMA_SHAPE(56, "%28", "%29", "%30", "%31", "%32")
WGMMA_SHAPE(64, "%32", "%33", "%34", "%35", "%36")
WGMMA_SHAPE(72, "%36", "%37", "%38", "%39", "%40")
WGMMA_SHAPE(80, "%40", "%41", "%42", "%43", "%44")
WGMMA_SHAPE(88, "%44", "%45", "%46", "%47", "%48")
WGMMA_SHAPE(96, "%48", "%49", "%50", "%51", "%52")
WGMMA_SHAPE(104, "%52", "%53", "%54", "%55", "%56")
WGMMA_SHAPE(112, "%56", "%57", "%58", "%59", "%60")
WGMMA_SHAPE(120, "%60", "%61", "%62", "%63", "%64")
WGMMA_SHAPE(128, "%64", "%65", "%66", "%67", "%68")
WGMMA_SHAPE(136, "%68", "%69", "%70", "%71", "%72")
WGMMA_SHAPE(144, "%72", "%73", "%74", "%75", "%76")
WGMMA_SHAPE(152, "%76", "%77", "%78", "%79", "%80")
WGMMA_SHAPE(160, "%80", "%81", "%82", "%83", "%84")
WGMMA_SHAPE(168, "%84", "%85", "%86", "%87", "%88")
WGMMA_SHAPE(176, "%88", "%89", "%90", "%91", "%92")
WGMMA_SHAPE(184, "%92", "%93", "%94", "%95", "%96")
WGMMA_SHAPE(192, "%96", "%97", "%98", "%99", "%100")
WGMMA_SHAPE(200, "%100", "%101", "%102", "%103", "%104")
WGMMA_SHAPE(208, "%104", "%105", "%106", "%107", "%108")
WGMMA_SHAPE(216, "%108", "%109", "%110", "%111", "%112")
WGMMA_SHAPE(224, "%112", "%113", "%114", "%115", "%116")
WGMMA_SHAPE(232, "%116", "%117", "%118", "%119", "%120")
WGMMA_SHAPE(240, "%120", "%121", "%122", "%123", "%124")
WGMMA_SHAPE(248, "%124", "%125", "%126", "%127", "%128")
WGMMA_SHAPE(256, "%128", "%129", "%130", "%131", "%132")

/* The same with a in four registers of each thread: only the widths that kernels take. */
#define WGMMA_HELD_INSTRUCTION(columns, type, a, b, add, transpose_b)                                \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n"                                                 \
    "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" WGMMA_NAMES_##columns \
        "}, {" a "}, " b ", p, 1, 1, " transpose_b ";\n}\n"

#define WGMMA_HELD_SHAPE(columns, a, b, add, transpose_b)                                                           \
    template <> struct wgmma_held_shape<columns> {                                                                  \
        template <int tb>                                                                                           \
        static __device__ __forceinline__ void run(float (&sum)[columns / 2], const uint32_t (&left)[4],            \
                                                   uint64_t right, int32_t more, f16) {                             \
            asm volatile(WGMMA_HELD_INSTRUCTION(columns, "f16", a, b, add, transpose_b)                             \
                         : WGMMA_SUMS_##columns(sum)                                                                \
                         : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(more), "n"(tb)); \
        }                                                                                                           \
        template <int tb>                                                                                           \
        static __device__ __forceinline__ void run(float (&sum)[columns / 2], const uint32_t (&left)[4],            \
                                                   uint64_t right, int32_t more, bf16) {                            \
            asm volatile(WGMMA_HELD_INSTRUCTION(columns, "bf16", a, b, add, transpose_b)                            \
                         : WGMMA_SUMS_##columns(sum)                                                                \
                         : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(more), "n"(tb)); \
        }                                                                                                           \
    };

template <int columns> struct wgmma_held_shape;
WGMMA_HELD_SHAPE(56, "%28, %29, %30, %31", "%32", "%33", "%34")
WGMMA_HELD_SHAPE(64, "%32, %33, %34, %35", "%36", "%37", "%38")

#endif
