"""Reads the Hub's list into the index, one page per call. Runs in a child process only.

A task's list is first read completely, by downloads, so that an interrupted sync has the part that
matters. Later only changes are read, and sometimes everything again, because downloads change
without a change of the repository.

It uses huggingface_hub's session, one request at a time. HfApi.list_models would hide where a page
ends, and would fail at a single strange field.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.download_worker import configure_hub, hub_errors, not_the_hub
from jarvis_desktop.experts.hub import entry as entries
from jarvis_desktop.experts.hub import experts
from jarvis_desktop.experts.hub.database import (
    GONE,
    MOVED,
    THERE,
    HubIndexWriter,
    RepositoryCheck,
    SyncState,
    writing,
)
from jarvis_desktop.experts.hub.entry import HubEntry

FIELDS = (
    "downloads", "gated", "inferenceProviderMapping", "lastModified", "library_name", "likes",
    "pipeline_tag", "private", "safetensors", "sha", "tags",
)  # fmt: skip
"""The requested fields. The Hub returns `usedStorage` for single repositories only."""
CARD = (*FIELDS, "cardData")

MAX_ANSWER_BYTES = 16 << 20
"""In bytes; the memory that a sync may take."""
MAX_CURSOR_CHARS = 4000
MAX_WAIT_S = 1800.0

_retry = "Look at the network and try again."


class TooLargeError(Exception):
    """The answer is too large; a shorter page may not be."""


@dataclass(frozen=True, slots=True)
class HubPage:
    """A page of the list."""

    items: tuple[object, ...]
    cursor: str
    """Where the next page begins; "" on the last page."""
    moment: int
    """When the Hub answered, by its own clock, in seconds since 1970."""


class HubListing:
    """The Hub at `endpoint`, with a timeout of `patience` seconds."""

    def __init__(self, endpoint: str, patience: float, version: str) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._version = version

    def page(self, task: str, *, sort: str, cursor: str, limit: int, card: bool) -> HubPage:
        """Request a page of a task's list, sorted by "downloads" or "lastModified", highest first.

        Raises UnavailableError, and TooLargeError if smaller pages may work.
        """
        parameters: dict[str, Any] = {
            "pipeline_tag": task,
            "sort": sort,
            "limit": limit,
            "expand": list(CARD if card else FIELDS),
        }
        if cursor:
            parameters["cursor"] = cursor
        headers, found = self._ask("/api/models", parameters)
        if not isinstance(found, list):
            raise not_the_hub(self._endpoint)
        return HubPage(tuple(found[: 2 * limit]), _next(headers), _moment(headers))

    def facts(self, repo: str, *, providers: bool = True) -> Mapping[str, Any]:
        """Request what the Hub says of a repository, its files and its API providers.

        Raises UnavailableError, with the fault GONE if there is no such repository.
        """
        _, found = self._ask(f"/api/models/{repo}", {"blobs": "true"})
        more: object = {}
        if providers:
            _, more = self._ask(f"/api/models/{repo}", {"expand": ["inferenceProviderMapping"]})
        if not isinstance(found, dict) or not isinstance(more, dict):
            raise not_the_hub(self._endpoint)
        return {**found, **more}

    def _ask(self, path: str, parameters: Mapping[str, Any]) -> tuple[Mapping[str, str], object]:
        from huggingface_hub import get_session
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        headers = build_hf_headers(library_name="jarvis-desktop", library_version=self._version)
        with (
            hub_errors(self._endpoint, self._patience),
            get_session().stream(
                "GET",
                self._endpoint + path,
                params=parameters,
                headers=headers,
                timeout=self._patience,
            ) as response,
        ):
            body = bytearray()
            for chunk in response.iter_bytes(1 << 16):
                body += chunk
                if len(body) > MAX_ANSWER_BYTES:
                    raise TooLargeError
            if response.status_code != 200:
                raise self._refusal(response.status_code, response.headers)
            return response.headers, json.loads(body)

    def _refusal(self, status: int, headers: Mapping[str, str]) -> Exception:
        if status == 429:
            wait = _wait(headers)
            return UnavailableError(
                tr("The Hub asks to wait {wait} seconds.", wait=f"{wait:.0f}"),
                hint=tr(
                    "The part already read is kept. Continue later: jarvis-desktop experts refresh."
                ),
                retryable=True,
                fault=Fault.BUSY,
                wait=wait,
            )
        if status in (400, 413, 422, 504):  # more than the Hub returns at once
            return TooLargeError()
        gone = status in (401, 403, 404, 410)
        return UnavailableError(
            tr("The Hub refused to answer (status {status}).", status=status),
            hint=tr("Set a new key: jarvis-desktop experts key set.")
            if status in (401, 403)
            else _retry,
            retryable=not gone,
            fault=Fault.GONE if gone else Fault.BUSY,
        )


def _next(headers: Mapping[str, str]) -> str:
    """The cursor of the next page. Nothing else of the Hub's link is used."""
    for part in headers.get("Link", "")[: 3 * MAX_CURSOR_CHARS].split(","):
        address, _, relation = part.partition(">")
        if 'rel="next"' in relation:
            query = parse_qs(urlsplit(address.strip().removeprefix("<")).query)
            cursor = query.get("cursor", [""])[0]
            return cursor if len(cursor) <= MAX_CURSOR_CHARS and cursor.isprintable() else ""
    return ""


def _moment(headers: Mapping[str, str]) -> int:
    try:
        return int(parsedate_to_datetime(headers.get("Date", "")).timestamp())
    except (ValueError, TypeError, OverflowError):
        return int(time.time())


def _wait(headers: Mapping[str, str]) -> float:
    """How long to wait by one of the two headers; a minute without one."""
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        parse_ratelimit_headers,
    )

    said = headers.get("Retry-After", "").strip()
    if said.isdecimal() and said.isascii():
        return min(float(said), MAX_WAIT_S)
    limits = parse_ratelimit_headers(headers)
    return min(float(limits.reset_in_seconds) + 1, MAX_WAIT_S) if limits else 60.0


PAGE, CARD_PAGE, MIN_PAGE = 1000, 100, 10
MAX_CARDS = 500
"""The cards of this many top entries are read; those of all would be gigabytes."""
MAX_ENTRIES = 3_000_000
"""Entries of a task after which an endless list is abandoned."""
OVERLAP_S = 3600
"""Seconds that are read twice, because entries may change while a page is read."""
MAX_UNSIZED = 30
"""Entries of a task whose files are requested, since the list does not state their size."""
REREAD_AFTER_S = 30 * 86_400
"""Seconds after which a list is read completely again."""


@dataclass(frozen=True, slots=True)
class SyncStep:
    """The state of a task's list after a page."""

    task: str
    position: int
    """Entries read so far."""
    fresh: int
    """New entries on this page."""
    done: bool
    whole: bool
    """Whether the whole list is read, not only its changes."""
    expected: int
    """How many entries it had when it was last read completely; 0 if never."""


def serve(
    path: Path, endpoint: str | None, patience: float, version: str, key: str
) -> Callable[..., Any]:
    """Return the child's handler: "page", "unsized", "size", "check" and "tidy"."""
    if key:  # for this process alone
        os.environ["HF_TOKEN"] = key
    hub = HubListing(configure_hub(endpoint), patience, version)
    _hold(path)
    reader = HubReader(hub, HubIndexWriter(path))

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
    """Lock the index against a second refresh for the life of this process."""
    from filelock import FileLock, Timeout

    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(
            tr("The Hub's list is already being read."), hint=tr("Wait until that is done.")
        ) from error
    _held.append(lock)


_held: list[Any] = []


class HubReader:
    """Reads pages into the index."""

    def __init__(self, hub: HubListing, writer: HubIndexWriter) -> None:
        self._hub = hub
        self.writer = writer
        self._limit = PAGE

    def page(self, task: str, whole: bool) -> SyncStep:
        """Read the next page of a task's list into the index; `whole` starts a complete reading."""
        state = self.writer.state(task)
        expected = self.writer.count(state) if state.whole else 0
        sort = state.sort or ("downloads" if whole or not state.known else "lastModified")
        page = self._page(task, sort, state)
        if not state.sort:
            if sort == "lastModified" and page.moment - state.whole > REREAD_AFTER_S:
                return self.page(task, True)
            state = replace(
                state, sort=sort, began=page.moment, round=state.round + (sort == "downloads")
            )
        found = [each for item in page.items if (each := entries.read(item, task))]
        position = state.position + len(found)
        oldest = min((each.modified for each in found), default=state.known + 1)
        done = (
            page.cursor in ("", state.cursor)
            or position > MAX_ENTRIES
            or (sort == "lastModified" and oldest <= state.known)
        )
        state = replace(state, cursor=page.cursor, position=position)
        fresh = self.writer.keep(found, state)
        if done:
            self._finish(state, expected)
        return SyncStep(task, position, fresh, done, sort == "downloads", expected)

    def _page(self, task: str, sort: str, state: SyncState) -> HubPage:
        """The largest page that the Hub returns."""
        card = sort == "downloads" and state.position < MAX_CARDS
        while True:
            limit = min(self._limit, CARD_PAGE) if card else self._limit
            try:
                return self._hub.page(task, sort=sort, cursor=state.cursor, limit=limit, card=card)
            except TooLargeError as error:
                if limit > MIN_PAGE:
                    self._limit = max(MIN_PAGE, limit // 4)
                elif card:
                    card = False
                elif state.cursor:  # the Hub no longer knows the cursor
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
                        tr("The Hub returned no list of experts for {task}.", task=task),
                        hint=tr("Leave that task out, or try again later."),
                        fault=Fault.ANSWER,
                    ) from error

    def _finish(self, state: SyncState, expected: int) -> None:
        whole = state.sort == "downloads"
        settled = replace(
            state,
            sort="",
            cursor="",
            position=0,
            known=max(1, state.began - OVERLAP_S),
            whole=state.began if whole else state.whole,
        )
        # A list that is suddenly short is the Hub's mistake, so nothing is dropped.
        if whole and 2 * state.position >= expected:
            self.writer.finish(settled)
        else:
            self.writer.keep((), settled)

    def unsized(self, task: str) -> list[HubEntry]:
        """Return the most popular entries whose size the list does not state, such as pipelines."""
        return self.writer.unsized(self.writer.state(task), MAX_UNSIZED)

    def size(self, entry: HubEntry) -> None:
        """Determine an entry's size from its files, and save it."""
        try:
            facts = self._hub.facts(entry.repo, providers=False)
        except TooLargeError:
            return
        except UnavailableError as error:
            if error.fault is not Fault.GONE:
                raise
            return
        sized = experts.with_size(entry, facts.get("siblings"))
        self.writer.keep([sized], self.writer.state(entry.task))

    def check(self, expert: Expert, now: int) -> RepositoryCheck:
        """Save what the Hub says of a shipped expert."""
        try:
            check = _check(expert, self._hub.facts(expert.repo), now)
        except TooLargeError:
            check = RepositoryCheck(expert.repo, now)
        except UnavailableError as error:
            if error.fault is not Fault.GONE:
                raise
            check = RepositoryCheck(expert.repo, now, state=GONE)
        self.writer.note(check)
        return check


def _check(expert: Expert, facts: Mapping[str, Any], now: int) -> RepositoryCheck:
    repo = facts.get("id")
    if entries.is_repo(repo) and repo.casefold() != expert.repo.casefold():
        return RepositoryCheck(expert.repo, now, state=f"{MOVED} {repo}")
    tags = facts.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    card = facts.get("cardData")
    return RepositoryCheck(
        expert.repo,
        now,
        state=THERE,
        sha=entries.commit(facts.get("sha")),
        download_mb=experts.download_size(expert, facts.get("siblings")),
        licence=entries.licence(tags, card if isinstance(card, dict) else {}),
        gated=facts.get("gated", False) not in (False, None),
        providers=entries.providers(facts.get("inferenceProviderMapping")),
        downloads=entries.count(facts.get("downloads")),
        likes=entries.count(facts.get("likes")),
    )
