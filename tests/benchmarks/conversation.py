"""How long the window stands still over a conversation of ten thousand turns, over an answer of
100 kB that is being written, and over what was made to slow it down.

Run it with or without a screen: python -m tests.benchmarks.conversation
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.conversation_view import ConversationView
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.markdown_samples import HOSTILE_MARKDOWN

TURNS = 10_000
BEAT = 5
"""Milliseconds between two beats of the heart."""
ANSWER = """## Part {number}

A paragraph with **bold**, *italic* and `code`, and [a link](https://example.org/{number}). {words}

- one point,
- another one with `code`
  1. and a step within

| Name | Value |
|------|------:|
| a | {number} |
| b | 2 |

```python
for item in range({number}):
    print(item)
```

"""


class Heart:
    """Beats in the event loop, and remembers the longest time in which it could not.

    Counted is what the main thread worked in that time: what else the computer does delays a beat
    as well, and says nothing of the window.
    """

    def __init__(self) -> None:
        self.longest = self.on_the_clock = 0.0
        self.rest()
        self._timer = QTimer(interval=BEAT)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def rest(self) -> None:
        """Begin to count anew."""
        self.longest = self.on_the_clock = 0.0
        self._last, self._worked = time.perf_counter(), time.thread_time()

    def _beat(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        self.longest = max(self.longest, 1000 * (worked - self._worked))
        self.on_the_clock = max(self.on_the_clock, 1000 * (now - self._last) - BEAT)
        self._last, self._worked = now, worked


def answer(length: int) -> str:
    """Markdown of about that length."""
    words = "These words are here to fill the paragraph as an answer does. " * 3
    parts: list[str] = []
    written = 0
    while written < length:
        parts.append(ANSWER.format(number=len(parts) + 1, words=words))
        written += len(parts[-1])
    return "".join(parts)[:length]


def conversation(count: int) -> list[PendingTurn]:
    """A conversation of turns of different lengths."""
    place = OpenConversation("a")
    now = datetime(2026, 5, 4, tzinfo=UTC)
    replies = [answer(length) for length in (80, 200, 600, 1500, 4000)]
    return [
        PendingTurn(
            Turn(
                f"t{number}",
                now,
                f"Question {number}: what about this?",
                reply=replies[number * 7 % len(replies)],
                status=Status.DONE,
                finished=now + timedelta(seconds=2),
            ),
            place,
        )
        for number in range(count)
    ]


def turn_loop(act: Callable[[], bool], *, seconds: float = 120, interval: int = 1) -> None:
    """Let the event loop turn and act in it again and again, until acting says that it is over."""
    loop = QEventLoop()
    timer = QTimer(interval=interval)
    timer.timeout.connect(lambda: None if act() else loop.quit())
    timer.start()
    QTimer.singleShot(int(1000 * seconds), loop.quit)
    loop.exec()
    timer.stop()


def idle(seconds: float = 0.6) -> None:
    """Let the event loop turn."""
    loop = QEventLoop()
    QTimer.singleShot(int(1000 * seconds), loop.quit)
    loop.exec()


def steps(view: ConversationView, by: int) -> Iterator[int]:
    """Where the scroll bar goes from end to end."""
    bar = view.verticalScrollBar()
    yield from range(bar.maximum(), -1, -by)
    yield from range(0, bar.maximum() + 1, by)
    yield bar.maximum()


def megabytes() -> float:
    """What the process takes of memory now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def tell(name: str, ours: float, limit: float, unit: str = "ms") -> None:
    """A line of the table."""
    verdict = "" if ours <= limit else "   over"
    print(f"{name:52}{ours:9.1f} {unit}{limit:9.0f} {unit}{verdict}")


def main() -> None:
    """Print the table."""
    application = QApplication([])
    theme = Theme(application)
    view = ConversationView(Actions())
    view.resize(900, 800)
    view.show()
    idle()
    heart = Heart()
    exchanges = conversation(TURNS)
    print(f"{'':52}{'ours':>9}   {'limit':>9}")

    began = time.perf_counter()
    view.show_entries(exchanges)
    tell(f"open {TURNS:,} turns", 1000 * (time.perf_counter() - began), 300)
    idle()

    before = megabytes()
    for name, count in (("in 400 strides", 400), ("in 3,000 steps", 3000)):
        heart.rest()
        path = steps(view, max(1, view.verticalScrollBar().maximum() // (count // 2)))
        turn_loop(lambda path=path: go(view, path))  # type: ignore[misc]
        tell(f"scroll from end to end and back {name}: gap", heart.longest, 100)
    heart.rest()
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    pixels = iter(range(0, 30_000, 60))
    turn_loop(lambda: nudge(view, pixels))
    tell("scroll by the wheel through 30,000 pixels: gap", heart.longest, 100)
    idle()
    tell("memory that is more after that", megabytes() - before, 60, "MB")

    view.to_end()
    heart.rest()
    stream(view, answer(100_000))
    tell("an answer of 100 kB, streamed: gap", heart.longest, 50)
    heart.rest()
    view.views()[-1].reply.more.click()
    idle(3)
    tell("the rest of it shown: gap", heart.longest, 100)

    worst = 0.0, 0
    for number, text in enumerate(HOSTILE_MARKDOWN):
        view.show_entries([])
        idle(0.05)
        heart.rest()
        stream(view, text, pieces=20)
        worst = max(worst, (heart.longest, number))
    tell(f"hostile Markdown, streamed (worst: number {worst[1]}): gap", worst[0], 250)
    theme.deleteLater()


def go(view: ConversationView, path: Iterator[int]) -> bool:
    """Scroll to the next place."""
    place = next(path, None)
    if place is None:
        return False
    view.verticalScrollBar().setValue(place)
    return True


def nudge(view: ConversationView, pixels: Iterator[int]) -> bool:
    """Scroll by one turn of the wheel."""
    by = next(pixels, None)
    if by is None:
        return False
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + 60)
    return True


def stream(view: ConversationView, text: str, *, pieces: int = 400) -> None:
    """Let an answer be written in pieces."""
    exchange = PendingTurn(
        Turn("new", datetime(2026, 5, 4, tzinfo=UTC), "Write"), OpenConversation("a")
    )
    view.append(exchange)
    size = max(1, len(text) // pieces)
    ends = iter(range(size, len(text) + size, size))

    def more() -> bool:
        end = next(ends, None)
        if end is None:
            return False
        exchange.turn = Turn("new", exchange.turn.started, "Write", reply=text[:end])
        view.refresh(exchange)
        return True

    turn_loop(more)
    idle(0.3)


if __name__ == "__main__":
    main()
