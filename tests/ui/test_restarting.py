"""JARVIS begins anew in the place of the process that ends, with the environment it was given."""

from __future__ import annotations

import os

import pytest

from jarvis_desktop import keys, launcher, offline, proxy
from jarvis_desktop.ui.restarting import restart


def test_it_begins_anew_as_it_was_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, list[str], dict[str, str]]] = []

    def execv(program: str, words: list[str]) -> None:
        begun.append((program, words, dict(os.environ)))

    monkeypatch.setattr(os, "execv", execv)
    monkeypatch.setattr(keys, "_hidden", {})
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    before = dict(os.environ)
    keys.hide()
    offline.settle(offline=True)
    proxy.use("http://proxy:3128")
    restart()
    [(program, words, environment)] = begun
    assert words == launcher.command()
    assert program == words[0]
    quiet = {name: environment.pop(name, "") for name in offline.QUIET}
    assert set(quiet.values()) == {"1"}
    assert environment == {name: value for name, value in before.items() if name not in quiet}
    assert offline._refusing is False
