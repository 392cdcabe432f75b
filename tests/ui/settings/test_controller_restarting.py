"""JARVIS begins anew in the place of the process that ends, with the environment it was given."""

from __future__ import annotations

import os

import pytest

from jarvis_desktop.platform import api_keys, desktop
from jarvis_desktop.process import network_guard
from jarvis_desktop.ui.settings.controller import restart


def test_it_begins_anew_as_it_was_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, list[str], dict[str, str]]] = []

    def execv(program: str, words: list[str]) -> None:
        begun.append((program, words, dict(os.environ)))

    monkeypatch.setattr(os, "execv", execv)
    monkeypatch.setattr(api_keys, "_hidden", {})
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    before = dict(os.environ)
    api_keys.hide()
    network_guard.apply_policy(offline=True)
    network_guard.use_proxy("http://proxy:3128")
    restart()
    [(program, words, environment)] = begun
    assert words == desktop.command()
    assert program == words[0]
    quiet = {name: environment.pop(name, "") for name in network_guard.QUIET}
    assert set(quiet.values()) == {"1"}
    assert environment == {name: value for name, value in before.items() if name not in quiet}
    assert network_guard._refusing is False
