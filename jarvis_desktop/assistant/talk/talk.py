"""What the talk key, a button or a command means for the microphone, and where the words go.

`Talk` belongs to the event loop; all its methods but two return at once. `TalkKey` is pure and gets
times in seconds from its caller.

One class for the window, the terminal and the socket alike. It passes on words, never sound; what
is not understood is reported and becomes no turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Literal

from jarvis_desktop.assistant.talk.barge_in import (
    SPEECH_PROBABILITY,
    EndDetector,
    from_first_foreign_word,
    without_echo,
)
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import (
    RATE,
    WIDTH,
    Hearing,
    HotkeyStatus,
    Loudness,
    Microphone,
    Recogniser,
    TalkEvent,
    TalkFront,
    Talking,
    TalkState,
    TalkWay,
    Transcript,
    Unheard,
)

MAX_TAP_S = 0.4
"""Seconds; a shorter press is a tap, which starts what the next press ends."""

KeyAction = Literal["begin", "end", "let go"]
"""Start listening; what was said is complete; keep listening although nothing is held any more."""


class TalkKey:
    """The key, and whether what it started continues. A press while the key is down is a key that
    repeats itself. If its release was lost, the next press and release end what continues."""

    def __init__(self, way: TalkWay) -> None:
        self.way = way
        """What it does, from its next press on."""
        self._since: float | None = None
        """When it went down; None while it is up."""
        self._on = False
        self._began = False
        """Whether the current press is the one that started it."""

    @property
    def held(self) -> bool:
        """Whether listening ends when the key, which is down, is released."""
        return self._on and self.way != "toggle" and self._since is not None and self._began

    def down(self, at: float) -> KeyAction | None:
        """Handle a press."""
        if self._since is not None:
            return None
        self._since = at
        if self._on:
            self._on = self._began = False
            return "end"
        self._on = self._began = True
        return "begin"

    def up(self, at: float) -> KeyAction | None:
        """Handle a release."""
        since, self._since = self._since, None
        if since is None or not (self._on and self._began) or self.way == "toggle":
            return None
        self._began = False
        if self.way == "auto" and at - since < MAX_TAP_S:
            return "let go"
        self._on = False
        return "end"

    def lost(self) -> None:
        """Note that the state of the key is unknown."""
        self._since = None

    def off(self) -> None:
        """Note that it ended in another way: by a silence, a button, Esc."""
        self._on = self._began = False

    def on(self) -> None:
        """Note that it was started in another way; the next press ends it."""
        self._on, self._began = True, False


log = logging.getLogger(__name__)

MAX_SPEECH_S = 600.0
"""Seconds after which a key is stuck, or its release was lost."""
TOO_LATE = mark("The question was already answered; what you said was ignored.")
TOO_LONG = mark("You have been speaking for ten minutes; what you said so far is used.")
STUCK_KEY_S = 30.0
"""Seconds of silence with a held key after which its release was lost."""
JUDGED_S = 8.0
"""Seconds of speech by which it is judged whether the user has finished: what Smart Turn takes."""
JUDGED_BYTES = round(JUDGED_S * RATE) * WIDTH
START_TIMEOUT_S = 8.0
"""Seconds in which somebody must begin to speak."""
UNEXPECTED = mark("Something went wrong while listening. Try again; the log has the details.")
MICROPHONE_LINGER_S = 30.0
"""Seconds that the microphone stays open after the last word of a conversation."""

MicrophoneUse = Literal["talking", "conversation", "always"]


@dataclass(eq=False)
class _Utterance:
    """Something that is being said."""

    hearing: Hearing
    held: bool
    end: EndDetector
    answers: bool = False
    """Whether it was started for the answer to a question, and not by the user."""
    asked: bool = False
    """Whether a question was waiting when it began."""
    failed: bool = False
    """Whether something broke, so that the words are unknown."""
    cut: Callable[[str, str], str] | None = None
    """How the computer's own words are removed; None if nothing was heard from before."""
    anew: bool = False
    """Whether to skip what the microphone remembers from before: the end of a question."""
    until: asyncio.Event = field(default_factory=asyncio.Event)
    sounds: bool = False
    """Whether the microphone gives more than the exact silence of one that wakes up."""
    replaced: bool = False
    """Whether the user says it again."""
    own: str = ""
    """What the computer was saying when it began."""
    seconds: float = 0.0
    recent: bytes = b""
    """The last JUDGED_S seconds of it."""
    stuck: EndDetector = field(
        default_factory=lambda: EndDetector(pause=STUCK_KEY_S, patience=STUCK_KEY_S)
    )


class Talk:
    """One voice at a time, into one microphone.

    `way` is what the key does. `pause` is the silence, in seconds, that ends speech if the key is
    not held; with `judges` a shorter one if the user sounds as if they had said all. `use` says
    when the microphone is open. `hush` silences the computer at once. `busy` returns whether a turn
    is running, `spoken` what is being spoken, which the microphone may have heard. `barred` returns
    why nobody can talk now, "" if they can.
    """

    def __init__(
        self,
        microphone: Microphone,
        recogniser: Recogniser,
        *,
        way: TalkWay = "auto",
        pause: float = 1.0,
        use: MicrophoneUse = "talking",
        judges: bool = True,
        hush: Callable[[], None] = lambda: None,
        busy: Callable[[], bool] = lambda: False,
        spoken: Callable[[], str] = str,
        barred: Callable[[], str] = str,
    ) -> None:
        self.front: TalkFront | None = None
        """Receives what is shown and heard."""
        self._microphone = microphone
        self._recogniser = recogniser
        self._key = TalkKey(way)
        self._pause = pause
        self._judges = judges
        self._use = use
        self._hush = hush
        self._busy = busy
        self._spoken = spoken
        self._barred = barred
        self._now: _Utterance | None = None
        """What is being said."""
        self._tasks: dict[_Utterance, asyncio.Task[Transcript | None]] = {}
        self._wanted: list[asyncio.Future[Transcript | None]] = []
        """Questions that wait for an answer, the newest last."""
        self._lingering: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Open the microphone now if it should be open all the time."""
        if self._use == "always":
            self._microphone.hold(open=True)

    def choose(self, *, way: TalkWay, pause: float, use: MicrophoneUse) -> None:
        """Apply other settings, from the next word on."""
        self._key.way, self._pause = way, pause
        if use != self._use:
            self._use = use
            self._linger()
            self._microphone.hold(open=use == "always")

    @property
    def state(self) -> TalkState:
        """What happens with the user's voice."""
        if self._now:
            return "listening" if self._now.sounds else "waiting"
        return "recognising" if self._tasks else "idle"

    @property
    def taken(self) -> bool:
        """Whether the user talks, other than to answer a question."""
        return self._now is not None and not self._now.answers

    def press(self) -> None:
        """Handle a press of the talk key. A key that repeats itself does nothing."""
        self._mean(self._key.down(_time()))

    def release(self) -> None:
        """Handle a release of the talk key."""
        self._mean(self._key.up(_time()))

    def lose_key(self) -> None:
        """Note that the state of the talk key is unknown."""
        self._key.lost()

    def start(self, *, held: bool = False, said: bytes = b"", echo_free: bool = False) -> None:
        """Listen until `stop`, or until a silence if nothing is `held`. `said` is sound from
        before, with which it begins; unless it is `echo_free`, the computer's own words are removed
        from its beginning. Then what the microphone remembers of that time is skipped."""
        if not self.taken:
            self._key.on()
            self._begin(held=held, said=said, echo_free=echo_free)

    def let_go(self) -> None:
        """Listen until a silence, now that nothing is held any more."""
        if self._now:
            self._now.held = False
            self._show_state()

    def stop(self) -> None:
        """End what is being said; it is complete."""
        if self._now:
            self._now.until.set()
            self._leave(self._now)  # the next press starts something new

    def toggle(self) -> None:
        """Start, or stop."""
        self.stop() if self.taken else self.start()

    def cancel(self) -> bool:
        """Forget what was said (Esc). Return False if nothing was being said."""
        dropped = list(self._tasks)
        for utterance in dropped:
            self._drop(utterance)
        return bool(dropped)

    async def answer(
        self, ask: Callable[[], Awaitable[None]], *, limit: float, early: bool = False
    ) -> Transcript | None:
        """Ask, then listen for the answer without a key.

        Return None if nobody begins to speak within `limit` seconds. What is said with the talk key
        is the answer too, even while the question is being asked. What began before is not, unless
        `early` is set: then nobody who already speaks is asked. Raises UnavailableError if nobody
        can be heard.
        """
        while self._tasks and not early:
            await asyncio.wait(tuple(self._tasks.values()))
        if self._barred():
            return None
        wanted: asyncio.Future[Transcript | None] = asyncio.get_running_loop().create_future()
        self._wanted.append(wanted)
        try:
            if self._now is None:
                await ask()
            if self._barred():
                return None
            if not wanted.done() and not self._tasks:
                self._listen(held=False, patience=limit, answers=True)
            return await wanted
        finally:
            self._wanted.remove(wanted)
            if not self._wanted:
                self.give_way()

    def give_way(self, *, replaced: bool = False) -> None:
        """Listen no longer for the answer to a question; it counts as not given, unless it is
        `replaced`: the user answers it now."""
        for utterance in [each for each in self._tasks if each.answers]:
            utterance.replaced = replaced
            self._drop(utterance)

    async def close(self) -> None:
        """Close the microphone."""
        tasks = list(self._tasks.values())
        self.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._lingering:
            self._lingering.cancel()
        self._microphone.hold(open=False)

    def _mean(self, meaning: KeyAction | None) -> None:
        if meaning == "begin":
            self._begin(held=self._key.held)
        elif meaning == "end":
            self.stop()
        elif meaning == "let go":
            self.let_go()

    def _begin(self, *, held: bool, said: bytes = b"", echo_free: bool = False) -> None:
        """Start listening to the user. Everything else is quiet before the next line runs."""
        if reason := self._barred():
            self._key.off()
            self._show(Unheard(reason))
            return
        own = self._spoken()
        # What the microphone remembers of a question must not become its answer.
        anew = bool(said or (own and self._wanted))
        self._hush()
        if self.front and not self._wanted:
            self.front.barge_in()
        self._now = None
        self.give_way(replaced=True)
        utterance = self._listen(held=held, patience=START_TIMEOUT_S, anew=anew)
        utterance.own, utterance.cut = (
            "" if self._wanted else own,
            from_first_foreign_word if said and not echo_free else None,
        )
        if said:
            utterance.hearing.add(said)

    def _listen(
        self, *, held: bool, patience: float, answers: bool = False, anew: bool = False
    ) -> _Utterance:
        if self._use == "conversation":
            self._microphone.hold(open=True)
        utterance = _Utterance(
            self._recogniser.hear(self._show),
            held,
            EndDetector(pause=self._pause, patience=patience),
            answers=answers,
            asked=bool(self._wanted),
            anew=anew or answers,
        )
        self._now = utterance
        task = asyncio.create_task(self._follow(utterance))
        self._tasks[utterance] = task
        task.add_done_callback(partial(self._over, utterance))
        self._show_state()
        return utterance

    async def _follow(self, utterance: _Utterance) -> Transcript | None:
        """Take in what is said, and return it; None if an event said that it was nothing."""
        try:
            if reason := await self._take_in(utterance):
                self._show(Unheard(reason))
            self._leave(utterance)
            return await utterance.hearing.finish()
        except InputError as error:
            if not utterance.answers:  # nobody has to answer a question
                self._show(Unheard(str(error)))
        except JarvisError as error:
            utterance.failed = True
            self._show(Unheard(str(error)))
        except Exception as error:  # noqa: BLE001 - no talk may end in silence
            log.error("A talk ended in an unexpected error: %s", frames(error))
            utterance.failed = True
            self._show(Unheard(tr(UNEXPECTED)))
        finally:
            utterance.hearing.drop()
        return None

    async def _take_in(self, utterance: _Utterance) -> str:
        """Listen to the end. Return why it ended early, "" if it did not."""
        reason = ""
        try:
            async with aclosing(self._microphone.listen(utterance.until)) as sounds:
                async for sound in sounds:
                    if sound.before and utterance.anew:
                        continue
                    if sound.before and max(sound.speech, default=0.0) >= SPEECH_PROBABILITY:
                        utterance.cut = without_echo
                    utterance.hearing.add(sound.pcm)
                    utterance.seconds += sound.seconds
                    utterance.recent = (utterance.recent + sound.pcm)[-JUDGED_BYTES:]
                    if not utterance.sounds and sound.pcm.strip(b"\0"):
                        utterance.sounds = True
                        self._show_state()
                    self._show(Loudness(sound.level))
                    ended = utterance.end.take(sound.speech, sound.finished)
                    if utterance.stuck.take(sound.speech) or (ended and not utterance.held):
                        utterance.until.set()
                    elif self._judges and not utterance.held and utterance.end.asks():
                        self._microphone.judge(utterance.recent)
                    if utterance.seconds > MAX_SPEECH_S and not reason:
                        reason = tr(TOO_LONG)
                        utterance.until.set()
        except JarvisError as error:
            if not utterance.end.begun:
                raise
            return str(error)  # keep what was said until then
        return reason

    def _leave(self, utterance: _Utterance) -> None:
        """Note that it is said; the key may start something new."""
        if self._now is utterance:
            self._now = None
            self._key.off()
            self._show_state()

    def _drop(self, utterance: _Utterance) -> None:
        utterance.hearing.drop()
        self._leave(utterance)
        self._tasks[utterance].cancel()

    def _over(self, utterance: _Utterance, task: asyncio.Task[Transcript | None]) -> None:
        del self._tasks[utterance]
        self._leave(utterance)
        transcript = None if task.cancelled() else task.result()
        if transcript and utterance.own and utterance.cut:
            words = utterance.cut(transcript.text, utterance.own)
            transcript = replace(transcript, text=words)
        wanted = next((each for each in reversed(self._wanted) if not each.done()), None)
        if wanted and utterance.failed:
            wanted.set_exception(UnavailableError(tr("Nobody can be heard.")))
        elif wanted and not utterance.replaced:
            wanted.set_result(transcript)
        elif transcript and utterance.asked:
            self._show(Unheard(tr(TOO_LATE)))
        elif transcript and self.front:
            self.front.heard(transcript)
        self._show_state()
        self._linger()

    def _linger(self) -> None:
        """Close the microphone once nobody talked for a while and no turn is running."""
        if self._lingering:
            self._lingering.cancel()
        if self._use == "conversation":
            loop = asyncio.get_running_loop()
            self._lingering = loop.call_later(MICROPHONE_LINGER_S, self._leave_or_linger)

    def _leave_or_linger(self) -> None:
        if self._tasks or self._wanted or self._busy():
            self._linger()
        else:
            self._microphone.hold(open=self._use == "always")

    def _show_state(self) -> None:
        held, answers = bool(self._now and self._now.held), bool(self._now and self._wanted)
        self._show(Talking(self.state, held=held, answers=answers))

    def _show(self, event: TalkEvent) -> None:
        if self.front:
            self.front.show(event)


def _time() -> float:
    return asyncio.get_running_loop().time()


TalkCommandHandler = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]


def talk_command_handler(
    talk: Talk, status: Callable[[], HotkeyStatus], dictate: Callable[[], None]
) -> TalkCommandHandler:
    """Return a function that runs commands such as {"do": "talk", "action": "start"}.

    Another process sends them (`jarvis-desktop talk`). Actions are start, hold, stop, toggle,
    cancel, dictate and status; the reply is the state afterwards. Other commands raise InputError.
    """
    acts: dict[object, Callable[[], object]] = {
        "start": talk.start,
        "hold": partial(talk.start, held=True),
        "stop": talk.stop,
        "toggle": talk.toggle,
        "cancel": talk.cancel,
        "dictate": dictate,
        "status": lambda: None,
    }

    async def answer(command: Mapping[str, object]) -> Mapping[str, object]:
        action = command.get("action")
        if command.get("do") != "talk" or not isinstance(action, str) or action not in acts:
            raise InputError(tr("This JARVIS does not know the command."))
        acts[action]()
        return {"state": talk.state, "hotkey": asdict(status())}

    return answer
