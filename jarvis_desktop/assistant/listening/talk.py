"""Talking: what the talk key, a button or the command line mean for the microphone, and where the
words go. It belongs to the loop; all its methods return at once."""

from __future__ import annotations

from jarvis_desktop.core.hearing import TalkState, TalkWay, Transcript
from jarvis_desktop.core.voice import Microphone, Recogniser, TalkFront


class Talk:
    """One voice at a time, into one microphone.

    `way` is what the key does; `pause` are the seconds of silence that end what is said where the
    key is not held.
    """

    def __init__(
        self,
        microphone: Microphone,
        recogniser: Recogniser,
        *,
        way: TalkWay = "auto",
        pause: float = 1.0,
    ) -> None:
        self.front: TalkFront | None = None
        """Whoever is to see and hear of it."""

    @property
    def state(self) -> TalkState:
        """What happens with the person's voice."""
        raise NotImplementedError

    def press(self) -> None:
        """The talk key went down. Repeats of a held key, told as pairs, do nothing."""

    def release(self) -> None:
        """The talk key went up."""

    def start(self) -> None:
        """Listen until `stop`, or a silence."""

    def stop(self) -> None:
        """What was said is whole."""

    def toggle(self) -> None:
        """Start, or stop."""

    def cancel(self) -> bool:
        """Forget what was said (Esc); False where nothing was being said."""
        return False

    async def answer(self, *, limit: float) -> Transcript | None:
        """Listen by itself for an answer to a question, at most so many seconds.

        None where nobody spoke. What is said with the talk key meanwhile is the answer too.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Leave the microphone."""
