"""`say`, `listen`, `transcribe` and `dictate`: speech in the terminal.

`listen` is push-to-talk: hold the space bar, or press Enter to start and to stop.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import stat
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.app.application import Application
from jarvis_desktop.assistant.talk.dictation import DictationState
from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.input import END, KEYBOARD, on_ctrl_c, stoppable, whole_input
from jarvis_desktop.cli.output import free_name, make_folder
from jarvis_desktop.cli.session import Subparsers, add_action, add_mode, run
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.core.display import encodable, one_line, printable
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.events import Event, Noted
from jarvis_desktop.core.speech import (
    Loudness,
    Partial,
    Segment,
    TalkEvent,
    Talking,
    Transcript,
    Unheard,
)
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.tasks.audio.recognition import format_time, format_transcript
from jarvis_desktop.text.speakable import speakable


def add_speech(subparsers: Subparsers) -> None:
    """Add the commands."""
    say = add_action(subparsers, "say", "speak a text", _say)
    say.add_argument("text", help="what to say; - reads it from stdin")
    say.add_argument("--out", type=Path, metavar="F.wav", help="write a file, play nothing")
    listen = add_action(subparsers, "listen", "talk in the terminal", _listen)
    listen.description = (
        "Hold the space bar and speak, or press Enter to start and again to stop. Ctrl-D ends."
    )
    listen.add_argument("--once", action="store_true", help="end after one request")
    listen.add_argument("--new", action="store_true", help="begin a new conversation")
    add_mode(listen)


def _say(args: argparse.Namespace) -> int:
    text = whole_input() if args.text == "-" else encodable(args.text)
    if not text.strip():
        output.note("jarvis-desktop say: there is nothing to say.")
        return output.USAGE

    async def work(app: Application) -> int:
        if args.out:
            if args.out.is_dir() or not args.out.absolute().parent.is_dir():
                raise InputError(f"{args.out} is not a place for a file.")
            await app.speech.speaking.synthesise(speakable(text), args.out.absolute())
            output.note(f"saved   {args.out}")
        else:
            shown: list[Event] = []
            await app.speaker.say(text, shown.append)
            for event in shown:
                if isinstance(event, Noted):
                    raise UnavailableError(event.text)
        if args.json:
            output.write_json({"text": text, "file": str(args.out) if args.out else None})
        return output.DONE

    return session.run(args, work)


def _listen(args: argparse.Namespace) -> int:
    loaded = session.load(args)

    async def work(app: Application) -> int:
        known = session.conversation(app, loaded[0].conversation_minutes, args)
        return await converse(app, known, once=args.once, as_json=args.json)

    return session.run(args, work, loaded=loaded)


HELD_GAP = 0.35
"""Seconds. A held key repeats faster; a longer gap means it was released."""
FIRST_GAP = 0.9
"""Seconds until a held key starts to repeat, at most, on common desktops."""
TAP = "tap"
ESCAPE = "\x1b"
METER = 20
"""The width of the level meter in characters."""


async def converse(app: Application, conversation: str | None, *, once: bool, as_json: bool) -> int:
    """Listen and answer until the input ends. Return the last exit code."""
    known = app.history.open_conversation(conversation).id
    talker = _Talker(app, known, as_json=as_json)
    return await talker.converse(once=once, begun=False)


async def answer_until_enter(app: Application, conversation: str) -> int:
    """Listen until a key is pressed, then answer. Return the exit code."""
    talker = _Talker(app, conversation, as_json=False)
    return await talker.converse(once=True, begun=True)


class _Talker:
    """Talking in a terminal, where keys also interrupt an answer."""

    def __init__(self, app: Application, conversation: str, *, as_json: bool) -> None:
        self._app = app
        self._conversation = conversation
        self._as_json = as_json
        self._news: asyncio.Queue[Transcript | Unheard | None] = asyncio.Queue()
        """What was said, or why it is unknown; None to check the state again."""
        self._turn: asyncio.Task[Turn] | None = None
        self._ended = False
        self._meter = TerminalMeter()

    async def converse(self, *, once: bool, begun: bool) -> int:
        """Answer what is said. Return the last exit code."""
        self._app.talk.front = self
        keys = asyncio.create_task(self._follow_keys(begun=begun))
        try:
            with KEYBOARD.single_keys():
                try:
                    return await self._answer_all(once=once)
                finally:
                    keys.cancel()
                    await asyncio.gather(keys, return_exceptions=True)
        finally:
            self._app.talk.cancel()
            self._app.talk.front = None

    def barge_in(self) -> None:
        """Stop speaking. A goal asks what to do instead; any other turn ends."""
        self._app.assistant.silence()
        if self._turn and not self._app.assistant.interrupt():
            self._turn.cancel()

    def show(self, event: TalkEvent) -> None:
        """Show the level and the words beside it."""
        if isinstance(event, Unheard):
            self._news.put_nowait(event)
        elif isinstance(event, Talking):
            self._meter.show_state(event)
            self._news.put_nowait(None)
        else:
            self._meter.show(event)

    def heard(self, transcript: Transcript) -> None:
        """Answer this next."""
        self._news.put_nowait(transcript)

    async def _answer_all(self, *, once: bool) -> int:
        code = output.DONE
        while True:
            news = await self._news.get()
            if isinstance(news, Transcript):
                code = await self._answer(news)
            elif news:
                code = output.report_error(InputError(news.reason), as_json=self._as_json)
            if news and once:
                return code
            idle = self._app.talk.state == "idle" and self._news.empty()
            if idle and self._ended:
                output.note("The input has ended.")
                return code
            if idle and news:
                self._invite()

    async def _answer(self, heard: Transcript) -> int:
        frontend = TerminalFrontend(quiet=self._as_json)
        request = Request(heard=heard, speak=True, folder=Path.cwd())
        self._turn = asyncio.create_task(
            self._app.assistant.handle(request, frontend, conversation=self._conversation)
        )
        try:
            with stoppable(self._app.assistant.interrupt):
                turn = await self._turn
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current and current.cancelling():  # this command is ending
                self._turn.cancel()
                await asyncio.gather(self._turn, return_exceptions=True)
                raise
            return output.FAILED
        except JarvisError as error:
            return output.report_error(error, as_json=self._as_json)
        finally:
            self._turn = None
        frontend.end(turn)
        return output.exit_code(turn.status)

    def _invite(self) -> None:
        output.note("Hold the space bar and speak, or press Enter to start. Ctrl-D ends.")

    async def _follow_keys(self, *, begun: bool) -> None:
        talk = self._app.talk
        if begun:
            self._begin(held=False)
        else:
            self._invite()
        while (key := await KEYBOARD.key()) != END:
            if key == ESCAPE:
                if not talk.cancel():
                    self.barge_in()
            elif talk.state in ("waiting", "listening"):
                talk.stop()
            elif key in " \n":
                self._begin(held=key == " ")
                if key == " " and await self._held() == END:
                    break
        talk.stop()
        self._ended = True
        self._news.put_nowait(None)

    async def _held(self) -> str | None:
        """Follow the held key until it is released. Return what ended it."""
        talk, ended = self._app.talk, await until_released(KEYBOARD.key)
        if ended == ESCAPE:
            talk.cancel()
        elif ended == TAP:
            talk.let_go()
        else:
            talk.stop()
        return ended

    def _begin(self, *, held: bool) -> None:
        self._meter.begin("let go to stop" if held else "press Enter to stop")
        self._app.talk.start(held=held)


async def until_released(next_key: Callable[[], Awaitable[str]]) -> str | None:
    """Wait until the held key is released. Return None, TAP for a short press, or another key
    that was pressed."""
    gap = FIRST_GAP
    with suppress(TimeoutError):
        while (key := await asyncio.wait_for(next_key(), gap)) == " ":
            gap = HELD_GAP
        return key
    return None if gap == HELD_GAP else TAP


class TerminalMeter:
    """Shows when the microphone is open, then the level and the words so far."""

    def __init__(self) -> None:
        self._how_to_stop = ""
        self._words = ""

    def begin(self, how_to_stop: str) -> None:
        """Say how to stop once the microphone is open."""
        self._how_to_stop = how_to_stop
        self._words = ""

    def show(self, event: Loudness | Partial) -> None:
        """Show the level, or the words."""
        if isinstance(event, Partial):
            self._words = printable(event.text)
            return
        if self._how_to_stop:
            output.note(f"Listening; {self._how_to_stop}.")
            self._how_to_stop = ""
        if sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - METER - 2
            bar = "▮" * round(event.level * METER)
            sys.stderr.write(f"\r{bar:<{METER}} {self._words[-room:]}\x1b[K")
            sys.stderr.flush()

    def show_state(self, event: Talking) -> None:
        """Clear the line at the end."""
        if event.state in ("recognising", "idle") and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


FORMATS = ("txt", "srt", "vtt", "json")
TIMED = ("srt", "vtt", "json")
"""The formats that need the times of words."""


def add_transcribe(subparsers: Subparsers) -> None:
    """Add the command."""
    transcribe = add_action(subparsers, "transcribe", "transcribe recordings", _transcribe)
    transcribe.description = (
        "Transcribe recordings of sound or film. Existing files are never overwritten."
    )
    transcribe.add_argument("audio", nargs="+", type=Path, metavar="AUDIO")
    transcribe.add_argument(
        "--format", choices=FORMATS, help="text, subtitles (srt, vtt), or JSON with times"
    )
    transcribe.add_argument(
        "--out", metavar="FILE|FOLDER", help="where to write it; a folder for several recordings"
    )
    transcribe.add_argument(
        "--language", type=str.casefold, metavar="xx", help="the language spoken, such as de"
    )


def _transcribe(args: argparse.Namespace) -> int:
    try:
        format, place, is_folder = _goal(args)
    except ValueError as error:
        output.note(f"jarvis-desktop transcribe: {error}")
        return output.USAGE

    async def work(app: Application) -> int:
        if place and is_folder:
            make_folder(place)
        run = _TranscriptionRun(app, args, format, place, is_folder=is_folder)
        for path in args.audio:
            await run.write_down(path)
        return run.finish()

    return session.run(args, work)


def _goal(args: argparse.Namespace) -> tuple[str, Path | None, bool]:
    """The format of the transcripts, their place, None for the screen, and whether it is a folder.
    Raises ValueError if the options contradict each other."""
    format, out, several = args.format or "txt", args.out, len(args.audio) > 1
    if out is None:
        if several and format != "txt" and not args.json:
            raise ValueError(f"several recordings as {format} want --out FOLDER.")
        return format, None, False
    if not out:
        raise ValueError("--out wants the name of a file or a folder.")
    place = Path(out)
    suffix = place.suffix.casefold().removeprefix(".")
    if place.is_dir() or out.endswith(("/", "\\")) or (several and suffix not in FORMATS):
        return format, place, True
    if several:
        raise ValueError(f"several recordings do not go into the one file {one_line(out)}.")
    if suffix not in FORMATS:
        return format, place, False
    if args.format not in (None, suffix):
        raise ValueError(f"--format {format} does not fit the name {one_line(out)}.")
    return suffix, place, False


class _TranscriptionRun:
    """One command, with the results of its recordings."""

    def __init__(
        self,
        app: Application,
        args: argparse.Namespace,
        format: str,
        place: Path | None,
        *,
        is_folder: bool,
    ) -> None:
        self._app = app
        self._args = args
        self._format = format
        self._folder = place if is_folder else None
        self._file = None if is_folder else place
        self._records: list[dict[str, object]] = []
        self._done = 0
        self._noted: set[str] = set()

    async def write_down(self, audio: Path) -> None:
        """Transcribe one recording. If cancelled, the part that is done is saved."""
        so_far: tuple[Segment, ...] = ()

        def found(segments: tuple[Segment, ...]) -> None:
            nonlocal so_far
            so_far = segments

        try:
            check(audio)
            self._look_at_place()
            heard = await self._app.speech.hearing.write_down(
                audio,
                _tell,
                language=self._args.language,
                words=self._format in TIMED,
                found=found,
            )
            self._keep(audio, heard)
        except JarvisError as error:
            self._records.append({"file": str(audio), "error": str(error)})
            output.note(f"failed  {one_line(audio.name)}: {error}")
        except asyncio.CancelledError:
            self._keep_part(audio, so_far)
            raise

    def finish(self) -> int:
        """Write the JSON document, if requested. Return the exit code."""
        if self._args.json:
            output.write_json(self._records)
        count = len(self._args.audio)
        return (
            output.DONE if self._done == count else output.PARTLY if self._done else output.FAILED
        )

    def _look_at_place(self) -> None:
        """Check the target before hours of work."""
        if not (file := self._file):
            return
        if file.exists() or file.is_symlink():
            raise InputError(f"{one_line(str(file))} is there already.", hint="Give another name.")
        if not file.absolute().parent.is_dir():
            raise InputError(f"{one_line(str(file))} is not a place for a file.")

    def _keep(self, audio: Path, heard: Transcript) -> None:
        saved = self._write(audio, heard)
        self._done += 1
        record: dict[str, object] = {"file": str(audio), "transcript": heard}
        self._records.append(record | ({"saved": str(saved)} if saved else {}))
        if heard.note and heard.note not in self._noted:
            self._noted.add(heard.note)
            output.note(f"note    {heard.note}")
        if saved:
            output.note(f"saved   {one_line(str(saved))}")

    def _keep_part(self, audio: Path, segments: Sequence[Segment]) -> None:
        name = one_line(audio.name)
        if not segments:
            output.note(f"stopped {name}: nothing of it was written down yet.")
        else:
            text, upto = " ".join(each.text for each in segments), format_time(segments[-1].end)
            part = Transcript(text, "whisper", segments=tuple(segments))
            try:
                saved = self._write(audio, part)
            except JarvisError as error:
                output.note(f"failed  {name}: {error}")
            else:
                where = f" in {one_line(str(saved))}" if saved else ""
                output.note(f"stopped {name}: it is written down up to {upto}{where}.")
                self._records.append({"file": str(audio), "transcript": part, "upto": upto})
        if self._args.json:
            output.write_json(self._records)

    def _write(self, audio: Path, heard: Transcript) -> Path | None:
        """Write a transcript. Return its path; None if it was shown or goes into the JSON
        document."""
        text = format_transcript(heard, self._format)
        folder = self._folder
        place = free_name(folder, f"{audio.stem}.{self._format}") if folder else self._file
        if place is None:
            if not self._args.json:
                name = f"{audio.name}: " if len(self._args.audio) > 1 else ""
                output.say(name + text.removesuffix("\n"))
            return None
        made = False
        try:
            with place.open("x", encoding="utf-8", newline="\n") as file:
                made = True
                file.write(text)
        except (OSError, ValueError) as error:
            if made:  # half a file helps nobody
                with suppress(OSError):
                    place.unlink()
            raise InputError(
                f"{one_line(str(place))} cannot be written: {output.format_reason(error)}."
            ) from error
        return place


def check(path: Path) -> None:
    """Refuse anything but a regular file. It is read in place: no copy of a voice is kept."""
    shown = one_line(path.name or str(path))
    try:
        status = path.lstat()
    except FileNotFoundError as error:
        raise InputError(f"There is no file {shown}.", hint="Check its name.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{shown} cannot be opened: {output.format_reason(error)}.") from error
    if stat.S_ISLNK(status.st_mode):
        raise InputError(f"{shown} is a link; give the file itself.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{shown} is not a file.")
    if not status.st_size:
        raise InputError(f"{shown} is empty.")


def _tell(fraction: float | None, message: str) -> None:
    """Show progress between start and end."""
    if fraction is None or 0 < fraction < 1:
        output.note(f"        {'' if fraction is None else f'{fraction:4.0%} '}{message}")


_last_sentence = re.compile(r"[^.!?。！？\n]*[.!?。！？\s]*\Z")


def add_dictate(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_action(subparsers, "dictate", "write down what you say", _dictate)
    parser.description = (
        "Write what you say to stdout, as you say it. Enter, Ctrl-C or a silence ends, Esc forgets "
        "it. Recordings are for `jarvis-desktop transcribe`."
    )
    parser.add_argument(
        "--seconds", type=_seconds, metavar="N", help="end after so long, and not at a silence"
    )
    parser.add_argument(
        "--clean-up",
        action="store_true",
        default=None,
        help="let an LLM of this computer leave out hesitations; nothing is written before the end",
    )


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 600:
        raise ValueError
    return number


def _dictate(args: argparse.Namespace) -> int:
    async def work(app: Application) -> int:
        session = app.dictation.session
        session.tidies = args.clean_up or session.tidies
        front = TerminalDictation(writes=not args.json, streams=not session.tidies)
        pause = args.seconds or app.settings.speech.pause
        app.dictation.use_in_terminal(pause)
        session.front = front
        loop = asyncio.get_running_loop()
        keys = asyncio.create_task(_follow_keys(app))
        if args.seconds:
            loop.call_later(args.seconds, session.talk.stop)
        try:
            with on_ctrl_c(lambda *_: loop.call_soon_threadsafe(session.talk.stop)):
                session.talk.start()
                await front.ended.wait()
                await session.settled()
        finally:
            keys.cancel()
            await asyncio.gather(keys, return_exceptions=True)
        if front.text is None:
            error = InputError(front.reason or "Nothing was dictated.")
            return output.report_error(error, as_json=args.json)
        if args.json:
            output.write_json({"status": "done", "text": front.text})
        return output.DONE

    return run(args, work)


async def _follow_keys(app: Application) -> None:
    with KEYBOARD.single_keys():
        while (key := await KEYBOARD.key()) != END:
            if key == "\n":
                app.dictation.session.talk.stop()
            elif key == ESCAPE:
                app.dictation.session.cancel()


class TerminalDictation:
    """Implements DictationFront: the text goes to stdout, the words that may change to stderr."""

    def __init__(self, *, writes: bool, streams: bool) -> None:
        """With `writes` the text goes to stdout; with `streams` too, a sentence is written while
        the next one is spoken: until then it may be scratched."""
        self.text: str | None = None
        """What was dictated, at the end."""
        self.reason = ""
        self.ended = asyncio.Event()
        self._writes = writes
        self._streams = writes and streams and not output.is_on_screen()
        self._meter = TerminalMeter()
        self._meter.begin("press Enter to stop")
        self._written = ""

    def show(self, state: DictationState) -> None:
        """Write what is certain by now."""
        if state.phase in ("waiting", "listening"):
            self._meter.show(state.words)
            self._stream(_last_sentence.sub("", state.words.settled))
        else:
            self._meter.show_state(Talking("recognising"))
        if state.phase in ("failed", "idle", "written"):
            self.reason = state.message
            self.ended.set()
        if state.phase == "written" and state.message:
            output.note(f"note    {state.message}")

    def level(self, level: float) -> None:
        """Show the level."""
        self._meter.show(Loudness(level))

    async def objection(self) -> str | None:
        """The terminal takes any text."""
        return ""

    async def take(self, text: str) -> bool:
        """Write the rest."""
        self.text = text
        if self._writes:
            if not text.startswith(self._written):
                output.note("note    What was taken back is written already; all of it follows.")
                self._put("\n")
                self._written = ""
            self._put(text[len(self._written) :] + "\n")
        return True

    def _stream(self, text: str) -> None:
        if self._streams and len(text) > len(self._written) and text.startswith(self._written):
            self._put(text[len(self._written) :])
            self._written = text

    @staticmethod
    def _put(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
