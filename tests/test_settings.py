"""The settings file: what it may say, and how one key of it is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.llm import Think
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.settings import LLMSettings, Settings, change, load

WRITTEN = """\
# mine
mode = "hybrid"  # for now

[speech]
rate = 200

[llm]
provider = "ollama"  # at home
unknown = 7
"""


def test_what_is_not_said_is_the_usual(tmp_path: Path) -> None:
    settings, notice = load(tmp_path / "settings.toml")
    assert (settings, notice) == (Settings(), "")
    assert (settings.llm.provider, settings.llm.id, settings.llm.think) == ("auto", "", Think.OFF)
    assert settings.planner.kind == "auto"


def test_a_change_leaves_everything_else_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(WRITTEN)
    path.chmod(0o600)
    change(path, "llm", {"provider": "openai", "address": "http://127.0.0.1:1234/v1"})
    expected = WRITTEN.replace('"ollama"', '"openai"') + 'address = "http://127.0.0.1:1234/v1"\n'
    assert path.read_text() == expected
    assert path.stat().st_mode & 0o777 == 0o600
    settings, notice = load(path)
    assert not notice
    assert (settings.speech.rate, settings.llm.provider) == (200, "openai")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["home", "settings.toml"]


def test_the_file_and_its_folder_are_made(tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.toml"
    change(path, "llm", {"id": "qwen3.5:4b"})
    assert path.read_text() == '[llm]\nid = "qwen3.5:4b"\n'


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b'mode = "local"\r\n[llm]\r\nid = "a"\r\n')
    change(path, "llm", {"id": "b"})
    assert path.read_bytes() == b'mode = "local"\r\n[llm]\r\nid = "b"\r\n'


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    shared = tmp_path / "shared.toml"
    shared.write_text("")
    link = tmp_path / "settings.toml"
    link.symlink_to(shared)
    change(link, "llm", {"id": "a"})
    assert link.is_symlink()
    assert load(link)[0].llm.id == "a"


@pytest.mark.parametrize("budget", ["inf", "1e400", "nan", "-1", "1e9"])
def test_a_budget_without_a_sense_is_refused(tmp_path: Path, budget: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"[experts]\ndisk_budget_gb = {budget}\n")
    settings, notice = load(path)
    assert "experts.disk_budget_gb" in notice
    assert settings.experts.disk_budget == 20_000_000_000


BROKEN = """\
mode = "hybrid"
processes = many

[speech]
rate = 9000
voice = "anna"
words = ["Kraków", 3, 4]

[llm
id = "lost"
provider = "ollama"

[api]
provider = "groq"

[window]
theme = "pink"
text_size = 1.5
"""


def test_a_mistake_costs_only_its_own_value(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(BROKEN)
    settings, notice = load(path)
    assert settings.mode == "hybrid"
    assert (settings.speech.rate, settings.speech.voice, settings.speech.words) == (170, "anna", ())
    assert (settings.llm, settings.api.provider) == (Settings().llm, "groq")
    assert (settings.window.theme, settings.window.text_size) == ("system", 1.5)
    for wrong in ("line 2", "line 9", "speech.rate", "speech.words", "window.theme"):
        assert wrong in notice
    assert notice.count("speech.words") == 1
    assert path.read_text() == BROKEN


@pytest.mark.parametrize(
    ("written", "engine"),
    [
        ("", "hibari"),
        ('voice = ""', "hibari"),
        ('voice = "roa/fr-be"', "system"),
        ('voice = "heart"\nengine = "hibari"', "hibari"),
        ('engine = "system"', "system"),
        ('voice = "af_heart"\nengine = "kokoro"', "kokoro"),
    ],
)
def test_a_voice_that_was_named_stays_one_of_the_systems(
    tmp_path: Path, written: str, engine: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"[speech]\n{written}\n")
    settings, notice = load(path)
    assert (settings.speech.engine, notice) == (engine, "")


@pytest.mark.parametrize("text", ["x\n" * 30, 'id = """\nno end', "[", "= 3"])
def test_what_cannot_be_read_at_all_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    settings, notice = load(path)
    assert settings == Settings()
    assert str(path) in notice


def test_a_mistake_elsewhere_keeps_nothing_from_being_changed(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('mode = "everywhere"\n[speech]\nrate = 3\n')
    change(path, "speech", {"voice": "anna"})
    assert path.read_text() == 'mode = "everywhere"\n[speech]\nrate = 3\nvoice = "anna"\n'
    change(path, "", {"mode": "lite", "processes": 2})
    change(path, "speech", {"rate": None, "pause": None})
    settings, notice = load(path)
    assert not notice
    assert (settings.mode, settings.processes, settings.speech.rate) == ("lite", 2, 170)
    assert "rate" not in path.read_text()


def test_a_key_above_all_tables_is_written_there(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('# mine\n\n[llm]\nid = "a"\n')
    change(path, "", {"mode": "offline"})
    assert load(path) == (Settings(mode=Mode.OFFLINE, llm=LLMSettings(id="a")), "")


@pytest.mark.parametrize(
    "proxy", ["proxy:3128", "http://anna:secret@proxy:3128", "ftp://proxy", "http://a b"]
)
def test_a_proxy_is_an_address_without_a_password(tmp_path: Path, proxy: str) -> None:
    with pytest.raises(StorageError, match=r"network\.proxy") as caught:
        change(tmp_path / "settings.toml", "network", {"proxy": proxy})
    assert "secret" not in str(caught.value)
    change(tmp_path / "settings.toml", "network", {"proxy": "http://proxy:3128"})


@pytest.mark.parametrize("text", ["[llm", "llm = 3\n", "\udcff"])
def test_a_file_that_cannot_be_read_is_not_touched(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with pytest.raises(StorageError, match="were not changed") as caught:
        change(path, "llm", {"id": "a"})
    assert str(path) in caught.value.hint
    assert path.read_bytes() == before


def test_a_value_that_is_not_allowed_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    with pytest.raises(StorageError, match=r"llm\.provider"):
        change(path, "llm", {"provider": "skynet"})
    assert not path.exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="could not be written"):
        change(tmp_path / "file" / "settings.toml", "llm", {"id": "a"})
