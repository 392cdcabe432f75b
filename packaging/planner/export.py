"""Writes models/planner from a trained network: ONNX, its matrices in eight bits.

    python packaging/planner/export.py --base MINILM --from FINAL.pt [--to FOLDER]

Needs onnx and onnxscript besides the project's own packages.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import onnx
import torch
from network import LONGEST, Network
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
    """Write encoder.onnx and decoder.onnx."""
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
