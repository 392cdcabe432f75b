"""`jarvis-desktop servers` from setting one to forgetting it."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.cli.main import main
from jarvis_desktop.paths import user_paths
from jarvis_desktop.speech.voice import LocalVoice
from tests.fake_voice import tone, write_wav
from tests.line_server import Answer
from tests.machines import keyring_in_memory
from tests.work_server import json_answer, running_work_server


def kept() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(user_paths().settings.read_text()).get("servers", {})
    return found


def test_from_setting_a_server_to_forgetting_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def synthesise(voice: LocalVoice, text: str, to: Path) -> Path:
        return write_wav(to)

    monkeypatch.setattr(LocalVoice, "synthesise", synthesise)
    assert main(["servers", "list"]) == 0
    assert "this computer does the work" in capsys.readouterr().out
    heard = json_answer({"text": "Forty-two."})
    broken = Answer(status=500, error="no memory")
    with running_work_server(heard, heard, broken) as served:
        place = served.address.removeprefix("http://")
        assert main(["servers", "use", "transcription", place]) == 0
        shown = capsys.readouterr()
        assert shown.out == f"{place} is used for transcription, with faster-whisper-small.\n"
        assert "nothing leaves it" in shown.err
        assert kept() == {"transcription": place, "transcription_model": "faster-whisper-small"}
        assert main(["servers", "models", "transcription"]) == 0
        assert capsys.readouterr().out == "faster-whisper-small\nphi-4\n"
        assert main(["servers", "test", "transcription"]) == 0
        assert "It heard: “Forty-two.” It took" in capsys.readouterr().out
        assert main(["servers", "list"]) == 0
        assert f"{served.address}/v1  faster-whisper-small" in capsys.readouterr().out
        audio = str(write_wav(tmp_path / "memo.wav", seconds=1))
        assert main(["transcribe", audio]) == 0
        assert capsys.readouterr().out == "Forty-two.\n"
        assert main(["transcribe", audio]) == 1  # nobody speaks in it, says this computer
        assert main(["servers", "use", "transcription", place, "--model", "mine"]) == 0
        assert kept()["transcription_model"] == "mine"
        capsys.readouterr()
        assert main(["servers", "list", "--json"]) == 0
        (record,) = json.loads(capsys.readouterr().out)["servers"]
        assert record["work"] == "transcription"
        assert (record["model"], record["objection"]) == ("mine", "")
    assert main(["servers", "remove", "transcription"]) == 0
    assert kept() == {}


def test_what_the_mode_does_not_allow_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["servers", "use", "transcription", "192.168.1.5:8000"]) == 0
    said = capsys.readouterr().err
    assert "are sent to 192.168.1.5:8000. It is not encrypted." in said
    assert "The mode “local” sends nothing to 192.168.1.5:8000. Allow your own network" in said
    assert said.count("sends nothing") == 1
    assert main(["servers", "test", "transcription"]) == 1
    assert "sends nothing to 192.168.1.5:8000" in capsys.readouterr().err
    assert main(["servers", "use", "transcription", "ftp://x"]) == 1


def test_its_key_is_in_the_keyring_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.cli.commands.llm.somebody_is_there", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "sk-secret-secret")
    with keyring_in_memory(monkeypatch) as keys:
        assert main(["servers", "key", "set", "transcription"]) == 1
        assert "No server is set" in capsys.readouterr().err
        assert main(["servers", "use", "transcription", "https://api.example.com/v1"]) == 0
        assert main(["servers", "key", "set", "transcription"]) == 0
        assert keys == {"https://api.example.com": "sk-secret-secret"}
        assert "sk-secret" not in user_paths().settings.read_text()
        assert main(["servers", "key", "remove", "transcription"]) == 0
        assert keys == {}


def test_a_server_speaks_and_another_paints(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with running_work_server(Answer(body=tone(2.0))) as served:
        place = served.address
        wish = ["--model", "kokoro", "--voice", "bella"]
        assert main(["servers", "use", "speech", place, *wish]) == 0
        assert main(["servers", "test", "speech"]) == 0
        assert "It spoke for 2.0 seconds. It took" in capsys.readouterr().out
        assert main(["say", "Hello there.", "--out", str(tmp_path / "a.wav")]) == 0
        asked = json.loads(served.bodies[-1])
        assert (asked["model"], asked["voice"]) == ("kokoro", "bella")
        assert asked["input"] == "Hello there."
        assert main(["servers", "use", "images", place]) == 0
        assert main(["servers", "test", "images"]) == 0
        assert "It lists 2. No picture was painted." in capsys.readouterr().out
        assert main(["servers", "use", "images", place, "--voice", "bella"]) == 1
    assert main(["servers", "remove", "speech"]) == 0
    assert list(kept()) == ["images", "images_model"]


def test_a_server_for_a_single_task(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = json_answer([{"translation_text": "Bonjour"}])
    with running_work_server(done) as served, keyring_in_memory(monkeypatch) as keys:
        place = served.address.removeprefix("http://")
        assert main(["servers", "use", "translation", place]) == 0
        shown = capsys.readouterr()
        assert shown.out == f"{place} is used for translation.\n"
        assert "nothing leaves it" in shown.err
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a-key-of-mine")))
        assert main(["servers", "key", "set", "translation"]) == 0
        assert list(keys.values()) == ["a-key-of-mine"]
        capsys.readouterr()
        assert main(["servers", "list"]) == 0
        assert f"translation    {served.address}" in capsys.readouterr().out
        assert main(["servers", "test", "translation"]) == 0
        assert "nothing was sent" in capsys.readouterr().out
        assert main(["servers", "models", "translation"]) == 1
        assert main(["servers", "use", "translation", place, "--model", "x"]) == 1
        assert main(["servers", "use", "fly", place]) == 1
        assert "no kind of work" in capsys.readouterr().err
        assert main(["ask", "Translate “good morning” into French"]) == 0
        assert "Bonjour" in capsys.readouterr().out
        assert served.requests[-1][1]["authorization"] == "Bearer a-key-of-mine"
        assert main(["servers", "remove", "translation"]) == 0
        assert main(["servers", "remove", "translation"]) == 1
