"""A cluster with a real Ray on this computer, which only runs by hand:

pytest -m cluster tests/server, in an environment with the extra "cluster".
"""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.task import Call
from jarvis_desktop.paths import user_paths
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.machines import Desk, keyring_in_memory

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

TASK = "fill-mask"
EXPERT = "distilbert"


def python(*args: str | Path) -> str:
    """What a command says."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, args)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def jarvis(*args: str | Path) -> Any:
    return json.loads(python("-m", "jarvis_desktop", *args, "--json"))


@pytest.fixture
def certificate(tmp_path: Path) -> list[str]:
    from jarvis_desktop.server.paired import self_signed

    key, certificate = self_signed()
    (tmp_path / "key.pem").write_text(key)
    (tmp_path / "certificate.pem").write_text(certificate)
    return [
        "--key", str(tmp_path / "key.pem"), "--certificate", str(tmp_path / "certificate.pem")
    ]  # fmt: skip


@pytest.fixture(params=[[], ["--together"]], ids=["each", "together"])
def cluster(
    request: pytest.FixtureRequest, tmp_path: Path, certificate: list[str]
) -> Iterator[dict[str, str]]:
    """A running cluster with a tiny expert: its place and a pairing code."""
    python("-m", "tests.backends.tiny", tmp_path / "tiny")
    jarvis("experts", "import", tmp_path / "tiny" / "gap_filler", "--as", EXPERT)
    small = ["--cpus", "2", "--most", "2", "--host", "127.0.0.1", "--port", "0"]
    yield jarvis("cluster", "up", EXPERT, *small, *certificate, *request.param)
    assert jarvis("cluster", "down") == {"ended": True}


async def test_a_call_survives_its_replica_and_strangers_get_nothing(
    cluster: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {each["name"] for each in jarvis("cluster", "status")["deployments"]} > {"jarvis-gate"}

    async def filled(number: int) -> str:
        folder = tmp_path / f"call-{number}"
        folder.mkdir()
        given = {"text": (text_artifact("the cat sat on the [MASK] ."),)}
        results = await desk.run(Call(TASK, given, {}, folder))
        return results[0].text or ""

    with keyring_in_memory(monkeypatch):
        desk = Desk(tmp_path / "desk", {each.type.name: each for each in DEFINITIONS}, silence=60.0)
        await desk.backend.pair(cluster["place"], cluster["code"], name="box")
        assert "mat" in await filled(1)
        for pid in replicas():
            os.kill(pid, signal.SIGKILL)
        assert "mat" in await filled(2)
        await desk.settled()
    strangers_get_nothing()


def replicas() -> list[int]:
    """The processes with experts."""
    head = json.loads((user_paths().data / "cluster.json").read_text())["pid"]
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            words = (folder / "cmdline").read_bytes()
            if b"ServeReplica" in words and b"jarvis-gate" not in words:
                found.append(int(folder.name))
    assert head not in found
    return found


def strangers_get_nothing() -> None:
    """Each port on all addresses is a replica's, and hangs up on whoever has no certificate."""
    listed = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in listed.splitlines() if "ray::" in line or "gcs" in line]
    beyond = [each[3] for each in lines if "127.0.0.1" not in each[3]]
    assert len(lines) > len(beyond) > 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    for each in beyond:
        answer = b""
        place = ("127.0.0.1", int(each.rpartition(":")[2]))
        with (
            suppress(OSError),
            socket.create_connection(place, 10) as plain,
            context.wrap_socket(plain) as channel,
        ):
            channel.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            answer = channel.recv(100)
        assert answer == b""
