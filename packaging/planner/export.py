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
from network import LONGEST, Network
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

SHIPPED = Path(__file__).parents[2] / "models" / "planner"
MATRICES = ["MatMul", "Gather"]


class _Encoder(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.network.encode(ids, mask)


def export(network: Network, folder: Path) -> None:
    """Write encoder.onnx, decoder.onnx and saturation.onnx."""
    several = torch.export.Dim("batch", min=1, max=1024)
    length = torch.export.Dim("length", min=2, max=LONGEST)
    tasks = torch.export.Dim("tasks", min=2, max=1024)
    ids, mask = torch.randint(1000, 2000, (2, 20)), torch.ones(2, 20, dtype=torch.long)
    _write(
        _Encoder(network),
        (ids, mask),
        {"ids": {0: several, 1: length}, "mask": {0: several, 1: length}},
        ["states"],
        folder / "encoder.onnx",
    )
    encoder = onnx.load(folder / "encoder.onnx")
    fuse_attention(encoder, network.encoder.config.num_attention_heads)
    onnx.save(encoder, folder / "encoder.onnx")
    onnx.save(largest_product(), folder / "saturation.onnx")
    states = torch.randn(1, 20, network.encoder.config.hidden_size)
    _write(
        network,
        (states, mask[:1], torch.randn(7, states.size(-1)), torch.zeros(7, 7)),
        {
            "states": {1: length},
            "mask": {1: length},
            "tasks": {0: tasks},
            "fits": {0: tasks, 1: tasks},
        },
        ["nodes", "links", "order", "where"],
        folder / "decoder.onnx",
    )


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


def fuse_attention(model: onnx.ModelProto, heads: int) -> None:
    """Make each attention one node that looks at all words: the application reads texts one by one,
    so that there is nothing to mask. That saves a third of the time."""
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    used = {name: node for node in graph.node for name in node.input}

    def projected(name: str) -> str:
        """What was reshaped into heads: the output of a linear layer, which adds its bias."""
        while made[name].op_type != "Reshape" or made[made[name].input[0]].op_type != "Add":
            name = made[name].input[0]
        return str(made[name].input[0])

    for weights in [node for node in graph.node if node.op_type == "Softmax"]:
        masked = made[weights.input[0]]
        mixed = used[_taker(weights, "Where", graph).output[0]]
        joined = used[used[mixed.output[0]].output[0]]
        values = [projected(name) for name in (*made[masked.input[0]].input, mixed.input[1])]
        attention = helper.make_node(
            "MultiHeadAttention",
            values,
            [joined.output[0]],
            domain="com.microsoft",
            num_heads=heads,
        )
        place = list(graph.node).index(joined)
        graph.node.remove(joined)
        graph.node.insert(place, attention)
    _drop_unused(graph)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))


def _taker(node: onnx.NodeProto, kind: str, graph: onnx.GraphProto) -> onnx.NodeProto:
    """The node of a kind that takes the output of `node`."""
    return next(
        other for other in graph.node if other.op_type == kind and node.output[0] in other.input
    )


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
