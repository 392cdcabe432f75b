"""Tries an LLM: its short answer as it comes, and how quick it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton

from jarvis_desktop.core.shown import printable
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.listing import Known
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.experts.desk import ExpertsDesk, why
from jarvis_desktop.ui.experts.entry import Entry
from jarvis_desktop.ui.look import phrases

if TYPE_CHECKING:
    from jarvis_desktop.compose_shelf import Shelf
    from jarvis_desktop.core.call import Report
    from jarvis_desktop.llm.trial import Trial

LONGEST = 2000
"""Characters of the answer that are shown."""


class LLMTest(QObject):
    """Belongs to a line of the list, and to its button."""

    def __init__(self, desk: ExpertsDesk, entry: Entry, button: QPushButton, known: Known) -> None:
        super().__init__(button)
        self._desk, self._entry, self._button, self._known = desk, entry, button, known

    def press(self) -> None:
        """Begin, or stop what was begun."""
        what = f"try llm {self._known.name}"
        if self._desk.does(what):
            self._desk.stop(what)
            return
        self._entry.complain("")
        self._entry.say(
            tr("Waiting for the first word…")
            if self._known.loaded
            else tr("Loading it into memory… That may take a minute.")
        )
        self._entry.show_progress(None, tr("Progress of the test"))
        self._button.setText(tr("Stop"))
        engine, entry, known = self._desk.session.engine, self._entry, self._known

        async def work(shelf: Shelf, _: Report) -> Trial:
            return await shelf.try_llm(known, lambda trial: engine.post(_show, entry, trial))

        self._desk.run(what, work, self._ended)

    def _ended(self, outcome: Outcome) -> None:
        self._entry.done()
        self._button.setText(tr("Test"))
        if outcome.value is None:
            self._entry.say("")
            self._entry.complain(why(outcome))
        else:
            _show(self._entry, outcome.value)
        self._desk.look_at_llms()


def _show(entry: Entry, trial: Trial) -> None:
    figures = [tr("first word after {time}", time=phrases.seconds(trial.first))]
    if trial.speed:
        figures.append(tr("about {count} tokens a second", count=f"{trial.speed:.0f}"))
    figures.append(tr("all of it in {time}", time=phrases.seconds(trial.whole)))
    entry.say(f"{printable(trial.words).strip()[:LONGEST]}\n\n{' · '.join(figures)}")
