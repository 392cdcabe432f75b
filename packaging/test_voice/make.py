"""Makes the tiny Kokoro of the tests: an ONNX file with the inputs and the output of the real one.

It hums each phoneme at a pitch of its own, as loud as the style says and as long as the speed
says, so that tests can tell what reached it. Needs the package onnx:

    python packaging/test_voice/make.py
"""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

TO = Path(__file__).parents[2] / "tests" / "speech" / "tiny_kokoro.onnx"
SAMPLES = 600.0
"""Of one phoneme, at a speed of 1."""
TURN = 6.2831853 / 24_000


def main() -> None:
    """Write the file."""
    constants = {
        "samples": helper.make_tensor("samples", TensorProto.FLOAT, [1], [SAMPLES]),
        "nothing": helper.make_tensor("nothing", TensorProto.INT64, [], [0]),
        "one": helper.make_tensor("one", TensorProto.INT64, [], [1]),
        "column": helper.make_tensor("column", TensorProto.INT64, [2], [-1, 1]),
        "row": helper.make_tensor("row", TensorProto.INT64, [2], [1, -1]),
        "flat": helper.make_tensor("flat", TensorProto.INT64, [1], [-1]),
        "turn": helper.make_tensor("turn", TensorProto.FLOAT, [1], [TURN]),
        "pitch": helper.make_tensor("pitch", TensorProto.FLOAT, [1], [20.0]),
        "first": helper.make_tensor("first", TensorProto.INT64, [2], [0, 0]),
        "last": helper.make_tensor("last", TensorProto.INT64, [2], [1, 1]),
    }
    nodes = [
        helper.make_node("Div", ["samples", "speed"], ["long"]),
        helper.make_node("Cast", ["long"], ["length"], to=TensorProto.INT64),
        helper.make_node("Squeeze", ["length"], ["end"]),
        helper.make_node("Range", ["nothing", "end", "one"], ["times"]),
        helper.make_node("Cast", ["times"], ["time"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["time", "row"], ["along"]),
        helper.make_node("Cast", ["tokens"], ["sounds"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["sounds", "column"], ["down"]),
        helper.make_node("Mul", ["down", "pitch"], ["pitches"]),
        helper.make_node("MatMul", ["pitches", "along"], ["turns"]),
        helper.make_node("Mul", ["turns", "turn"], ["angles"]),
        helper.make_node("Sin", ["angles"], ["waves"]),
        helper.make_node("Slice", ["style", "first", "last"], ["loud"]),
        helper.make_node("Mul", ["waves", "loud"], ["heard"]),
        helper.make_node("Reshape", ["heard", "flat"], ["audio"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny-kokoro",
        [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, "sounds"]),
            helper.make_tensor_value_info("style", TensorProto.FLOAT, [1, 256]),
            helper.make_tensor_value_info("speed", TensorProto.FLOAT, [1]),
        ],
        [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ["samples"])],
        list(constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, TO)


if __name__ == "__main__":
    main()
