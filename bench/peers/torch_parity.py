#!/usr/bin/env python3
"""Trains each of the five networks in PyTorch and in braid, from the same weights on the same batches, and compares the
gradients of the first step and the losses of all, smoothed over windows of steps.

    bench/peers/torch_parity.py --lib FOLDER_OF_LIBBRAID [--device cuda:0] [--steps 200] [--only REGEX] [--plant]

braid's side is train_losses.c, compiled here. PyTorch runs in f32 (without TF32) or in autocast with a gradient scaler
in f16, with AdamW. Batches are noise with a pattern of their class in it, so that the loss falls; four batches take
turns. Exit 1 where one of these is not so:

losses     A smoothed loss is off by 1 % (f32) or 2 % (f16, bf16) at most. Where it is not, the distance of two runs of
           PyTorch whose weights differ in their last bit is printed beside it.
updates    Neither side skips one. In f16 both begin with a factor of the loss of 1024, not 65536: there the last bits
           of the largest gradient decide whether the first update is made, and an update that one side skips and the
           other does not moves all losses behind it by several percent, which says nothing of either's arithmetic. What
           is skipped when is tested by itself (docs/ops/clip_norm.md).
gradients  Those of the first step, parameter by parameter, before anything can drift apart: the norm of the difference
           from PyTorch's in f64 is 0.1 % of their norm at most, and three times that of PyTorch in the same format.
           AdamW divides a gradient by its size, so that losses hardly show one that is 1 % too large. An activation
           that is zero but for rounding passes a gradient in one format and not in the other: that alone puts
           PyTorch's own f32 1 % off its f64 in some parameters. So one that is off on the first batch must be right on
           one of the others, by the same weights: a wrong kernel is wrong on all.

--plant makes the gradient of one parameter of ours 1 % too large where it is compared: every line of f32 must fail.
Needs PyTorch 2.x, numpy and a C compiler.

SPDX-License-Identifier: MIT
"""
import argparse
import copy
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from golden_models import build  # noqa: E402
from golden_models.dump import safetensors_bytes  # noqa: E402

HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}
ALLOWED = {"f32": 0.01, "f16": 0.02, "bf16": 0.02}
BATCHES, WINDOW = 4, 20
FACTOR = 1024.0  # of the loss in f16, at first
OFF, TIMES = 1e-3, 3  # a gradient, as a share of its norm; as a multiple of PyTorch's own distance
LEAST = 1e-3  # of the norm that a parameter of its size has on average: one below it is nothing but rounding
STREAMS = ("rgb", "depth", "orth")

# name: (description, batch, height, width, classes, rate); a network on rows has no height
WORKS = {
    "linet18": ({"kind": "linet18", "streams": 3, "channels": [3, 1, 1], "classes": 15, "init": "seed"},
                16, 64, 64, 15, 2e-5),
    "mcresnet18": ({"kind": "mcresnet18", "channels": [3, 1], "classes": 15, "fusion": "concat"}, 16, 64, 64, 15, 2e-5),
    "lenet86": ({"kind": "lenet86"}, 64, 86, 86, 10, 1e-4),
    "ssae": ({"kind": "ssae"}, 256, 0, 320, 0, 1e-3),
    "mlp": ({"kind": "mlp", "layers": [784, 256, 256, 10]}, 64, 0, 784, 10, 1e-4),
}


def stream_names(description):
    if "channels" in description:
        return STREAMS[:len(description["channels"])]
    return ("image",) if description["kind"] == "lenet86" else ("features",)


def batches_of(description, batch, height, width, classes):
    """Every stream [BATCHES][batch][C][H][W] (or [..][C]) and the labels [BATCHES][batch]."""
    draw = torch.Generator().manual_seed(7)
    labels = torch.randint(0, max(classes, 1), [BATCHES, batch], generator=draw)
    streams = []
    for channels in description.get("channels", [1]):
        shape = [channels, height, width] if height else [width]
        patterns = torch.randn([max(classes, 1), *shape], generator=draw)
        noise = torch.randn([BATCHES, batch, *shape], generator=draw)
        streams.append(0.5 * patterns[labels] + noise)
    return streams, labels


def torch_losses(model, streams, labels, steps, rate, dtype, device):
    """The losses, the gradients of the first step by name, and the updates that were skipped."""
    model = copy.deepcopy(model).to(device).train()
    streams, labels = [s.to(device) for s in streams], labels.to(device)
    if dtype == "f64":
        model, streams = model.double(), [s.double() for s in streams]
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    scaler = torch.amp.GradScaler(device, init_scale=FACTOR, enabled=dtype == "f16")
    losses, gradients, skipped = [], {}, 0
    for step in range(steps):
        inputs = [s[step % BATCHES] for s in streams]
        optimiser.zero_grad()
        with torch.autocast(device, dtype=HALVES.get(dtype, torch.bfloat16), enabled=dtype in HALVES):
            output = model(inputs)
        output = output.float() if dtype in HALVES else output
        if output.shape == inputs[0].shape:
            loss = F.mse_loss(output, inputs[0])
        else:
            loss = F.cross_entropy(output, labels[step % BATCHES])
        scaler.scale(loss).backward()
        factor = scaler.get_scale()
        if step == 0:
            gradients = {name: p.grad.double().cpu().numpy().ravel() / factor
                         for name, p in model.named_parameters() if p.grad is not None}
        scaler.step(optimiser)
        scaler.update()
        skipped += scaler.get_scale() < factor
        losses.append(loss.item())
    return np.array(losses), gradients, skipped


def read_gradients(path, factor):
    """As train_losses.c writes them: a line with name and count, then the numbers."""
    data, at, gradients = path.read_bytes(), 0, {}
    while at < len(data):
        end = data.index(b"\n", at)
        name, count = data[at:end].decode().split()
        at = end + 1 + 4 * int(count)
        gradients[name] = np.frombuffer(data[end + 1:at], np.float32).astype(np.float64) / factor
    return gradients


def braid_losses(program, files, device, steps, work, dtype):
    """The same of ours."""
    _, batch, height, width, _, rate = work
    factor = FACTOR if dtype == "f16" else 1.0
    command = [str(program), str(files / "model.safetensors"), str(files / "batches.safetensors"), device,
               dtype, str(batch), str(height), str(width if height else 0), str(BATCHES), str(steps), str(rate),
               str(factor), str(files / "gradients")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"torch_parity: {done.stderr.strip()}")
    rows = np.array([[float(number) for number in line.split()] for line in done.stdout.splitlines()])
    factors = np.concatenate([[factor], rows[:, 1]])
    return rows[:, 0], read_gradients(files / "gradients", factor), int(np.sum(~(factors[1:] >= factors[:-1])))


def gradients_off(ours, theirs, truth):
    """The distance of every parameter's gradient of ours as a share of what is allowed. `theirs` is PyTorch's in the
    same format, `truth` its own in f64."""
    whole = np.sqrt(sum(np.sum(g * g) for g in truth.values()) / sum(g.size for g in truth.values()))
    off = {}
    for name, true in truth.items():
        size = np.linalg.norm(true) + LEAST * whole * np.sqrt(true.size)
        allowed = OFF + TIMES * np.linalg.norm(theirs[name] - true) / size
        share = float(np.linalg.norm(ours[name] - true) / size / allowed)
        off[name] = share if share >= 0 else np.inf  # NaN
    return off


def smoothed(losses):
    return losses[:len(losses) // WINDOW * WINDOW].reshape(-1, WINDOW).mean(axis=1)


def apart(a, b):
    """The largest relative difference of two smoothed rows of losses."""
    return float(np.max(np.abs(smoothed(a) - smoothed(b)) / smoothed(b)))


def nudged(model):
    """The same network, every weight the next number in f32 above it or below."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        for p in other.parameters():
            p.copy_(torch.nextafter(p, torch.where(torch.rand_like(p) < 0.5, -torch.inf, torch.inf)))
    return other


def write_batches(files, description, streams, labels):
    data = {key: s.numpy() for key, s in zip(stream_names(description), streams)}
    (files / "batches.safetensors").write_bytes(
        safetensors_bytes(data | {"labels": labels.float().numpy()}, {}))


def first_gradients_off(model, streams, labels, dtype, program, files, options, work):
    """gradients_off of one step on the first batch."""
    device = "cuda" if options.device.startswith("cuda") else "cpu"
    write_batches(files, work[0], streams, labels)
    truth, theirs = (torch_losses(model, streams, labels, 1, work[-1], format, device)[1] for format in ("f64", dtype))
    ours = braid_losses(program, files, options.device, 1, work, dtype)[1]
    if options.plant:
        ours[max(truth, key=lambda key: truth[key].size)] *= 1.01
    return gradients_off(ours, theirs, truth)


def least_off(model, streams, labels, dtype, program, files, options, work):
    """The same of the batch on which each parameter is nearest, and how many batches that took; the first alone, where
    all are right on it."""
    least = first_gradients_off(model, streams, labels, dtype, program, files, options, work)
    for turn in range(1, BATCHES):
        if max(least.values()) <= 1:
            return least, turn
        turned = [s.roll(-turn, 0) for s in streams]
        off = first_gradients_off(model, turned, labels.roll(-turn, 0), dtype, program, files, options, work)
        least = {name: min(share, off[name]) for name, share in least.items()}
    return least, BATCHES


def compare(name, options, program, files, device):
    work = WORKS[name]
    description, batch, height, width, classes, rate = work
    torch.manual_seed(3)
    model = build(description)
    model.initialize()
    streams, labels = batches_of(description, batch, height, width, classes)
    state = {key: value.numpy() for key, value in model.state_dict().items()}
    (files / "model.safetensors").write_bytes(safetensors_bytes(state, {"braid.net": description}))
    failed = 0
    for dtype in options.dtypes.split(","):
        write_batches(files, description, streams, labels)
        theirs, _, they_skipped = torch_losses(model, streams, labels, options.steps, rate, dtype, device)
        ours, _, we_skipped = braid_losses(program, files, options.device, options.steps, work, dtype)
        least, batches = least_off(model, streams, labels, dtype, program, files, options, work)
        where = max(least, key=least.get)
        off, wrong, reasons = apart(ours, theirs), least[where], []
        if not off <= ALLOWED[dtype]:
            again, _, _ = torch_losses(nudged(model), streams, labels, options.steps, rate, dtype, device)
            reasons.append(f"losses; PyTorch from its own nudged weights: {100 * apart(again, theirs):.4f}")
        if we_skipped or they_skipped:
            reasons.append(f"updates skipped: {they_skipped} by PyTorch, {we_skipped} by braid")
        if not wrong <= 1:
            reasons.append(f"gradient of {where}")
        failed += bool(reasons)
        print(f"{name:12} {dtype:5} {theirs[0]:10.6f} {ours[0]:10.6f} {smoothed(theirs)[-1]:12.6f} "
              f"{smoothed(ours)[-1]:10.6f} {100 * off:9.4f} {wrong:10.4f} {batches:7}  "
              f"{'FAILED: ' + '; '.join(reasons) if reasons else 'ok'}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True, help="folder with libbraid.so.0")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--only", default="")
    parser.add_argument("--plant", action="store_true", help="one gradient of ours is 1 %% too large: f32 must fail")
    options = parser.parse_args()
    device = "cuda" if options.device.startswith("cuda") else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    failed = 0
    print(f"# PyTorch {torch.__version__}, {options.steps} steps of AdamW, losses smoothed over {WINDOW} steps")
    print("network      dtype  first: PyTorch  braid  last: PyTorch      braid    off, %  gradients, as a share of 1, "
          "by batches")
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        program = files / "train_losses"
        lib = Path(options.lib).resolve()
        subprocess.run(["cc", "-std=c11", "-O2", f"-I{ROOT}/include", str(ROOT / "bench/peers/train_losses.c"),
                        f"-L{lib}", "-l:libbraid.so.0", f"-Wl,-rpath,{lib}", "-Wl,--allow-shlib-undefined", "-o",
                        str(program)], check=True)
        for name in WORKS:
            if re.search(options.only, name):
                failed += compare(name, options, program, files, device)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
