"""A goal of agent mode as the window is told of it, event by event."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import CodeRequest, Protection
from jarvis_desktop.core.events import (
    Event,
    GoalTaken,
    OutlineChanged,
    ReplyChunk,
    RoundEnded,
    RoundProgress,
    RoundStarted,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.turn import Turn
from tests.ui.scene import NOW

CODER = "assistant/coder"
LIBRARIAN = "assistant/coder/librarian"
WORDS = "Download these prices, plot them, and tell me the best month"

STEPS = (
    "Download the closing prices of the last year from prices.example",
    "Plot them by month",
    "Find the month with the largest gain",
    "Say which month was best, with the figures",
)
DRAFT = Outline(tuple(OutlineStep(number, text) for number, text in enumerate(STEPS, 1)))
AT_WORK = (
    DRAFT.with_state(1, StepState.DONE, "251 rows, saved as prices.csv")
    .with_state(2, StepState.DOING)
    .with_state(4, StepState.DROPPED, "the chart says it")
)
CODERS = Outline(
    (
        OutlineStep(1, "Write download_prices", StepState.DONE),
        OutlineStep(2, "Read the CSV and group it by month", StepState.FAILED, "no column 'Close'"),
        OutlineStep(3, "Draw a bar chart"),
    )
)

CODE = """\
from library import download_prices
import matplotlib.pyplot as plt

prices = download_prices("ACME", days=365)
monthly = prices["close"].resample("ME").last().pct_change()

fig, ax = plt.subplots(figsize=(8, 4))
ax.bar(monthly.index.strftime("%b"), 100 * monthly)
ax.set_ylabel("gain in %")
fig.savefig("months.png")
monthly.idxmax(), monthly.max()
"""
TRACEBACK = """\
251 rows
Traceback (most recent call last):
  File "<script>", line 5, in <module>
KeyError: 'close'"""
FUNCTION = '''\
import pandas


def download_prices(symbol: str, days: int = 30) -> pandas.DataFrame:
    """The closing prices of the last days, by date."""
    url = f"http://prices.example/{symbol}.csv"
    prices = pandas.read_csv(url, parse_dates=["date"], index_col="date")
    return prices.sort_index().tail(days)
'''
OLDER = FUNCTION.replace(".sort_index()", "").replace("days: int = 30", "days: int")
TESTS = "syntax: fine\ntypes: fine\ntest_it_gives_as_many_days_as_asked_for: passed\n3 of 3 passed"

SAFE = Protection("bubblewrap", sandboxed=True)
BARE = Protection(
    "none",
    sandboxed=False,
    why="This kernel allows no user namespaces; installing bubblewrap as setuid would help.",
)


def code_request(**changes: object) -> CodeRequest:
    given: dict[str, object] = {
        "source": CODE,
        "purpose": "Downloads the prices and draws the gain of each month as a bar.",
        "protection": SAFE,
    }
    return CodeRequest(**(given | changes))  # type: ignore[arg-type]


def beginning() -> list[Event]:
    return [
        TurnStarted("t", NOW, WORDS),
        GoalTaken(),
        OutlineChanged(DRAFT, accepted=False),
    ]


def under_way() -> list[Event]:
    """The first step is done, one script failed, and the next one prints."""
    return [
        *beginning(),
        OutlineChanged(AT_WORK),
        RoundStarted(1, "assistant", "coder", "Download the prices and plot them by month"),
        OutlineChanged(CODERS, path=CODER),
        RoundStarted(2, CODER, "extend_library", "A function that downloads prices"),
        RoundStarted(3, LIBRARIAN, "write_function", "download_prices(symbol, days)", FUNCTION),
        RoundEnded(3, Status.DONE, "3 of 3 tests passed.", code=FUNCTION),
        RoundEnded(2, Status.DONE, "The library has download_prices now."),
        RoundStarted(4, CODER, "run_code", "Group the prices by month", CODE),
        RoundProgress(4, "251 rows\n"),
        RoundEnded(4, Status.FAILED, TRACEBACK),
        RoundStarted(5, CODER, "run_code", "Draw the chart with the column that is there", CODE),
        RoundProgress(5, "251 rows\n"),
        RoundProgress(5, "12 months, drawing\n"),
    ]


def ended(*made: Artifact) -> list[Event]:
    return [
        *under_way(),
        RoundEnded(5, Status.DONE, "('2025-11', 0.083)", made),
        RoundStarted(6, CODER, "finish", "months.png, and the best month"),
        RoundEnded(6, Status.DONE, "months.png shows the gain of each month.", made),
        RoundEnded(1, Status.DONE, "The best month was November.", made),
        OutlineChanged(
            AT_WORK.with_state(2, StepState.DONE, "months.png").with_state(3, StepState.DONE)
        ),
        RoundStarted(7, "assistant", "final_answer", "The best month, with the chart"),
        RoundEnded(7, Status.DONE, "November was best: 8.3 %.", made),
        ReplyChunk("November was the best month: the price rose by 8.3 %. The chart shows all."),
        TurnFinished(Status.DONE, NOW),
    ]


def folded(events: Iterable[Event]) -> Turn:
    turn = Turn("t", NOW)
    for event in events:
        turn = turn.apply(event)
    return turn


def chart(path: Path) -> Artifact:
    return Artifact(Kind.IMAGE, path=path, name="months.png")
