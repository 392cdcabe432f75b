"""`dictate` writes what is said to stdout, as it is said."""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import sys
from contextlib import suppress

from jarvis_desktop.app.application import Application
from jarvis_desktop.assistant.talk.dictation import DictationState
from jarvis_desktop.cli import output
from jarvis_desktop.cli.commands.speech import ESCAPE, TerminalMeter
from jarvis_desktop.cli.input import END, KEYBOARD
from jarvis_desktop.cli.session import Subparsers, add_shared, run
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import Loudness, Talking

_last_sentence = re.compile(r"[^.!?。！？\n]*[.!?。！？\s]*\Z")


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "dictate",
        help="write down what you say",
        description="Write what you say to stdout, as you say it. Enter, Ctrl-C or a silence ends, "
        "Esc forgets it. Recordings are for `jarvis-desktop transcribe`.",
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
    add_shared(parser)
    parser.set_defaults(command=_dictate)


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
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or another thread
            loop.add_signal_handler(signal.SIGINT, session.stop)
        keys = asyncio.create_task(_follow_keys(app))
        if args.seconds:
            loop.call_later(args.seconds, session.stop)
        try:
            session.start()
            await front.ended.wait()
            await session.settled()
        finally:
            keys.cancel()
            await asyncio.gather(keys, return_exceptions=True)
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(signal.SIGINT)
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
                app.dictation.session.stop()
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
