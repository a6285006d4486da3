#!/usr/bin/env python3
"""How far our kernels and PyTorch's are from the truth in f16 and bf16, on the same numbers of the same GPU.

    bench/peers/torch_error.py --lib PATH_OF_LIBBRAID [--device cuda:0]

The truth is PyTorch in f64 on the CPU, from the same rounded inputs. For every problem and every kernel of ours that
can do it one line: the root of the mean squared error of ours and of PyTorch's, and their ratio, which may be 2
forwards and 3 backwards. PyTorch's sums may not be reduced in half precision. Exit 1 where a ratio is above that.
Needs PyTorch 2.x.

SPDX-License-Identifier: MIT
"""
import argparse
import sys

import torch
import torch.nn.functional as F
from braid_op import DTYPES, Library, Op

TORCH = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
MOST = {"fwd": 2.0, "bwd_data": 3.0, "bwd_weight": 3.0}

# op, the rest of the problem, sizes: conv2d (b, c, k, h, w, filter, stride, padding); linear (b, c, k)
WORKS = [
    ("conv2d", (4, 64, 64, 52, 68, 3, 1, 1)),
    ("conv2d", (4, 128, 72, 27, 35, 3, 1, 1)),
    ("conv2d", (4, 64, 128, 52, 68, 3, 2, 1)),
    ("conv2d", (4, 256, 256, 13, 17, 3, 1, 1)),
    ("conv2d", (4, 512, 512, 13, 17, 3, 1, 1)),
    ("conv2d", (4, 128, 256, 26, 34, 1, 2, 0)),
    ("conv2d", (4, 3, 64, 104, 136, 7, 2, 3)),
    ("linear", (256, 784, 256)),
    ("linear", (512, 320, 128)),
]


def problem_of(op, sizes, way, dtype):
    if op == "linear":
        return "linear_%s:%s:n1:b%d:c%d:k%d" % (way, dtype, *sizes)
    b, c, k, h, w, r, st, pad = sizes
    return f"conv2d_{way}:{dtype}:n1:b{b}:hw{h}x{w}:c{c}:k{k}:rs{r}x{r}:st{st}:pad{pad}"


def draw(op, sizes, dtype):
    """x, w and dy as PyTorch has them, rounded to the dtype, in f64."""
    torch.manual_seed(1)
    if op == "linear":
        b, c, k = sizes
        x, w, y = torch.randn(b, c), torch.randn(k, c), torch.randn(b, k)
    else:
        b, c, k, h, w_, r, st, pad = sizes
        x, w = torch.randn(b, c, h, w_), torch.randn(k, c, r, r)
        y = torch.randn(b, k, (h + 2 * pad - r) // st + 1, (w_ + 2 * pad - r) // st + 1)
    return [t.to(TORCH[dtype]).double() for t in (x, w, y)]


def compute(op, sizes, way, x, w, dy):
    x, w = x.detach().clone().requires_grad_(), w.detach().clone().requires_grad_()
    y = F.linear(x, w) if op == "linear" else F.conv2d(x, w, stride=sizes[6], padding=sizes[7])
    if way == "fwd":
        return y.detach()
    y.backward(dy)
    return x.grad if way == "bwd_data" else w.grad


def to_bytes(tensor, dtype):
    """As braid lays it: channels last."""
    last = tensor.permute(0, 2, 3, 1) if tensor.dim() == 4 else tensor
    return last.to(TORCH[dtype]).contiguous().view(torch.uint8).numpy().tobytes()


def from_bytes(data, info, like):
    flat = torch.frombuffer(bytearray(data), dtype=TORCH[DTYPES[info.dtype]])
    shape = [info.dims[0][axis] for axis in range(info.rank)]
    pitch = info.pitch[0]
    rows = flat.view(-1, pitch)[:, : shape[-1]].reshape(shape)
    return (rows.permute(0, 3, 1, 2) if like.dim() == 4 else rows.reshape(like.shape)).double()


def distance(a, b):
    return ((a - b) ** 2).mean().sqrt().item()


def compare(library, device, op, sizes, way, dtype):
    """Lines of all our kernels; the number of those too far off."""
    x, w, dy = draw(op, sizes, dtype)
    truth = compute(op, sizes, way, x, w, dy)
    there = [t.to(device=device, dtype=TORCH[dtype]) for t in (x, w, dy)]
    if op == "conv2d":
        there = [t.to(memory_format=torch.channels_last) for t in there]
    theirs = distance(compute(op, sizes, way, *there).cpu().double(), truth)
    problem, far = problem_of(op, sizes, way, dtype), 0
    one = Op(library, problem)
    for kernel in one.own_kernels():
        inputs = {name: to_bytes({"x": x, "w": w, "y": dy, "dy": dy}[name], DTYPES[info.dtype])
                  for name, info in one.operands.items() if info.role == 0}
        (name, data), = one.run(kernel, inputs).items()
        ours = distance(from_bytes(data, one.operands[name], truth), truth)
        ratio = ours / theirs if theirs else float(ours > 0)
        far += not ratio <= MOST[way]
        verdict = "ok" if ratio <= MOST[way] else "FAR"
        print(f"{verdict:4} {problem:68} {kernel:44} {ours:10.3e} {theirs:10.3e} {ratio:6.2f}", flush=True)
    one.close()
    return far


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lib", required=True)
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    library, far, count = Library(options.lib, options.device), 0, 0
    print(f"# PyTorch {torch.__version__}, {options.device}: problem, kernel, our error, theirs, ratio")
    for op, sizes in WORKS:
        for way in MOST:
            for dtype in ("f16", "bf16"):
                far += compare(library, options.device, op, sizes, way, dtype)
                count += 1
    print(f"{count} problems, {far} kernels too far off")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
