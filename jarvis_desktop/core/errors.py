"""Every error that may reach a person.

JarvisError
├── InputError        a file or a wording that cannot be used; the message names it
├── PlanError         a plan that breaks a rule (unknown id, cycle, wrong kind)
├── ExpertError       an expert tried and failed
├── UnavailableError  something is not here: weights, a device, a program, a permission
│   └── GivenUpError   the person stopped it while somebody else waited for it
└── StorageError      the history or a file of ours cannot be read or written
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class Fault(StrEnum):
    """What went wrong with a call, for whoever decides what to try next."""

    OTHER = ""
    KEY = "key"
    """No key, or one that was refused (HTTP 401, 403)."""
    PAYMENT = "payment"
    """It would cost money that is not there (402)."""
    GONE = "gone"
    """It does not exist, or no longer (404, 410)."""
    BUSY = "busy"
    """Too many requests (429), or a passing trouble of the server (500, 502, 504)."""
    LOADING = "loading"
    """It is being made ready (503)."""
    NETWORK = "network"
    """There is no way to it."""
    TIMEOUT = "timeout"
    """It gave no answer in time."""
    ANSWER = "answer"
    """It answered, but not with what was promised: empty, cut off, of another kind."""
    MEMORY = "memory"
    """It needs more memory than there is."""
    CRASH = "crash"
    """Its process ended."""


class JarvisError(Exception):
    """Says in `message` what went wrong and in `hint` what to do; both are shown to the person."""

    kind: ClassVar[str] = ""
    """What it is in a word, for an LLM that looks for another way."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        fault: Fault = Fault.OTHER,
        wait: float = 0.0,
    ) -> None:
        """`wait` is after how many seconds it may work, where the other side has said so."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.fault = fault
        self.wait = wait

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions pickle their positional arguments only, and ours cross process borders.
        return _rebuild, (type(self), self.message, vars(self))

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def _rebuild(kind: type[JarvisError], message: str, state: dict[str, object]) -> JarvisError:
    error = kind(message)
    vars(error).update(state)
    return error


class InputError(JarvisError):
    """The request or one of its files cannot be used."""

    kind = "input"


class PlanError(JarvisError):
    """A plan that breaks one of the rules of `Plan`."""

    kind = "plan"


class ExpertError(JarvisError):
    """An expert was tried and gave no usable result."""

    kind = "expert"


class UnavailableError(JarvisError):
    """Weights, a device, a program or a permission is missing."""

    kind = "unavailable"


class GivenUpError(UnavailableError):
    """The person stopped it, elsewhere than where it is waited for."""


class StorageError(JarvisError):
    """The database or the artifact store cannot be used."""

    kind = "storage"
