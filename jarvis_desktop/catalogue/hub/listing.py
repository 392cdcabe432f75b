"""Asks the Hub: a page of its list for a task, or the facts of one repository. Runs in a child
process only.

One request at a time, over huggingface_hub's session. HfApi.list_models would hide where a page
ends and read the next one by itself, and builds objects of which one strange field breaks all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jarvis_desktop.core.errors import Fault, JarvisError, UnavailableError
from jarvis_desktop.core.wording import tr

HUB = "https://huggingface.co"

FIELDS = (
    "downloads", "gated", "inferenceProviderMapping", "lastModified", "library_name", "likes",
    "pipeline_tag", "private", "safetensors", "sha", "tags",
)  # fmt: skip
"""What is asked for of each entry. The Hub gives `usedStorage` for single repositories only."""
CARD = (*FIELDS, "cardData")

LARGEST_ANSWER = 16 << 20
"""Bytes of an answer that are read; more of them would not fit into the memory we promise."""
LONGEST_CURSOR = 4000
LONGEST_WAIT = 1800.0

_retry = "Look at the network and try again."


class TooLargeError(Exception):
    """The answer is larger than what is read; a shorter page may not be."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the list."""

    items: tuple[object, ...]
    cursor: str
    """Where the next page begins; "" where this is the last."""
    moment: int
    """When the Hub answered, by its own clock, in seconds since 1970."""


class Hub:
    """The Hub at `endpoint`; `patience` is how many seconds a silent one is waited for."""

    def __init__(self, endpoint: str, patience: float, version: str) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._patience = patience
        self._version = version

    def page(self, task: str, *, sort: str, cursor: str, limit: int, card: bool) -> Page:
        """A page of a task's list, by "downloads" or "lastModified", the largest first.

        Raises UnavailableError, and TooLargeError where it should be asked for in smaller pages.
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
            raise self._strange()
        return Page(tuple(found[: 2 * limit]), _next(headers), _moment(headers))

    def facts(self, repo: str, *, providers: bool = True) -> Mapping[str, Any]:
        """What the Hub says of a repository, with its files, and who runs it behind an API.

        Raises UnavailableError; with the fault GONE where it has no such repository.
        """
        _, found = self._ask(f"/api/models/{repo}", {"blobs": "true"})
        more: object = {}
        if providers:
            _, more = self._ask(f"/api/models/{repo}", {"expand": ["inferenceProviderMapping"]})
        if not isinstance(found, dict) or not isinstance(more, dict):
            raise self._strange()
        return {**found, **more}

    def _ask(self, path: str, parameters: Mapping[str, Any]) -> tuple[Mapping[str, str], object]:
        from huggingface_hub import get_session
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        headers = build_hf_headers(library_name="jarvis-desktop", library_version=self._version)
        with (
            self._sentences(),
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
                if len(body) > LARGEST_ANSWER:
                    raise TooLargeError
            if response.status_code != 200:
                raise self._refusal(response.status_code, response.headers)
            try:
                return response.headers, json.loads(body)
            except (ValueError, RecursionError) as error:
                raise self._strange() from error

    def _refusal(self, status: int, headers: Mapping[str, str]) -> Exception:
        if status == 429:
            wait = _wait(headers)
            return UnavailableError(
                tr("The Hub asks to be left alone for {wait} seconds.", wait=f"{wait:.0f}"),
                hint=tr("What was read is kept. Go on later: jarvis-desktop experts refresh."),
                retryable=True,
                fault=Fault.BUSY,
                wait=wait,
            )
        if status in (400, 413, 422, 504):  # more than it gives at a time
            return TooLargeError()
        gone = status in (401, 403, 404, 410)
        return UnavailableError(
            tr("The Hub refused to answer (status {status}).", status=status),
            hint=tr("Log in anew: jarvis-desktop experts key set.")
            if status in (401, 403)
            else _retry,
            retryable=not gone,
            fault=Fault.GONE if gone else Fault.BUSY,
        )

    def _strange(self) -> UnavailableError:
        return UnavailableError(
            tr("{endpoint} does not answer like the Hugging Face Hub.", endpoint=self._endpoint),
            hint=tr("A network that asks for a login answers in its place: open a web page first."),
            fault=Fault.ANSWER,
        )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Say in a sentence what the libraries raise."""
        import httpx2
        from huggingface_hub import errors

        try:
            yield
        except (JarvisError, TooLargeError):
            raise
        except errors.OfflineModeIsEnabled as error:
            raise UnavailableError(
                tr("The Hub was not asked, because HF_HUB_OFFLINE forbids it."),
                hint=tr("Unset that variable."),
            ) from error
        except httpx2.TimeoutException as error:
            raise UnavailableError(
                tr(
                    "The Hub gave no answer within {patience} seconds.",
                    patience=f"{self._patience:.0f}",
                ),
                hint=_retry,
                retryable=True,
                fault=Fault.TIMEOUT,
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise UnavailableError(
                tr(
                    "The Hub at {endpoint} cannot be reached, or broke off.",
                    endpoint=self._endpoint,
                ),
                hint=_retry,
                retryable=True,
                fault=Fault.NETWORK,
            ) from error


def _next(headers: Mapping[str, str]) -> str:
    """The cursor of the next page. Of the address that the Hub gives nothing else is used."""
    for part in headers.get("Link", "")[: 3 * LONGEST_CURSOR].split(","):
        address, _, relation = part.partition(">")
        if 'rel="next"' in relation:
            query = parse_qs(urlsplit(address.strip().removeprefix("<")).query)
            cursor = query.get("cursor", [""])[0]
            return cursor if len(cursor) <= LONGEST_CURSOR and cursor.isprintable() else ""
    return ""


def _moment(headers: Mapping[str, str]) -> int:
    try:
        return int(parsedate_to_datetime(headers.get("Date", "")).timestamp())
    except (ValueError, TypeError, OverflowError):
        return int(time.time())


def _wait(headers: Mapping[str, str]) -> float:
    """How long to wait, as one of the two headers says; a minute where none does."""
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        parse_ratelimit_headers,
    )

    said = headers.get("Retry-After", "").strip()
    if said.isdecimal() and said.isascii():
        return min(float(said), LONGEST_WAIT)
    limits = parse_ratelimit_headers(headers)
    return min(float(limits.reset_in_seconds) + 1, LONGEST_WAIT) if limits else 60.0
