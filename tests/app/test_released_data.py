"""The data of each released version is opened by this one, and that of a newer one left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop import __version__
from jarvis_desktop import settings as settings_file
from jarvis_desktop.app.build import build
from jarvis_desktop.backends.mcp.servers import Approval
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.turn import Conversation
from jarvis_desktop.paths import user_paths
from jarvis_desktop.storage.records import DictationLog
from tests.released_data import RELEASED, make_newer, snapshot, unpack

COMMANDS = (
    ["ask", "hello"], ["history", "list"], ["history", "export", "all.json"], ["doctor"],
    ["experts", "list"], ["engine", "list"], ["mcp", "list"], ["memory", "clear", "--yes"],
    ["code", "remove", "twice", "--yes"], ["goals", "list"],
    ["history", "delete", "--all", "--yes"], ["mcp", "remove", "notes"],
    ["say", "hello", "--out", "hello.wav"], ["serve", "--port", "0"],
)  # fmt: skip


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return home / "jarvis"


def test_this_version_is_among_them() -> None:
    assert f"{__version__}.zip" in [archive.name for archive in RELEASED]


@pytest.mark.parametrize("archive", RELEASED, ids=lambda path: path.stem)
async def test_everything_of_a_released_version_is_there(archive: Path, folder: Path) -> None:
    unpack(archive, folder)
    paths = user_paths()
    settings, notice = settings_file.load(paths.settings)
    assert (settings.mode, settings.speech.words, settings.speech.rate, notice) == (
        "hybrid", ("Reykjavik",), 200, "",
    )  # fmt: skip
    settings_file.change(paths.settings, "speech", {"rate": 180})
    assert 'words = ["Reykjavik"] # a trip' in paths.settings.read_text("utf-8")
    app = build(settings, paths)
    try:
        history = app.history
        assert not history.notice
        listed = history.list()
        assert [(each.title[:7], each.pinned) for each in listed] == [
            ("What is", True), ("Make th", False),
        ]  # fmt: skip
        turns = [
            turn
            for each in listed
            if isinstance(found := history.show(each.id), Conversation)
            for turn in found.turns
        ]
        assert turns[0].reply == "15 percent of 240 is 36."
        assert "grandfather" in turns[2].reply
        assert any(artifact.path in history.files() for artifact in turns[1].artifacts)
        assert set(paths.artifacts.rglob("*.*")) == history.files()
        assert [hit.turn_id for hit in history.search("grandfather")] == [turns[2].id]
        assert [fact.text for fact in history.facts.list()] == ["My sister is called Ada."]
        assert [timer.label for timer in history.timers.pending()] == ["Tea"]
        assert app.library.damaged() == ()
        assert "return 2 * x" in app.library.get("twice").draft.source
        (goal,) = app.goals.list()
        assert goal.text == "Plot the prices"
        assert [entry.observation for entry in app.goals.log(goal.id)] == ["A chart."]
        assert app.goals.frames(goal.id)[0].outline
        (server,) = app.mcp.servers.all()
        (tool,) = app.mcp.servers.tools(server)
        assert app.mcp.servers.approval(server, tool) is Approval.ALWAYS
        assert [engine.torch for engine in app.engines.installed()] == ["2.13.0+cpu"]
        (dictated,) = DictationLog(paths.data / "dictations.json").kept()
        assert dictated.text == "Dear Ada,"
    finally:
        await app.close()


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_data_of_a_newer_version_is_refused_with_a_sentence_and_left_as_it_is(
    folder: Path,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("JARVIS_API_TOKEN", "x" * 40)
    unpack(RELEASED[-1], folder)
    make_newer(folder, mode=mode)
    before = snapshot(folder)
    for command in COMMANDS:
        assert main(command) == 1, command
        said = capsys.readouterr()
        assert said.err.count("was written by a newer version of JARVIS Desktop.") == 1, command
        assert "Install that version" in said.err
        assert snapshot(folder) == before, command


def test_what_a_newer_version_had_not_finished_is_left_for_it(folder: Path) -> None:
    unpack(RELEASED[-1], folder)
    make_newer(folder, unfinished=True)
    before = snapshot(folder)
    assert before["data/history.db-wal"]
    assert main(["history", "list"]) == 1
    assert snapshot(folder) == before


def test_settings_of_a_newer_version_are_kept(folder: Path) -> None:
    unpack(RELEASED[-1], folder)
    path = user_paths().settings
    text = path.read_text("utf-8") + 'shade = "mauve"\n\n[telepathy]\nrange = 3\n'
    path.write_text(text, "utf-8")
    settings, _ = settings_file.load(path)
    assert settings.speech.rate == 200
    settings_file.change(path, "speech", {"rate": 180})
    assert path.read_text("utf-8") == text.replace("rate = 200", "rate = 180")
