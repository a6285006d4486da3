"""LINet: n streams and an integrated pathway, which at every convolution reads what the streams' convolutions gave.
Samples of a stream can be blanked (mask [n][batch], true = blanked): their rows are 0 and stay out of the statistics.

SPDX-License-Identifier: MIT
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from .resnet import Trunk

EPS, MOMENTUM = 1e-5, 0.1


class LIConv2d(nn.Module):
    """r_i = conv(x_i, W_i), blanked rows 0; z' = conv1x1(z, W_int, stride) + conv1x1(r_0, V_0) + ..., left to right."""

    def __init__(self, stream_in, integrated_in, out, size, stride, padding, dilation):
        super().__init__()
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.stream_weights = nn.ParameterList([torch.empty(out, c, size, size) for c in stream_in])
        self.integrated_weight = nn.Parameter(torch.empty(out, integrated_in, 1, 1))
        self.integration_from_streams = nn.ParameterList([torch.empty(out, out, 1, 1) for _ in stream_in])

    def forward(self, values, mask=None):
        n = len(self.stream_weights)
        streams = [F.conv2d(x, w, None, self.stride, self.padding, self.dilation)
                   for x, w in zip(values[:n], self.stream_weights)]
        if mask is not None:
            streams = [r.masked_fill(m.view(-1, 1, 1, 1), 0) if m.any() else r for r, m in zip(streams, mask)]
        integrated = F.conv2d(values[n], self.integrated_weight, None, self.stride) if len(values) > n else None
        for r, v in zip(streams, self.integration_from_streams):
            part = F.conv2d(r, v)
            integrated = part if integrated is None else integrated + part
        return streams + [integrated]

    def initialize(self, init):
        n = len(self.stream_weights)
        for w in self.stream_weights:
            nn.init.kaiming_uniform_(w, a=math.sqrt(5))
        for v in self.integration_from_streams:
            nn.init.constant_(v, 1 / n) if init == "head" else nn.init.kaiming_uniform_(v, a=math.sqrt(5))
        w = self.integrated_weight
        if w.numel() == 0:
            return
        if init == "head" and w.shape[0] == w.shape[1]:
            nn.init.orthogonal_(w)
            return
        nn.init.kaiming_uniform_(w, a=math.sqrt(5))
        if init == "head":
            with torch.no_grad():
                w.mul_(0.1)


class LIBatchNorm2d(nn.Module):
    """Each stream over its active samples, the integrated pathway over all. A stream without active samples passes
    through, its running statistics untouched; num_batches_tracked counts forwards all the same."""

    def __init__(self, n, channels):
        super().__init__()
        self.stream_weights = nn.ParameterList([torch.ones(channels) for _ in range(n)])
        self.stream_biases = nn.ParameterList([torch.zeros(channels) for _ in range(n)])
        self.integrated_weight = nn.Parameter(torch.ones(channels))
        self.integrated_bias = nn.Parameter(torch.zeros(channels))
        for name in [f"stream{i}" for i in range(n)] + ["integrated"]:
            self.register_buffer(f"{name}_running_mean", torch.zeros(channels))
            self.register_buffer(f"{name}_running_var", torch.ones(channels))
        self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.int64))

    def scales(self):
        return [*self.stream_weights, self.integrated_weight]

    def normalize(self, x, name, weight, bias):
        mean, var = getattr(self, f"{name}_running_mean"), getattr(self, f"{name}_running_var")
        return F.batch_norm(x, mean, var, weight, bias, self.training, MOMENTUM, EPS)

    def stream(self, i, x, blanked):
        weight, bias = self.stream_weights[i], self.stream_biases[i]
        if blanked is None or not blanked.any():
            return self.normalize(x, f"stream{i}", weight, bias)
        if blanked.all():
            return x
        active = (~blanked).nonzero().squeeze(1)
        out = self.normalize(x.index_select(0, active), f"stream{i}", weight, bias)
        return torch.zeros_like(x).index_copy(0, active, out)

    def forward(self, values, mask=None):
        if self.training:
            self.num_batches_tracked += 1
        n = len(self.stream_weights)
        out = [self.stream(i, values[i], None if mask is None else mask[i]) for i in range(n)]
        return out + [self.normalize(values[n], "integrated", self.integrated_weight, self.integrated_bias)]


class Parts:
    def __init__(self, n):
        self.n = n

    def first_conv(self, channels, out):
        return LIConv2d(channels, 0, out, 7, 2, 3, 1)

    def conv(self, c_in, c_out, size, stride, padding, dilation):
        return LIConv2d([c_in] * self.n, c_in, c_out, size, stride, padding, dilation)

    def norm(self, channels):
        return LIBatchNorm2d(self.n, channels)


class LINet(Trunk):
    def __init__(self, depth, channels=(3, 1, 1), classes=15, width=1.0, dropout=0.0, zero_init_residual=False,
                 dilate=(False, False, False), init="head"):
        super().__init__(Parts(len(channels)), depth, list(channels), width, dilate)
        self.dropout, self.init, self.zero_init_residual = dropout, init, zero_init_residual
        self.fc = nn.Linear(self.features, classes)

    def initialize(self):
        for module in self.modules():
            if isinstance(module, LIConv2d):
                module.initialize(self.init)
        self.fc.reset_parameters()
        if self.zero_init_residual:
            self.zero_last_norms()

    def forward(self, streams, mask=None):
        integrated = self.trunk(list(streams), mask)[-1]
        return self.fc(F.dropout(integrated.mean((2, 3)), self.dropout, self.training))
