"""Let the user interrupt a spoken answer by talking, without a key.

If what the computer plays was removed from what the microphone hears, any speech is the user's:
the voice becomes quieter at once, and stops half a second later. Otherwise it becomes quieter at
the first word that is not its own, and stops at the second. A cough does nothing. Also detects
the end of speech if no key marks it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import aclosing

from rapidfuzz import fuzz

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.speech import (
    FRAME,
    PRE_ROLL,
    RATE,
    Hearing,
    Microphone,
    Partial,
    Recogniser,
    Sound,
)

MIN_SIMILARITY = 75.0
"""Of 100; a word from a loudspeaker is seldom recognised exactly."""


def foreign_words(heard: str, spoken: str) -> list[str]:
    """Return the words of `heard` that are not similar to any of `spoken`, in order."""
    own = set(_words(spoken))
    return [
        word
        for word in _words(heard)
        if word not in own and all(fuzz.ratio(word, other) < MIN_SIMILARITY for other in own)
    ]


def without_echo(heard: str, spoken: str) -> str:
    """Return `heard` without the words of `spoken` at its beginning.

    A microphone that remembers the half second before the key has heard the end of a spoken
    sentence. At least one word stays, and words are only removed if they are a part of the
    sentence.
    """
    words, own = heard.split(), _words(spoken)
    said = [" ".join(_words(word)) for word in words]
    for count in range(min(len(words) - 1, MAX_ECHO_WORDS), 0, -1):
        begin = said[:count]
        places = range(len(own) - count + 1)
        if any(own[at : at + count] == begin for at in places):
            return " ".join(words[count:])
    return heard


def from_first_foreign_word(heard: str, spoken: str) -> str:
    """Return `heard` from the first word that is not similar to `spoken`, else all of it."""
    words = heard.split()
    first = next((at for at, word in enumerate(words) if foreign_words(word, spoken)), 0)
    return " ".join(words[first:])


MAX_ECHO_WORDS = 4
"""Words that fit into half a second."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


SPEECH_PROBABILITY = 0.5
SILENCE_PROBABILITY = 0.35
"""Below this a frame is silence; the gap of 0.15 is Silero's own hysteresis."""
MIN_SPEECH_FRAMES = 4
"""Frames of speech, 0.13 s, which a click or a cough does not reach."""
FRAME_SECONDS = FRAME / RATE
JUDGED_PAUSES_S = (0.25, 0.4)
"""Seconds of silence after which it is judged whether the user has finished."""
FINISHED_PROBABILITY = 0.9
"""The user has finished if each judgement in a pause is at least as sure as this. Together with 1.5
seconds of silence it takes 4 of 46 pauses within sentences for the end, and waits half a second
after most ends; a second of silence alone takes 5 (`tests/benchmarks/end_of_turn.py`)."""


class EndDetector:
    """Detects the end of speech: `pause` seconds of silence after it, a shorter one after which
    it is judged to be finished, or `patience` seconds without any."""

    def __init__(self, *, pause: float, patience: float) -> None:
        self._pause = pause
        self._patience = patience
        self._spoken = 0
        self._silent = 0.0
        self._asked = 0
        """How often the current pause is or was judged."""
        self._passed = 0
        """How many of these judgements were that the user has finished."""
        self._stale = self._awaited = 0
        """How many judgements are to come, and how many of these are about earlier pauses."""

    @property
    def spoken(self) -> float:
        """For how many seconds somebody spoke."""
        return self._spoken * FRAME_SECONDS

    @property
    def begun(self) -> bool:
        """Whether somebody spoke."""
        return self._spoken >= MIN_SPEECH_FRAMES

    def asks(self) -> bool:
        """Whether it is now to be judged if the user has finished."""
        if not self.begun or self._asked == len(JUDGED_PAUSES_S):
            return False
        if self._silent < JUDGED_PAUSES_S[self._asked]:
            return False
        self._asked += 1
        self._awaited += 1
        return True

    def take(self, speech: Iterable[float], finished: float | None = None) -> bool:
        """Return whether speech has ended after these frames; `finished` is the probability of
        that, once it was judged."""
        if finished is not None:
            self._judge(finished)
        for likely in speech:
            if likely >= SPEECH_PROBABILITY:
                self._spoken += 1
                self._silent = 0.0
                self._asked = self._passed = 0
                self._stale = self._awaited
            elif likely < SILENCE_PROBABILITY:
                self._silent += FRAME_SECONDS
                if not self.begun and self._silent >= self._pause:
                    self._spoken = 0  # a short noise was not a word
        if self._passed == len(JUDGED_PAUSES_S):
            return True
        return self._silent >= (self._pause if self.begun else self._patience)

    def _judge(self, finished: float) -> None:
        self._awaited -= 1
        if self._stale:
            self._stale -= 1
        elif finished >= FINISHED_PROBABILITY:
            self._passed += 1


log = logging.getLogger(__name__)

DUCKED_VOLUME = 0.3
MIN_OWN_WORDS = 2
"""Words of the user after which it is certain that they speak."""
STOP_WORDS = frozenset("stop wait quiet jarvis halt no stopp warte ruhe nein 停 等等".split())
"""One of these is enough."""
LIKELY_SPEECH, LIKELY_FRAMES = 0.35, 2
"""How likely speech is in frames without the computer's own, and how many of them it takes, for the
voice to become quieter."""
SURE_SPEECH_S = 0.5
"""Seconds of speech, without the computer's own, after which it is certain that the user speaks."""
PAUSE_S = 0.8
"""Seconds of silence after which what was heard was nothing."""
MAX_SPOKEN_CHARS = 600
"""Characters of recently spoken text that the microphone may still hear."""


class BargeIn:
    """Listens while the computer speaks. `talk` is `Talk.start`. `duck` sets its share of the
    volume. `echo_free` returns whether what it plays is removed from what the microphone hears."""

    def __init__(
        self,
        talk: Callable[..., None],
        microphone: Microphone,
        recogniser: Recogniser,
        *,
        duck: Callable[[float], None],
        echo_free: Callable[[], bool] = bool,
    ) -> None:
        self._talk = talk
        self._microphone = microphone
        self._recogniser = recogniser
        self._duck = duck
        self._echo_free = echo_free
        self._spoken = ""
        self._until = asyncio.Event()
        self._speaks = False
        self._anew = False
        """Whether another sentence started: what was heard before it was its own voice."""
        self._listening: asyncio.Task[None] | None = None
        self._sure = False
        self._quieter = False

    def speaking(self, text: str) -> None:
        """Set what is being spoken now; "" if nothing is."""
        self._speaks, self._anew = bool(text), True
        if not text:
            self._until.set()
            return
        self._spoken = f"{self._spoken} {text}"[-MAX_SPOKEN_CHARS:]
        if self._listening is None:
            self._start()

    def _start(self) -> None:
        self._until = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(self._until))
        self._listening.add_done_callback(self._ended)

    async def close(self) -> None:
        """Stop listening."""
        self._speaks = False
        self._until.set()
        if self._listening:
            await asyncio.gather(self._listening, return_exceptions=True)

    def _ended(self, listening: asyncio.Task[None]) -> None:
        self._listening = None
        self._louder()
        if error := listening.exception():
            log.error("Nobody listens for an interruption: %s", frames(error))
        elif self._speaks and self._until.is_set():  # another sentence has started
            self._start()

    async def _listen(self, until: asyncio.Event) -> None:
        said: deque[Sound] = deque()
        hearing: Hearing | None = None
        try:
            async with aclosing(self._microphone.listen(until)) as sounds:
                async for sound in sounds:
                    said.append(sound)
                    echo_free = self._echo_free()
                    if hearing and self._anew and not self._quieter and not echo_free:
                        hearing.drop()
                        hearing = None
                    self._anew = False
                    if hearing is None:
                        _forget(said)
                        least = LIKELY_SPEECH if echo_free else SPEECH_PROBABILITY
                        if max(sound.speech, default=0.0) >= least:
                            likely = 0
                            end = EndDetector(pause=PAUSE_S, patience=PAUSE_S)
                            hearing = self._begin(said)
                    else:
                        hearing.add(sound.pcm)
                    over = hearing and end.take(sound.speech)
                    if hearing and echo_free:
                        likely += sum(each >= LIKELY_SPEECH for each in sound.speech)
                        if likely >= LIKELY_FRAMES:
                            self._be_quieter()
                        self._sure = self._sure or end.spoken >= SURE_SPEECH_S
                    if hearing and self._sure:
                        hearing.drop()
                        so_far = b"".join(each.pcm for each in said)
                        self._talk(said=so_far, echo_free=echo_free)
                        return
                    if hearing and over:
                        hearing.drop()
                        hearing = None
                        self._louder()
        except JarvisError as error:  # the key will report it, and the answer continues
            log.info("No interruption by voice: %s", frames(error))
        finally:
            if hearing:
                hearing.drop()

    def _begin(self, said: deque[Sound]) -> Hearing:
        self._sure = False
        hearing = self._recogniser.hear(self._understood)
        for sound in said:
            hearing.add(sound.pcm)
        return hearing

    def _understood(self, partial: Partial) -> None:
        words = foreign_words(partial.text, self._spoken)
        if words:
            self._be_quieter()
        settled = foreign_words(partial.settled, self._spoken)
        self._sure = len(settled) >= MIN_OWN_WORDS or not STOP_WORDS.isdisjoint(words)

    def _be_quieter(self) -> None:
        if not self._quieter:
            self._quieter = True
            self._duck(DUCKED_VOLUME)

    def _louder(self) -> None:
        if self._quieter:
            self._quieter = False
            self._duck(1.0)


def _forget(said: deque[Sound]) -> None:
    """Keep the last half second, in which speech may have begun."""
    while sum(sound.seconds for sound in said) > PRE_ROLL + said[0].seconds:
        said.popleft()
