"""The bell is what its script builds."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from jarvis_desktop.paths import shipped

PACKAGING = Path(__file__).parents[2] / "packaging"


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_bell_is_what_the_script_builds(tmp_path):
    script("build_sounds").main(tmp_path)
    built = (tmp_path / "ring.wav").read_bytes()
    ours = shipped("resources", "sounds", "ring.wav").read_bytes()
    assert len(built) == len(ours)
    # Sines of different processors may round differently.
    assert sum(a != b for a, b in zip(built, ours, strict=True)) < len(ours) / 100
