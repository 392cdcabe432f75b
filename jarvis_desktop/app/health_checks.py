"""The checks of `doctor`, which run concurrently.

The checks of the voice record nothing, except with `doctor --voice`.
"""

from __future__ import annotations

import asyncio
import platform
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop import __version__, paths
from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import SHIPPED_WHISPER
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.placement import MB, Hardware, limits
from jarvis_desktop.platform.hardware_probe import free_disk_bytes
from jarvis_desktop.platform.work_server import Work
from jarvis_desktop.process import engine

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.backends.inference_api.endpoints import EndpointServer
    from jarvis_desktop.experts.engines import Engines
    from jarvis_desktop.platform.work_server import WorkServer
    from jarvis_desktop.settings import SpeechSettings
    from jarvis_desktop.speech.devices import Device


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: "ok", "limited" (something else does the work) or "missing"."""

    what: str
    """In English, for `tr`."""
    state: str
    detail: str
    fix: str = ""


SECONDS = 3.0
"""How long `doctor --voice` listens."""
FAINT = 0.12
"""A level below that of soft speech: 53 dB below full scale."""
SPEAKS = 0.5
SENTENCE = "What time is it?"
PLUG_IN = mark("Plug one in, or start the sound server; text works without it.")
BIND = mark("Start it, or bind a key of your desktop to: jarvis-desktop talk toggle")
SERVERS = {
    Work.TRANSCRIPTION: mark("server for transcription"),
    Work.SPEECH: mark("server for speech"),
    Work.IMAGES: mark("server for pictures"),
}
ENGINES = {"hibari": "Hibari", "kokoro": "Kokoro", "piper": "Piper"}


async def check_sound(app: Application) -> list[Finding]:
    """The available sound devices, and those in use."""
    return await _sound(app.settings.speech)


async def check_speaking(app: Application) -> list[Finding]:
    """The voice that speaks."""
    return [await asyncio.to_thread(voice, app.settings.speech.engine, app.paths.weights)]


async def check_hearing(app: Application) -> list[Finding]:
    """The recogniser, what tells the end of speech if that lacks, and the wake word if one is
    set."""
    word = app.settings.speech.wake_word
    found = [_recogniser(app)]
    if not paths.shipped("models", "end_of_turn", "smart_turn.onnx").is_file():
        lacking = tr("only silence ends it, for its weights are missing")
        again = tr("Install this application again.")
        found.append(Finding(mark("end of speech"), "limited", lacking, again))
    return [*found, await asyncio.to_thread(wake_word, word)] if word else found


async def check_talk_key(app: Application) -> list[Finding]:
    """The talk key of the desktop."""
    return await asyncio.to_thread(talk_key, paths.run_folder)


async def check_speech(app: Application) -> list[Finding]:
    """Record for a moment and synthesise a sentence, to test what can only be tested so."""
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
    """The available devices, and the one in use."""
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
    usual = tr("the system's default ({name})", name=usual or tr("unknown"))
    return Finding(what, "ok", usual + others)


def voice(engine: str, weights: Path) -> Finding:
    """The voice that speaks: the `engine` of the settings, whose weights are in a folder of
    `weights`."""
    from jarvis_desktop.speech.voices.engine import neural_voice

    own = "" if sys.platform in ("win32", "darwin") else "espeak-ng"
    installed = not own or shutil.which("espeak-ng") or shutil.which("espeak")
    chosen = neural_voice(engine, weights)
    lacking = chosen and chosen.lacking()
    speaks = ENGINES.get(engine, "") if not lacking else ""
    if not installed:
        detail, fix = tr("espeak-ng is not installed"), "apt install espeak-ng"
        if not speaks:
            return Finding("voice", "missing", detail, fix)
        detail = tr("{engine}; for other languages {missing}", engine=speaks, missing=detail)
        return Finding("voice", "limited", detail, fix)
    own = own or tr("the system's own")
    if lacking:
        return Finding("voice", "limited", f"{own}: {lacking.message}", lacking.hint)
    if not speaks:
        return Finding("voice", "ok", own)
    detail = tr("{engine}, and {own} for what that cannot speak", engine=speaks, own=own)
    return Finding("voice", "ok", detail)


def wake_word(name: str) -> Finding:
    """Whether this wake word can be recognised."""
    from jarvis_desktop.speech.wake_word import WakeWordDetector

    try:
        WakeWordDetector(name)
    except JarvisError as error:
        return Finding(mark("wake word"), "limited", error.message, error.hint)
    return Finding(mark("wake word"), "ok", name)


def _recogniser(app: Application) -> Finding:
    installed = [item.id for item in app.weights.installed() if item.id.startswith("whisper")]
    if installed:
        return Finding("recogniser", "ok", ", ".join(installed))
    if not paths.shipped("models", "recogniser", "model.bin").is_file():
        lacking = tr("{name} is missing, which comes with JARVIS", name=SHIPPED_WHISPER)
        return Finding("recogniser", "missing", lacking, tr("Install this application again."))
    comes = tr("{name}, which comes with JARVIS", name=SHIPPED_WHISPER)
    return Finding("recogniser", "ok", comes)


def talk_key(run_folder: Callable[[], Path]) -> list[Finding]:
    """Whether a running JARVIS answers, and which talk key it has."""
    from jarvis_desktop.app.ipc_client import NotRunningError, ask

    try:
        told = ask(run_folder(), {"do": "talk", "action": "status"}, limit=2.0)
    except NotRunningError:
        detail = tr("no window is running, which the talk key needs")
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


async def _record(app: Application) -> Finding:
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
    """How loud a short recording was; `loudest` from 0 to 1."""
    detail = tr(
        "{seconds} s were heard, at most {loudness} dB",
        seconds=f"{seconds:.0f}",
        loudness=round(60 * loudest - 60),
    )
    if speaks:
        return Finding(mark("recording"), "ok", tr("{detail}, and somebody spoke", detail=detail))
    if loudest < FAINT:
        fix = tr("Check that the right microphone is chosen and not muted, and turn its volume up.")
        return Finding(
            mark("recording"), "limited", tr("{detail}: nearly silence", detail=detail), fix
        )
    return Finding(mark("recording"), "ok", tr("{detail}; nobody spoke", detail=detail))


async def _speak(app: Application, folder: Path) -> tuple[str, Path]:
    audio = await app.voice.synthesise(SENTENCE, folder / "sentence.wav")
    return tr("a sentence was made"), audio


async def _recognise(app: Application, audio: Path) -> tuple[str, Path]:
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


OLDEST_SAFE_SQLITE = (3, 51, 3)
"""Older versions may lose a page when a write-ahead log restarts at the wrong moment."""

SMALL = 2_000 * MB
"""With less memory, in bytes, few experts run."""

TIGHT = 5_000 * MB
"""With less free disk space, in bytes, problems are near."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check."""

    about: str
    """In English, for `tr`."""
    look: Callable[[Application], Awaitable[Sequence[Finding]]]


async def examine(app: Application) -> list[Finding]:
    """All findings, in the order in which users would ask."""
    found = await asyncio.gather(*(check.look(app) for check in CHECKS))
    return [finding for each in found for finding in each]


async def _itself(app: Application) -> list[Finding]:
    version = tr(
        "{version} on Python {python}", version=__version__, python=platform.python_version()
    )
    mode = tr("{mode} (settings: {path})", mode=app.mode.called, path=app.paths.settings)
    data = tr("{folder}; log: {log}", folder=app.paths.data, log=app.paths.logs)
    return [
        Finding("JARVIS Desktop", "ok", version),
        Finding(mark("mode"), "ok", mode),
        Finding(mark("data"), "ok", data),
        _sqlite(),
    ]


async def _computer(app: Application) -> list[Finding]:
    hardware = await app.local.probe.hardware()
    return [graphics(hardware), memory(hardware, app.local.budget)]


async def _engine(app: Application) -> list[Finding]:
    return [await asyncio.to_thread(engine_of_experts, app.engines)]


def engine_of_experts(engines: Engines) -> Finding:
    """What runs experts, or how large its download is."""
    if engine.in_environment():
        return Finding("engine", "ok", tr("installed beside JARVIS; it runs experts"))
    install = "jarvis-desktop engine install"
    used = engines.used()
    if used is None:
        size = readable_size(engines.download_mb * MB)
        detail = tr("not installed: the first expert asks for it, {size} to download", size=size)
        return Finding("engine", "limited", detail, install)
    detail = tr("{version}, in {folder}; it runs experts", version=used.torch, folder=used.path)
    if used.name != engines.newest:
        newer = tr("{detail}; there is a newer one", detail=detail)
        return Finding("engine", "limited", newer, install)
    return Finding("engine", "ok", detail)


async def _disk(app: Application) -> list[Finding]:
    return [await asyncio.to_thread(disk, app)]


async def _screen(app: Application) -> list[Finding]:
    from jarvis_desktop.platform.desktop import has_no_display

    if has_no_display():
        return [Finding("screen", "limited", tr("none; the terminal is used instead"))]
    return [Finding("screen", "ok", tr("a window can be opened"))]


async def _planner(app: Application) -> list[Finding]:
    return [await asyncio.to_thread(planner, app)]


async def _agent(app: Application) -> list[Finding]:
    protection, llm = await asyncio.gather(app.sandbox.protection(), app.llms.current())
    return [sandbox(protection), agent_mode(protection, has_llm=llm is not None)]


def graphics(hardware: Hardware) -> Finding:
    """Whether experts can use a graphics card, or why not."""
    what, card = mark("graphics card"), hardware.graphics
    if card is None:
        detail = hardware.trouble or tr("None was found.")
        detail = tr("{why} Experts run on the processor.", why=detail)
        return Finding(what, "limited", detail, hardware.fix)
    free = (
        tr(", {size} free", size=readable_size(hardware.graphics_free))
        if hardware.graphics_free
        else ""
    )
    numbers = "bfloat16" if card.bfloat16 else "float16"
    way = "CUDA" if card.device == "cuda" else "Metal"
    detail = tr(
        "{name} with {size}{free}; it computes, by {way} in {numbers}",
        name=card.name,
        size=readable_size(card.memory),
        free=free,
        way=way,
        numbers=numbers,
    )
    return Finding(what, "ok", detail)


def memory(hardware: Hardware, budget: int) -> Finding:
    """The main memory, and the share for experts."""
    what = mark("memory")
    if not hardware.memory:
        return Finding(what, "limited", tr("the system does not say how much there is"))
    free = tr(", {size} free", size=readable_size(hardware.available)) if hardware.available else ""
    swap = tr(", {size} of swap", size=readable_size(hardware.swap)) if hardware.swap else ""
    most = limits(hardware, budget)
    card = (
        tr(" and {size} of the graphics card", size=readable_size(most.graphics))
        if most.graphics
        else ""
    )
    detail = tr(
        "{size}{free}{swap}, {cores} processor cores; experts get up to {most}{card} {why}",
        size=readable_size(hardware.memory),
        free=free,
        swap=swap,
        cores=hardware.cores,
        most=readable_size(most.main),
        card=card,
        why=tr("by your settings") if budget else tr("together"),
    )
    if most.main < SMALL:
        fix = tr("Only small experts fit; hybrid mode uses others.")
        return Finding(what, "limited", detail, fix)
    return Finding(what, "ok", detail)


def sandbox(protection: Protection) -> Finding:
    """What isolates the code of agent mode from the rest of the computer."""
    if not protection.sandboxed:
        detail = tr("none works here: code runs only when you allow it, each time, unprotected")
        return Finding(mark("sandbox"), "limited", detail, protection.why)
    detail = tr("{name}, which was tried just now", name=protection.name)
    return Finding(mark("sandbox"), "limited" if protection.why else "ok", detail, protection.why)


def agent_mode(protection: Protection, *, has_llm: bool) -> Finding:
    """Whether goals that take several steps are possible."""
    what = "agent mode"
    if not has_llm:
        return Finding(what, "limited", tr("off: it needs a language model, see above"))
    if not protection.sandboxed:
        return Finding(what, "limited", tr("on, with code outside of any sandbox, see above"))
    return Finding(what, "ok", tr("on, with code in the sandbox"))


def disk(app: Application) -> Finding:
    """The free space for experts."""
    free = free_disk_bytes(app.paths.weights)
    detail = tr(
        "{size} free where experts are kept ({folder})",
        size=readable_size(free),
        folder=app.paths.weights,
    )
    if free < TIGHT:
        fix = tr("Remove experts that are not used: jarvis-desktop experts remove NAME")
        return Finding("disk", "limited", detail, fix)
    return Finding("disk", "ok", detail)


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= OLDEST_SAFE_SQLITE:
        return Finding("SQLite", "ok", version)
    detail = tr(
        "{version}; the history is written by one connection only, which keeps it safe",
        version=version,
    )
    return Finding("SQLite", "limited", detail)


def planner(app: Application) -> Finding:
    """Whether the encoder of the built-in planner is available."""
    try:
        app.scorer.warm(())
    except JarvisError as error:
        detail = tr("{why} Requests are planned by their wording alone.", why=error.message)
        return Finding("planner", "limited", detail, error.hint)
    return Finding("planner", "ok", tr("the built-in one, with its weights"))


async def api(app: Application) -> Finding:
    """Whether experts can be used over the network, or why not."""
    what, count = mark("experts by API"), sum(item.only_served for item in app.catalogue.known())
    if not app.policy.allows_api:
        detail = tr("off: the mode {mode} keeps everything on this computer", mode=app.mode.called)
        return Finding(what, "ok", detail)
    if why := await app.api.objection():
        return Finding(what, "limited", why, "jarvis-desktop experts key set")
    detail = tr(
        "there is a key; {count} experts are available over the network only. Try the key "
        "with: jarvis-desktop experts key test",
        count=count,
    )
    return Finding(what, "ok", detail)


async def language_model(app: Application) -> Finding:
    """The LLM in use, or how to get one."""
    from jarvis_desktop.llm.catalogue import LLMOfferFinder

    what = "language model"
    if await app.llms.current():
        return Finding(what, "ok", app.llms.reason)
    detail = tr("{why} The built-in planner is used.", why=app.llms.reason)
    return Finding(what, "limited", detail, await LLMOfferFinder(app).advice())


async def _servers(app: Application) -> Sequence[Finding]:
    there = [each for each in app.servers.values() if each.chosen.address]
    try:
        tasks = await asyncio.to_thread(app.endpoints.all)
    except JarvisError as error:
        return [Finding(mark("servers"), "limited", error.message, error.hint)]
    single = [each for task in tasks if (each := app.endpoints.server(task))]
    return await asyncio.gather(*map(server, there), *map(endpoint, single))


async def endpoint(served: EndpointServer) -> Finding:
    """Whether what is set for a single task takes connections."""
    what = mark("server for a task")
    try:
        seconds = await served.reach()
    except JarvisError as error:
        detail = f"{served.task}: {error.message}"
        return Finding(what, "limited", detail, error.hint)
    host, ms = served.server.host, round(1000 * seconds)
    answers = tr("{host} answers in {ms} ms", host=host, ms=ms)
    return Finding(what, "ok", f"{served.task}: {answers}")


async def server(served: WorkServer) -> Finding:
    """Whether the server for a kind of work answers, and has the model that is set."""
    what, began = SERVERS[Work(served.work)], time.monotonic()
    try:
        host, names = served.server.host, await served.models()
    except JarvisError as error:
        return Finding(what, "limited", error.message, error.hint)
    detail = tr("{host} answers in {ms} ms", host=host, ms=round(1000 * (time.monotonic() - began)))
    model = served.chosen.model
    if names and model and model not in names:
        detail = tr("{detail}, and does not list {model}", detail=detail, model=one_line(model))
        listed = f"jarvis-desktop servers models {served.work}"
        return Finding(what, "limited", detail, listed)
    return Finding(what, "ok", detail)


async def _llm(app: Application) -> list[Finding]:
    return [await language_model(app)]


async def _api(app: Application) -> list[Finding]:
    return [await api(app)]


CHECKS = (
    HealthCheck(mark("JARVIS Desktop"), _itself),
    HealthCheck(mark("computer"), _computer),
    HealthCheck(mark("disk"), _disk),
    HealthCheck(mark("engine"), _engine),
    HealthCheck(mark("screen"), _screen),
    HealthCheck(mark("sound"), check_sound),
    HealthCheck(mark("voice"), check_speaking),
    HealthCheck(mark("recogniser"), check_hearing),
    HealthCheck(mark("talk key"), check_talk_key),
    HealthCheck(mark("planner"), _planner),
    HealthCheck(mark("language model"), _llm),
    HealthCheck(mark("agent mode"), _agent),
    HealthCheck(mark("experts by API"), _api),
    HealthCheck(mark("servers"), _servers),
)
