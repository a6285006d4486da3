#!/usr/bin/env python3
"""Tests of tools/winners on a small tree of its own, and of the list that it reads (tools/kernel_list.py) against the
functions in the library:

    tests/python/winners.py BUILD_DIR

The last line is for tests/run.

SPDX-License-Identifier: MIT
"""
import csv
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import kernel_list  # noqa: E402

counted = {"passed": 0, "failed": 0}
HEADER = "problem,kernel,kind,device,dtype,median_ms,verdict\n"
LIST = """/* A comment with KERNEL(conv2d_fwd, cuda_none, ALL, SM80) in it. */
REFERENCE(CONV2D, FWD, conv2d_fwd)
KERNEL(conv2d_fwd, cpu_indirect_gemm, ALL, AMX_BF16)
KERNEL(conv2d_fwd, cuda_direct, ALL, SM80)
KERNEL(conv2d_fwd, cuda_resident3x3_64, HALVES, SM90A, TENSOR_CORE)
KERNEL(conv2d_fwd, cuda_resident3x3_128, HALVES, SM90A, TENSOR_CORE)
KERNEL(conv2d_fwd, cuda_mma, TF32, SM80)
KERNEL(conv2d_fwd, cuda_cudnn, HALVES, CUDNN_2, TENSOR_CORE)
REFERENCE(ADD, FWD, add)
KERNEL(add, cuda_direct, ALL, SM80)
REFERENCE(BN_ACT, FWD, bn_act)
KERNEL(bn_act, cuda_fused, HALVES, SM90A)
CHAIN(bn_act)
"""
FILES = {
    "kernels/kernels.def": LIST,
    "kernels/cuda/direct.c": "const kernel_functions conv2d_fwd__cuda_direct = {0};\n"
                             "const kernel_functions add__cuda_direct = {0};\n"
                             "const kernel_functions conv2d_fwd_tf32__cuda_mma = {0};\nint a;\n",
    "kernels/cuda/fused.c": "const kernel_functions bn_act__cuda_fused = {0};\n",
    # 3 lines, a twin of 2, an image of another name of 4, a header that only this includes of 5, and one that all do.
    "kernels/cuda/conv/halo/halo.c": '/* What\n * this is. */\n#include "kernels/cuda/shared.h"\n\n'
                                     "RESIDENT_KERNEL(conv2d_fwd__cuda_resident3x3_64, tile)\n"
                                     'RESIDENT_KERNEL(conv2d_fwd__cuda_resident3x3_128, "image")\n',
    "kernels/cuda/conv/halo/halo.h": "int a;\nint b; /* c */\n",
    "kernels/cuda/conv/image.cu": '#include "own.cuh"\nint a;\nint b;\n// c\nint d;\n',
    "kernels/cuda/conv/own.cuh": "int a;\n" * 5,
    "kernels/cuda/shared.h": "int a;\n" * 7,
    "kernels/cuda/other.c": '#include "kernels/cuda/shared.h"\nconst char *launched = "image";\n',
}


def case(name, condition, details=""):
    counted["passed" if condition else "failed"] += 1
    if not condition:
        print(f"failed: {name}: {details}")


def row(problem, kernel, median, verdict="-"):
    kind = "vendor" if "cudnn" in kernel else "chain" if "__chain" in kernel else "own"
    return f'"{problem}",{kernel},{kind},cuda:0,{problem.split(":")[1]},{median},{verdict}\n'


def race(problem, chosen, **medians):
    op = problem.split(":")[0]
    return "".join(row(problem, f"{op}__{name}", median, "FAST chosen" if name == chosen else "SLOW")
                   for name, median in medians.items())


FIRST = race("conv2d_fwd:f16:c64,64", "cuda_resident3x3_64", cuda_resident3x3_64=1,
             cuda_resident3x3_128=1.25, cuda_cudnn_1=2, cuda_direct=4)
SECOND = race("conv2d_fwd:f16:c8", "cuda_resident3x3_128", cuda_resident3x3_128=1.98,
              cuda_resident3x3_64=2, cuda_direct=3, cuda_cudnn_2="")
FUSED = race("bn_act:f16:c8", "chain", cuda_fused=2, chain=1.9)


def winners(files, *arguments, results=None):
    """The lines of --csv by kind and name; None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        results = {f"bench/results/h200/{name}": text for name, text in (results or {}).items()}
        for name, text in (files | results).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q", folder], check=True)
        done = subprocess.run([sys.executable, str(ROOT / "tools" / "winners"), "--root", folder, "--csv", *arguments],
                              cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    return {(line["kind"], line["name"]): line for line in csv.DictReader(io.StringIO(done.stdout))}


def expect(name, lines, line, **wanted):
    """Cells of a line; way stands for "only way", raced for "in", code for "lines"."""
    columns = {"way": "only way", "raced": "in", "code": "lines"}
    wanted = {columns.get(key, key): value for key, value in wanted.items()}
    found = lines and lines.get(line)
    case(name, found and {key: found[key] for key in wanted} == wanted, f"{line}: wanted {wanted}, got {found}")


def test_tables():
    text = "# a comment\n" + HEADER + FIRST + SECOND + FUSED + "(cut off after 60 s)\n"
    lines = winners(FILES, "--least", "3", results={"2026-01-02_gate.csv": text})
    expect("a kernel that wins", lines, ("kernel", "conv2d_fwd__cuda_resident3x3_64"), raced="2", won="1", gain="1.250",
           way="", verdict="", family="conv/halo", problem="conv2d_fwd:f16:c64,64")
    expect("one that wins by too little", lines, ("kernel", "conv2d_fwd__cuda_resident3x3_128"), raced="2", won="1",
           gain="1.010", way="", verdict="goes?")
    expect("a family, over those outside", lines, ("family", "conv/halo"), raced="2", won="2", gain="2.000", way="",
           verdict="", code="14")
    expect("a loser that is the only way", lines, ("kernel", "conv2d_fwd__cuda_direct"), raced="2", won="0",
           gain="0.660", way="sm_80+ f32; sm_80 f16 bf16", verdict="", code="4", family="direct")
    expect("the only way beside a chain", lines, ("kernel", "bn_act__cuda_fused"), gain="0.950", verdict="chain?",
           way="sm_90a f16 bf16")
    expect("one that no race asked for", lines, ("kernel", "add__cuda_direct"), gain="", verdict="no rows",
           way="sm_80+ f32 f16 bf16")
    expect("tf32, which f32 does too", lines, ("kernel", "conv2d_fwd_tf32__cuda_mma"), verdict="no rows", way="")
    expect("a family by the word of its algorithms", lines, ("family", "direct"), code="4",
           way="conv2d_fwd sm_80+ f32; conv2d_fwd sm_80 f16 bf16; add sm_80+ f32 f16 bf16")
    case("no kernels of a device without rows, none of a vendor",
         lines and not any("cpu" in name or "cudnn" in name for _, name in lines), lines and list(lines))
    alone = winners(FILES, results={"2026-01-02_odd.csv": HEADER + race("add:f16:c8", "cuda_direct", cuda_direct=1)})
    expect("one without rivals", alone, ("kernel", "add__cuda_direct"), gain="alone", verdict="")
    without = winners(FILES, results={"2026-01-02_gate.csv": text})
    expect("no question without --least", without, ("kernel", "conv2d_fwd__cuda_resident3x3_128"), verdict="")


def test_rows():
    again = race("conv2d_fwd:f16:c8", "cuda_direct", cuda_direct=1, cuda_resident3x3_64=2)
    lines = winners(FILES, results={"2026-01-02_gate.csv": HEADER + SECOND + again + again})
    expect("a later race of a problem counts", lines, ("kernel", "conv2d_fwd__cuda_direct"), raced="1", won="1",
           gain="2.000")
    lines = winners(FILES, results={"2026-01-02_gate.csv": HEADER + FIRST, "2026-01-03_gate_x.csv": HEADER + SECOND,
                                    "2026-01-01_odd_f16.csv": HEADER + FUSED, "2026-01-04_steps.csv": HEADER + FIRST})
    expect("of a part the newest file", lines, ("kernel", "conv2d_fwd__cuda_resident3x3_64"), raced="1", won="0")
    expect("of every part", lines, ("kernel", "bn_act__cuda_fused"), raced="1")
    other = HEADER + race("conv2d_fwd:f32:c64", "cuda_direct", cuda_direct=1)
    lines = winners(FILES, results={"2026-01-02_gate.csv": HEADER + FIRST, "2026-01-03_gate_f32.csv": other})
    expect("and of every dtype", lines, ("kernel", "conv2d_fwd__cuda_direct"), raced="2", won="1")
    case("no rows at all is an error", winners(FILES) is None and winners(FILES, "/dev/null") is None)


def test_list(build):
    """What the rows list is what the library holds."""
    names = subprocess.run(["nm", "--defined-only", str(build / "libbraid_insides.a")], capture_output=True, text=True,
                           check=True).stdout
    held = set(re.findall(r"^[0-9a-f]+ [DR] (\w+__(?:cpu|cuda)_\w+)$", names, re.MULTILINE))
    text = (ROOT / "kernels" / "kernels.def").read_text(encoding="utf-8")
    listed = [kernel.name for kernel in kernel_list.kernels(text)]
    case("a kernel is listed once", len(listed) == len(set(listed)))
    case("every kernel has its functions", set(listed) == held, sorted(set(listed) ^ held))
    mine = kernel_list.kernels(LIST)
    case("the order and the names of a row", [kernel.name for kernel in mine[:5]] == [
        "conv2d_fwd_bf16__cpu_indirect_gemm_amx_bf16", "conv2d_fwd_bf16__cpu_indirect_gemm_avx512_bf16",
        "conv2d_fwd__cpu_indirect_gemm_avx512", "conv2d_fwd__cpu_indirect_gemm_avx2",
        "conv2d_fwd__cpu_indirect_gemm_portable"], mine[:5])
    case("a vendor's ranks", [kernel.name for kernel in mine if kernel.vendor] == [
        "conv2d_fwd__cuda_cudnn_1", "conv2d_fwd__cuda_cudnn_2"])


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tests/python/winners.py BUILD_DIR")
    test_tables()
    test_rows()
    test_list(Path(sys.argv[1]))
    print(f"{counted['passed']} passed, {counted['failed']} failed, 0 skipped")
    sys.exit(1 if counted["failed"] else 0)


main()
