from datetime import timedelta
from pathlib import Path

from jarvis_desktop.core.ports import Timer
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START


def opened(tmp_path: Path) -> SqliteHistory:
    return SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )


def test_timers_survive_a_restart_the_next_one_first(tmp_path: Path):
    tea = Timer("a", "tea", START + timedelta(minutes=5))
    eggs = Timer("b", "eggs", START)
    bread = Timer("c", "bread", (START + timedelta(minutes=1)).replace(tzinfo=None))
    first = opened(tmp_path)
    for timer in (tea, eggs, bread):
        first.timers.add(timer)
    first.timers.remove("c")
    first.timers.remove("c")
    first.close()
    second = opened(tmp_path)
    assert second.timers.pending() == (eggs, tea)
    second.close()


def test_a_timer_added_again_is_changed(tmp_path: Path):
    history = opened(tmp_path)
    history.timers.add(Timer("a", "tea", START))
    changed = Timer("a", "green tea \udcff", START + timedelta(hours=1))
    history.timers.add(changed)
    assert history.timers.pending() == (Timer("a", "green tea ?", changed.due),)
    history.close()
