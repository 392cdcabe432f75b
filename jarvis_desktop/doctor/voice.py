"""The doctor's look at the voice: what hears, what speaks, and which key talks. It records nothing,
but where `doctor --voice` asks for that."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop import paths
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.doctor.finding import Finding

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App
    from jarvis_desktop.settings import SpeechSettings
    from jarvis_desktop.speech.devices import Device

SECONDS = 3.0
"""For how long `doctor --voice` listens."""
FAINT = 0.12
"""A level that even soft speech is above: 53 dB below full scale."""
SPEAKS = 0.5
SENTENCE = "What time is it?"
PLUG_IN = mark("Plug one in, or start the sound server; text works meanwhile.")
BIND = mark("Start it, or bind a key of your desktop to: jarvis-desktop talk toggle")
ENGINES = {"kokoro": "Kokoro", "piper": "Piper"}


async def sound(app: App) -> list[Finding]:
    """The devices that are there, and those that are used."""
    return await _sound(app.settings.speech)


async def speaks(app: App) -> list[Finding]:
    """Who speaks."""
    return [await asyncio.to_thread(voice, app.settings.speech.engine, app.paths.weights)]


async def hears(app: App) -> list[Finding]:
    """Who understands what is said, and the wake word, where one is wanted."""
    word = app.settings.speech.wake_word
    found = [_recogniser(app)]
    return [*found, await asyncio.to_thread(wake_word, word)] if word else found


async def key(app: App) -> list[Finding]:
    """The talk key of the desktop."""
    return await asyncio.to_thread(talk_key, paths.run_folder)


async def try_out(app: App) -> list[Finding]:
    """What only a short record, and a sentence that is spoken into a file, can tell."""
    with tempfile.TemporaryDirectory() as folder:
        spoken, audio = await _timed("spoken sentence", lambda: _speak(app, Path(folder)))
        findings = [await _record(app), spoken]
        if audio:
            findings.append((await _timed("recognition", lambda: _recognise(app, audio)))[0])
    return findings


async def _sound(speech: SpeechSettings) -> list[Finding]:
    from jarvis_desktop.speech.devices import devices

    try:
        found = await devices()
    except JarvisError as error:
        return [Finding("sound", "missing", error.message, error.hint)]
    return [
        device(mark("speaker"), [item for item in found if item.outputs], speech.output),
        device(mark("microphone"), [item for item in found if item.inputs], speech.input),
    ]


def device(what: str, found: Sequence[Device], chosen: str) -> Finding:
    """Which devices there are, and which one is used."""
    names = [item.name for item in found]
    if not names:
        return Finding(what, "missing", tr("no device was found"), tr(PLUG_IN))
    others = tr("; {count} in all", count=len(names)) if len(names) > 1 else ""
    if chosen and chosen not in names:
        fix = tr("Plug it in, or choose another one: {names}", names=", ".join(names[:3]))
        detail = tr("the chosen one is not there now: {name}", name=chosen)
        return Finding(what, "limited", detail, fix)
    if chosen:
        return Finding(what, "ok", tr("{name}, as chosen", name=chosen) + others)
    is_default = [item.default_input if what == "microphone" else item.default_output
                  for item in found]  # fmt: skip
    usual = next((name for name, it_is in zip(names, is_default, strict=True) if it_is), "")
    usual = tr("the system's default ({name})", name=usual or tr("not told which"))
    return Finding(what, "ok", usual + others)


def voice(engine: str, weights: Path) -> Finding:
    """Who speaks: the `engine` of the settings, whose weights are in a folder of `weights`."""
    from jarvis_desktop.speech.voices.neural import neural

    installed = shutil.which("espeak-ng") or shutil.which("espeak")
    if sys.platform not in ("win32", "darwin") and not installed:
        return Finding(
            "voice", "missing", tr("espeak-ng is not installed"), "apt install espeak-ng"
        )
    own = tr("the system's own") if sys.platform in ("win32", "darwin") else "espeak-ng"
    chosen = neural(engine, weights)
    if chosen is None:
        return Finding("voice", "ok", own)
    if lacking := chosen.lacking():
        return Finding("voice", "limited", f"{own}: {lacking.message}", lacking.hint)
    return Finding(
        "voice",
        "ok",
        tr("{engine}, and {own} for what that cannot speak", engine=ENGINES[engine], own=own),
    )


def wake_word(name: str) -> Finding:
    """Whether this word can be listened for."""
    from jarvis_desktop.speech.wake_word import WakeWord

    try:
        WakeWord(name)
    except JarvisError as error:
        return Finding(mark("wake word"), "limited", error.message, error.hint)
    return Finding(mark("wake word"), "ok", name)


def _recogniser(app: App) -> Finding:
    installed = [item.id for item in app.weights.installed() if item.id.startswith("whisper")]
    if installed:
        return Finding(
            "recogniser", "ok", tr("faster-whisper with {names}", names=", ".join(installed))
        )
    fix = "jarvis-desktop experts pull whisper-base"
    return Finding("recogniser", "limited", tr("the small built-in one, which mishears"), fix)


def talk_key(run_folder: Callable[[], Path]) -> list[Finding]:
    """Whether a running JARVIS answers, and which key of the desktop it has."""
    from jarvis_desktop.instance_call import NotRunningError, ask

    try:
        told = ask(run_folder(), {"do": "talk", "action": "status"}, limit=2.0)
    except NotRunningError:
        detail = tr("no window runs, which the talk key would be told to")
        return [Finding("talk key", "limited", detail, tr(BIND))]
    except JarvisError as error:
        return [Finding("talk key", "limited", error.message, error.hint)]
    answers = Finding(mark("running JARVIS"), "ok", tr("a window runs, and answers"))
    hotkey = told.get("hotkey")
    known = hotkey if isinstance(hotkey, dict) else {}
    way, key, why = (str(known.get(name, "")) for name in ("way", "key", "why"))
    if way in ("", "none"):
        return [
            answers,
            Finding("talk key", "limited", tr("none works outside of the window"), why),
        ]
    held = tr("hold it or tap it") if known.get("holds") else tr("press it to start and to stop")
    detail = tr("{key}, by {way}: {held}. {why}", key=key, way=way, held=held, why=why).rstrip()
    return [answers, Finding("talk key", "ok", detail)]


async def _record(app: App) -> Finding:
    what = mark("recording")
    heard = loudest = likeliest = 0.0
    try:
        async with aclosing(app.microphone.listen(asyncio.Event())) as sounds:
            async for sound in sounds:
                heard += sound.seconds
                loudest = max(loudest, sound.level)
                likeliest = max(likeliest, *sound.speech, 0.0)
                if heard >= SECONDS:
                    break
    except JarvisError as error:
        return Finding(what, "missing", error.message, error.hint)
    return recorded(heard, loudest, speaks=likeliest >= SPEAKS)


def recorded(seconds: float, loudest: float, *, speaks: bool) -> Finding:
    """What a short record was like; `loudest` from 0 to 1."""
    detail = tr(
        "{seconds} s were heard, at most {loudness} dB",
        seconds=f"{seconds:.0f}",
        loudness=round(60 * loudest - 60),
    )
    if speaks:
        return Finding(mark("recording"), "ok", tr("{detail}, and somebody spoke", detail=detail))
    if loudest < FAINT:
        fix = tr("See that the right microphone is chosen, not muted, and its volume up.")
        return Finding(
            mark("recording"), "limited", tr("{detail}: nearly silence", detail=detail), fix
        )
    return Finding(mark("recording"), "ok", tr("{detail}; nobody spoke", detail=detail))


async def _speak(app: App, folder: Path) -> tuple[str, Path]:
    audio = await app.voice.synthesise(SENTENCE, folder / "sentence.wav")
    return tr("a sentence was made"), audio


async def _recognise(app: App, audio: Path) -> tuple[str, Path]:
    transcript = await app.recogniser.transcribe(audio, lambda fraction, message: None)
    said = tr("{engine} heard that sentence as “{text}”", engine=transcript.engine,
              text=transcript.text)  # fmt: skip
    return said, audio


async def _timed(
    what: str, work: Callable[[], Awaitable[tuple[str, Path]]]
) -> tuple[Finding, Path | None]:
    begun = time.monotonic()
    try:
        detail, audio = await work()
    except JarvisError as error:
        return Finding(what, "missing", error.message, error.hint), None
    took = f"{time.monotonic() - begun:.1f}"
    return Finding(what, "ok", tr("{detail} in {seconds} s", detail=detail, seconds=took)), audio
