"""How a golden file is written and what is measured for it: one training or evaluation of a network in f64 and again in
f32 from the same f32 weights and inputs. tests/golden/README.md tells the layout to the reader of the files.

SPDX-License-Identifier: MIT
"""
import copy
import json
import struct

import numpy as np
import torch
import torch.nn.functional as F

KINDS = {"float64": "F64", "int64": "I64", "float32": "F32", "uint8": "U8"}
PROJECTIONS = 8
STEPS = 10


def safetensors_bytes(tensors, metadata):
    """The same bytes for the same contents: widest elements first, then in the order given."""
    arrays = {name: np.ascontiguousarray(a).reshape(np.shape(a)) for name, a in tensors.items()}
    header, offset = {"__metadata__": {key: json.dumps(value) for key, value in metadata.items()}}, 0
    names = sorted(arrays, key=lambda name: -arrays[name].itemsize)
    for name in names:
        a = arrays[name]
        end = offset + a.nbytes
        header[name] = {"dtype": KINDS[a.dtype.name], "shape": list(a.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(arrays[name].tobytes() for name in names)


def signs(count):
    """[PROJECTIONS][count] of +1 and -1: element j of projection k is -1 where bit k of hash j (splitmix64) is set."""
    x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return [1.0 - 2.0 * ((x >> np.uint64(k)) & np.uint64(1)).astype(np.float64) for k in range(PROJECTIONS)]


def projected(tensor):
    """L2 norm, then the projections."""
    flat = tensor.detach().double().numpy().ravel()
    return [float(np.sqrt(np.dot(flat, flat)))] + [float(np.dot(flat, s)) for s in signs(flat.size)]


def loss_of(description, output, target):
    if description["kind"] == "mse":
        return F.mse_loss(output, target)
    if description["kind"] == "cross_entropy":
        return F.cross_entropy(output, target, label_smoothing=description.get("label_smoothing", 0.0))
    cross = F.cross_entropy(output, target, reduction="none")
    return (description["alpha"] * (1 - torch.exp(-cross)) ** description["gamma"] * cross).mean()


def optimiser_of(description, parameters):
    options = dict(description)
    kind = options.pop("kind")
    if kind != "sgd":
        options["betas"] = (options.pop("beta1"), options.pop("beta2"))
    return {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](parameters, **options)


class Run:
    """One network in one precision on one batch."""

    def __init__(self, model, case, data, dtype):
        self.model = copy.deepcopy(model).to(dtype)
        self.model.train(case["mode"] == "train")
        self.case, self.mask = case, data.get("mask")
        self.streams = [s.to(dtype) for s in data["streams"]]
        self.target = self.streams[0] if case["loss"]["kind"] == "mse" else data["labels"]

    def forward(self):
        output = self.model(self.streams, self.mask)
        return output, loss_of(self.case["loss"], output, self.target)

    def evaluate(self):
        with torch.no_grad():
            self.output, self.loss = self.forward()

    def train(self):
        optimiser = optimiser_of(self.case["optimiser"], self.model.parameters())
        self.losses = []
        for step in range(STEPS):
            optimiser.zero_grad()
            output, loss = self.forward()
            loss.backward()
            if step == 0:
                self.output, self.loss = output.detach(), loss.detach()
                self.gradients = {k: None if p.grad is None else p.grad.clone()
                                  for k, p in self.model.named_parameters()}
                self.buffers = {k: b.clone() for k, b in self.model.named_buffers()}
            self.losses.append(loss.item())
            optimiser.step()


def relative_errors(gradients, truth):
    """Per parameter, |g - truth| / |truth| (0 where the truth is 0 or absent)."""
    errors = []
    for name, t in truth.items():
        norm = 0.0 if t is None else t.norm().item()
        errors.append((gradients[name].double() - t).norm().item() / norm if norm > 0 else 0.0)
    return np.array(errors)


def dump(model, case, data):
    """The tensors of a case file and the names of the parameters without gradient."""
    double, single = (Run(model, case, data, dtype) for dtype in (torch.float64, torch.float32))
    tensors = {}
    if "labels" in data:
        tensors["labels"] = data["labels"].numpy()
    if "mask" in data:
        tensors["mask"] = data["mask"].numpy().astype(np.uint8)
    for name, run in (("f64", double), ("f32", single)):
        run.train() if case["mode"] == "train" else run.evaluate()
        tensors[f"{name}.logits"] = run.output.numpy()
        tensors[f"{name}.loss"] = run.loss.numpy()
        if case["mode"] == "train":
            tensors[f"{name}.losses"] = np.array(run.losses)
    if case["mode"] == "eval":
        return tensors, []
    gradients = double.gradients
    tensors["f64.gradients"] = np.array([projected(torch.zeros(1) if g is None else g) for g in gradients.values()])
    if case["gradients"] == "full":
        tensors |= {f"grad.{name}": g.numpy() for name, g in gradients.items() if g is not None}
    tensors |= {f"after.{name}": b.double().numpy() for name, b in double.buffers.items()}
    final = [*double.model.parameters(), *double.model.buffers()]
    tensors["f64.final"] = np.array([projected(t)[:2] + [t.double().sum().item()] for t in final])
    tensors["f32.gradient_errors"] = relative_errors(single.gradients, gradients)
    return tensors, [name for name, g in gradients.items() if g is None]
