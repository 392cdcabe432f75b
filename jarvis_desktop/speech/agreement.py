"""Which words of speech that goes on are certain: those on which two passes agree.

This is LocalAgreement-2 of Macháček, Dabre, Bojar: "Turning Whisper into Real-Time Transcription
System" (2023). The last word of a pass may be cut in the middle, so that it is certain only when
both passes have heard one after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Word:
    """A word with the space before it, or a part of one, as the recogniser writes it."""

    text: str
    tokens: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What two passes must have in common; case and punctuation may still change."""
        letters = "".join(letter for letter in self.text if letter.isalnum())
        return letters.casefold() or self.text.strip()


@dataclass(slots=True)
class Agreement:
    """The words of the passes so far, from the first one that is still to be recognised."""

    settled: list[Word] = field(default_factory=list)
    """These stay as they are; a pass only goes on after them."""
    rest: list[Word] = field(default_factory=list)
    """What the last pass heard after them."""

    def add(self, heard: Sequence[Word]) -> None:
        """What the next pass heard after the settled words."""
        most = min(len(heard), len(self.rest)) - 1
        agreed = 0
        while agreed < most and heard[agreed].key == self.rest[agreed].key:
            agreed += 1
        self.settled += heard[:agreed]
        self.rest = list(heard[agreed:])

    def settle(self) -> None:
        """All that was heard is certain: only silence came after it."""
        self.settled += self.rest
        self.rest = []

    def leave(self, count: int) -> list[Word]:
        """Forget the first words, which are settled, and give them."""
        gone, self.settled = self.settled[:count], self.settled[count:]
        return gone


def text(words: Sequence[Word]) -> str:
    """The words as one reads them."""
    return " ".join("".join(word.text for word in words).split())
