"""Layers of linear + ReLU, the last without activation; and the benchmark MLPs by name, mlp-IN-HIDDENxCOUNT-OUT.

SPDX-License-Identifier: MIT
"""
import torch.nn.functional as F
from torch import nn

# Nine benchmarks on seven networks: two are run at two batch sizes.
NAMED = {"mlp-784-256x2-10": (64, 256), "mlp-512-512x3-128": (128,), "mlp-784-512x3-128": (256,),
         "mlp-1024-512x4-256": (256,), "mlp-784-2048x4-1000": (512, 1024), "mlp-2048-2048x4-1000": (1024,),
         "mlp-1024-4096x6-1000": (512,)}  # name: batches


def layers_of(name):
    """[784, 256, 256, 10] of mlp-784-256x2-10."""
    _, first, hidden, last = name.split("-")
    width, count = hidden.split("x")
    return [int(first)] + [int(width)] * int(count) + [int(last)]


class Layer(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.fc = nn.Linear(features_in, features_out)


class MLP(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList([Layer(a, b) for a, b in zip(layers, layers[1:])])

    def initialize(self):
        for layer in self.layers:
            layer.fc.reset_parameters()

    def forward(self, streams, mask=None):
        x = streams[0]
        for layer in self.layers[:-1]:
            x = F.relu(layer.fc(x))
        return self.layers[-1].fc(x)
