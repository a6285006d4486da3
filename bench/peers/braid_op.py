"""One op of libbraid from Python, through its C interface alone: for torch_error.py.

SPDX-License-Identifier: MIT
"""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p

PLANES = 9
DTYPES = ("f32", "f16", "bf16", "f64", "u8", "i32", "i64")
IN, OUT = 0, 1
OWN = 0


class ContextOptions(ctypes.Structure):
    _fields_ = [("device", c_char_p), ("threads", c_int), ("repro", c_int), ("cache_dir", c_char_p),
                ("disable", c_char_p)]


class OperandInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("role", c_int), ("dtype", c_int), ("planes", c_int), ("rank", c_int),
                ("dims", c_int64 * 4 * PLANES), ("pitch", c_int64 * PLANES), ("bytes", c_size_t * PLANES)]


class Operand(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("plane", c_void_p * PLANES)]


class PlanOptions(ctypes.Structure):
    _fields_ = [("effort", c_int), ("seconds", c_double), ("again", c_int), ("all", c_int), ("kernel", c_char_p),
                ("warm", c_int)]


class Candidate(ctypes.Structure):
    _fields_ = [("kernel", c_char_p), ("kind", c_int), ("reason", c_char_p), ("median_s", c_double),
                ("low_s", c_double), ("high_s", c_double), ("ratio", c_double), ("ratio_low", c_double),
                ("ratio_high", c_double), ("max_err", c_double), ("compared", c_int64), ("handicapped", c_int),
                ("workspace_bytes", c_size_t), ("layout_copy_bytes", c_int64)]


class Race(ctypes.Structure):
    _fields_ = [("candidates", POINTER(Candidate)), ("count", c_int)]


class Library:
    def __init__(self, path, device):
        self.lib = ctypes.CDLL(path)
        self.lib.braid_message.restype = c_char_p
        self.lib.braid_op_explain.restype = POINTER(Race)
        self.context = c_void_p()
        self.check(self.lib.braid_context_create(byref(ContextOptions(device=device.encode(), cache_dir=b"")),
                                                 byref(self.context)))

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.braid_message().decode())


class Op:
    """A problem as an op. operands: name -> OperandInfo; the first plane of each is what is filled and read."""

    def __init__(self, library, problem):
        self.library, self.lib = library, library.lib
        parsed = ctypes.create_string_buffer(4096)
        self.op = c_void_p()
        library.check(self.lib.braid_problem_parse(problem.encode(), parsed))
        library.check(self.lib.braid_op_create(library.context, parsed, byref(self.op)))
        self.operands = {}
        for index in range(self.lib.braid_op_operand_count(self.op)):
            info = OperandInfo()
            library.check(self.lib.braid_op_operand(self.op, index, byref(info)))
            self.operands[info.name.decode()] = info

    def close(self):
        self.lib.braid_op_destroy(self.op)

    def own_kernels(self):
        """Names of our kernels that can do the problem."""
        self.library.check(self.lib.braid_op_plan(self.op, byref(PlanOptions(effort=1))))
        race = self.lib.braid_op_explain(self.op).contents
        found = [race.candidates[i] for i in range(race.count)]
        return [c.kernel.decode() for c in found if c.kind == OWN and not c.reason]

    def run(self, kernel, inputs):
        """Runs a kernel on the bytes of its inputs by name; returns the bytes of its outputs by name."""
        library, memory, given = self.library, {}, (Operand * len(self.operands))()
        library.check(self.lib.braid_op_plan(self.op, byref(PlanOptions(kernel=kernel.encode()))))
        for index, (name, info) in enumerate(self.operands.items()):
            memory[name] = c_void_p()
            library.check(self.lib.braid_memory_create(library.context, c_size_t(info.bytes[0]), byref(memory[name])))
            if info.role != OUT:
                library.check(self.lib.braid_upload(library.context, memory[name], inputs[name],
                                                    c_size_t(info.bytes[0])))
            given[index].name = name.encode()
            given[index].plane[0] = memory[name].value
        library.check(self.lib.braid_op_run(self.op, given, len(given)))
        outputs = {}
        for name, info in self.operands.items():
            if info.role != IN:
                host = ctypes.create_string_buffer(info.bytes[0])
                library.check(self.lib.braid_download(library.context, host, memory[name], c_size_t(info.bytes[0])))
                outputs[name] = host.raw
            self.lib.braid_memory_destroy(library.context, memory[name])
        return outputs
