"""How long a frame of the window takes while a long conversation is scrolled and while a step of a
plan is dragged, and how long the answer of a built-in skill takes from Enter until it is drawn.

Run on a screen (a virtual one does, which draws in software): python -m tests.benchmarks.frames

A frame is the work of the main thread from the event to the painted window. The times of the clock
include what else the computer does; those of the processor do not.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.desktop import drive, spin
from tests.line_server import Answer
from tests.openai_server import running_openai_server

TURNS = 5_000
"""Each has a request and an answer: 10,000 messages."""
FRAME_MS, ANSWER_MS = 16.7, 100.0
WHEEL = 60
"""Pixels of one frame of a smooth scroll."""
FRAMES, QUESTIONS = 600, 20
LONG = "And the wind goes on over the hills, and nobody counts the hours. "
SETTINGS = """
[llm]
provider = "openai"
id = "tiny"
address = "{address}/v1"
[speech]
speak_typed = false
"""

Frame = tuple[float, float]
"""Milliseconds of the clock, and of this thread's processor time."""


def timed(act: Callable[[], object]) -> Frame:
    """Do something and paint what it changed."""
    from PySide6.QtWidgets import QApplication

    began, worked = time.perf_counter(), time.thread_time()
    act()
    # Twice: a layout that was put off asks for the paint in its turn.
    QApplication.processEvents()
    QApplication.processEvents()
    return 1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - worked)


def scrolled() -> list[Frame]:
    """Scroll a conversation by the wheel, at its end, in its middle and at its beginning."""
    from jarvis_desktop.ui.actions import Actions
    from jarvis_desktop.ui.conversation.conversation_view import ConversationView
    from tests.benchmarks.conversation import conversation

    view = ConversationView(Actions())
    view.resize(800, 700)
    view.show()
    view.show_entries(conversation(TURNS))
    spin(1.5)
    bar = view.verticalScrollBar()
    frames: list[Frame] = []
    for start in (bar.maximum() - WHEEL * FRAMES // 3, bar.maximum() // 2, 0):
        bar.setValue(start)
        spin(0.5)
        for _ in range(FRAMES // 3):
            frames.append(timed(lambda: bar.setValue(bar.value() + WHEEL)))
    view.close()
    return frames


def dragged() -> list[Frame]:
    """Pull an arrow from a step of a plan over the others."""
    from PySide6.QtCore import QPointF

    from jarvis_desktop.ui.plan.descriptions import card_states
    from jarvis_desktop.ui.plan.graph_view import GraphView
    from jarvis_desktop.ui.plan.task_card import TaskCard
    from tests.ui.plan.plan_scene import diamond, turn_of

    plan = diamond()
    graph = GraphView(lambda task_id: frozenset(range(1, len(plan))))
    graph.editable = True
    graph.show_plan(card_states(plan, turn_of(plan)), {t.id: t.depends_on for t in plan}, {})
    graph.resize(760, 420)
    graph.show()
    spin(0.8)
    card = graph.findChildren(TaskCard)[0]
    frames = []
    for step in range(FRAMES // 2):
        to = QPointF(100 + 1.5 * (step % 300), 60 + step % 200)
        frames.append(timed(lambda to=to: card.dragged.emit(card.step.task_id, to)))  # type: ignore[misc]
    graph.close()
    return frames


def answered(window: Any, question: str, answer: str) -> float:
    """Milliseconds from Enter until the answer is painted."""
    from PySide6.QtCore import QEvent, QObject, Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    field = window.composer.field
    field.setPlainText(question)
    spin(0.1)
    view = window.conversation

    class Painted(QObject):
        at = 0.0

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and not self.at:
                entries = window.session.open.entries
                shown = view.view(entries[-1]) if entries else None
                if shown and answer in shown.reply.toPlainText():
                    QTimer.singleShot(0, self.note)  # once all of it is painted
            return False

        def note(self) -> None:
            self.at = self.at or time.perf_counter()

    painted = Painted()
    QApplication.instance().installEventFilter(painted)  # type: ignore[union-attr]
    began = time.perf_counter()
    QTest.keyClick(field, Qt.Key.Key_Return)
    spin(20.0, until=lambda: painted.at)
    QApplication.instance().removeEventFilter(painted)  # type: ignore[union-attr]
    assert painted.at, f"no answer to {question!r}"
    spin(0.3)
    return 1000 * (painted.at - began)


def skills(window: Any) -> list[float]:
    """Ask what a built-in skill knows, again and again."""
    times = []
    for number in range(2, QUESTIONS + 2):
        times.append(answered(window, f"What is {number} times 12?", str(12 * number)))
    return times


def answers() -> dict[str, Any]:
    """In the real window: with nothing else running, and while an LLM answers elsewhere."""
    told: dict[str, Any] = {}

    def work(window: Any) -> None:
        spin(10.0)
        skills(window)  # what is read on the first request is not counted
        window.session.new_conversation()
        told["alone"] = skills(window)
        window.session.new_conversation()
        from jarvis_desktop.core.turn import Request

        long = window.session.send(Request("Tell me a very long story about the wind"))
        spin(20.0, until=lambda: long.turn.reply)
        told["streams"] = bool(long.turn.reply) and long.turn.status is None
        window.session.new_conversation()
        told["beside"] = skills(window)
        told["streams"] = told["streams"] and long.turn.status is None
        window.session.end()
        spin(2.0, until=lambda: not window.session.busy)

    told["code"] = drive(work)
    return told


def measured() -> dict[str, Any]:
    """What the real window measured in a process and a home of its own."""
    story = Answer([LONG] * 4000, seconds_a_piece=0.05)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        running_openai_server(llms=("tiny",), answers=[story]) as server,
    ):
        config = Path(home) / "config"
        config.mkdir()
        (config / "settings.toml").write_text(SETTINGS.format(address=server.address), "utf-8")
        (config / "window.ini").write_text("[first_start]\nover=true\n", "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.frames", "answers"],
            env=os.environ | {"JARVIS_DESKTOP_HOME": home},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of all is."""
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))]


def show(name: str, times: Sequence[float], limit: float) -> None:
    """A line of the table."""
    high = percentile(times, 0.95)
    print(
        f"{name:52}{statistics.median(times):8.1f}ms{high:8.1f}ms{max(times):8.1f}ms"
        f"{limit:8.1f}ms  ratio {high / limit:.2f}"
    )


def main() -> None:
    """Print the table."""
    from PySide6.QtWidgets import QApplication

    from jarvis_desktop.ui.widgets.theme import Theme

    application = QApplication([])
    Theme(application)
    print(f"{'':52}{'median':>10}{'p95':>10}{'longest':>10}{'limit':>10}")
    for name, frames in ((f"scroll {2 * TURNS:,} messages", scrolled()), ("drag", dragged())):
        clock, worked = zip(*frames, strict=True)
        show(f"{name}: a frame", clock, FRAME_MS)
        show(f"{name}: a frame, processor time", worked, FRAME_MS)
    told = measured()
    show("a skill's answer is drawn after Enter", told["alone"], ANSWER_MS)
    beside = "while an LLM answers" if told["streams"] else "AFTER THE LLM'S ANSWER HAD ENDED"
    show(f"the same, {beside}", told["beside"], ANSWER_MS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["answers"]:
        print(json.dumps(answers()))
    else:
        main()
