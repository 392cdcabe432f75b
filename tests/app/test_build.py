"""Which weights the composed application keeps from being deleted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jarvis_desktop.app.experts import experts_in_use, whisper_folder
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.process.model_files import MARKER
from tests.fakes import FakeLLM

PAINTER = Expert("painter", "text-to-image")
EDGES = Expert("edges", "canny-control", base=PAINTER)
RECOGNISERS = [Expert(name, "automatic-speech-recognition") for name in ("whisper-tiny", "other")]


def test_what_is_loaded_stays_with_its_base_and_so_does_the_llm():
    assert experts_in_use((), None, [PAINTER, EDGES]) == set()
    llm = FakeLLM()
    assert experts_in_use(["edges"], llm, [PAINTER, EDGES]) == {"edges", "painter", llm.name}


def installed(folder: Path) -> Path:
    """A folder that counts as an expert's, not used for very long."""
    folder.mkdir()
    marker = {"id": folder.name, "repo": "", "revision": "", "files": {}}
    (folder / MARKER).write_text(json.dumps(marker))
    os.utime(folder / MARKER, (1, 1))
    return folder


def test_a_recogniser_counts_as_used_when_it_hears(tmp_path):
    weights = Weights(tmp_path)
    assert whisper_folder(RECOGNISERS, weights) is None
    installed(tmp_path / "other")
    folder = installed(tmp_path / "whisper-tiny")
    assert whisper_folder(RECOGNISERS, weights) == folder
    used = {item.id: item.used for item in weights.installed()}
    assert used["other"] == 1
    assert used["whisper-tiny"] > 1


def spoken(name: str, speed: float) -> Expert:
    return Expert(name, "automatic-speech-recognition", speed=speed)


SLOW_TO_FAST = [spoken("whisper-small", 7), spoken("whisper-base", 12), spoken("whisper-tiny", 18)]


@pytest.mark.parametrize(
    ("here", "named", "cores", "used"),
    [
        (("small", "base", "tiny"), "", 0, "small"),
        (("small", "base", "tiny"), "", 8, "base"),
        (("small", "base", "tiny"), "", 2, "tiny"),
        (("small", "base"), "", 1, "base"),
        (("small", "base", "tiny"), "whisper-small", 1, "small"),
        (("small", "base"), "whisper-tiny", 4, "base"),
        (("small", "base"), "whisper-tiny.en", 4, ""),
    ],
)
def test_live_speech_takes_the_best_recogniser_that_keeps_up(tmp_path, here, named, cores, used):
    for name in here:
        installed(tmp_path / f"whisper-{name}")
    folder = whisper_folder(SLOW_TO_FAST, Weights(tmp_path), named=named, cores=cores)
    assert folder == (tmp_path / f"whisper-{used}" if used else None)
