"""Keeping the history tidy while the application runs."""

import asyncio
import logging
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from jarvis_desktop.app import application
from jarvis_desktop.app.application import build_records, keep_tidy
from jarvis_desktop.core.context import current_conversation
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.paths import Paths
from jarvis_desktop.storage.export import Form
from tests.storage.samples import INVENTORY, small_turn


def paths(root: Path) -> Paths:
    return Paths(*(root / name for name in ("config", "data", "cache", "logs")))


async def test_old_conversations_are_forgotten_at_the_start_and_whenever_that_is_wished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(application, "TIDY_INTERVAL_S", 0.0)
    now = datetime.now().astimezone()
    history = build_records(paths(tmp_path), INVENTORY, lambda: now + timedelta(days=40)).history
    history.save("old", small_turn("t"))
    days: list[int] = []

    def wish() -> int:
        days.append(len(days))
        if len(days) == 3:
            raise StorageError("It is locked.")
        return 0 if len(days) < 5 else 30

    with caplog.at_level(logging.INFO):
        tidying = asyncio.create_task(keep_tidy(history, wish))
        while history.size() != (0, 0):
            await asyncio.sleep(0)
    assert len(days) >= 5
    assert "It is locked." in caplog.text
    tidying.cancel()
    await asyncio.gather(tidying, return_exceptions=True)
    history.close()


def test_what_a_goal_works_on_lies_where_its_conversation_does(tmp_path: Path):
    records = build_records(paths(tmp_path), INVENTORY, lambda: datetime.now().astimezone())
    assert records.goal_folder("g") == tmp_path / "data" / "goals" / "g"
    name = records.history.open_private().id
    before = current_conversation.set(name)
    inside = records.goal_folder("g")
    current_conversation.reset(before)
    assert inside.is_relative_to(tmp_path / "data" / "unkept")
    records.history.close()
    assert not list((tmp_path / "data" / "unkept").glob("*"))


@pytest.mark.parametrize("form", ["json", "html", "markdown", "text"])
async def test_what_is_not_kept_can_be_exported_while_it_is_open(tmp_path: Path, form: Form):
    history = build_records(paths(tmp_path), INVENTORY, datetime.now).history
    name = history.open_private().id
    history.save(name, small_turn("t", "between us"))
    out = tmp_path / "out"
    done = await history.export_to(out, form, [name], media="none")
    assert done.conversations == 1
    assert "between us" in out.read_text(encoding="utf-8")
    assert name not in out.read_text(encoding="utf-8")
    assert history.size() == (0, 0)
    history.forget_private(name)
    with pytest.raises(InputError):
        await history.export_to(out, form, [name])
    history.close()


async def test_what_was_not_kept_is_kept_by_who_reads_it_in(tmp_path: Path):
    history = build_records(paths(tmp_path), INVENTORY, datetime.now).history
    name = history.open_private().id
    history.save(name, small_turn("t", "between us"))
    await history.export_to(tmp_path / "out.json", "json", [name])
    assert (await history.import_from(tmp_path / "out.json")).conversations == 1
    assert [found.turn_id for found in history.search("between")] == ["t"]
    history.close()
