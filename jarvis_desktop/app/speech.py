"""Builds the speech system: recogniser, voice, and the talk key."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_desktop.app.dictation import DICTATES, MAX_SILENCE_S, TALKS, DictationSystem
from jarvis_desktop.app.experts import whisper_folder
from jarvis_desktop.app.single_instance import CommandHandler, Instance
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.barge_in import BargeIn
from jarvis_desktop.assistant.talk.hands_free import HandsFree, WakeWordListener
from jarvis_desktop.assistant.talk.talk import Talk, talk_command_handler
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.paths import APP_ID, Paths, run_folder
from jarvis_desktop.platform.hotkey import DesktopHotkey
from jarvis_desktop.platform.hotkey_portal import PortalKeys
from jarvis_desktop.platform.shortcut import QUICK, TALK
from jarvis_desktop.platform.text_insertion import text_inserter
from jarvis_desktop.platform.work_server import Work, WorkServer
from jarvis_desktop.settings import DictationSettings, SpeechSettings
from jarvis_desktop.speech.cuda_probe import CudaProbe
from jarvis_desktop.speech.microphone import SoundMicrophone
from jarvis_desktop.speech.played_sound import PlayedSound
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.server_recogniser import ServerRecogniser, ServerTranscriber
from jarvis_desktop.speech.server_voice import ServerVoice, VoiceWithServer
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import neural_voice
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.records import DictationLog

log = logging.getLogger(__name__)

TAKE_OVER_INTERVAL_S = 5.0
"""The interval between checks whether another JARVIS still answers other processes."""
EXPECTED_WORDS = ("JARVIS", "PDF", "OCR")
NEEDS_RESTART = frozenset({"wake_word"})
"""Settings of speech that need a restart: the microphone's process is made for one wake word."""


@dataclass
class SpeechSystem:
    """Everything that hears and speaks."""

    settings: SpeechSettings
    paths: Paths
    microphone: SoundMicrophone
    recogniser: LocalRecogniser
    hearing: ServerRecogniser
    """For what the user says: it asks a server, if one is set."""
    transcriber: ServerTranscriber
    speaking: VoiceWithServer
    """For answers: it asks a server, if one is set."""
    server_voice: ServerVoice
    cuda: CudaProbe
    voice: LocalVoice
    player: SoundPlayer
    played: PlayedSound
    """What is played, for the microphone, if it is to be removed from what that hears."""
    speaker: AnswerSpeaker
    talk: Talk
    hush: SpeechStopper
    """Stops all speech at once."""
    hands_free: HandsFree
    interruption: BargeIn
    waking: WakeWordListener | None
    hotkey: DesktopHotkey
    quick_key: DesktopHotkey
    """Opens the quick box, if there is a window."""
    dictation: DictationSystem
    instance: Instance
    words: ExpectedWords
    _binding: set[asyncio.Task[object]] = field(default_factory=set)

    def start(self) -> None:
        """Open what stays open all the time."""
        self.talk.open()
        if self.waking:
            self.waking.start()

    def be_reached(self, commands: Mapping[str, CommandHandler]) -> None:
        """Let the desktop's talk key and other processes reach this one; `commands` are known
        besides "talk"."""
        self._behind(self.hotkey.bind(self._press, self._release))
        self._behind(self.dictation.bind())
        self._behind(self._serve(commands))

    async def adopt(self, speech: SpeechSettings) -> Collection[str]:
        """Apply changed settings. Return the names of those that need a restart."""
        before, self.settings = self.settings, speech
        changed = {
            name for name in SpeechSettings.model_fields
            if getattr(before, name) != getattr(speech, name)
        }  # fmt: skip
        self.words.own = speech.words
        self.played.wanted = speech.echo_cancellation
        self.recogniser.choose(language=speech.language or None)
        self.voice.choose(rate=speech.rate, volume=speech.volume, voice=speech.voice)
        if "engine" in changed:
            await self.voice.choose_engine(neural_voice(speech.engine, self.paths.weights))
        use = "always" if self.waking else speech.microphone
        self.talk.choose(way=speech.key_way, pause=speech.pause, use=use)
        if "input" in changed:
            await self.microphone.choose(speech.input or None)
        if "output" in changed:
            await self.player.choose(speech.output or None)
        if "key" in changed:
            self._behind(self.hotkey.choose(speech.key))
        self.spoken(self.speaker.speaking)
        return changed & NEEDS_RESTART

    def asking_aloud(self) -> HandsFree | None:
        """The voice for questions; None if the user does not want spoken ones."""
        return self.hands_free if self.settings.hands_free else None

    def spoken(self, text: str) -> None:
        """Let the user interrupt this sentence, which is playing now, if they want that. Nothing is
        spoken into a dictation."""
        if text and self.dictation.session.active:
            asyncio.get_running_loop().call_soon(self.speaker.silence)
            return
        self.interruption.speaking(text if self.settings.interrupt else "")

    async def _serve(self, commands: Mapping[str, CommandHandler]) -> None:
        """Answer other processes, as soon as no other JARVIS does."""
        talk = talk_command_handler(self.talk, lambda: self.hotkey.status)

        async def handle(command: Mapping[str, object]) -> Mapping[str, object]:
            if command == {"do": "talk", "action": "dictate"}:
                self.dictation.session.toggle()
                command = {"do": "talk", "action": "status"}
            return await commands.get(str(command.get("do")), talk)(command)

        while not await self.instance.serve(handle):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(TAKE_OVER_INTERVAL_S)

    def _press(self) -> None:
        """Without release events, one press starts listening and the next one stops it."""
        if self.hotkey.status.holds:
            self.talk.press()
        else:
            self.talk.lose_key()
            self.talk.toggle()

    def _release(self) -> None:
        if self.hotkey.status.holds:
            self.talk.release()

    async def close(self) -> None:
        """End every child process and release the key."""
        for task in self._binding:
            task.cancel()
        await asyncio.gather(*self._binding, return_exceptions=True)
        await self.hotkey.close()
        await self.quick_key.close()
        await self.dictation.close()
        await self.instance.close()
        if self.waking:
            await self.waking.close()
        await self.interruption.close()
        await self.talk.close()
        await self.hush.close()
        await asyncio.gather(
            self.recogniser.close(),
            self.voice.close(),
            self.player.close(),
            self.microphone.close(),
        )

    def _behind(self, work: Coroutine[Any, Any, object]) -> None:
        """Run in the background: a desktop may ask the user first."""

        async def do() -> None:
            try:
                await work
            except JarvisError as error:
                log.warning("JARVIS cannot be reached from outside: %s", frames(error))

        task = asyncio.create_task(do())
        self._binding.add(task)
        task.add_done_callback(self._binding.discard)


@dataclass
class ExpectedWords:
    """Words for the recogniser: the user's own, names of recent files, and the jargon of tasks.
    More would mislead it."""

    own: Sequence[str]
    names: Callable[[], Sequence[str]]

    def __call__(self) -> Sequence[str]:
        """The words, most important first."""
        return (*self.own, *self.names(), *EXPECTED_WORDS)


class SpeechStopper:
    """Silences what is heard, and prepares the player so that the next sound starts at once."""

    def __init__(self, speaker: AnswerSpeaker, player: SoundPlayer) -> None:
        self._speaker = speaker
        self._player = player
        self._warming: asyncio.Task[None] | None = None

    def __call__(self) -> None:
        """Stop all speech."""
        self._speaker.silence()
        self._warming = asyncio.create_task(self._warm())

    async def close(self) -> None:
        """Stop preparing the player."""
        if self._warming:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)

    async def _warm(self) -> None:
        with contextlib.suppress(JarvisError):  # playing will report it
            await self._player.warm()


def build_speech(
    settings: SpeechSettings,
    paths: Paths,
    *,
    experts: Sequence[Expert],
    weights: Weights,
    store: FileStore,
    names: Callable[[], Sequence[str]],
    clean_up: Callable[[str], Awaitable[str]],
    quick_key: str = "",
    dictation: DictationSettings = DictationSettings(),  # noqa: B008 - it is frozen
    retention_days: Callable[[], int] = lambda: 0,
    instance: Instance | None = None,
    servers: Mapping[Work, WorkServer],
) -> SpeechSystem:
    """Build the speech system. Nothing is opened and no process started yet.

    `names` are those of recent files. `clean_up` tidies up dictated words. `retention_days` are
    those after which dictations are forgotten. `instance` is passed if it has been claimed already.
    `servers` are those of the settings.
    """
    cuda = CudaProbe()
    portal = PortalKeys(APP_ID)
    words = ExpectedWords(settings.words, names)
    played = PlayedSound(wanted=settings.echo_cancellation)
    microphone = SoundMicrophone(
        settings.input or None, wake_word=settings.wake_word, played=played
    )

    def note(error: JarvisError) -> None:
        current_note.get()(str(error))

    def live_weights() -> Path | None:
        cores = 0 if cuda.processor()[0] == "cuda" else os.cpu_count() or 1
        return whisper_folder(experts, weights, named=road.settings.recogniser, cores=cores)

    recogniser = LocalRecogniser(
        find_weights=live_weights,
        find_file_weights=lambda: whisper_folder(experts, weights, named=road.settings.recogniser),
        find_processor=cuda.processor,
        look=cuda.look,
        language=settings.language or None,
        words=words,
    )
    transcriber = ServerTranscriber(
        servers[Work.TRANSCRIPTION], lambda: road.settings.language or None
    )
    hearing = ServerRecogniser(transcriber, recogniser)
    voice = LocalVoice(
        rate=settings.rate,
        volume=settings.volume,
        voice=settings.voice,
        engine=neural_voice(settings.engine, paths.weights),
        tell=note,
    )
    server_voice = ServerVoice(
        servers[Work.SPEECH], lambda: (road.settings.rate, road.settings.volume)
    )
    speaking = VoiceWithServer(server_voice, voice, note)
    player = SoundPlayer(settings.output or None, played=played)
    speaker = AnswerSpeaker(speaking, player, store)
    hush = SpeechStopper(speaker, player)
    talk = Talk(
        microphone,
        hearing,
        way=settings.key_way,
        pause=settings.pause,
        use="always" if settings.wake_word else settings.microphone,
        hush=hush,
        busy=lambda: bool(speaker.speaking),
        spoken=lambda: speaker.speaking,
        barred=lambda: tr(DICTATES) if road.dictation.session.active else "",
    )

    def quiet() -> None:
        hush()
        talk.give_way()

    road = SpeechSystem(
        settings=settings,
        paths=paths,
        microphone=microphone,
        recogniser=recogniser,
        hearing=hearing,
        transcriber=transcriber,
        speaking=speaking,
        server_voice=server_voice,
        cuda=cuda,
        voice=voice,
        player=player,
        played=played,
        speaker=speaker,
        talk=talk,
        hush=hush,
        hands_free=HandsFree(talk, speaker),
        interruption=BargeIn(
            talk, microphone, recogniser, duck=player.duck, echo_free=lambda: played.wanted
        ),
        waking=WakeWordListener(talk, microphone) if settings.wake_word else None,
        hotkey=DesktopHotkey(settings.key, TALK, portal=portal),
        quick_key=DesktopHotkey(quick_key, QUICK, portal=portal),
        dictation=DictationSystem(
            dictation,
            Talk(
                microphone,
                hearing,
                way=dictation.key_way,
                pause=MAX_SILENCE_S,
                judges=False,
                hush=quiet,
                spoken=lambda: speaker.speaking,
                barred=lambda: tr(TALKS) if talk.taken else "",
            ),
            words=settings.words,
            log=DictationLog(paths.data / "dictations.json", days=retention_days),
            clean_up=clean_up,
            inserter=text_inserter(APP_ID, paths.data),
            portal=portal,
        ),
        instance=instance or Instance(run_folder()),
        words=words,
    )
    speaker.watch(road.spoken)
    return road
