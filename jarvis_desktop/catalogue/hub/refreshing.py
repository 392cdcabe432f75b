"""Reads the Hub's list into the index, a page at each call. Runs in a child process only.

The first time a task's list is read whole, by downloads, so that what is cut off early has the
part that matters. Later it is read by the time of the last change until what is known, and whole
again now and then: downloads change without a change of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_desktop.catalogue.hub import entry as entries
from jarvis_desktop.catalogue.hub import sizes
from jarvis_desktop.catalogue.hub.checks import GONE, MOVED, THERE, Check
from jarvis_desktop.catalogue.hub.database import writing
from jarvis_desktop.catalogue.hub.entry import Entry
from jarvis_desktop.catalogue.hub.listing import HUB, Hub, Page, TooLargeError
from jarvis_desktop.catalogue.hub.rows import State, Writer
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.wording import tr

PAGE, CARD_PAGE, SMALLEST = 1000, 100, 10
CARDS = 500
"""Of so many entries, the most popular, the card is read too: of all it would be gigabytes."""
MOST = 3_000_000
"""Entries of a task, after which a list that does not end is given up."""
MARGIN = 3600
"""Seconds that are read twice: what changed while a page was read."""
UNSIZED = 30
"""Entries of a task whose files are asked for, as the list does not say how large they are."""
AGE = 30 * 86_400
"""Seconds after which a list is read whole again."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far the list of a task is after a page."""

    task: str
    position: int
    """Entries that were met in this reading."""
    fresh: int
    """Entries of this page that were not known."""
    done: bool
    whole: bool
    """Whether the whole list is read, not only its changes."""
    expected: int
    """How many entries it had when it was last read whole; 0 if it never was."""


def serve(
    path: Path, endpoint: str | None, patience: float, version: str, key: str
) -> Callable[..., Any]:
    """The handler of the child: "page", "unsized", "size", "check" and "tidy"."""
    if endpoint:
        # huggingface_hub reads it when it is imported, and never again.
        os.environ["HF_ENDPOINT"] = endpoint
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    if key:  # of this process alone: no other one is given it
        os.environ["HF_TOKEN"] = key
    hub = Hub(endpoint or os.environ.get("HF_ENDPOINT") or HUB, patience, version)
    _hold(path)
    reader = Reader(hub, Writer(path))

    def handle(report: Report, what: str, *args: Any) -> Any:
        if what == "page":
            return reader.page(*args)
        if what == "check":
            return reader.check(*args)
        if what == "unsized":
            return reader.unsized(*args)
        if what == "size":
            return reader.size(*args)
        return reader.writer.tidy()

    return handle


def _hold(path: Path) -> None:
    """Keep the index, for the life of this process, from a second refresh."""
    from filelock import FileLock, Timeout

    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(
            tr("The list of the Hub is being read already."), hint=tr("Wait until that is done.")
        ) from error
    _held.append(lock)


_held: list[Any] = []


class Reader:
    """Reads pages and keeps them."""

    def __init__(self, hub: Hub, writer: Writer) -> None:
        self._hub = hub
        self.writer = writer
        self._limit = PAGE

    def page(self, task: str, whole: bool) -> Step:
        """Read and keep the next page of a task's list; `whole` where a new reading shall be."""
        state = self.writer.state(task)
        expected = self.writer.count(state) if state.whole else 0
        sort = state.sort or ("downloads" if whole or not state.known else "lastModified")
        page = self._page(task, sort, state)
        if not state.sort:
            if sort == "lastModified" and page.moment - state.whole > AGE:
                return self.page(task, True)
            state = replace(
                state, sort=sort, began=page.moment, round=state.round + (sort == "downloads")
            )
        found = [each for item in page.items if (each := entries.read(item, task))]
        position = state.position + len(found)
        oldest = min((each.modified for each in found), default=state.known + 1)
        done = (
            page.cursor in ("", state.cursor)
            or position > MOST
            or (sort == "lastModified" and oldest <= state.known)
        )
        state = replace(state, cursor=page.cursor, position=position)
        fresh = self.writer.keep(found, state)
        if done:
            self._finish(state, expected)
        return Step(task, position, fresh, done, sort == "downloads", expected)

    def _page(self, task: str, sort: str, state: State) -> Page:
        """A page as long as the Hub gives it."""
        card = sort == "downloads" and state.position < CARDS
        while True:
            limit = min(self._limit, CARD_PAGE) if card else self._limit
            try:
                return self._hub.page(task, sort=sort, cursor=state.cursor, limit=limit, card=card)
            except TooLargeError as error:
                if limit > SMALLEST:
                    self._limit = max(SMALLEST, limit // 4)
                elif card:
                    card = False
                elif state.cursor:  # it is not one that the Hub knows any more
                    with self.writer.transaction() as db:
                        db.execute(
                            "UPDATE tasks SET sort = '', cursor = '', position = 0"
                            " WHERE number = ?",
                            [state.number],
                        )
                    self._limit = PAGE
                    return self._page(task, sort, replace(state, cursor="", position=0))
                else:
                    raise UnavailableError(
                        tr("The Hub gives no list of experts for {task}.", task=task),
                        hint=tr("Leave that task out, or try again later."),
                        fault=Fault.ANSWER,
                    ) from error

    def _finish(self, state: State, expected: int) -> None:
        whole = state.sort == "downloads"
        settled = replace(
            state,
            sort="",
            cursor="",
            position=0,
            known=max(1, state.began - MARGIN),
            whole=state.began if whole else state.whole,
        )
        # A list that is suddenly short is the Hub's trouble: nothing is dropped for it.
        if whole and 2 * state.position >= expected:
            self.writer.finish(settled)
        else:
            self.writer.keep((), settled)

    def unsized(self, task: str) -> list[Entry]:
        """The most popular entries of a size that the list does not give, such as pipelines."""
        return self.writer.unsized(self.writer.state(task), UNSIZED)

    def size(self, entry: Entry) -> None:
        """Read the size of an entry from its files, and keep it."""
        try:
            facts = self._hub.facts(entry.repo, providers=False)
        except TooLargeError:
            return
        except UnavailableError as error:
            if error.fault is not Fault.GONE:
                raise
            return
        sized = sizes.measured(entry, facts.get("siblings"))
        self.writer.keep([sized], self.writer.state(entry.task))

    def check(self, expert: Expert, now: int) -> Check:
        """Read and keep what the Hub says of an expert of the shipped list."""
        try:
            check = _check(expert, self._hub.facts(expert.repo), now)
        except TooLargeError:
            check = Check(expert.repo, now)
        except UnavailableError as error:
            if error.fault is not Fault.GONE:
                raise
            check = Check(expert.repo, now, state=GONE)
        self.writer.note(check)
        return check


def _check(expert: Expert, facts: Mapping[str, Any], now: int) -> Check:
    repo = facts.get("id")
    if entries.is_repo(repo) and repo.casefold() != expert.repo.casefold():
        return Check(expert.repo, now, state=f"{MOVED} {repo}")
    tags = facts.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    card = facts.get("cardData")
    return Check(
        expert.repo,
        now,
        state=THERE,
        sha=entries.commit(facts.get("sha")),
        download_mb=sizes.of_expert(expert, facts.get("siblings")),
        licence=entries.licence(tags, card if isinstance(card, dict) else {}),
        gated=facts.get("gated", False) not in (False, None),
        providers=entries.providers(facts.get("inferenceProviderMapping")),
        downloads=entries.count(facts.get("downloads")),
        likes=entries.count(facts.get("likes")),
    )
