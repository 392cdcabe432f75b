"""Reads stdin: lines, single keys, answers to questions, texts from the user's editor, and Ctrl-C.

There is one reader, since two would take each other's keys. It has its own thread, because Ctrl-C
cannot stop a read that the event loop waits for.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import queue
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Any, Protocol

from jarvis_desktop.cli import output
from jarvis_desktop.core.errors import InputError

END = ""
"""Returned by `key` at the end of the input."""
CTRL_D = "\x04"
CHUNK = 4096


class KeySource(Protocol):
    """A raw stream, whose reads hold no lock that the exit would wait for."""

    def read(self, size: int, /) -> bytes | None:
        """Read at least a byte; b"" at the end."""

    def fileno(self) -> int:
        """The descriptor."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""


class Keyboard:
    """Reads stdin only when something is wanted, so that the rest is left to later readers."""

    def __init__(self, source: KeySource | None = None) -> None:
        """`source` defaults to stdin."""
        self._given = source
        self._wanted: queue.SimpleQueue[asyncio.AbstractEventLoop] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._typed = ""
        self._ended = False
        self._reading = False
        self._arrived = asyncio.Event()
        self._turn = asyncio.Lock()
        self._usual: list[Any] | None = None
        """The settings of the terminal before single keys were enabled."""

    async def line(self) -> str | None:
        """The next line without its end; None at the end of the input."""
        while "\n" not in self._typed and not self._ended:
            await self._more()
        line, newline, self._typed = self._typed.partition("\n")
        if not newline:
            # Ctrl-D ends a terminal's input only once; a file reports its end again.
            self._ended = False
            if not line:
                return None
        return line.removesuffix("\r")

    async def key(self) -> str:
        """The next key that no open question takes; END at the end of the input.

        Without single keys, a line counts as one press of Enter.
        """
        single = self._usual is not None
        while self._turn.locked() or not self._has(single=single):
            await self._more()
        if not single:
            return END if await self.line() is None else "\n"
        key, self._typed = self._typed[:1], self._typed[1:]
        if not key:
            self._ended = False
        return {CTRL_D: END, "\r": "\n"}.get(key, key)

    async def ask(self, question: str) -> str:
        """The line that answers a question, "" at the end. Further questions wait."""
        async with self.lent():
            return (await self._asked(question) or "").strip()

    async def answer(self, question: str) -> str | None:
        """Like `ask`, but None at the end, since an empty line may mean something. Earlier input
        is not an answer."""
        async with self.lent():
            self._forget_typed()
            line = await self._asked(question)
            return None if line is None else line.strip()

    async def _asked(self, question: str) -> str | None:
        output.prompt(f"{question} ")
        line = await self.line()
        if line is None:  # the line was not ended by Enter
            output.note("")
        return line

    @contextlib.asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """Lend the terminal to another reader: whole lines, and no other question."""
        try:
            async with self._turn:
                with self._whole_lines():
                    yield
        finally:
            self._arrived.set()  # the rest is for the next reader of a key

    @contextlib.contextmanager
    def single_keys(self) -> Iterator[None]:
        """Read single keys without echo, if the terminal supports it."""
        source = self._source()
        try:
            import termios
            import tty
        except ImportError:  # Windows: lines, as with a pipe
            yield
            return
        if source is None or not source.isatty():
            yield
            return
        descriptor = source.fileno()
        usual = termios.tcgetattr(descriptor)
        try:
            tty.setcbreak(descriptor)
            self._usual = usual
            yield
        finally:
            self._usual = None
            termios.tcsetattr(descriptor, termios.TCSANOW, usual)

    @contextlib.contextmanager
    def _whole_lines(self) -> Iterator[None]:
        """Read whole lines with echo while single keys are enabled otherwise."""
        source, usual = self._source(), self._usual
        if usual is None or source is None:
            yield
            return
        import termios

        descriptor = source.fileno()
        single = termios.tcgetattr(descriptor)
        # Keys pressed before the question are not an answer to it.
        self._typed = ""
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, usual)
        try:
            yield
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, single)

    def _forget_typed(self) -> None:
        self._typed = ""
        source = self._source()
        if source is None or not source.isatty():
            return
        try:
            import termios
        except ImportError:  # Windows
            _empty_console()
        else:
            termios.tcflush(source.fileno(), termios.TCIFLUSH)

    def _has(self, *, single: bool) -> bool:
        return self._ended or bool(self._typed if single else "\n" in self._typed)

    async def _more(self) -> None:
        """Wait for input or its end."""
        if not self._reading:
            self._reading = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="keyboard", daemon=True)
                self._thread.start()
            self._wanted.put(asyncio.get_running_loop())
        self._arrived.clear()
        await self._arrived.wait()

    def _serve(self) -> None:
        source = self._source()
        while True:
            loop = self._wanted.get()
            try:
                data = (source.read(CHUNK) if source else b"") or b""
            except (OSError, ValueError):  # the terminal is gone, or stdin was closed
                data = b""
            try:
                loop.call_soon_threadsafe(self._take, data)
            except RuntimeError:  # the loop is closed: nobody is waiting
                return

    def _take(self, data: bytes) -> None:
        self._reading = False
        self._typed += self._decoder.decode(data, final=not data)
        self._ended = not data
        self._arrived.set()

    def _source(self) -> KeySource | None:
        return self._given or _raw(sys.stdin)


KEYBOARD = Keyboard()
"""The stdin of this process, shared by all readers."""


def somebody_is_there() -> bool:
    """Whether a user could answer: stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def wake_by_signals() -> None:
    """Have the running event loop notice Ctrl-C at once.

    If another thread receives the signal, the loop would sleep on until its next event. asyncio has
    it woken by each signal once it handles one. Windows has no such handlers.
    """
    with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGURG, lambda: None)


async def agreed(question: str) -> bool:
    """Ask the user to agree. Returns False without a terminal."""
    if not somebody_is_there():
        return False
    wake_by_signals()
    return (await KEYBOARD.ask(question)).lower() in ("y", "yes")


def whole_input() -> str:
    """All of stdin; invalid bytes become "�"."""
    if sys.stdin is None:
        return ""
    data: bytes = sys.stdin.buffer.read()
    return data.decode(sys.stdin.encoding or "utf-8", "replace").removeprefix("\ufeff")


def _empty_console() -> None:
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()


def _raw(stream: IO[str] | None) -> KeySource | None:
    """The unbuffered stream below a text stream."""
    buffer = getattr(stream, "buffer", None)
    raw: KeySource | None = getattr(buffer, "raw", buffer)
    return raw


def editor() -> list[str]:
    """The user's editor as words of a command; [] if none is set."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        if os.name == "nt":  # a backslash separates folders
            return [word.strip('"') for word in shlex.split(named, posix=False)]
        return shlex.split(named)
    except ValueError:  # an unbalanced quotation mark
        return []


async def edited(text: str, name: str) -> str:
    """The text after the user edited it in a file of that name.

    It has the file's exact characters. Raises InputError if there is no editor, it fails, or the
    result is not UTF-8.
    """
    command = editor()
    if not command:
        raise InputError("There is no editor.", hint="Name one in the variable EDITOR.")
    with tempfile.TemporaryDirectory(prefix="jarvis-") as folder:
        file = Path(folder) / name
        try:
            file.write_bytes(text.encode())
        except UnicodeEncodeError as error:
            raise InputError("This holds characters that no file can hold.") from error
        async with KEYBOARD.lent():
            await _run([*command, str(file)])
        try:
            return file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("What the editor left cannot be read as text.") from error


async def written(what: str) -> str:
    """Lines that the user types, up to an empty one, for users without an editor."""
    output.note(f"Type {what}; an empty line ends it.")
    lines = []
    async with KEYBOARD.lent():
        while line := await KEYBOARD.line():
            lines.append(line)
    return "\n".join(lines)


async def _run(command: list[str]) -> None:
    name = Path(command[0]).name
    # stdout may be a file or a pipe; then the user looks at stderr.
    screen = None if output.is_on_screen() else 2
    # The editor receives Ctrl-C as well, from its first moment on. A function that does nothing
    # ignores it here alone: what is set to SIG_IGN would be ignored by the editor too.
    with on_ctrl_c(lambda number, frame: None):
        try:
            process = await asyncio.create_subprocess_exec(*command, stdout=screen)
        except OSError as error:
            raise InputError(
                f"The editor {name} cannot be started: {output.format_reason(error)}.",
                hint="Name another one in the variable EDITOR.",
            ) from error
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
    if code != 0:
        raise InputError(f"The editor {name} ended with code {code}, so nothing was changed.")


@contextlib.contextmanager
def on_ctrl_c(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle Ctrl-C in this way within the block."""
    usual = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:  # only the main thread receives Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextlib.contextmanager
def stoppable(stop: Callable[[], bool]) -> Iterator[None]:
    """Let Ctrl-C call `stop` to end a part of the work. If that returns False, Ctrl-C acts as
    before.

    A second Ctrl-C before the loop has handled the first one acts as before at once, so that a busy
    loop cannot make the program unresponsive.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual):  # in the background of a shell, Ctrl-C is meant for others
        yield
        return
    loop = asyncio.get_running_loop()
    waiting = False

    def ask(number: int) -> None:
        nonlocal waiting
        waiting = False
        if stop():
            output.note("\nstop    This step is stopped; Ctrl-C once more ends the whole request.")
        else:
            usual(number, None)

    def pressed(number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if waiting:
            usual(number, frame)
        else:
            waiting = True
            loop.call_soon_threadsafe(ask, number)

    with on_ctrl_c(pressed):
        yield
