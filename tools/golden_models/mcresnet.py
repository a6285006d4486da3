"""MCResNet: two ResNets side by side that meet only before the classifier, by concatenation, by two learned weights, or
by gates computed from both features.

SPDX-License-Identifier: MIT
"""
import torch
import torch.nn.functional as F
from torch import nn

from .resnet import Trunk

EPS, MOMENTUM = 1e-5, 0.1


class MCConv2d(nn.Module):
    def __init__(self, channels_in, out, size, stride, padding, dilation):
        super().__init__()
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.stream1_weight = nn.Parameter(torch.empty(out, channels_in[0], size, size))
        self.stream2_weight = nn.Parameter(torch.empty(out, channels_in[1], size, size))

    def forward(self, values, mask=None):
        return [F.conv2d(x, w, None, self.stride, self.padding, self.dilation)
                for x, w in zip(values, (self.stream1_weight, self.stream2_weight))]

    def initialize(self):
        for w in (self.stream1_weight, self.stream2_weight):
            nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu")


class MCBatchNorm2d(nn.Module):
    """One num_batches_tracked for both streams: a training forward adds 2."""

    def __init__(self, channels):
        super().__init__()
        for s in (1, 2):
            setattr(self, f"stream{s}_weight", nn.Parameter(torch.ones(channels)))
            setattr(self, f"stream{s}_bias", nn.Parameter(torch.zeros(channels)))
            self.register_buffer(f"stream{s}_running_mean", torch.zeros(channels))
            self.register_buffer(f"stream{s}_running_var", torch.ones(channels))
        self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.int64))

    def scales(self):
        return [self.stream1_weight, self.stream2_weight]

    def forward(self, values, mask=None):
        out = []
        for s, x in enumerate(values, 1):
            if self.training:
                self.num_batches_tracked += 1
            mean, var = getattr(self, f"stream{s}_running_mean"), getattr(self, f"stream{s}_running_var")
            out.append(F.batch_norm(x, mean, var, getattr(self, f"stream{s}_weight"), getattr(self, f"stream{s}_bias"),
                                    self.training, MOMENTUM, EPS))
        return out


class Concat(nn.Module):
    def forward(self, a, b):
        return torch.cat([a, b], 1)


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(2))

    def forward(self, a, b):
        w = torch.softmax(self.logits, 0)
        return torch.cat([2 * w[0] * a, 2 * w[1] * b], 1)


class Gated(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gate_network = nn.Sequential(nn.Linear(2 * features, features), nn.ReLU(), nn.Linear(features, 2))

    def forward(self, a, b):
        g = torch.softmax(self.gate_network(torch.cat([a, b], 1)), 1)
        return torch.cat([g[:, 0:1] * a, g[:, 1:2] * b], 1)


class Parts:
    def first_conv(self, channels, out):
        return MCConv2d(channels, out, 7, 2, 3, 1)

    def conv(self, c_in, c_out, size, stride, padding, dilation):
        return MCConv2d([c_in, c_in], c_out, size, stride, padding, dilation)

    def norm(self, channels):
        return MCBatchNorm2d(channels)


class MCResNet(Trunk):
    def __init__(self, depth, channels=(3, 1), classes=15, width=1.0, dropout=0.0, zero_init_residual=False,
                 fusion="concat"):
        super().__init__(Parts(), depth, list(channels), width)
        self.dropout, self.zero_init_residual = dropout, zero_init_residual
        makers = {"concat": Concat, "weighted": Weighted, "gated": lambda: Gated(self.features)}
        self.fusion = makers[fusion]()
        self.fc = nn.Linear(2 * self.features, classes)

    def initialize(self):
        for module in self.modules():
            if isinstance(module, MCConv2d):
                module.initialize()
            elif isinstance(module, nn.Linear):
                module.reset_parameters()
        if self.zero_init_residual:
            self.zero_last_norms()

    def forward(self, streams, mask=None):
        a, b = (v.mean((2, 3)) for v in self.trunk(list(streams)))
        return self.fc(F.dropout(self.fusion(a, b), self.dropout, self.training))
