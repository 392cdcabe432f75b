"""Makes the tiny Kokoro of the tests: an ONNX file with the inputs and the output of the real one.

It hums each phoneme at a pitch of its own, as loud as the style says and as long as the speed
says, so that tests can tell what reached it. Needs the package onnx:

    python packaging/test_voice/make.py
"""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser

TO = Path(__file__).parents[2] / "tests" / "speech" / "tiny_kokoro.onnx"
NETWORK = """
<ir_version: 8, opset_import: ["": 17]>
tiny_kokoro (int64[1,sounds] tokens, float[1,256] style, float[1] speed) => (float[samples] audio)
<float[1] usual = {600}, int64 nothing = {0}, int64 one = {1}, int64[2] column = {-1, 1},
 int64[2] row = {1, -1}, int64[1] flat = {-1},
 float[1] turn = {0.0002617993875}, float[1] pitch = {20},
 int64[2] first = {0, 0}, int64[2] last = {1, 1}>
{
    exact = Div(usual, speed)
    length = Cast<to = 7>(exact)
    end = Squeeze(length)
    times = Range(nothing, end, one)
    time = Cast<to = 1>(times)
    along = Reshape(time, row)
    sounds = Cast<to = 1>(tokens)
    down = Reshape(sounds, column)
    pitches = Mul(down, pitch)
    turns = MatMul(pitches, along)
    angles = Mul(turns, turn)
    waves = Sin(angles)
    loud = Slice(style, first, last)
    heard = Mul(waves, loud)
    audio = Reshape(heard, flat)
}
"""
"""`usual` are the samples of a phoneme at a speed of 1, `turn` is 2 pi over 24 kHz."""


def main() -> None:
    """Write the file."""
    model = onnx.parser.parse_model(NETWORK)
    onnx.checker.check_model(model)
    onnx.save(model, TO)


if __name__ == "__main__":
    main()
