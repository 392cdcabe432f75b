"""The errors of calls to inference providers, as sentences for the user."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TypeVar

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr

_Error = TypeVar("_Error", ExpertError, UnavailableError)

SET_A_KEY = mark("Set one with: jarvis-desktop experts key set.")
UNKNOWN_EXPERT = ("not supported", "not found", "does not exist", "doesn't exist", "no longer")
"""Words with status 400 that mean that the provider does not serve the expert."""
_RATE_LIMIT = re.compile(r";\s*r\s*=\s*0\b.*?;\s*t\s*=\s*(\d{1,9})")
"""The Hub's rate-limit header when nothing remains: "api";r=0;t=55."""


@dataclass(frozen=True, slots=True)
class ApiTarget:
    """Which expert is requested from whom."""

    who: str
    """Begins a sentence: "fal-ai", "The Hugging Face Hub"."""
    expert: str
    secret: str = field(default="", repr=False)  # removed from everything that the service says
    endpoint: str = ""
    """The task of an address that the user set; "" for the Hub and providers."""

    @property
    def whom(self) -> str:
        """`who` within a sentence: "the Hugging Face Hub"."""
        return re.sub(r"^The ", "the ", self.who)


def no_key() -> UnavailableError:
    """There is no key for the Hub."""
    return UnavailableError(
        tr("There is no key for the Hugging Face Hub, which experts on the network need."),
        hint=tr(SET_A_KEY),
        fault=Fault.KEY,
    )


def refusal(asked: ApiTarget, status: int, headers: Mapping[str, str], body: bytes) -> JarvisError:
    """Turn an HTTP status into an error. `headers` are in lower case."""
    said = words_of(asked, body)
    if status in (401, 403) and asked.endpoint:
        return UnavailableError(
            tr("{who} refused the key.", who=asked.who),
            hint=tr("Set it with: jarvis-desktop servers key set {task}.", task=asked.endpoint),
            fault=Fault.KEY,
        )
    if status in (401, 403):
        return UnavailableError(
            tr("{who} refused the key of the Hugging Face Hub.", who=asked.who),
            hint=tr(
                "It may be mistyped, deleted, or lack the permission to make calls to Inference "
                "Providers. {set_a_key}",
                set_a_key=tr(SET_A_KEY),
            ),
            fault=Fault.KEY,
        )
    if status == 402:
        return UnavailableError(
            tr(
                "The account has no credit left for {expert} at {whom}.",
                expert=asked.expert,
                whom=asked.whom,
            ),
            hint=tr(
                "Add credit at https://huggingface.co/settings/billing, or use experts of this "
                "computer."
            ),
            fault=Fault.PAYMENT,
        )
    if status in (404, 410) or (
        status == 400 and any(words in said.casefold() for words in UNKNOWN_EXPERT)
    ):
        return not_served(asked)
    if 300 <= status < 400:
        return a_stranger(asked)
    wait = _wait(headers)
    if status == 429:
        return ExpertError(
            tr("{who} wants fewer requests for now.", who=asked.who),
            hint=tr("Try again in a while."),
            retryable=True,
            fault=Fault.BUSY,
            wait=wait,
        )
    if status == 503:
        return ExpertError(
            tr("{who} is still making {expert} ready.", who=asked.who, expert=asked.expert),
            hint=tr("Try again in a while."),
            retryable=True,
            fault=Fault.LOADING,
            wait=wait or _estimated(body),
        )
    if status == 408:
        return too_slow(asked)
    if status == 413:
        return ExpertError(
            tr("What was sent is too large for {whom}.", whom=asked.whom),
            hint=tr("Try it with a smaller file."),
        )
    tail = f": {said}" if said else f" (status {status})."
    if status >= 500:
        return ExpertError(
            tr("{who} failed{tail}", who=asked.who, tail=tail),
            retryable=True,
            fault=Fault.BUSY,
            wait=wait,
        )
    return ExpertError(tr("{who} did not take the request{tail}", who=asked.who, tail=tail))


def _failure(
    kind: type[_Error], message: str, hint: str = "", *, fault: Fault, retryable: bool = False
) -> Callable[[ApiTarget], _Error]:
    def error(asked: ApiTarget) -> _Error:
        words = tr(message, who=asked.who, whom=asked.whom, expert=asked.expert)
        return kind(words, hint=tr(hint) if hint else "", retryable=retryable, fault=fault)

    return error


not_served = _failure(
    UnavailableError,
    mark("{who} does not serve {expert}, or no longer."),
    mark("Choose another expert: jarvis-desktop experts list."),
    fault=Fault.GONE,
)
no_way = _failure(
    UnavailableError,
    mark("There is no connection to {whom}."),
    mark("Check whether this computer is connected to the network."),
    fault=Fault.NETWORK,
    retryable=True,
)
not_trusted = _failure(
    UnavailableError,
    mark("The server that answers for {whom} has no valid certificate."),
    mark("The network may want a log-in, or filter what passes; or the clock is wrong."),
    fault=Fault.NETWORK,
)
a_stranger = _failure(
    UnavailableError,
    mark("A web page answered instead of {whom}."),
    mark("The network may want a log-in first: open any page in a browser."),
    fault=Fault.ANSWER,
)
broke_off = _failure(
    ExpertError, mark("The connection to {whom} broke off."), fault=Fault.NETWORK, retryable=True
)
cut_off = _failure(
    ExpertError, mark("The answer from {whom} was cut off."), fault=Fault.ANSWER, retryable=True
)
too_slow = _failure(
    ExpertError, mark("{who} did not answer in time."), fault=Fault.TIMEOUT, retryable=True
)


def too_much(asked: ApiTarget, most: int) -> ExpertError:
    """The answer is larger than any valid one."""
    return ExpertError(
        tr(
            "The answer of {whom} has more than {most} MB, which is more than "
            "{expert} should give.",
            whom=asked.whom,
            most=most // 1000000,
            expert=asked.expert,
        ),
        fault=Fault.ANSWER,
    )


def unusable(asked: ApiTarget, *, why: str = "", retryable: bool = False) -> ExpertError:
    """The answer is not what was asked for; `why` ends the sentence."""
    tail = f": {why}." if why else "."
    return ExpertError(
        tr(
            "The answer from {whom} for {expert} cannot be used{tail}",
            whom=asked.whom,
            expert=asked.expert,
            tail=tail,
        ),
        retryable=retryable,
        fault=Fault.ANSWER,
    )


def words_of(asked: ApiTarget, body: bytes) -> str:
    """The readable part of an error's body: {"error": {"message": …}} in all its variants."""
    text = body.decode("utf-8", "replace")
    detail: object = text
    if text.lstrip()[:1] in ("{", "["):
        try:
            detail = json.loads(text)
        except (ValueError, RecursionError):
            return ""
    while isinstance(detail, dict | list):
        if isinstance(detail, list):
            detail = detail[0] if detail else ""
        else:
            named = ("error", "message", "detail", "msg")
            detail = next((detail[key] for key in named if key in detail), "")
    found = str(detail or "")
    if found.lstrip().startswith("<"):
        return ""
    if asked.secret:
        found = found.replace(asked.secret, "…")
    return one_line(found, limit=200)


def _wait(headers: Mapping[str, str]) -> float:
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        due = parsedate_to_datetime(value).timestamp()
        return max(0.0, due - _now(headers))
    except (ValueError, TypeError, OverflowError):
        pass
    limit = _RATE_LIMIT.search(headers.get("ratelimit", ""))
    return float(limit[1]) if limit else 0.0


def _now(headers: Mapping[str, str]) -> float:
    """The service's clock, if it sends the time: ours may be wrong."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return time.time()


def _estimated(body: bytes) -> float:
    """Seconds until the expert is loaded, as the service estimates: {"estimated_time": 20.0}."""
    try:
        guess = json.loads(body)["estimated_time"]
        return min(max(0.0, float(guess)), 3600.0)
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0.0
