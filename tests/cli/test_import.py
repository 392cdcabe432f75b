"""`experts import` takes weights from a stick; `experts list` says how fast recognisers are."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.speech.voices.engine import neural_voice
from tests.experts.test_importing import BASE, OTHER, TINY, put, zipped

EXPERTS = {each.id: each for each in (TINY, replace(BASE, speed=12.0), OTHER)}


@pytest.fixture(autouse=True)
def app(monkeypatch, tmp_path):
    """The command line over real weights and a list of three experts."""
    catalogue = SimpleNamespace(
        known=lambda: tuple(EXPERTS.values()),
        find=EXPERTS.__getitem__,
        can_run=lambda expert: expert.id != "whisper-tiny",
        complaint=lambda expert: "",
    )
    experts = tmp_path / "experts"
    paths = SimpleNamespace(weights=experts)
    app: Any = SimpleNamespace(catalogue=catalogue, weights=Weights(experts), paths=paths)

    def run(args, work):
        try:
            return asyncio.run(work(app))
        except JarvisError as error:
            return output.report_error(error, as_json=args.json)

    monkeypatch.setattr(session, "run", run)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.chdir(tmp_path)
    return app


def test_a_recogniser_is_imported_and_then_listed_with_its_speed(tmp_path, capsys):
    stick = put(tmp_path / "stick")
    assert main(["experts", "import", str(stick)]) == 0
    assert capsys.readouterr().out == "whisper-base is ready.\n"
    assert main(["experts", "list", "--task", "automatic-speech-recognition"]) == 0
    tiny, base = capsys.readouterr().out.splitlines()
    assert tiny.startswith("  whisper-tiny")
    assert "speak" not in tiny
    assert base.startswith("✓ whisper-base")
    assert base.endswith("About 6 times as fast as people speak on a processor like this one.")
    packed = zipped(stick, tmp_path / "b.zip")
    assert main(["experts", "import", str(packed), "--as", "whisper-base", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["replaced"] is True
    assert document["expert"]["id"] == "whisper-base"
    assert main(["experts", "list", "--json"]) == 0
    speeds = [each["times_real_time"] for each in json.loads(capsys.readouterr().out)]
    assert speeds == [None, 6.0, None]


def test_what_cannot_be_used_is_refused_with_the_reason(tmp_path, capsys):
    stick = put(tmp_path / "stick", 384)
    assert main(["experts", "import", str(stick), "--as", "whisper-base", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["error"] == "These weights are not those of whisper-base."
    assert document["hint"] == "They are those of whisper-tiny."
    assert main(["experts", "import", str(stick)]) == 1
    assert "whisper-tiny cannot be run by this version" in capsys.readouterr().err
    (tmp_path / "mystery").mkdir()
    assert main(["experts", "import", "mystery"]) == 1
    assert "It is unclear which expert mystery contains." in capsys.readouterr().err
    assert main(["experts", "list", "--task", "juggling"]) == 1
    assert "no expert for juggling" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("engine", "names"),
    [
        ("kokoro", ["kokoro-v1.0.int8.onnx", "voices-v1.0.bin"]),
        ("piper", ["en_US-joe-medium.onnx", "en_US-joe-medium.onnx.json"]),
    ],
)
def test_a_voice_is_copied_to_where_its_engine_finds_it(tmp_path, capsys, engine, names):
    stick = tmp_path / "stick"
    stick.mkdir()
    for name in [*names, "holiday.jpg"]:
        (stick / name).write_text(name)
    assert main(["experts", "import", str(stick)]) == 0
    assert capsys.readouterr().out.startswith(f"{engine} is ready")
    arrived = {path.name: path.read_text() for path in (tmp_path / "experts" / engine).iterdir()}
    assert arrived == {name: name for name in names}
    assert main(["experts", "import", str(stick), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["engine"] == engine
    engine_of = neural_voice(engine, tmp_path / "experts")
    assert engine_of
    assert engine_of.speaks("en")


def test_an_llm_for_a_server_is_named_as_such(tmp_path, capsys):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "some-llm.gguf").write_text("GGUF")
    assert main(["experts", "import", str(stick)]) == 1
    assert "an LLM for a server such as llama.cpp" in capsys.readouterr().err
