"""Which weights the composed application keeps from being deleted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jarvis_desktop.app.experts import experts_in_use, sentence_seconds, whisper_folder
from jarvis_desktop.core.expert import SHIPPED_SPEED, Expert
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


def test_the_time_of_each_recogniser_follows_from_the_one_that_was_measured(tmp_path):
    weights = Weights(tmp_path)
    assert sentence_seconds(None, SLOW_TO_FAST, weights) == {}
    shipped = sentence_seconds((Path("shipped"), 0.2), SLOW_TO_FAST, weights)
    assert shipped["whisper-tiny"] == pytest.approx(0.2 * SHIPPED_SPEED / 18)
    assert shipped["whisper-small"] == pytest.approx(0.2 * SHIPPED_SPEED / 7)
    measured = installed(tmp_path / "whisper-base"), 0.7
    assert sentence_seconds(measured, SLOW_TO_FAST, weights) == {
        "whisper-small": pytest.approx(1.2),
        "whisper-base": pytest.approx(0.7),
        "whisper-tiny": pytest.approx(0.7 * 12 / 18),
    }
