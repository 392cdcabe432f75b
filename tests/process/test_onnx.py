"""Tests of the small networks of this project."""

import numpy as np

from jarvis_desktop.paths import shipped
from jarvis_desktop.process.onnx import small_network


def test_products_of_eight_bits_do_not_overflow_on_this_processor() -> None:
    network = small_network(shipped("models", "planner", "saturation.onnx"))
    (total,) = network.run(None, {"row": np.full((1, 64), 255, np.uint8)})
    assert total.item() == 64 * 255 * 127
