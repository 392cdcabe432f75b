"""Writes models/planner from a trained network: ONNX, its matrices in eight bits.

    python packaging/planner/export.py --base MINILM --from FINAL.pt [--to FOLDER]

Needs onnx and onnxscript besides the project's own packages.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from network import HEADS, LONGEST, WIDTH, Network
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

SHIPPED = Path(__file__).parents[2] / "models" / "planner"
MATRICES = ["MatMul", "Gather"]
MAX_RELATED = 24
"""Only so many of the likeliest tasks are related to each other; a request asks for fewer."""


class _Encoder(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.network.encode(ids, mask)


class _Decoder(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, states: Tensor, tasks: Tensor, fits: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """As `Network.forward`, with links and order only of the tasks that the last of these
        names."""
        nodes, where, seen = self.network.find(states, None, tasks)
        likely = nodes[0].sort(descending=True).indices[:MAX_RELATED]
        links, order = self.network.relate(
            seen[:, likely], where[:, likely], fits[likely][:, likely]
        )
        return nodes, links, order, where, likely


def export(network: Network, folder: Path) -> None:
    """Write encoder.onnx, decoder.onnx and saturation.onnx."""
    several = torch.export.Dim("batch", min=1, max=1024)
    length = torch.export.Dim("length", min=2, max=LONGEST)
    ids, mask = torch.randint(1000, 2000, (2, 20)), torch.ones(2, 20, dtype=torch.long)
    _write(
        _Encoder(network),
        (ids, mask),
        {"ids": {0: several, 1: length}, "mask": {0: several, 1: length}},
        ["states"],
        folder / "encoder.onnx",
    )
    config = network.encoder.config
    _fuse(folder / "encoder.onnx", config.num_attention_heads, config.hidden_size)
    onnx.save(largest_product(), folder / "saturation.onnx")
    export_decoder(network, folder / "decoder.onnx")


def export_decoder(network: Network, path: Path) -> None:
    """Write decoder.onnx."""
    length = torch.export.Dim("length", min=2, max=LONGEST)
    tasks = torch.export.Dim("tasks", min=2, max=1024)
    states = torch.randn(1, 20, network.encoder.config.hidden_size)
    _write(
        _Decoder(network),
        (states, torch.randn(7, states.size(-1)), torch.zeros(7, 7)),
        {"states": {1: length}, "tasks": {0: tasks}, "fits": {0: tasks, 1: tasks}},
        ["nodes", "links", "order", "where", "related"],
        path,
    )
    _fuse(path, HEADS, WIDTH)


def _fuse(path: Path, heads: int, width: int) -> None:
    model = onnx.load(path)
    fuse_attention(model, heads, width)
    onnx.save(model, path)


def _write(
    part: nn.Module,
    example: tuple[Tensor, ...],
    inputs: dict[str, dict[int, object]],
    outputs: list[str],
    path: Path,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            part,
            example,
            whole,
            input_names=list(inputs),
            output_names=outputs,
            dynamic_shapes=inputs,
            dynamo=True,
            external_data=False,
        )
        folded = onnx.load(whole)
        fold_weights(folded)
        onnx.save(folded, whole)
        quantize_dynamic(
            whole,
            path,
            weight_type=QuantType.QInt8,
            per_channel=True,
            op_types_to_quantize=MATRICES,
        )
    _without_paths(path)


def _without_paths(path: Path) -> None:
    """The exporter notes for each node where in which source file it came from."""
    graph = onnx.load(path)
    for node in graph.graph.node:
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    graph.graph.ClearField("metadata_props")
    graph.ClearField("metadata_props")
    onnx.save(graph, path)


def fold_weights(model: onnx.ModelProto) -> None:
    """Split and turn weights now and not at each run. Only whole ones can become eight bits."""
    graph = model.graph
    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    for node in [node for node in graph.node if node.op_type in ("Split", "Transpose")]:
        weights = constants.get(node.input[0])
        if weights is None:
            continue
        if node.op_type == "Split":
            parts = np.split(weights, np.cumsum(constants[node.input[1]])[:-1])
        else:
            parts = [np.ascontiguousarray(weights.T)]
        graph.node.remove(node)
        for name, part in zip(node.output, parts, strict=True):
            constants[name] = part
            graph.initializer.append(numpy_helper.from_array(part, name))


def fuse_attention(model: onnx.ModelProto, heads: int, width: int) -> None:
    """Make each attention one node that looks at everything: the application reads texts one by
    one, so that there is nothing to mask. That saves a third of the time."""
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    used = {name: node for node in graph.node for name in node.input}
    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    rows: dict[str, list[str]] = {}

    def projected(name: str) -> str:
        """What was reshaped into heads: the output of a linear layer, which adds its bias, or a
        part of it."""
        part = 0
        while made[name].op_type != "Add":
            if made[name].op_type == "Gather":
                part = int(constants[made[name].input[1]])
            name = made[name].input[0]
        if name not in rows:
            rows[name] = _rows_of(made[name], constants[made[name].input[1]].size, width, graph)
        return rows[name][part]

    for weights in [node for node in graph.node if node.op_type == "Softmax"]:
        mixed = used[weights.output[0]]
        mixed = used[mixed.output[0]] if mixed.op_type == "Where" else mixed
        if mixed.op_type != "MatMul":
            continue  # where a task is spoken of: that has no values
        scored = made[weights.input[0]]
        scored = made[scored.input[0]] if scored.op_type == "Add" else scored  # of the mask
        joined = used[used[mixed.output[0]].output[0]]
        attention = helper.make_node(
            "MultiHeadAttention",
            [projected(name) for name in (*scored.input, mixed.input[1])],
            [joined.output[0]],
            domain="com.microsoft",
            num_heads=heads,
        )
        place = list(graph.node).index(joined)
        graph.node.remove(joined)
        graph.node.insert(place, attention)
    _drop_unused(graph)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))


def _rows_of(linear: onnx.NodeProto, size: int, width: int, graph: onnx.GraphProto) -> list[str]:
    """Add what gives the output of a layer, `size` wide, as parts of (1, length, width)."""
    output = linear.output[0]
    rows, parts = f"{output}_rows", [f"{output}_part{place}" for place in range(size // width)]
    shape = numpy_helper.from_array(np.array([1, -1, size]), f"{output}_shape")
    graph.initializer.append(shape)
    place = list(graph.node).index(linear) + 1
    if len(parts) == 1:
        parts = [rows]
    else:
        split = helper.make_node("Split", [rows], parts, axis=-1, num_outputs=len(parts))
        graph.node.insert(place, split)
    graph.node.insert(place, helper.make_node("Reshape", [output, shape.name], [rows]))
    return parts


def _drop_unused(graph: onnx.GraphProto) -> None:
    while True:
        needed = {name for node in graph.node for name in node.input}
        needed |= {output.name for output in graph.output}
        unused = [node for node in graph.node if not needed & set(node.output)]
        if not unused:
            break
        for node in unused:
            graph.node.remove(node)
    for kept in (graph.initializer, graph.input):
        for item in [item for item in kept if item.name not in needed]:
            kept.remove(item)
    graph.ClearField("value_info")


def largest_product() -> onnx.ModelProto:
    """A product of 64 bytes with the largest weights, which shows whether a processor adds such
    products up without overflow."""
    column = numpy_helper.from_array(np.full((64, 1), 127, np.int8), "column")
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["row", "column"], ["sum"])],
        "saturation",
        [helper.make_tensor_value_info("row", TensorProto.UINT8, [1, 64])],
        [helper.make_tensor_value_info("sum", TensorProto.INT32, [1, 1])],
        [column],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def main() -> None:
    """Read the network, write the weights and the tokenizer."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--from", dest="start", type=Path, required=True)
    parser.add_argument("--to", type=Path, default=SHIPPED)
    args = parser.parse_args()
    network = Network(args.base)
    network.load_state_dict(torch.load(args.start))
    network.eval()
    args.to.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        export(network, args.to)
    shutil.copyfile(args.base / "tokenizer.json", args.to / "tokenizer.json")


if __name__ == "__main__":
    main()
