#!/usr/bin/env python3
"""Trains each of the five networks in PyTorch and in braid, from the same weights on the same batches, and compares the
losses, smoothed over windows of steps.

    bench/peers/torch_parity.py --lib FOLDER_OF_LIBBRAID [--device cuda:0] [--steps 200] [--only REGEX]

braid's side is train_losses.c, compiled here. PyTorch runs in f32 (without TF32) or in autocast with a gradient scaler
in f16, with AdamW. Batches are noise with a pattern of their class in it, so that the loss falls; four batches take
turns. Exit 1 where a smoothed loss is off by more than 1 % (f32) or 2 % (f16, bf16); where it is, the distance of two
runs of PyTorch whose weights differ in their last bit is printed beside it. Needs PyTorch 2.x, numpy and a C compiler.

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
    model = copy.deepcopy(model).to(device).train()
    streams, labels = [s.to(device) for s in streams], labels.to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    scaler = torch.amp.GradScaler(device, enabled=dtype == "f16")
    losses = []
    for step in range(steps):
        inputs = [s[step % BATCHES] for s in streams]
        optimiser.zero_grad()
        with torch.autocast(device, dtype=HALVES.get(dtype, torch.bfloat16), enabled=dtype in HALVES):
            output = model(inputs)
        if output.shape == inputs[0].shape:
            loss = F.mse_loss(output.float(), inputs[0])
        else:
            loss = F.cross_entropy(output.float(), labels[step % BATCHES])
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        losses.append(loss.item())
    return np.array(losses)


def braid_losses(program, files, options, work, dtype, rate):
    _, batch, height, width, _, _ = work
    command = [str(program), str(files / "model.safetensors"), str(files / "batches.safetensors"), options.device,
               dtype, str(batch), str(height), str(width if height else 0), str(BATCHES), str(options.steps), str(rate)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"torch_parity: {done.stderr.strip()}")
    return np.array([float(line) for line in done.stdout.split()])


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


def compare(name, options, program, files, device):
    work = WORKS[name]
    description, batch, height, width, classes, rate = work
    torch.manual_seed(3)
    model = build(description)
    model.initialize()
    streams, labels = batches_of(description, batch, height, width, classes)
    state = {key: value.numpy() for key, value in model.state_dict().items()}
    (files / "model.safetensors").write_bytes(safetensors_bytes(state, {"braid.net": description}))
    data = {key: s.numpy() for key, s in zip(stream_names(description), streams)}
    (files / "batches.safetensors").write_bytes(
        safetensors_bytes(data | {"labels": labels.float().numpy()}, {}))
    failed = 0
    for dtype in options.dtypes.split(","):
        theirs = torch_losses(model, streams, labels, options.steps, rate, dtype, device)
        ours = braid_losses(program, files, options, work, dtype, rate)
        off = apart(ours, theirs)
        good, own = off <= ALLOWED[dtype], ""
        if not good:
            again = torch_losses(nudged(model), streams, labels, options.steps, rate, dtype, device)
            own = f"; PyTorch from its own nudged weights: {100 * apart(again, theirs):.4f}"
        failed += not good
        print(f"{name:12} {dtype:5} {theirs[0]:10.6f} {ours[0]:10.6f} {smoothed(theirs)[-1]:12.6f} "
              f"{smoothed(ours)[-1]:10.6f} {100 * off:9.4f}  {'ok' if good else 'FAILED'}{own}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True, help="folder with libbraid.so.0")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    device = "cuda" if options.device.startswith("cuda") else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    failed = 0
    print(f"# PyTorch {torch.__version__}, {options.steps} steps of AdamW, losses smoothed over {WINDOW} steps")
    print("network      dtype  first: PyTorch  braid  last: PyTorch      braid  off, %")
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
