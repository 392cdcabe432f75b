"""The socket of the running instance: reached by its person only, and not harmed by anybody."""

import asyncio
import json
import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Mapping

import pytest

from jarvis_desktop.app import ipc_client
from jarvis_desktop.app import single_instance as instance_module
from jarvis_desktop.app.ipc_client import (
    MAX_ADDRESS_BYTES,
    MAX_LINE_BYTES,
    NotRunningError,
    address,
    ask,
)
from jarvis_desktop.app.single_instance import (
    INTERNAL_ERROR,
    MAX_CONNECTIONS,
    NOT_A_COMMAND,
    TOO_SLOW,
    Instance,
)
from jarvis_desktop.core.errors import InputError, JarvisError, StorageError, UnavailableError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there it is a named pipe")

PATIENCE = 60.0
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def echo(command) -> Mapping[str, object]:
    if command.get("do") == "refuse":
        raise InputError("It is refused.", hint="Do not.")
    if command.get("do") == "fail":
        raise LookupError("a secret")
    if command.get("do") == "hang":
        await asyncio.Event().wait()
    return {"heard": command}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
async def instance(folder):
    instance = Instance(folder)
    assert await instance.serve(echo)
    yield instance
    await instance.close()


async def asked(folder, command, **more) -> Mapping[str, object]:
    return await asyncio.to_thread(ask, folder, command, **more)


async def connection(folder) -> Connection:
    async with asyncio.timeout(PATIENCE):
        return await asyncio.open_unix_connection(address(folder))


async def left(reader) -> bytes:
    """What the other side still says until it closes the connection."""
    async with asyncio.timeout(PATIENCE):
        try:
            return bytes(await reader.read())
        except ConnectionResetError:
            return b""


async def test_a_command_is_carried_out_and_answered(instance, folder):
    command = {"do": "talk", "words": "ü\n\u2028", "list": [1, None]}
    assert await asked(folder, command) == {"heard": command}


async def test_what_was_refused_is_told_with_what_to_do(instance, folder):
    with pytest.raises(JarvisError) as raised:
        await asked(folder, {"do": "refuse"})
    assert (raised.value.message, raised.value.hint) == ("It is refused.", "Do not.")


async def test_a_fault_of_ours_tells_no_secret(instance, folder, caplog):
    with pytest.raises(JarvisError) as raised:
        await asked(folder, {"do": "fail"})
    assert raised.value.message == INTERNAL_ERROR
    assert "LookupError" in caplog.text
    assert "secret" not in caplog.text
    caplog.clear()


async def test_a_command_that_takes_too_long_is_given_up(instance, folder, monkeypatch):
    monkeypatch.setattr(instance_module, "COMMAND_TIMEOUT_S", 0.1)
    with pytest.raises(JarvisError) as raised:
        await asked(folder, {"do": "hang"})
    assert raised.value.message == TOO_SLOW


async def test_where_nothing_runs_that_is_said(folder):
    with pytest.raises(NotRunningError, match="Start it with: jarvis-desktop"):
        ask(folder, {"do": "talk"})


async def test_it_is_gone_after_closing(instance, folder):
    await instance.close()
    with pytest.raises(NotRunningError):
        await asked(folder, {"do": "talk"})
    assert not os.path.exists(address(folder))


async def test_only_one_serves_until_it_closes(instance, folder):
    second = Instance(folder)
    assert not await second.serve(echo)
    await second.close()
    assert await asked(folder, {"a": 1}) == {"heard": {"a": 1}}
    await instance.close()
    assert await second.serve(echo)
    assert await asked(folder, {"a": 2}) == {"heard": {"a": 2}}
    await second.close()


def serve_for_ever(folder, told) -> None:
    async def main() -> None:
        assert await Instance(folder).serve(echo)
        told.set()
        await asyncio.Event().wait()

    asyncio.run(main())


async def test_one_that_was_killed_is_followed_by_the_next(folder):
    context = multiprocessing.get_context("spawn")
    told = context.Event()
    process = context.Process(target=serve_for_ever, args=(folder, told))
    process.start()
    assert await asyncio.to_thread(told.wait, PATIENCE)
    assert await asked(folder, {"a": 1}) == {"heard": {"a": 1}}
    process.kill()
    await asyncio.to_thread(process.join)
    process.close()
    assert os.path.exists(address(folder))
    with pytest.raises(NotRunningError):
        await asked(folder, {"a": 1})
    instance = Instance(folder)
    assert await instance.serve(echo)
    assert await asked(folder, {"a": 2}) == {"heard": {"a": 2}}
    await instance.close()


async def test_one_that_hangs_is_told(folder):
    context = multiprocessing.get_context("spawn")
    told = context.Event()
    process = context.Process(target=serve_for_ever, args=(folder, told))
    process.start()
    assert await asyncio.to_thread(told.wait, PATIENCE)
    assert process.pid
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(UnavailableError, match="does not answer"):
        await asked(folder, {"a": 1}, limit=0.2)
    process.kill()
    await asyncio.to_thread(process.join)
    process.close()


async def test_of_many_that_start_at_once_one_serves(folder):
    instances = [Instance(folder) for _ in range(8)]
    served = await asyncio.gather(*(each.serve(echo) for each in instances))
    assert sorted(served) == [False] * 7 + [True]
    assert await asked(folder, {"a": 1}) == {"heard": {"a": 1}}
    for each in instances:
        await each.close()


async def test_a_folder_with_a_long_name_works_too(tmp_path, monkeypatch):
    # The usual one may be long in tests.
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    folder = tmp_path / ("deep" * 30)
    instance = Instance(folder)
    assert await instance.serve(echo)
    name = address(folder)
    assert len(os.fsencode(name)) <= MAX_ADDRESS_BYTES
    assert os.stat(os.path.dirname(name)).st_mode & 0o077 == 0
    assert address(tmp_path / ("deep" * 31)) != name
    assert await asked(folder, {"a": 1}) == {"heard": {"a": 1}}
    await instance.close()
    assert not os.path.exists(name)


async def test_the_folder_is_closed_to_others(folder):
    folder.mkdir(mode=0o755)
    instance = Instance(folder)
    assert await instance.serve(echo)
    assert folder.stat().st_mode & 0o777 == 0o700
    await instance.close()


@pytest.mark.parametrize("place", ["file", "link"])
async def test_a_folder_that_is_none_of_ours_is_not_used(folder, tmp_path, place):
    if place == "file":
        folder.write_text("")
    else:
        (tmp_path / "theirs").mkdir()
        folder.symlink_to(tmp_path / "theirs")
    with pytest.raises(StorageError, match="run"):
        await Instance(folder).serve(echo)
    assert place == "file" or not list((tmp_path / "theirs").iterdir())


async def test_a_socket_that_cannot_be_made_is_told_and_the_lock_let_go(folder):
    folder.mkdir()
    (folder / "instance.sock").mkdir()
    for _ in range(2):
        with pytest.raises(StorageError, match="cannot be made"):
            await Instance(folder).serve(echo)
    (folder / "instance.sock").rmdir()
    instance = Instance(folder)
    assert await instance.serve(echo)
    await instance.close()


async def test_a_stranger_hears_nothing(instance, folder, monkeypatch):
    monkeypatch.setattr(instance_module, "is_mine", lambda peer: False)
    reader, writer = await connection(folder)
    writer.write(b'{"do": "talk"}\n')
    assert await left(reader) == b""
    writer.close()


async def test_a_strangers_socket_is_not_asked(instance, folder, monkeypatch):
    monkeypatch.setattr(ipc_client, "is_mine", lambda peer: False)
    with pytest.raises(NotRunningError):
        await asked(folder, {"a": 1})


@pytest.mark.parametrize(
    "line",
    [b"\n", b"{\n", b"[]\n", b'"a"\n', b"NaN\n", b"\xff\xfe{\n", b"[" * 50_000 + b"\n", b"\0\n"],
)
async def test_what_is_no_command_is_answered_as_such(instance, folder, line):
    reader, writer = await connection(folder)
    writer.write(line + b'{"a": 1}\n')
    async with asyncio.timeout(PATIENCE):
        assert json.loads(await reader.readline()) == {"ok": False, "error": NOT_A_COMMAND}
        assert json.loads(await reader.readline()) == {"ok": True, "heard": {"a": 1}}
    writer.close()


async def test_an_endless_line_ends_the_connection(instance, folder):
    reader, writer = await connection(folder)
    writer.write(b"x" * (2 * MAX_LINE_BYTES + 1))
    assert await left(reader) == b""
    writer.close()
    assert await asked(folder, {"a": 1})


async def test_who_says_nothing_is_left(instance, folder, monkeypatch):
    monkeypatch.setattr(instance_module, "IDLE_TIMEOUT_S", 0.05)
    reader, writer = await connection(folder)
    writer.write(b'{"half')
    assert await left(reader) == b""
    writer.close()


async def test_who_never_reads_does_not_keep_it(instance, folder, monkeypatch):
    monkeypatch.setattr(instance_module, "IDLE_TIMEOUT_S", 0.2)
    _, writer = await connection(folder)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    line = json.dumps({"long": "x" * 60_000}).encode() + b"\n"
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                writer.write(line)
                await writer.drain()
                await asyncio.sleep(0)
    except ConnectionError:
        pass
    writer.close()
    assert await asked(folder, {"a": 1})


async def test_too_many_connections_are_not_taken(instance, folder):
    open_ones = [await connection(folder) for _ in range(MAX_CONNECTIONS)]
    for reader, writer in open_ones:
        writer.write(b"{}\n")
        assert await reader.readline()
    reader, writer = await connection(folder)
    assert await left(reader) == b""
    for _, each in [*open_ones, (reader, writer)]:
        each.close()
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                assert await asked(folder, {"a": 1}) == {"heard": {"a": 1}}
                break
            except NotRunningError:  # it has not seen all of them leave yet
                await asyncio.sleep(0)


async def test_garbage_does_no_harm(instance, folder):
    chance = random.Random(6)
    pieces = (b'{"do":', b"\n", b"\0", b"\xff", b"[", b'"', b"}", b"1e999", b"\\ud800")

    async def annoy() -> None:
        reader, writer = await connection(folder)
        try:
            for _ in range(chance.randrange(1, 30)):
                writer.write(chance.choice(pieces) * chance.randrange(1, 50))
                await writer.drain()
            if chance.random() < 0.5:
                writer.transport.abort()
            else:
                writer.write_eof()
                for line in (await left(reader)).splitlines():
                    assert json.loads(line)["ok"] is False
        except ConnectionError:
            pass
        writer.close()

    for _ in range(40):
        await asyncio.gather(*(annoy() for _ in range(5)))
    assert await asked(folder, {"a": 1}) == {"heard": {"a": 1}}
