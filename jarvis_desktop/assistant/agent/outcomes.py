"""Puts what came of a run into words, for the LLM that wrote the script and for the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from jarvis_desktop.assistant.agent.code_text import middle_cut
from jarvis_desktop.assistant.agent.coding import Ran
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import CodeOutcome, Ending, Protection
from jarvis_desktop.core.shown import one_line, printable

LONGEST_PRINTED = 4000
LONGEST_VALUE = 1500
LONGEST_ERROR = 2500
MOST_FILES = 40


def told(
    ran: Ran,
    made: Sequence[Artifact],
    not_kept: Sequence[str],
    *,
    timeout: float,
    protection: Protection,
) -> str:
    """How it ended, what it gave, printed and made, and what was not taken of it."""
    outcome = ran.outcome
    return "\n".join(
        (
            ended(outcome, timeout),
            *_about_session(ran, protection),
            *_said(outcome),
            *_files(made, (*outcome.left_out, *not_kept)),
            *ran.news,
        )
    )


def ended(outcome: CodeOutcome, timeout: float) -> str:
    """How a run ended, in a sentence or two, with what would help."""
    match outcome.ending:
        case Ending.DONE:
            return f"It ran to its end, in {outcome.seconds:.1f} s."
        case Ending.ERROR:
            return "It ended with an error."
        case Ending.TIMEOUT:
            how = f"It was ended because it took longer than {timeout:g} seconds."
            hint = "Let it do less at a time, and print how far it is."
        case Ending.MEMORY:
            how = "It was ended because it needed more memory than it may have."
            hint = "Let it work on the data piece by piece."
        case Ending.LIMIT:
            how = "It was ended because it wrote too much, or began too many processes."
            hint = "Let it do less, in one process."
        case Ending.CRASHED:
            how = "Its Python ended in the middle of it."
            hint = "Let it do less, or do it in another way."
        case _:
            assert_never(outcome.ending)
    return f"{_sentence(outcome) or how} {hint}"


def _sentence(outcome: CodeOutcome) -> str:
    """The error where it is a sentence about how it ended, and no traceback."""
    is_one = outcome.ending is not Ending.ERROR and "\n" not in outcome.error
    return one_line(outcome.error, limit=300) if is_one else ""


def _about_session(ran: Ran, protection: Protection) -> Iterator[str]:
    if ran.lost and protection.sandboxed:
        yield (
            "Python began anew for it, so the variables of earlier runs are gone; "
            "the files are still there."
        )
    if not protection.sandboxed:
        yield (
            "There is no sandbox on this computer: the person is asked about every script, and "
            "each begins without the variables of earlier ones."
        )


def _said(outcome: CodeOutcome) -> Iterator[str]:
    if outcome.printed.strip():
        yield f"It printed:\n{_shown(outcome.printed, LONGEST_PRINTED)}"
    if outcome.value:
        yield f"The value of its last expression: {_shown(outcome.value, LONGEST_VALUE)}"
    if outcome.error and not _sentence(outcome):
        yield _shown(outcome.error, LONGEST_ERROR)
    if outcome.missing:
        yield (
            f"The module {one_line(outcome.missing)} is not installed: import it at the top of the "
            "script, so that it can be offered to the person, or do without."
        )


def _files(made: Sequence[Artifact], left_out: Sequence[str]) -> Iterator[str]:
    if made:
        listed = [f"{one_line(item.title)} ({item.kind.value})" for item in made[:MOST_FILES]]
        more = f" and {len(made) - MOST_FILES} more" if len(made) > MOST_FILES else ""
        yield f"It made or changed these files: {', '.join(listed)}{more}."
    yield from (one_line(text, limit=200) for text in left_out[:MOST_FILES])


def _shown(text: str, longest: int) -> str:
    return middle_cut(printable(text).strip("\n"), longest)
