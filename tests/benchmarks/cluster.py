"""A cluster of experts with Ray Serve beside the local backend: throughput, replicas that come and
go and are killed, its head killed, and who is let in.

    python -m tests.benchmarks.cluster FOLDER [--calls N] [--cpus N] [--most N]

FOLDER has the weights of the expert "minilm". The environment needs the extra "cluster".
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import keyring
import keyring.backend

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call
from jarvis_desktop.experts.catalogue import load as load_experts
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.paths import shipped, user_paths
from jarvis_desktop.server import ray_cluster
from jarvis_desktop.server.cluster import GateTerms
from jarvis_desktop.server.paired import self_signed
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.machines import Desk

TASK = "feature-extraction"
TEXT = "The cat sat on the warm roof of the old house in Paris and was happy all day long.\n" * 6
ALL = {each.type.name: each for each in DEFINITIONS}
TRIES = 3
"""As the executor, which repeats a retryable failure."""
DESKS = 2
"""Computers that send calls."""

_folders = (Path(f"call-{number}") for number in itertools.count())


class Kept(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.kept.pop(username, None)


def call(root: Path) -> Call:
    folder = root / next(_folders)
    folder.mkdir(parents=True)
    return Call(TASK, {"text": (text_artifact(TEXT),)}, {"each": "line"}, folder)


async def load(
    run: Callable[[Call], Awaitable[Any]], calls: int, width: int, root: Path
) -> tuple[float, Counter[str]]:
    """Seconds, and how the calls ended: "done", or in which words they failed at last."""
    ended: Counter[str] = Counter()
    waiting = list(range(calls))

    async def user() -> None:
        while waiting:
            waiting.pop()
            words = ""
            for attempt in range(TRIES):
                try:
                    results = await run(call(root))
                    words = "done" if results[0].path else "an answer without a table"
                except JarvisError as error:
                    words = str(error)
                    if error.retryable:
                        continue
                ended[f"tried again: {attempt}"] += bool(attempt)
                break
            ended[words] += 1

    started = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for _ in range(width):
            group.create_task(user())
    return time.monotonic() - started, +ended


def processes(words: str) -> list[int]:
    """The processes of the cluster with these words in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and words in (folder / "cmdline").read_bytes().decode():
                found.append(int(folder.name))
    return found


async def follow(seen: list[tuple[float, int]], name: str) -> None:
    """Note the number of replicas whenever it changes."""
    began = time.monotonic()
    while True:
        count = len(processes(f"ray::ServeReplica:{name}"))
        if not seen or seen[-1][1] != count:
            seen.append((round(time.monotonic() - began, 1), count))
        await asyncio.sleep(0.25)


async def local(expert: Expert, calls: int, root: Path) -> float:
    """Calls a second of the local backend with one process."""
    backend = LocalBackend(
        {each.type.name: each for each in DEFINITIONS}, Weights(user_paths().weights)
    )

    async def run(asked: Call) -> Any:
        return await backend.run(Candidate(expert, "local"), asked, lambda share, words: None)

    await load(run, 1, 1, root)
    seconds, ended = await load(run, calls, 2, root)
    await backend.close()
    print(f"local backend: {calls / seconds:.1f} calls/s; {dict(ended)}")
    return calls / seconds


def ports() -> None:
    """List what listens, and what a stranger gets at each port that others reach."""
    listed = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    ours = [
        line.split() for line in listed.splitlines() if re.search("ray::|gcs_server|raylet", line)
    ]
    inside = [each for each in ours if "127.0.0.1" in each[3]]
    print(f"ports on loopback: {len(inside)}; beyond it:")
    for each in ours:
        if each not in inside:
            port = int(each[3].rpartition(":")[2])
            print(f"  {each[3]} {each[5]}: {', '.join(stranger(port))}")


def stranger(port: int) -> list[str]:
    """What answers at a port: in HTTP, over TLS with a wrong token, and with none."""
    request = b"GET /experts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n"
    told = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    for encrypted, data in (
        (False, request),
        (True, request),
        (True, request.replace(b"Auth", b"X-")),
    ):
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as plain:
                channel = context.wrap_socket(plain) if encrypted else plain
                channel.sendall(data)
                first = channel.recv(100).partition(b"\r\n")[0]
                told.append(first.decode("latin-1") if first.startswith(b"HTTP") else "closed")
                channel.close()
        except OSError as error:
            told.append(f"refused ({getattr(error, 'reason', '') or type(error).__name__})")
    return told


async def measure(
    found: dict[str, Any], expert: Expert, args: argparse.Namespace, root: Path
) -> None:
    name = ray_cluster.deployed_name(expert.id)
    desks = [Desk(root / f"desk-{at}", ALL) for at in range(DESKS)]
    for at, desk in enumerate(desks):
        code = await asyncio.to_thread(ray_cluster.pairing_code, found)
        await desk.backend.pair(found["place"], code, name=f"box-{at}")
    chosen = itertools.cycle(desks)

    async def run(asked: Call) -> Any:
        return await next(chosen).run(asked)

    async def phase(title: str, calls: int, disturb: Callable[[], None] | None = None) -> float:
        seen: list[tuple[float, int]] = []
        following = asyncio.create_task(follow(seen, name))
        work = asyncio.create_task(load(run, calls, 8 * DESKS, root))
        if disturb:
            await asyncio.sleep(args.after)
            disturb()
        seconds, ended = await work
        following.cancel()
        rate = calls / seconds
        print(f"{title}: {calls} calls in {seconds:.1f} s, {rate:.1f} calls/s; {dict(ended)}")
        print(f"  replicas: {seen}")
        return rate

    async def answers() -> None:
        started = time.monotonic()
        while True:
            with suppress(JarvisError):
                await run(call(root))
                break
            await asyncio.sleep(0.5)
        print(f"  answers after {time.monotonic() - started:.1f} s")

    print("no replica:")
    await answers()
    await phase("all at once", args.calls)
    await phase("all replicas warm", args.calls)
    for victim in (f"ray::ServeReplica:{name}", "ray::ServeReplica:jarvis-gate",
                   "ray::ServeController", "gcs_server", "raylet/raylet"):  # fmt: skip
        await phase(f"{victim} killed", args.calls // 5, partial(kill, victim))
        await answers()
    started = time.monotonic()
    while processes(f"ray::ServeReplica:{name}"):
        await asyncio.sleep(1)
    print(f"no replica after {time.monotonic() - started:.0f} s")


def kill(words: str) -> None:
    for pid in processes(words)[:1]:
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--idle", type=int, default=15)
    parser.add_argument(
        "--after", type=float, default=5.0, help="seconds until something is killed"
    )
    args = parser.parse_args()
    keyring.set_keyring(Kept())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["JARVIS_DESKTOP_HOME"] = str(root / "home")
        paths = user_paths()
        known = load_experts(shipped("models", "experts"))
        expert = replace(next(each for each in known if each.id == "minilm"), task=TASK)
        weights = Weights(paths.weights)
        asyncio.run(weights.import_folder(expert, args.folder))
        asyncio.run(local(expert, args.calls // 2, root))
        key, certificate = self_signed()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        gate = GateTerms("0.0.0.0", port, key, certificate, paths.paired, f"127.0.0.1:{port}")
        offers = (Candidate(expert, "local", heavy=True),)
        started = time.monotonic()
        found = ray_cluster.start(
            ray_cluster.ClusterTerms(gate, offers, idle=args.idle, cpus=args.cpus, most=args.most)
        )
        print(f"the cluster started in {time.monotonic() - started:.1f} s")
        try:
            ports()
            asyncio.run(measure(found, expert, args, root))
        finally:
            ray_cluster.stop(found["pid"])


if __name__ == "__main__":
    main()
