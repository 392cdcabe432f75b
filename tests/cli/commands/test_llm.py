"""`jarvis-desktop llm`: over an Ollama and a service on loopback, and tiny weights on the disk."""

from __future__ import annotations

import getpass
import io
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest

from jarvis_desktop.cli.commands import llm
from jarvis_desktop.cli.main import main
from jarvis_desktop.settings import LLMSettings, change, load
from tests.backends.tiny import files_of
from tests.cli.conftest import Jarvis
from tests.hub import running_hub
from tests.line_server import Answer
from tests.llm.keyring import MemoryKeyring
from tests.llm.tiny import mark, tiny_llms
from tests.ollama import Ollama, Shown, layer, running_ollama
from tests.openai_server import running_openai_server

__all__ = ["tiny_llms"]

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def settings(home: Path) -> Path:
    return home / "jarvis" / "config" / "settings.toml"


@pytest.fixture
def ollama(settings: Path) -> Iterator[Ollama]:
    """An Ollama that the settings name."""
    with running_ollama() as server:
        server.llms["llama:latest"] = Shown(size=2_000_000_000, digest="l")
        server.llms["big:cloud"] = Shown(size=300, digest="c")
        change(settings, "llm", {"provider": "ollama", "address": server.address})
        yield server


@pytest.fixture
def installed(home: Path, tiny_llms: Path) -> str:
    """A chat LLM of the catalogue that is on the disk, with tiny weights."""
    folder = home / "jarvis" / "cache" / "experts" / "smollm2-360m"
    shutil.copytree(tiny_llms / "chatter", folder)
    (folder / "expert.json").unlink()
    mark(folder)
    return folder.name


def said(settings: Path) -> LLMSettings:
    found, notice = load(settings)
    assert not notice
    return found.llm


def test_the_list_says_what_fits_and_what_is_there(jarvis: Jarvis, ollama: Ollama) -> None:
    shown = jarvis("llm", "list")
    assert shown.code == 0
    lines = {line[2:].split()[0]: line for line in shown.out.splitlines()}
    assert lines["qwen3.5-4b"][0] in "→✓"
    assert lines["llama:latest"][0] in "→✓"
    assert "about 1.0 GB" in lines["qwen3.5-0.8b"]
    assert "2.0 GB  in Ollama" in lines["llama:latest"]
    assert "cloud" in lines["big:cloud"]
    assert sum(line[0] == "→" for line in lines.values()) == 1
    assert "is used, which Ollama runs." in shown.err


def test_the_list_as_json(jarvis: Jarvis, ollama: Ollama, installed: str) -> None:
    listed = jarvis("llm", "list", "--json").json
    rows = {row["id"]: row for row in listed["llms"]}
    assert rows["qwen3.5-4b"]["installed"] == "ollama"
    assert rows["qwen3.5-4b"]["listed"]["licence"] == "Apache-2.0"
    assert rows["qwen3.5-4b"]["listed"]["memory_gb"] == 5
    assert rows[installed]["installed"] == "disk"
    assert rows["llama:latest"]["listed"] is None
    assert listed["used"] in ("qwen3.5:4b", "llama:latest")
    assert listed["reason"]


def test_where_there_is_none_the_list_says_what_to_do(jarvis: Jarvis, ollama: Ollama) -> None:
    ollama.die()
    shown = jarvis("llm", "list")
    assert shown.code == 0
    assert "Ollama does not run at 127.0.0.1" in shown.err
    assert "install Ollama from" in shown.err
    assert jarvis("llm", "list", "--json").json["used"] is None


@pytest.mark.parametrize("name", ["qwen3.5-4b", "qwen3.5:4b"])
def test_one_of_ollama_is_chosen(jarvis: Jarvis, ollama: Ollama, settings: Path, name: str) -> None:
    settings.write_text(f"# mine\n{settings.read_text()}")
    shown = jarvis("llm", "use", name)
    assert (shown.code, shown.out) == (0, "qwen3.5:4b is used from now on.\n")
    assert said(settings).id == "qwen3.5:4b"
    assert said(settings).address == ollama.address
    assert settings.read_text().startswith("# mine\n")


def test_one_that_is_not_there_is_not_chosen(
    jarvis: Jarvis, ollama: Ollama, settings: Path
) -> None:
    shown = jarvis("llm", "use", "qwen3.5-9b", "--json")
    assert shown.code == 1
    assert "llm pull qwen3.5-9b" in shown.json["hint"]
    assert said(settings).id == ""


def test_one_of_the_disk_is_chosen_and_tested(
    jarvis: Jarvis, settings: Path, installed: str
) -> None:
    change(settings, "llm", {"provider": "transformers"})
    assert jarvis("llm", "use", installed).code == 0
    assert (said(settings).provider, said(settings).id) == ("transformers", installed)
    shown = jarvis("llm", "test", "--json")
    assert shown.code == 3  # random weights do not keep to a form
    assert shown.json["answer"].split()
    assert (shown.json["keeps_schema"], shown.json["enforces_schema"]) == (False, False)
    assert (shown.json["ability"], shown.json["plans_right"]) == ("answers", 0)
    assert shown.json["write_speed"] > 0
    assert (shown.json["provider"], shown.json["remote"]) == ("transformers", False)


def test_one_of_a_service_is_chosen_and_listed(jarvis: Jarvis, settings: Path) -> None:
    change(settings, "llm", {"provider": "none"})
    with running_openai_server() as service:
        shown = jarvis("llm", "use", "tiny:2b", "--address", service.address)
        assert shown.code == 0
        assert f"{service.address} has no LLM called tiny:2b. It has: another, tiny." in shown.err
        shown = jarvis("llm", "use", "tiny", "--address", service.address)
        assert shown.code == 0
        found = said(settings)
        assert (found.provider, found.id, found.address) == ("openai", "tiny", service.address)
        listed = jarvis("llm", "list", "--json").json
        assert listed["used"] == "tiny"
        (ours,) = (each for each in listed["llms"] if each["id"] == "tiny")
        assert {"installed": "openai", "used": True}.items() <= ours.items()
        shown = jarvis("llm", "use", service.address)
        assert shown.code == 1
        assert f"which LLM of {service.address} is meant. It has: another, tiny." in shown.err
        service.llms = ["tiny"]
        assert jarvis("llm", "use", service.address).code == 0
        assert (said(settings).id, said(settings).address) == ("tiny", service.address)
    shown = jarvis("llm", "use", "tiny", "--address", "ftp://localhost")
    assert shown.code == 1
    assert "begins with https://" in shown.err


def test_the_best_or_none(jarvis: Jarvis, ollama: Ollama, settings: Path) -> None:
    assert jarvis("llm", "use", "none").code == 0
    assert said(settings).provider == "none"
    shown = jarvis("llm", "list")
    assert "The settings say that no LLM is used." in shown.err
    change(settings, "llm", {"provider": "ollama"})
    assert jarvis("llm", "use", "auto", "--json").json["llm"]["provider"] == "auto"
    # The address of an Ollama is not taken for that of another service.
    assert said(settings).address == ""


def test_the_best_with_a_service_among_others(jarvis: Jarvis, settings: Path) -> None:
    address = "http://127.0.0.1:1234/v1"
    assert jarvis("llm", "use", "auto", "--address", address).code == 0
    found = said(settings)
    assert (found.provider, found.id, found.address) == ("auto", "", address)
    shown = jarvis("llm", "use", "none", "--address", address)
    assert shown.code == 1
    assert "there is no address" in shown.err
    assert said(settings).provider == "auto"


def test_settings_that_cannot_be_read_are_not_changed(jarvis: Jarvis, settings: Path) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text("[llm\n")
    shown = jarvis("llm", "use", "none")
    assert shown.code == 1
    assert "has a mistake" in shown.err
    assert settings.read_text() == "[llm\n"


def test_pulling_by_ollama(jarvis: Jarvis, ollama: Ollama) -> None:
    ollama.pulls = [
        {"status": "pulling manifest"},
        layer("a", 500_000_000, 1_000_000_000),
        layer("a", 1_000_000_000, 1_000_000_000),
        {"status": "success"},
    ]
    shown = jarvis("llm", "pull", "gemma4-e4b")
    assert (shown.code, shown.out) == (0, "gemma4:e4b is ready.\n")
    assert " 50% 500 of 1000 MB" in shown.err
    ollama.pulls = [{"error": "pull model manifest: file does not exist"}]
    shown = jarvis("llm", "pull", "frob:1b", "--json")
    assert shown.code == 1
    assert shown.json["error"] == "Ollama's library has no frob:1b."


def test_what_is_too_large_is_said_before_it_is_fetched(jarvis: Jarvis, ollama: Ollama) -> None:
    assert "needs 24 GB" in jarvis("llm", "pull", "qwen3.5-27b").err


def test_pulling_without_ollama(
    jarvis: Jarvis, ollama: Ollama, tiny_llms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama.die()
    files = {
        name: body for name, body in files_of(tiny_llms / "chatter").items() if "expert" not in name
    }
    with running_hub(repos={"HuggingFaceTB/SmolLM2-360M-Instruct": files}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        shown = jarvis("llm", "pull", "smollm2-360m", "--json")
    assert shown.code == 0, shown.err
    assert shown.json == {"llm": "smollm2-360m", "provider": "transformers"}
    shown = jarvis("llm", "pull", "qwen3.5-4b")
    assert shown.code == 1
    assert "install Ollama from" in shown.err


def test_nothing_is_fetched_offline(jarvis: Jarvis, settings: Path, ollama: Ollama) -> None:
    text = settings.read_text()
    settings.write_text(f'mode = "offline"\n{text}')
    shown = jarvis("llm", "pull", "qwen3.5-4b")
    assert shown.code == 1
    assert "The mode is offline" in shown.err


def test_testing_one_of_ollama(jarvis: Jarvis, ollama: Ollama) -> None:
    count = Answer(["one, ", "two"])
    ollama.answers = [Answer(["I ", "plan."]), count, Answer(['{"sum": ', "5}"])]
    shown = jarvis("llm", "test")
    assert (shown.code, shown.out) == (0, "I plan.\n")
    assert "first words after" in shown.err
    assert "It keeps to the form that plans need, which its server enforces." in shown.err
    assert "plans tried: 4, right: 0" in shown.err
    assert "Measured: plans 0 of 4, 8 tokens a second; 60 read." in shown.err
    assert "It is used for answers, in a window of 8192." in shown.err
    assert "(plans 0 of 4, 8 tokens a second)" in jarvis("llm", "list").out
    (profile,) = [
        each["profile"] for each in jarvis("llm", "list", "--json").json["llms"] if each["profile"]
    ]
    assert (profile["plans_right"], profile["plans_tried"]) == (0, 4)
    ollama.answers = [Answer(["I plan."]), count, Answer(["Five."])]
    assert jarvis("llm", "test").code == 3
    ollama.die()
    shown = jarvis("llm", "test", "--json")
    assert shown.code == 1
    assert "does not run" in shown.json["error"]


def test_unloading(jarvis: Jarvis, ollama: Ollama) -> None:
    used = jarvis("llm", "list", "--json").json["used"]
    assert jarvis("llm", "unload").out == f"{used} has left the memory.\n"
    assert jarvis("llm", "unload", "--json").json == {"unloaded": used}
    assert ollama.unloaded == [used, used]


def test_wrong_usage_is_2(jarvis: Jarvis) -> None:
    for words in ([], ["use"], ["pull"], ["key"], ["key", "set", "https://x", "sk-secret"]):
        assert jarvis("llm", *words).code == 2, words


def test_the_doctor_tells_of_the_llm(jarvis: Jarvis, ollama: Ollama) -> None:
    def finding() -> dict[str, Any]:
        shown = jarvis("doctor", "--json").json
        return next(item for item in shown if item["what"] == "language model")

    assert finding()["state"] == "ok"
    ollama.die()
    limited = finding()
    assert limited["state"] == "limited"
    assert "The built-in planner is used." in limited["detail"]
    assert "llm pull" in limited["fix"]


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


Type = Callable[[str], None]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Type:
    """What the next command reads from stdin."""

    def write(text: str) -> None:
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)

    return write


def test_a_key_is_read_from_stdin_and_deleted(
    ring: MemoryKeyring, piped: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    piped("sk-secret\n")
    assert main(["llm", "key", "set", "https://api.openai.com/v1"]) == 0
    assert list(ring.kept.values()) == ["sk-secret"]
    assert main(["llm", "key", "remove", "https://api.openai.com/v1", "--json"]) == 0
    assert main(["llm", "key", "remove", "https://api.openai.com/v1"]) == 0
    assert not ring.kept
    shown = capsys.readouterr()
    assert "was not in the keyring" in shown.out
    assert "secret" not in shown.out + shown.err


def test_a_key_for_the_service_of_the_settings_is_typed_unseen(
    ring: MemoryKeyring, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(settings, "llm", {"address": "https://llm.example.org/v1"})
    asked: list[str] = []

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return "sk-typed"

    monkeypatch.setattr(llm, "somebody_is_there", lambda: True)
    monkeypatch.setattr(getpass, "getpass", typed)
    assert main(["llm", "key", "set", "--json"]) == 0
    assert asked == ["Key for https://llm.example.org: "]
    assert ring.kept == {("jarvis-desktop", "https://llm.example.org"): "sk-typed"}


def test_a_key_that_cannot_be_kept_is_said(
    ring: MemoryKeyring, piped: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["llm", "key", "set"]) == 1
    assert "The settings name no LLM service." in capsys.readouterr().err
    piped("")
    assert main(["llm", "key", "set", "https://x.org"]) == 1
    ring.locked = True
    piped("sk-secret")
    assert main(["llm", "key", "set", "https://x.org"]) == 1
    shown = capsys.readouterr().err
    assert "no keyring that is open" in shown
    assert "secret" not in shown
