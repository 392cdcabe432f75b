"""Every error that may reach a person.

JarvisError
├── InputError        a file or a wording that cannot be used; the message names it
├── PlanError         a plan that breaks a rule (unknown id, cycle, wrong kind)
├── ExpertError       an expert tried and failed
├── UnavailableError  something is not here: weights, a device, a program, a permission
└── StorageError      the history or a file of ours cannot be read or written
"""

from __future__ import annotations

from typing import ClassVar


class JarvisError(Exception):
    """Says in `message` what went wrong and in `hint` what to do; both are shown to the person."""

    kind: ClassVar[str] = ""
    """What it is in a word, for an LLM that looks for another way."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions pickle their positional arguments only, and ours cross process borders.
        return _rebuild, (type(self), self.message, self.hint, self.retryable)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def _rebuild(kind: type[JarvisError], message: str, hint: str, retryable: bool) -> JarvisError:
    return kind(message, hint=hint, retryable=retryable)


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


class StorageError(JarvisError):
    """The database or the artifact store cannot be used."""

    kind = "storage"
