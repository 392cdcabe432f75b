"""`jarvis-desktop experts key`, and a request that is answered over the network with it."""

from __future__ import annotations

import functools
import getpass
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest

from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.cli.commands import experts
from jarvis_desktop.cli.main import main
from tests.cli.conftest import Jarvis
from tests.llm.keyring import MemoryKeyring
from tests.router import Router, running_router

KEY = "hf_canary0123456789"
Type = Callable[[str], None]


@pytest.fixture(autouse=True)
def ring() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch) -> Iterator[Router]:
    """A router that the application asks instead of the real one."""
    with running_router() as router:
        backend = functools.partial(ApiBackend, via=router.address)
        monkeypatch.setattr("jarvis_desktop.app.build.ApiBackend", backend)
        yield router


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Type:
    """What the next command reads from stdin."""

    def write(text: str) -> None:
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)

    return write


def mode(home: Path, name: str) -> None:
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'mode = "{name}"\n[llm]\nprovider = "none"\n', "utf-8")


def test_a_key_is_kept_and_deleted(
    ring: MemoryKeyring, piped: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(f"{KEY}\n")
    assert main(["experts", "key", "set"]) == 0
    assert ring.kept == {("jarvis-desktop", "https://router.huggingface.co"): KEY}
    assert main(["experts", "key", "remove", "--json"]) == 0
    assert main(["experts", "key", "remove"]) == 0
    assert not ring.kept
    shown = capsys.readouterr()
    assert "was not in the keyring" in shown.out
    assert KEY not in shown.out + shown.err


def test_a_key_is_typed_unseen(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return "sk-other"

    monkeypatch.setattr(experts, "somebody_is_there", lambda: True)
    monkeypatch.setattr(getpass, "getpass", typed)
    assert main(["experts", "key", "set", "--json"]) == 1
    assert asked == ["Key of the Hugging Face Hub (hf_…): "]
    shown = capsys.readouterr()
    assert "begin with hf_" in shown.out + shown.err
    assert "sk-other" not in shown.out + shown.err
    assert not ring.kept


def test_the_key_is_tried(
    router: Router, ring: MemoryKeyring, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["experts", "key", "test"]) == 1
    assert "experts key set" in capsys.readouterr().err
    ring.kept["jarvis-desktop", "https://router.huggingface.co"] = KEY
    assert main(["experts", "key", "test"]) == 0
    assert "it is that of ada" in capsys.readouterr().out
    router.account["auth"]["accessToken"]["fineGrained"]["global"] = ["repo.read"]
    assert main(["experts", "key", "test", "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == {"account": "ada", "may_call": False}


def test_offline_no_key_is_tried(jarvis: Jarvis, home: Path) -> None:
    mode(home, "offline")  # in a process of its own: there is no way back online
    shown = jarvis("experts", "key", "test")
    assert shown.code == 1
    assert "offline" in shown.err


def test_the_doctor_says_whether_experts_can_be_asked(
    home: Path, ring: MemoryKeyring, capsys: pytest.CaptureFixture[str]
) -> None:
    def finding() -> tuple[str, str]:
        main(["doctor", "--json"])
        found = json.loads(capsys.readouterr().out)
        (line,) = [each for each in found if each["what"] == "experts by API"]
        return line["state"], line["detail"]

    state, detail = finding()
    assert (state, detail.split(":")[0]) == ("ok", "off")
    mode(home, "hybrid")
    state, detail = finding()
    assert state == "limited"
    assert "no key for the Hugging Face Hub" in detail
    ring.kept["jarvis-desktop", "https://router.huggingface.co"] = KEY
    assert finding()[0] == "ok"


def test_a_request_is_answered_over_the_network_and_the_key_is_nowhere(
    router: Router,
    ring: MemoryKeyring,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    ring.kept["jarvis-desktop", "https://router.huggingface.co"] = KEY
    mode(home, "lite")
    for repo in ("facebook/bart-large-cnn", "sshleifer/distilbart-cnn-6-6"):
        router.served[repo] = {"hf-inference": "summarization"}
    text = "Bern is the capital. It lies on the Aare. It has bears and arcades. People like it."
    with caplog.at_level(logging.DEBUG):
        code = main(["ask", f"Summarise this in one sentence: {text}", "--json"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "Bern is the capital." in shown.out
    assert "answers over the network" in shown.out
    assert any(place.startswith("router.huggingface.co/hf-inference/") for _, place, _ in
               router.requests)  # fmt: skip
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    for seen in (shown.out, shown.err, caplog.text, kept.decode("utf-8", "replace")):
        assert KEY not in seen
