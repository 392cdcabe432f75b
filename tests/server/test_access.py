"""The token comes from a file, the environment or the keyring, and is made once."""

from __future__ import annotations

import os
from pathlib import Path

import keyring
import keyring.errors
import pytest

from jarvis_desktop.cli.main import main
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.server.access import VARIABLE, token_from


def test_where_the_token_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda service, place: kept.get(place))
    monkeypatch.setattr(keyring, "set_password", lambda service, place, key: kept.update(a=key))
    file = tmp_path / "token"
    file.write_text("of-a-file-that-is-long\n")
    assert token_from(file, "of-the-environment") == "of-a-file-that-is-long"
    assert token_from(None, "of-the-environment") == "of-the-environment"
    made = token_from(None, "")
    assert kept == {"a": made}
    kept["api-server"] = made
    assert token_from(None, "") == made
    with pytest.raises(InputError, match="shorter than 16"):
        token_from(None, "short")
    with pytest.raises(InputError, match="cannot be read"):
        token_from(tmp_path / "none", "")


def test_without_a_keyring_a_token_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*names: str) -> None:
        raise keyring.errors.NoKeyringError

    monkeypatch.setattr(keyring, "get_password", locked)
    monkeypatch.setattr(keyring, "set_password", locked)
    with pytest.raises(UnavailableError, match="could not be kept"):
        token_from(None, "")


def test_the_command_refuses_what_cannot_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "long-enough-for-a-token")
    assert main(["serve", "--show-token"]) == 0
    assert capsys.readouterr().out == "long-enough-for-a-token\n"
    assert VARIABLE not in os.environ  # no program that is started inherits it
    monkeypatch.setenv(VARIABLE, "long-enough-for-a-token")
    assert main(["serve", "--port", "70000"]) == 1
    assert "There is no port 70000." in capsys.readouterr().err
