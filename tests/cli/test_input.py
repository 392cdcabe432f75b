"""The one reader of stdin: what it gives to whom, from a pipe and from a terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import select
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import pytest

from jarvis_desktop.cli.input import END, Keyboard


class Typist:
    """The other end of what a keyboard reads."""

    def __init__(self, ours: int, theirs: int) -> None:
        self._ours = ours
        self.source = FileIO(theirs)
        self.keyboard = Keyboard(self.source)

    def type(self, data: bytes) -> None:
        os.write(self._ours, data)

    def leave(self) -> None:
        os.close(self._ours)
        self._ours = -1

    def close(self) -> None:
        if self._ours >= 0:
            self.leave()  # ends the thread's read, should one be left
        self.source.close()


@pytest.fixture
def pipe() -> Iterator[Typist]:
    theirs, ours = os.pipe()
    typist = Typist(ours, theirs)
    yield typist
    typist.close()


@pytest.fixture
def tty() -> Iterator[Typist]:
    typist = Typist(*pty.openpty())
    yield typist
    typist.close()


async def test_lines_and_the_end(pipe: Typist) -> None:
    pipe.type("one\r\nzwei äö\n\nlast".encode())
    pipe.leave()
    lines = [await pipe.keyboard.line() for _ in range(6)]
    assert lines == ["one", "zwei äö", "", "last", None, None]


async def test_a_line_may_come_in_pieces(pipe: Typist) -> None:
    reading = asyncio.create_task(pipe.keyboard.line())
    for byte in "ü!\n".encode():
        pipe.type(bytes([byte]))
        await asyncio.sleep(0)
    assert await reading == "ü!"


async def test_bytes_that_are_no_text(pipe: Typist) -> None:
    pipe.type(b"caf\xe9\n")
    assert await pipe.keyboard.line() == "caf�"


async def test_a_given_up_read_loses_nothing(pipe: Typist) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(pipe.keyboard.line(), 0.01)
    pipe.type(b"here\n")
    assert await pipe.keyboard.line() == "here"


async def test_a_line_counts_as_one_press_of_enter_where_keys_do_not_come_singly(
    pipe: Typist,
) -> None:
    pipe.type(b"abc\n\n")
    pipe.leave()
    with pipe.keyboard.single_keys():
        assert [await pipe.keyboard.key() for _ in range(3)] == ["\n", "\n", END]


async def test_keys_come_singly_from_a_terminal(tty: Typist) -> None:
    with tty.keyboard.single_keys():
        tty.type(b" a\n\x04b")
        assert [await tty.keyboard.key() for _ in range(5)] == [" ", "a", "\n", END, "b"]
    tty.type(b"x\x7fyes\n")
    assert await tty.keyboard.line() == "yes"


async def test_two_questions_go_one_after_the_other(
    tty: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    first = asyncio.create_task(tty.keyboard.ask("First?"))
    second = asyncio.create_task(tty.keyboard.ask("Second?"))
    await asyncio.sleep(0)
    tty.type(b"one\n")
    assert await first == "one"
    tty.type(b"two\n")
    assert await second == "two"
    assert capsys.readouterr().err == "First? Second? "


async def test_an_open_question_takes_the_keys(tty: Typist) -> None:
    with tty.keyboard.single_keys():
        key = asyncio.create_task(tty.keyboard.key())
        await asyncio.sleep(0)
        question = asyncio.create_task(tty.keyboard.ask("Well?"))
        await asyncio.sleep(0)
        tty.type(b" yes\n")
        assert await question == "yes"
        assert not key.done()
        tty.type(b"k")
        assert await key == "k"


async def test_what_is_left_of_an_answer_are_keys(pipe: Typist) -> None:
    question = asyncio.create_task(pipe.keyboard.ask("Well?"))
    await asyncio.sleep(0)
    key = asyncio.create_task(pipe.keyboard.key())
    await asyncio.sleep(0)
    pipe.type(b"yes\n\n")
    assert await question == "yes"
    assert await key == "\n"


async def test_a_terminal_that_went_away_is_the_end(tty: Typist) -> None:
    tty.leave()
    assert await tty.keyboard.line() is None
    assert await tty.keyboard.ask("Well?") == ""


async def test_a_question_given_up_makes_room_for_the_next(tty: Typist) -> None:
    first = asyncio.create_task(tty.keyboard.ask("First?"))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    tty.type(b"two\n")
    assert await tty.keyboard.ask("Second?") == "two"


async def test_an_empty_answer_is_not_the_end(tty: Typist) -> None:
    for typed, answer in ((b"\n", ""), (b"\x04", None), (b" words \n", "words")):
        asking = asyncio.create_task(tty.keyboard.answer("Well?"))
        await asyncio.sleep(0)  # it forgets what was typed before, and asks
        tty.type(typed)
        assert await asking == answer


async def test_what_was_typed_before_is_no_answer(tty: Typist) -> None:
    tty.type(b"first\nyes\n")
    assert await tty.keyboard.line() == "first"
    tty.type(b"yes\n")
    select.select([tty.source], [], [])  # it has arrived
    asking = asyncio.create_task(tty.keyboard.answer("Well?"))
    await asyncio.sleep(0)
    tty.type(b"no\n")
    assert await asking == "no"


async def test_what_is_lent_is_asked_for_by_nobody_else(tty: Typist) -> None:
    async with tty.keyboard.lent():
        asking = asyncio.create_task(tty.keyboard.ask("Well?"))
        tty.type(b"mine\n")
        assert await tty.keyboard.line() == "mine"
        assert not asking.done()
    tty.type(b"yes\n")
    assert await asking == "yes"


async def test_a_file_is_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(b"\n")
    with FileIO(tmp_path / "keys") as source:
        keyboard = Keyboard(source)
        with keyboard.single_keys():
            assert [await keyboard.key(), await keyboard.key()] == ["\n", END]
