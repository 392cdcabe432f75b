"""Builds the speech system: recogniser, voice, and the talk key."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_desktop.app.dictation import (
    DICTATES,
    MAX_SILENCE_S,
    TALKS,
    DictationSystem,
    bind_talk_key,
)
from jarvis_desktop.app.experts import whisper_folder
from jarvis_desktop.app.single_instance import CommandHandler, Instance
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.barge_in import BargeIn
from jarvis_desktop.assistant.talk.hands_free import HandsFree
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
from jarvis_desktop.speech.cuda_probe import find_processor
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
JARGON = ("JARVIS", "PDF", "OCR")
NEEDS_RESTART = frozenset({"wake_word"})
"""Settings of speech that need a restart: the microphone's process is made for one wake word."""


class SpeechSystem:
    """Everything that hears and speaks. Nothing is opened and no process started yet.

    `names` are those of recent files. `clean_up` tidies up dictated words. `retention_days` are
    those after which dictations are forgotten. `instance` is passed if it has been claimed already.
    `servers` are those of the settings.
    """

    def __init__(
        self,
        settings: SpeechSettings,
        paths: Paths,
        *,
        experts: Sequence[Expert],
        weights: Weights,
        store: FileStore,
        names: Callable[[], Sequence[str]],
        clean_up: Callable[[str], Awaitable[str]],
        quick_key: str,
        dictation: DictationSettings,
        retention_days: Callable[[], int],
        instance: Instance | None,
        servers: Mapping[Work, WorkServer],
    ) -> None:
        self.settings = settings
        self._wakes = bool(settings.wake_word)
        self._weights = paths.weights
        self._names = names
        self._background: set[asyncio.Task[object]] = set()
        self._instance = instance or Instance(run_folder())
        portal = PortalKeys(APP_ID)
        self._played = PlayedSound(wanted=settings.echo_cancellation)
        self.microphone = SoundMicrophone(
            settings.input or None,
            wake_word=settings.wake_word,
            woken=lambda: self.talk.start(),
            played=self._played,
        )

        def folder(cores: int = 0) -> Path | None:
            return whisper_folder(experts, weights, named=self.settings.recogniser, cores=cores)

        def live_folder() -> Path | None:
            return folder(0 if self.recogniser.processor[0] == "cuda" else os.cpu_count() or 1)

        self.recogniser = LocalRecogniser(
            find_weights=live_folder,
            find_file_weights=folder,
            look=find_processor,
            language=settings.language or None,
            words=self._expected_words,
        )
        self.transcriber = ServerTranscriber(
            servers[Work.TRANSCRIPTION], lambda: self.settings.language or None
        )
        self.hearing = ServerRecogniser(self.transcriber, self.recogniser)
        """For what the user says: it asks a server, if one is set."""
        self.voice = LocalVoice(
            rate=settings.rate,
            volume=settings.volume,
            voice=settings.voice,
            engine=neural_voice(settings.engine, paths.weights),
            tell=_note,
        )
        self.server_voice = ServerVoice(
            servers[Work.SPEECH], lambda: (self.settings.rate, self.settings.volume)
        )
        self.speaking = VoiceWithServer(self.server_voice, self.voice, _note)
        """For answers: it asks a server, if one is set."""
        self.player = SoundPlayer(settings.output or None, played=self._played)
        self.speaker = AnswerSpeaker(self.speaking, self.player, store)
        self.talk = Talk(
            self.microphone,
            self.hearing,
            way=settings.key_way,
            pause=settings.pause,
            use="always" if self._wakes else settings.microphone,
            hush=self.hush,
            busy=lambda: bool(self.speaker.speaking),
            spoken=lambda: self.speaker.speaking,
            barred=lambda: tr(DICTATES) if self.dictation.session.active else "",
        )
        self._hands_free = HandsFree(self.talk, self.speaker)
        self._interruption = BargeIn(
            self.talk.start,
            self.microphone,
            self.recogniser,
            duck=self.player.duck,
            echo_free=lambda: bool(self._played.shared.wanted),
        )
        self.hotkey = DesktopHotkey(settings.key, TALK, portal=portal)
        self.quick_key = DesktopHotkey(quick_key, QUICK, portal=portal)
        """Opens the quick box, if there is a window."""
        self.dictation = DictationSystem(
            dictation,
            Talk(
                self.microphone,
                self.hearing,
                way=dictation.key_way,
                pause=MAX_SILENCE_S,
                judges=False,
                hush=self._hush_for_dictation,
                spoken=lambda: self.speaker.speaking,
                barred=lambda: tr(TALKS) if self.talk.taken else "",
            ),
            words=settings.words,
            log=DictationLog(paths.data / "dictations.json", days=retention_days),
            clean_up=clean_up,
            inserter=text_inserter(APP_ID, paths.data),
            portal=portal,
        )
        self.speaker.changed = self.spoken

    def be_reached(self, commands: Mapping[str, CommandHandler]) -> None:
        """Let the desktop's talk key and other processes reach this one; `commands` are known
        besides "talk"."""
        self._behind(bind_talk_key(self.hotkey, self.talk, self.talk.toggle))
        self._behind(self.dictation.bind())
        self._behind(self._serve(commands))

    async def adopt(self, speech: SpeechSettings) -> Collection[str]:
        """Apply changed settings. Return the names of those that need a restart."""
        before, self.settings = self.settings, speech
        changed = {
            name for name in SpeechSettings.model_fields
            if getattr(before, name) != getattr(speech, name)
        }  # fmt: skip
        self._played.shared.wanted = speech.echo_cancellation
        self.recogniser.choose(language=speech.language or None)
        self.voice.choose(rate=speech.rate, volume=speech.volume, voice=speech.voice)
        if "engine" in changed:
            await self.voice.choose_engine(neural_voice(speech.engine, self._weights))
        use = "always" if self._wakes else speech.microphone
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
        return self._hands_free if self.settings.hands_free else None

    def spoken(self, text: str) -> None:
        """Let the user interrupt this sentence, which is playing now, if they want that. Nothing is
        spoken into a dictation."""
        if text and self.dictation.session.active:
            asyncio.get_running_loop().call_soon(self.speaker.silence)
            return
        self._interruption.speaking(text if self.settings.interrupt else "")

    def hush(self) -> None:
        """Stop all speech at once, and prepare the player so that the next sound starts at once."""
        self.speaker.silence()
        self._behind(self._warm())

    async def _serve(self, commands: Mapping[str, CommandHandler]) -> None:
        """Answer other processes, as soon as no other JARVIS does."""
        talk = talk_command_handler(
            self.talk, lambda: self.hotkey.status, self.dictation.session.toggle
        )

        async def handle(command: Mapping[str, object]) -> Mapping[str, object]:
            return await commands.get(str(command.get("do")), talk)(command)

        while not await self._instance.serve(handle):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(TAKE_OVER_INTERVAL_S)

    async def close(self) -> None:
        """End every child process and release the key."""
        await self._end_background()
        await self.hotkey.close()
        await self.quick_key.close()
        await self.dictation.close()
        await self._instance.close()
        await self._interruption.close()
        await self.talk.close()
        await self._end_background()
        await asyncio.gather(
            self.recogniser.close(),
            self.voice.close(),
            self.player.close(),
            self.microphone.close(),
        )

    def _hush_for_dictation(self) -> None:
        self.hush()
        self.talk.give_way()

    async def _warm(self) -> None:
        with contextlib.suppress(JarvisError):  # playing will report it
            await self.player.warm()

    def _expected_words(self) -> Sequence[str]:
        """Words for the recogniser, most important first: the user's own, names of recent files,
        and the jargon of tasks. More would mislead it."""
        return (*self.settings.words, *self._names(), *JARGON)

    async def _end_background(self) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _behind(self, work: Coroutine[Any, Any, object]) -> None:
        """Run in the background: a desktop may ask the user first."""

        async def do() -> None:
            try:
                await work
            except JarvisError as error:
                log.warning("JARVIS cannot be reached from outside: %s", frames(error))

        task = asyncio.create_task(do())
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _note(error: JarvisError) -> None:
    current_note.get()(str(error))
