"""Why experts were chosen, as the history keeps it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.core.expert import Candidate, Expert, Selection
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, full_turn, stored_file


def test_why_its_experts_were_chosen_is_kept(tmp_path: Path):
    history = SqliteHistory(
        tmp_path / "history.db",
        store_root=tmp_path / "store",
        inventory=INVENTORY,
        now=lambda: START,
    )
    given = stored_file(tmp_path / "store", "abc.png")
    turn = full_turn("t1", given, given)
    tried = turn.results[1].attempts[0].candidate
    other = Candidate(Expert("other", "read"), "local")
    chosen = (Selection(1, (tried, other), "It reads well."), Selection(9, (), "None for that."))
    history.save("c", replace(turn, selections=chosen))
    [found] = history.open_conversation("c").turns
    assert [(item.task_id, item.reason) for item in found.selections] == [
        (1, "It reads well."),
        (9, "None for that."),
    ]
    # Of its candidates those are known that were tried.
    assert [item.candidates for item in found.selections] == [(tried,), ()]
    history.save("c", turn)
    assert history.open_conversation("c").turns == (turn,)
    history.save("c", replace(turn, selections=chosen))
    history.delete()
    history.close()
    left = sqlite3.connect(tmp_path / "history.db")
    assert left.execute("SELECT count(*) FROM selections").fetchone() == (0,)
    left.close()
