"""Two computers and somebody between them, as three network namespaces.

    unshare --user --map-root-user --net python -m tests.backends.machines.two_networks FOLDER

This computer has 10.77.0.1, the one with experts 10.77.0.2, and the cable between them runs through
a third, which is a switch at first. It can drop everything, or answer as 10.77.0.2 itself and pass
on what it decrypts. All packets at the network card of this computer are read. Prints what happened
as JSON, which `test_two_networks.py` judges.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import keyring
import pytest

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.assistant.execution.task_runner import RetryLimits
from jarvis_desktop.backends.machines import backend as machines
from jarvis_desktop.backends.machines.discovery import announced, search
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Candidate, Expert, Selection, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.task import Call, Port, Ref, Report, Task, TaskType
from jarvis_desktop.server.paired import PairedComputers
from jarvis_desktop.tasks.definition import Definition
from tests.fakes import FakeFrontend, FakeStore
from tests.machines import Box, Desk, box, keyring_in_memory

DESK, BOX, SPARE, BETWEEN = "10.77.0.1", "10.77.0.2", "10.77.0.22", "10.77.0.9"
PORT = 8766
SECRET = "the words of a secret letter"
TASKS = {
    name: TaskType(name, "", (Port("text", (Kind.TEXT,), many=True),), (Kind.TEXT,))
    for name in ("reverse", "shout")
}
DEFINITIONS = {name: Definition(kind) for name, kind in TASKS.items()}
LOCAL = Candidate(Expert("here", "any"), "builtin")


class Does:
    """A backend that reverses texts, or writes them in capitals. What "waits" does so for ever."""

    def __init__(self, name: str) -> None:
        self.name = self.lane = name
        self.calls = 0

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        self.calls += 1
        words = " ".join(call.texts("text"))
        if words.startswith("waits") and self.name == "local":
            report(0.5, "half")
            await asyncio.Event().wait()
        return [text_artifact(words[::-1] if call.task == "reverse" else words.upper())]


# The computer with experts, and the one between: each does what a line of stdin says.


async def lines() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def tell(value: object) -> None:
    print(json.dumps(value), flush=True)


async def be_box(folder: Path) -> None:
    commands, backend = await lines(), Does("local")
    tell("ready")
    await commands.readline()
    machine: Box = box(folder, backend, DEFINITIONS, "reverse")
    machine.port, machine.silence, machine.service.heartbeat = PORT, 2.0, 0.5
    await machine.start("0.0.0.0")
    async with announced("box", "0.0.0.0", PORT) as done:
        tell(done)
        while command := (await commands.readline()).decode().strip():
            if command == "be idle":  # what runs ends when its client has gone away
                while machine.service.busy:
                    await asyncio.sleep(0.05)
            tell(machine.show_code() if command == "code" else backend.calls)
    await machine.stop()


async def be_between(folder: Path) -> None:
    """Answer with another certificate, and pass on what comes."""
    commands, seen = await lines(), bytearray()
    tell("ready")
    encrypted, _ = PairedComputers(folder).encryption()
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                seen.extend(data)
                writer.write(data)
                await writer.drain()
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(SPARE, PORT, ssl=trusting)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))

    server = None
    while command := (await commands.readline()).decode().strip():
        if command == "answer":
            server = server or await asyncio.start_server(accept, BOX, PORT, ssl=encrypted)
            seen.clear()
        tell(seen.decode("latin-1"))
    if server:
        server.close()


class Other:
    """A computer in a network namespace of its own."""

    def __init__(self, role: str, folder: Path) -> None:
        command = ["unshare", "--net", sys.executable, "-m", __spec__.name, str(folder), role]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.hear()

    def hear(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def say(self, command: str) -> Any:
        assert self.process.stdin
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.hear()

    async def ask(self, command: str) -> Any:
        return await asyncio.to_thread(self.say, command)

    def ip(self, *commands: str) -> None:
        run(*(f"nsenter -t {self.process.pid} -n ip {each}" for each in commands))


def run(*commands: str) -> None:
    for each in commands:
        subprocess.run(each.split(), check=True)


class Wire:
    """What leaves this computer by IP, except what TCP and the kernel say for themselves."""

    def __init__(self) -> None:
        self._sent: list[bytes] = []
        self._news = threading.Condition()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._socket.bind(("d0", 0))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the end of the network
            while True:
                packet = self._socket.recv(1 << 16)[14:]
                if packet[0] >> 4 == 4 and packet[12:16] == socket.inet_aton(DESK):
                    with self._news:
                        if says_something(packet):
                            self._sent.append(packet)
                            self._news.notify_all()

    @contextlib.contextmanager
    def watched(self) -> Iterator[list[bytes]]:
        """Collect what is sent within."""
        found: list[bytes] = []
        before = len(self._sent)
        yield found
        # A packet of our own comes after all others that were sent before it.
        mark = f"end {before}".encode()
        with self._news, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(mark, (BETWEEN, 9))
            assert self._news.wait_for(lambda: any(it.endswith(mark) for it in self._sent), 60)
        found += self._sent[before:-1]


def says_something(packet: bytes) -> bool:
    """Whether a packet is more than the end of a connection, or a membership of the kernel."""
    protocol, head = packet[9], 4 * (packet[0] & 15)
    if protocol != socket.IPPROTO_TCP:
        return protocol != socket.IPPROTO_IGMP
    opens = bool(packet[head + 13] & 2)
    whole = int.from_bytes(packet[2:4], "big")
    return opens or whole > head + 4 * (packet[head + 12] >> 4)


async def main(folder: Path) -> dict[str, Any]:
    outcome: dict[str, Any] = {}
    there, between = Other("box", folder / "box"), Other("between", folder / "between")
    run(
        "ip link set lo up",
        f"ip link add d0 type veth peer name m0 netns {between.process.pid}",
        f"ip addr add {DESK}/24 dev d0",
        "ip link set d0 addrgenmode none",
        "ip link set d0 up",
        f"ip neigh replace {BETWEEN} lladdr 02:00:00:00:00:09 dev d0",
    )
    between.ip(
        f"link add m1 type veth peer name b0 netns {there.process.pid}",
        "link add switch type bridge",
        "link set m0 master switch",
        "link set m1 master switch",
        *(f"link set {name} up" for name in ("lo", "m0", "m1", "switch")),
    )
    there.ip(f"addr add {BOX}/24 dev b0", "link set b0 up")
    announced_there = there.say("start")
    there.ip(f"addr add {SPARE}/24 dev b0")
    wire = Wire()
    desk = Desk(folder / "desk", DEFINITIONS, silence=2.0)
    backend, here = desk.backend, Does("builtin")
    store = FakeStore(folder / "store")

    async def attempt(work: Any) -> str:
        try:
            await work
        except JarvisError as error:
            return str(error)
        return "done"

    async def carried_out(*tasks: Task, during: Any = None) -> dict[int, TaskResult]:
        chosen = [
            Selection(
                each.id,
                (*backend.candidates(each.type.name), LOCAL),
                "",
            )
            for each in tasks
        ]
        frontend = FakeFrontend()
        executor = Executor(
            {"machine": backend, "builtin": here},
            store,
            lanes={},
            patience=RetryLimits(tries=1),
        )

        def show(event: Any) -> None:
            frontend.show(event)
            if during and "half" in str(getattr(event, "message", "")):
                during()

        return await executor.run(Plan(tasks), chosen, show=show, confirm=frontend.confirm)

    def reverse(number: int, text: Any) -> Task:
        return Task(number, TASKS["reverse"], {"text": text})

    def told(results: dict[int, TaskResult]) -> list[Any]:
        return [
            [
                result.status.value,
                [each.candidate.backend for each in result.attempts],
                [item.text for item in result.artifacts],
            ]
            for _, result in sorted(results.items())
        ]

    # Searching and pairing.
    outcome["announced"] = announced_there
    desk.policy.mode = Mode.OFFLINE
    with wire.watched() as sent:
        outcome["offline"] = [
            await attempt(backend.search()),
            await attempt(backend.pair(BOX, "K7Q2-9XWM")),
        ]
    outcome["sent offline"] = len(sent)
    desk.policy.mode = Mode.HYBRID
    outcome["found"] = [[each.name, each.address] for each in await search(30, enough=1)]
    outcome["wrong code"] = await attempt(backend.pair(BOX, wrong(await there.ask("code"))))

    # Somebody answers in between, before the two know each other.
    attack = [
        "link set m0 nomaster",
        f"addr add {BOX}/32 dev m0",
        f"route add {DESK}/32 dev m0 src {BOX}",
        f"addr add {BETWEEN}/32 dev switch",
        f"route add {SPARE}/32 dev switch src {BETWEEN}",
    ]
    undo = [
        f"addr del {BETWEEN}/32 dev switch",
        f"addr del {BOX}/32 dev m0",
        "link set m0 master switch",
    ]
    fresh = f"ip neigh flush dev d0 to {BOX}"
    between.ip(*attack)
    await between.ask("answer")
    run(fresh)
    code = await there.ask("code")
    outcome["pairing with somebody between"] = await attempt(backend.pair(BOX, code))
    read = await between.ask("read")
    outcome["read between"] = [code in read, "proof" in read, "Bearer" in read]
    between.ip(*undo)
    run(fresh)

    outcome["pairing"] = await attempt(backend.pair(BOX, await there.ask("code"), name="box"))

    # Six tasks over both.
    with wire.watched() as sent:
        outcome["six"] = told(
            await carried_out(
                reverse(0, SECRET),
                Task(1, TASKS["shout"], {"text": Ref(0)}),
                reverse(2, Ref(1)),
                reverse(3, "other words"),
                Task(4, TASKS["shout"], {"text": (Ref(2), Ref(3))}),
                reverse(5, Ref(4)),
            )
        )
    outcome["calls there"] = await there.ask("calls")
    heads = {socket.inet_ntoa(frame[16:20]) for frame in sent}
    outcome["sent to"] = sorted(heads)
    outcome["in clear"] = any(
        words in frame for frame in sent for words in (SECRET.encode(), b"SECRET", b"terces")
    )

    # The mode “local” without the user's consent, and offline.
    outcome["forbidden"] = []
    candidates = backend.candidates("reverse")
    for mode in (Mode.LOCAL, Mode.OFFLINE):
        desk.policy.mode, desk.policy.own_machines = mode, False
        call = Call("reverse", {"text": (text_artifact(SECRET),)}, {}, folder)
        with wire.watched() as sent:
            said = await attempt(backend.run(candidates[0], call, lambda share, words: None))
        outcome["forbidden"].append([said, len(sent)])
    desk.policy.mode = Mode.HYBRID

    # Somebody answers in between, afterwards.
    between.ip(*attack)
    await between.ask("answer")
    run(fresh)
    outcome["somebody between"] = told(await carried_out(reverse(0, "a letter")))
    outcome["read later"] = await between.ask("read")
    outcome["look"] = (await backend.look(backend.machines.all()[0])).trouble
    between.ip(*undo)
    run(fresh)

    # A wrong key.
    before = await there.ask("calls")
    kept = keyring.get_password("", "machine:box") or ""
    keyring.set_password("", "machine:box", "x" * len(kept))
    outcome["wrong key"] = told(await carried_out(reverse(0, "a letter")))
    outcome["look with it"] = (await backend.look(backend.machines.all()[0])).trouble
    outcome["calls with it"] = await there.ask("calls") - before
    keyring.set_password("", "machine:box", kept)

    # The cable is cut in the middle, and mended.
    def cut() -> None:
        between.ip("link set m1 nomaster")

    outcome["cut"] = told(
        await carried_out(reverse(0, "waits here"), reverse(1, Ref(0)), during=cut)
    )
    await there.ask("be idle")
    between.ip("link set m1 master switch")
    outcome["mended"] = told(await carried_out(reverse(0, "abc")))

    for each in (there, between):
        assert each.process.stdin
        each.process.stdin.close()
        outcome.setdefault("ended", []).append(each.process.wait(60))
    await backend.close()
    return outcome


def wrong(code: str) -> str:
    """Another code."""
    return ("0" if code[0] != "0" else "1") + code[1:]


if __name__ == "__main__":
    root, *roles = sys.argv[1:]
    with keyring_in_memory(pytest.MonkeyPatch()):
        if "box" in roles:
            asyncio.run(be_box(Path(root)))
        elif "between" in roles:
            asyncio.run(be_between(Path(root)))
        else:
            machines.AVOIDED_S = 0.0
            print(json.dumps(asyncio.run(main(Path(root)))))
