"""The kernels that the rows of kernels/kernels.def list, and those that a C file defines: for tools/check_layout,
tools/winners and bench/peers. The library's own table is made of the same rows by kernels/kernels.c;
tests/python/winners.py holds the two together.

SPDX-License-Identifier: MIT
"""
import re
from typing import NamedTuple

SETS = ("amx_bf16", "avx512_bf16", "avx512", "avx2", "portable")
# The word of a row: its dtypes, and what the names of its kernels tell of them.
DTYPES = {"ALL": (("f32", "f16", "bf16"), ""), "HALVES": (("f16", "bf16"), ""), "F32_BF16": (("f32", "bf16"), ""),
          "F32": (("f32",), "_f32"), "TF32": (("tf32",), "_tf32")}
ROW = re.compile(r"^KERNEL\((\w+), (\w+), (\w+), (\w+)(?:, [\w| ]+)?\)", re.MULTILINE)
REFERENCE = re.compile(r"^REFERENCE\((\w+), (\w+), (\w+)\)", re.MULTILINE)
CHAIN = re.compile(r"^CHAIN\((\w+)\)", re.MULTILINE)


class Kernel(NamedTuple):
    name: str
    op: str            # with its pass, as in the name
    algorithm: str     # begins with the backend
    dtypes: tuple
    architecture: str  # "cpu", "sm_80" or "sm_90a"
    vendor: str        # "" for ours


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def sets_from(top):
    """The instruction sets of a row or a macro that names the first of them; empty where it is none."""
    return SETS[SETS.index(top.lower()):] if top.lower() in SETS else ()


def expand(op, algorithm, dtypes, where):
    """The kernels of one row, in the order of the table. ValueError where a word is none of those that there are."""
    if dtypes not in DTYPES:
        raise ValueError(f"expected dtypes {', '.join(DTYPES)}, got {dtypes}")
    numbers, ending = DTYPES[dtypes]
    ranks = re.fullmatch(r"(CUDNN|CUBLASLT)_(\d)", where)

    def one(name, architecture, vendor="", its=numbers):
        return Kernel(name, op, algorithm, its, architecture, vendor)

    if sets_from(where):
        return [one(f"{op}{'_bf16' if s.endswith('_bf16') else ending}__{algorithm}_{s}", "cpu",
                    its=("bf16",) if s.endswith("_bf16") else numbers) for s in sets_from(where)]
    if where in ("ONEDNN", "OPENBLAS"):
        return [one(f"{op}__{algorithm}", "cpu", where.lower())]
    if ranks:
        return [one(f"{op}{ending}__{algorithm}_{rank}", "sm_80", ranks.group(1).lower())
                for rank in range(1, int(ranks.group(2)) + 1)]
    if where not in ("CPU", "SM80", "SM90A"):
        raise ValueError(f"expected a place such as SM80, CPU or AVX512, got {where}")
    return [one(f"{op}{ending}__{algorithm}", where.lower().replace("sm", "sm_"))]


def kernels(text):
    """All kernels of kernels.def: references and chains, which have no rows of their own, are left out."""
    return [kernel for row in ROW.finditer(text) for kernel in expand(*row.groups())]


def defined(code):
    """The `kernel_functions` that a C file defines, itself or by a macro that is called ..._KERNEL(name, or
    ..._KERNELS(instruction set, op, algorithm. Of a macro for a GPU's vendor library the names lack their number."""
    found = set(re.findall(r"^const kernel_functions (\w+)\s*=", code, re.MULTILINE))
    found |= set(re.findall(r"^[A-Z0-9_]+\(\s*(\w+__(?:cpu|cuda)_\w+)", code, re.MULTILINE))
    for top, op, algorithm in re.findall(r"^[A-Z_]+_KERNELS\w*\(\s*(\w+),\s*(\w+),\s*(cpu_\w+)", code, re.MULTILINE):
        found |= {f"{op}{'_bf16' if s.endswith('_bf16') else ''}__{algorithm}_{s}" for s in sets_from(top)}
    for vendor, op in re.findall(r"^[A-Z0-9_]+_(CUDNN|CUBLASLT)_KERNELS\(\s*(\w+)", code, re.MULTILINE):
        found |= {f"{op}{ending}__cuda_{vendor.lower()}" for _, ending in DTYPES.values()}
    return found
