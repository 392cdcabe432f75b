"""All errors that may reach the user.

JarvisError
├── InputError        a file or a wording that cannot be used; the message names it
├── PlanError         a plan that breaks a rule (unknown id, cycle, wrong kind)
├── ExpertError       an expert was tried and failed
├── UnavailableError  something is missing: weights, a device, a program, a permission
│   ├── GivenUpError   the user stopped it while another task waited for it
│   └── InsertionError  text could not be put into another program, or only its beginning
└── StorageError      the history or one of our files cannot be read or written
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class Fault(StrEnum):
    """Why a call failed, for deciding what to try next."""

    OTHER = ""
    KEY = "key"
    """The key is missing or was refused (HTTP 401, 403)."""
    PAYMENT = "payment"
    """Payment is required (402)."""
    GONE = "gone"
    """It does not exist, or no longer (404, 410)."""
    BUSY = "busy"
    """Too many requests (429), or a temporary server error (500, 502, 504)."""
    LOADING = "loading"
    """It is still loading (503)."""
    NETWORK = "network"
    """It cannot be reached."""
    TIMEOUT = "timeout"
    """It did not answer in time."""
    ANSWER = "answer"
    """The answer is not what was promised: empty, cut off, of another kind."""
    MEMORY = "memory"
    """It needs more memory than is available."""
    CRASH = "crash"
    """Its process ended."""


class JarvisError(Exception):
    """An error with a `message` for the user and a `hint` what to do."""

    kind: ClassVar[str] = ""
    """The kind of error in a word, for an LLM that looks for another way."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        fault: Fault = Fault.OTHER,
        wait: float = 0.0,
    ) -> None:
        """`wait` is the number of seconds after which it may work, if the server gave one."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.fault = fault
        self.wait = wait

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions only pickle positional arguments, and these cross process borders.
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
    """The user stopped it from another place."""


class InsertionError(UnavailableError):
    """Text could not be put into the program that has the focus, or only its beginning.

    `rest` is the end of the text that was not inserted.
    """

    def __init__(self, message: str, *, rest: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rest = rest


class StorageError(JarvisError):
    """The database or the artifact store cannot be used."""

    kind = "storage"
