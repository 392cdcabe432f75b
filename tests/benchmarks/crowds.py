"""How long the window stands still over what is large at once: a plan of two hundred steps, and two
thousand experts that were found.

Run it with or without a screen: python -m tests.benchmarks.crowds
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from jarvis_desktop.core.events import TaskStarted
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.experts.catalogue import ExpertHit, ExpertQuery, Fit, FitLevel
from jarvis_desktop.ui.actions import Actions, PageContext
from jarvis_desktop.ui.conversation.conversation_view import ConversationView
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.experts.page import ExpertsPage
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from jarvis_desktop.ui.widgets.theme import Theme
from tests.benchmarks.conversation import Heart, idle
from tests.ui.plan.plan_scene import FakePlanController, letter, turn_of
from tests.ui.scene import READ, SUM, candidate

STEPS, FINDS = 200, 2000
LIMIT = 250.0
"""Milliseconds that the event loop may stand still."""
ROUNDS = 3
Row = tuple[str, float, float]
"""What was done, the longest gap on the clock, and what of it the main thread worked."""


def plan(steps: int) -> Turn:
    """A turn with a plan of so many steps, of which each gives to two others."""
    first = Task(0, READ, {"image": letter()})
    others = (Task(n, SUM, {"text": Ref((n - 1) // 2)}) for n in range(1, steps))
    return turn_of(Plan((first, *others)))


def finds(count: int) -> Sequence[ExpertHit]:
    """So many experts."""
    fit = Fit(FitLevel.MEMORY, need=10**9, room=8 * 10**9)
    shown = Expert("expert", "translation", "Translates a text.", licence="Apache-2.0",
                   repo="someone/expert", download_mb=300, downloads=1200)  # fmt: skip
    return [
        ExpertHit(replace(shown, id=f"expert-{n}", repo=f"someone/expert-{n}"), True, False,
            ("here",), fit)
        for n in range(count)
    ]  # fmt: skip


def watched(heart: Heart, what: str, act: Callable[[], object]) -> Row:
    """Do it, and watch the loop until it has come to rest."""
    heart.rest()
    act()
    idle(1.5)
    return what, heart.on_the_clock, heart.longest


def of_plan(heart: Heart, engine: EngineThread, folder: Path) -> list[Row]:
    """A large plan is drawn, changes, is shown as a list and as a whole."""
    controller = FakePlanController(engine, folder / "window.ini")
    actions = Actions()
    actions.plans = controller
    view = ConversationView(actions)
    view.resize(900, 800)
    view.show()
    idle()
    turn = plan(STEPS)
    exchange = PendingTurn(turn, OpenConversation("a"))
    rows = [watched(heart, f"a plan of {STEPS} steps is drawn", lambda: view.append(exchange))]

    def start() -> None:
        exchange.turn = turn.apply(TaskStarted(7, candidate("first")))
        view.refresh(exchange)

    rows.append(watched(heart, "one of its steps begins", start))
    rows.append(watched(heart, "the window becomes narrower", lambda: view.resize(700, 800)))
    rows.append(watched(heart, "it is shown as a list", lambda: controller.show_form("outline")))
    rows.append(
        watched(heart, "it is shown as a graph again", lambda: controller.show_form("graph"))
    )
    view.hide()
    view.deleteLater()
    idle()
    return rows


def of_finds(heart: Heart, engine: EngineThread) -> list[Row]:
    """Many experts are found, others are, and more of them are shown."""
    session = WindowSession(engine)
    page = ExpertsPage(
        PageContext(session, cast(Any, None), Actions(), SettingsController(session))
    )
    page.resize(900, 800)
    page.show()
    page.appear("more")
    idle()
    hits = finds(FINDS)

    def find(found: Sequence[ExpertHit]) -> None:
        page.controller.found.emit(ExpertQuery(limit=FINDS), found, 0)

    rows = [
        watched(heart, f"{FINDS:,} experts are found", lambda: find(hits)),
        watched(heart, "others are found", lambda: find(hits[::-1])),
        watched(heart, "more of them are shown", page.finding.more.click),
    ]
    page.leave()
    page.hide()
    page.deleteLater()
    idle()
    return rows


def main() -> int:
    """Print the table: the worst of some rounds, the first of which is what a person sees first."""
    application = QApplication(sys.argv[:1])
    theme = Theme(application)
    engine = EngineThread()
    engine.start()
    heart = Heart()
    idle()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            rounds.append([*of_plan(heart, engine, Path(folder)), *of_finds(heart, engine)])
    engine.close(2.0)
    theme.deleteLater()
    load = os.getloadavg()[0]
    print(f"{'the event loop stands still':36}{'first':>10}{'worst':>10}{'of it worked':>14}")
    for same in zip(*rounds, strict=True):
        what, first, _ = same[0]
        worst, worked = max(row[1] for row in same), max(row[2] for row in same)
        print(f"{what:36}{first:8.1f}ms{worst:8.1f}ms{worked:12.1f}ms  "
              f"ratio {worst / LIMIT:.2f}")  # fmt: skip
    print(f"{'limit':36}{LIMIT:8.1f}ms{LIMIT:8.1f}ms   (load {load:.1f})")
    return int(any(row[2] > LIMIT for rows in rounds for row in rows))


if __name__ == "__main__":
    sys.exit(main())
