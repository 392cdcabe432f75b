"""`jarvis-desktop cluster` as far as it needs no Ray."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.machinery import ModuleSpec
from typing import Any

import pytest

from jarvis_desktop.cli.commands import cluster
from jarvis_desktop.cli.main import main
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server import ray_cluster
from jarvis_desktop.server.paired import PairedComputers
from tests.machines import keyring_in_memory


@pytest.fixture
def with_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: ModuleSpec(name, None))


@pytest.mark.parametrize("action", ["up", "status", "down"])
def test_without_ray_it_says_what_to_install(
    action: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    assert main(["cluster", action]) == 1
    told = capsys.readouterr().err
    assert "Ray Serve, which is not installed" in told
    assert 'pip install "jarvis-desktop[cluster]"' in told
    assert "ray" not in sys.modules or importlib.util.find_spec("ray")


@pytest.mark.usefixtures("with_ray")
def test_without_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "status"]) == 0
    assert main(["cluster", "down"]) == 0
    assert capsys.readouterr().out == "No cluster runs here.\n" * 2
    assert main(["cluster", "up"]) == 1
    assert "There is no expert on this computer" in capsys.readouterr().err
    assert main(["cluster", "up", "nobody"]) == 1
    assert "nobody is not on this computer" in capsys.readouterr().err


@pytest.mark.usefixtures("with_ray")
def test_what_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    state = ray_cluster.ClusterState(user_paths())
    state.write(address="10.0.0.5:6379", place="box:8766")
    listed = [
        ray_cluster.Deployed("jarvis-gate", "HEALTHY", 1, ""),
        ray_cluster.Deployed("jarvis-minilm", "UPSCALING", 2, "No room."),
    ]
    monkeypatch.setattr(ray_cluster, "status", lambda found: listed)
    monkeypatch.setattr(ray_cluster, "pairing_code", lambda found: "K7Q2-9XWM")
    assert main(["cluster", "status"]) == 0
    told = capsys.readouterr().out
    assert "The cluster is at box:8766." in told
    assert "2 running, upscaling  No room." in told
    assert main(["cluster", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deployments"][0]["replicas"] == 1
    assert main(["cluster", "up"]) == 1
    assert "A cluster runs already, at box:8766" in capsys.readouterr().err
    assert main(["cluster", "up", "--pair"]) == 0
    assert "The code is K7Q2-9XWM" in capsys.readouterr().err
    ended: list[str] = []
    monkeypatch.setattr(ray_cluster, "stop_deployed", ended.append)
    assert main(["cluster", "down"]) == 0
    assert ended == ["10.0.0.5:6379"]


@pytest.mark.usefixtures("with_ray")
def test_what_it_starts_with(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[ray_cluster.ClusterTerms] = []

    def start(terms: ray_cluster.ClusterTerms) -> dict[str, Any]:
        started.append(terms)
        return {"place": terms.gate.place}

    monkeypatch.setattr(ray_cluster, "start", start)
    monkeypatch.setattr(cluster, "_offers", lambda args: [])
    monkeypatch.setattr(cluster, "gpu_memory_bytes", lambda: 8_000_000_000)
    PairedComputers(user_paths().paired).add("laptop")
    with keyring_in_memory(monkeypatch) as kept:
        wanted = ["--host", "127.0.0.1", "--port", "0", "--least", "5", "--cpus", "3"]
        assert main(["cluster", "up", *wanted]) == 0
        assert "The cluster is at 127.0.0.1:" in capsys.readouterr().out
        (terms,) = started
        assert (terms.least, terms.most, terms.cpus, terms.card) == (5, 5, 3, 8_000_000_000)
        assert terms.gate.key == kept["experts-server"]
        assert terms.gate.port
        assert "PRIVATE" not in repr(terms)
        assert terms.token not in repr(terms)
    assert main(["cluster", "up", "--certificate", "x"]) == 1
    assert "belong together" in capsys.readouterr().err
