"""Says in sentences what goes wrong between here and the services that run experts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr

SET_A_KEY = mark("Set one with: jarvis-desktop experts key set.")

UNKNOWN_HERE = ("not supported", "not found", "does not exist", "doesn't exist", "no longer")
"""By which words status 400 says that a provider does not serve the expert."""

_RATE = re.compile(r";\s*r\s*=\s*0\b.*?;\s*t\s*=\s*(\d{1,9})")
"""The rate-limit header of the Hub, where nothing remains: "api";r=0;t=55."""


@dataclass(frozen=True, slots=True)
class ApiTarget:
    """Who is asked for what, in the words of the sentences."""

    who: str
    """Begins a sentence: "fal-ai", "The Hugging Face Hub"."""
    expert: str
    secret: str = field(default="", repr=False)
    """Taken out of all that the other side says."""

    @property
    def whom(self) -> str:
        """`who` within a sentence: "the Hugging Face Hub"."""
        return re.sub(r"^The ", "the ", self.who)


def no_key() -> UnavailableError:
    """There is no key to show."""
    return UnavailableError(
        tr("There is no key for the Hugging Face Hub, which experts on the network need."),
        hint=tr(SET_A_KEY),
        fault=Fault.KEY,
    )


def refusal(asked: ApiTarget, status: int, headers: Mapping[str, str], body: bytes) -> JarvisError:
    """The error that an HTTP status stands for. `headers` are in lower case."""
    said = words_of(asked, body)
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
        status == 400 and any(words in said.casefold() for words in UNKNOWN_HERE)
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


def not_served(asked: ApiTarget) -> UnavailableError:
    """It is not there, or no longer."""
    return UnavailableError(
        tr(
            "{who} does not serve {expert}, or no longer.",
            who=asked.who,
            expert=asked.expert,
        ),
        hint=tr("Choose another expert: jarvis-desktop experts list."),
        fault=Fault.GONE,
    )


def no_way(asked: ApiTarget) -> UnavailableError:
    """No connection came about."""
    return UnavailableError(
        tr("There is no way to {whom}.", whom=asked.whom),
        hint=tr("Look whether this computer is connected to the network."),
        retryable=True,
        fault=Fault.NETWORK,
    )


def not_trusted(asked: ApiTarget) -> UnavailableError:
    """Something between here and there shows a certificate of its own."""
    return UnavailableError(
        tr("What answers in the place of {whom} cannot prove who it is.", whom=asked.whom),
        hint=tr("The network may want a log-in, or filter what passes; or the clock is wrong."),
        fault=Fault.NETWORK,
    )


def a_stranger(asked: ApiTarget) -> UnavailableError:
    """A web page or a redirection came instead of an answer."""
    return UnavailableError(
        tr("A web page answered in the place of {whom}.", whom=asked.whom),
        hint=tr("The network may want a log-in first: open any page in a browser."),
        fault=Fault.ANSWER,
    )


def broke_off(asked: ApiTarget) -> ExpertError:
    """The connection ended before an answer began."""
    return ExpertError(
        tr("The connection to {whom} broke off.", whom=asked.whom),
        retryable=True,
        fault=Fault.NETWORK,
    )


def cut_off(asked: ApiTarget) -> ExpertError:
    """The connection ended in the middle of an answer."""
    return ExpertError(
        tr("The answer of {whom} was cut off.", whom=asked.whom), retryable=True, fault=Fault.ANSWER
    )


def too_slow(asked: ApiTarget) -> ExpertError:
    """No whole answer came in time."""
    return ExpertError(
        tr("{who} gave no whole answer in time.", who=asked.who),
        retryable=True,
        fault=Fault.TIMEOUT,
    )


def too_much(asked: ApiTarget, most: int) -> ExpertError:
    """The answer is larger than any that could be meant."""
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
    """An answer came, but not what was asked for. `why` ends the sentence."""
    tail = f": {why}." if why else "."
    return ExpertError(
        tr(
            "What {whom} answered for {expert} cannot be used{tail}",
            whom=asked.whom,
            expert=asked.expert,
            tail=tail,
        ),
        retryable=retryable,
        fault=Fault.ANSWER,
    )


def words_of(asked: ApiTarget, body: bytes) -> str:
    """What of an error's body is for people: {"error": {"message": …}} in all its variants."""
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
    """Seconds that the other side wants waited: a number, or a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        due = parsedate_to_datetime(value).timestamp()
        return max(0.0, due - _now(headers))
    except (ValueError, TypeError, OverflowError):
        pass
    limit = _RATE.search(headers.get("ratelimit", ""))
    return float(limit[1]) if limit else 0.0


def _now(headers: Mapping[str, str]) -> float:
    """The other side's clock, where it says so: ours may be wrong."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return time.time()


def _estimated(body: bytes) -> float:
    """Seconds until it is loaded, as the service guesses: {"estimated_time": 20.0}."""
    try:
        guess = json.loads(body)["estimated_time"]
        return min(max(0.0, float(guess)), 3600.0)
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0.0
