"""What LINet and MCResNet share: the residual blocks and the order of layers. A value is a list of tensors, one per
pathway, and every layer takes and gives such a list; `parts` makes the convolutions and normalisations of a system.

SPDX-License-Identifier: MIT
"""
import torch.nn.functional as F
from torch import nn

DEPTHS = {18: (1, [2, 2, 2, 2]), 34: (1, [3, 4, 6, 3]), 50: (4, [3, 4, 6, 3]), 101: (4, [3, 4, 23, 3]),
          152: (4, [3, 8, 36, 3])}  # depth: (expansion, blocks of each layer); 4 is the bottleneck block


def relu(values):
    return [F.relu(v) for v in values]


class Block(nn.Module):
    """conv and norm in turn, ReLU between, the identity or the downsampled input added, ReLU. expansion 1: two 3x3
    convolutions. expansion 4: 1x1, 3x3 (which has the stride and the dilation), 1x1."""

    def __init__(self, parts, inputs, planes, expansion, stride, dilation):
        super().__init__()
        if expansion == 1:
            if dilation > 1:
                raise ValueError("dilation needs a bottleneck network (50, 101, 152)")
            shapes = [(inputs, planes, 3, stride, 1), (planes, planes, 3, 1, 1)]
        else:
            shapes = [(inputs, planes, 1, 1, 1), (planes, planes, 3, stride, dilation), (planes, planes * 4, 1, 1, 1)]
        self.count = len(shapes)
        for k, (c_in, c_out, size, conv_stride, conv_dilation) in enumerate(shapes, 1):
            padding = conv_dilation * (size // 2)
            setattr(self, f"conv{k}", parts.conv(c_in, c_out, size, conv_stride, padding, conv_dilation))
            setattr(self, f"bn{k}", parts.norm(c_out))
        self.downsample = None
        if stride != 1 or inputs != planes * expansion:
            self.downsample = nn.ModuleList([parts.conv(inputs, planes * expansion, 1, stride, 0, 1),
                                             parts.norm(planes * expansion)])

    def last_norm(self):
        return getattr(self, f"bn{self.count}")

    def forward(self, values, mask=None):
        out = values
        for k in range(1, self.count + 1):
            out = getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(out, mask), mask)
            if k < self.count:
                out = relu(out)
        identity = values
        if self.downsample is not None:
            identity = self.downsample[1](self.downsample[0](values, mask), mask)
        return [F.relu(a + b) for a, b in zip(out, identity)]


class Trunk(nn.Module):
    """conv1 7x7 s2, bn1, ReLU, max pool 3x3 s2, layer1..4. `width` multiplies the base widths 64, 128, 256, 512;
    `dilate`: dilation takes the place of the stride of layer2, 3, 4."""

    def __init__(self, parts, depth, channels, width=1.0, dilate=(False, False, False)):
        super().__init__()
        expansion, blocks = DEPTHS[depth]
        widths = [int(c * width) for c in (64, 128, 256, 512)]
        self.features = widths[3] * expansion
        self.conv1 = parts.first_conv(channels, widths[0])
        self.bn1 = parts.norm(widths[0])
        inputs, dilation = widths[0], 1
        for k in range(4):
            stride, first_dilation = (1, 2, 2, 2)[k], dilation
            if k > 0 and dilate[k - 1]:
                dilation, stride = dilation * stride, 1
            layer = [Block(parts, inputs, widths[k], expansion, stride, first_dilation)]
            inputs = widths[k] * expansion
            layer += [Block(parts, inputs, widths[k], expansion, 1, dilation) for _ in range(1, blocks[k])]
            setattr(self, f"layer{k + 1}", nn.ModuleList(layer))

    def blocks(self):
        return [block for k in range(1, 5) for block in getattr(self, f"layer{k}")]

    def trunk(self, values, mask=None):
        values = relu(self.bn1(self.conv1(values, mask), mask))
        values = [F.max_pool2d(v, 3, 2, 1) for v in values]
        for block in self.blocks():
            values = block(values, mask)
        return values

    def zero_last_norms(self):
        for block in self.blocks():
            for scale in block.last_norm().scales():
                nn.init.zeros_(scale)
