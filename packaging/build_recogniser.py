"""Makes models/recogniser: the Whisper that comes with the application, in eight bits.

    python3 packaging/real_weights.py whisper-tiny
    .venv/bin/python packaging/build_recogniser.py [FOLDER] [--to TO]

FOLDER holds a Whisper for CTranslate2 in half precision; without it, the one that real_weights.py
has fetched is taken. Each matrix is rounded to rows of eight-bit integers with a scale per row, as
CTranslate2's own converters do it; every other number becomes float32. `faster_whisper` loads the
result unchanged. The same weights give the same bytes.
"""

from __future__ import annotations

import argparse
import shutil
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import real_weights
from ctranslate2.specs import WhisperSpec
from ctranslate2.specs.model_spec import LayerSpec, index_spec

SOURCE = "whisper-tiny"
SHIPPED = Path(__file__).resolve().parent.parent / "models" / "recogniser"
COPIED = ("config.json", "tokenizer.json", "vocabulary.txt")
PRECISION = "int8_float32"
TYPES = ("float32", "int8", "int16", "int32", "float16")
"""The types of CTranslate2's files by their numbers."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class ModelFile:
    """A model.bin of CTranslate2."""

    variables: dict[str, Array] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    """Names of variables that are the same as another."""


def read(path: Path) -> ModelFile:
    """Read a model.bin: the version of the format, the name and the revision of the network, then
    its variables and aliases."""
    model = ModelFile()
    with path.open("rb") as file:

        def number(form: str) -> int:
            (value,) = struct.unpack(f"<{form}", file.read(struct.calcsize(form)))
            return int(value)

        def text() -> str:
            return file.read(number("H"))[:-1].decode()

        head = number("I"), text(), number("I")
        if head != (6, "WhisperSpec", 3):
            raise ValueError(f"{path} is not a Whisper in the expected format: {head}")
        for _ in range(number("I")):
            name = text()
            shape = [number("I") for _ in range(number("B"))]
            kind = TYPES[number("B")]
            model.variables[name] = np.frombuffer(file.read(number("I")), kind).reshape(shape)
        for _ in range(number("I")):
            alias = text()
            model.aliases[alias] = text()
    return model


def quantised(model: ModelFile) -> WhisperSpec:
    """The same network in eight bits."""
    whisper = WhisperSpec(*(size for part in ("encoder", "decoder") for size in _size(model, part)))
    same = {alias: model.variables[name] for alias, name in model.aliases.items()}
    for name, value in (model.variables | same).items():
        scope, _, attribute = name.rpartition("/")
        setattr(index_spec(whisper, scope), attribute, value)
    LayerSpec.validate(whisper)  # its own one asks for a vocabulary, which is copied as it is
    whisper.optimize(PRECISION)
    return whisper


def _size(model: ModelFile, part: str) -> tuple[int, int]:
    """The layers and attention heads of the encoder or decoder."""
    layers = {name.split("/")[1] for name in model.variables if name.startswith(f"{part}/layer_")}
    return len(layers - {"layer_norm"}), int(model.variables[f"{part}/num_heads"])


def build(source: Path, to: Path) -> None:
    """Write the weights into a folder."""
    to.mkdir(parents=True, exist_ok=True)
    whisper = quantised(read(source / "model.bin"))
    whisper._serialize(str(to / "model.bin"))  # `save` would also write an empty configuration
    for name in COPIED:
        shutil.copyfile(source / name, to / name)


def main() -> None:
    """Build it, and print the digests for its README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--to", type=Path, default=SHIPPED)
    chosen = parser.parse_args()
    build(chosen.folder or real_weights.fetch(SOURCE), chosen.to)
    for name in ("model.bin", *COPIED):
        print(f"| `{name}` | `{real_weights.sha256(chosen.to / name)}` |")


if __name__ == "__main__":
    main()
