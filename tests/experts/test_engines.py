"""Engines: chosen, downloaded, checked, replaced; and what a broken installation leaves."""

from __future__ import annotations

import asyncio
import errno
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError
from jarvis_desktop.experts import engine_worker, engines
from jarvis_desktop.experts.engine_worker import EnginePlan, read_pins
from jarvis_desktop.experts.engines import MARKER, PYTHON, Engines, torch_build
from jarvis_desktop.paths import shipped
from jarvis_desktop.platform import hardware_probe
from jarvis_desktop.process import engine
from tests.wheel_index import WheelServer, requirements, running_index, wheel, wheels

GB = 10**9


def nothing(fraction: float | None, words: str) -> None:
    pass


class Scene:
    """An index, a list of requirements, and the folder of engines."""

    def __init__(self, server: WheelServer, folder: Path, usual: str = "") -> None:
        self.server = server
        self.folder = folder
        self.list = folder / "requirements.txt"
        self.list.write_text(usual or requirements(server.wheels), "utf-8")
        self.root = folder / "engines"

    def engines(self, *, build: str = "", busy: bool = False) -> Engines:
        return Engines(
            self.root, self.list, build=lambda: build, busy=lambda: busy, patience=2, reserve=0
        )

    def work(self, *steps: str, build: str = "", source: Path | None = None) -> object:
        """What the child does, in this process; returns what the last step does."""
        made = self.engines()
        plan = EnginePlan(made._partial, self.list, build, source, 2, 0)
        handle = engine_worker.serve(plan)
        return [handle(nothing, step) for step in steps][-1]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    # A failed step is kept by its traceback here, with its lock.
    monkeypatch.setattr(engine_worker, "lock_folder", lambda folder, name: nullcontext())
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    monkeypatch.setattr(engine, "_installed", engine._installed)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    for name in ("UV_FIND_LINKS", "UV_INDEX", "UV_TORCH_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    with running_index(wheels()) as server:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{server.address}/simple")
        yield Scene(server, tmp_path)


async def test_it_is_installed_checked_and_used_by_the_processes_of_experts_alone(
    scene: Scene,
) -> None:
    told: list[tuple[float | None, int]] = []
    made = scene.engines()
    assert made.folder() is None
    await made.fetch("torch", lambda fraction, size: told.append((fraction, size)))
    (found,) = made.installed()
    assert (found.torch, found.name, found.usable) == ("2.13.0", made.newest, True)
    assert found.path == made.folder() == scene.root / made.newest
    total = sum(map(len, scene.server.wheels.values()))
    assert (1.0, total) in told
    assert [path.name for path in scene.root.iterdir() if path.is_dir()] == [made.newest]
    engine.use(made.folder)
    assert engine.ready()
    assert await made.check(found.path) == "2.13.0"
    assert made.remove(found.name) == found.size
    assert not engine.ready()
    with pytest.raises(InputError, match="There is no engine"):
        made.remove(found.name)


async def test_an_engine_that_does_not_compute_is_not_used(scene: Scene) -> None:
    scene.server.wheels = wheels(torch="raise ImportError('libcudart.so.13 is missing')")
    scene.list.write_text(requirements(scene.server.wheels), "utf-8")
    made = scene.engines()
    with pytest.raises(ExpertError, match=r"libcudart.so.13 is missing"):
        await made.install(nothing)
    assert made.installed() == ()
    assert (await made.measure("torch"))[1] > 0  # what arrived is kept
    await made.drop("torch")
    assert (await made.measure("torch"))[1] == 0


def have(scene: Scene, name: str, *, python: str = PYTHON) -> Path:
    """Have an engine of an earlier version."""
    folder = scene.root / name
    folder.mkdir(parents=True)
    record = {"torch": name, "python": python, "size": 7}
    (folder / MARKER).write_text(json.dumps(record), "utf-8")
    return folder


def test_the_old_one_goes_when_the_new_one_has_run_and_no_expert_is_at_work(scene: Scene) -> None:
    old, other = have(scene, "2.12.0"), have(scene, "of-another-python", python="cp39")
    assert scene.engines().folder() == old
    scene.engines().sweep()
    assert old.exists()
    newest = have(scene, scene.engines().newest)
    assert scene.engines().folder() == newest
    scene.engines(busy=True).sweep()
    assert old.exists()
    with pytest.raises(InputError, match="at work"):
        scene.engines(busy=True).remove(newest.name)
    scene.engines().sweep()
    assert not old.exists()
    assert other.exists()


def test_a_folder_without_a_whole_marker_is_no_engine(scene: Scene) -> None:
    (have(scene, "half") / MARKER).unlink()
    (have(scene, "torn") / MARKER).write_text("{", "utf-8")
    have(scene, "still.part")
    assert scene.engines().installed() == ()


def test_a_wheel_that_broke_off_is_resumed(scene: Scene) -> None:
    scene.server.cut_after = 1 << 16
    scene.work("resolve", "fetch")
    ranges = [wanted for path, wanted in scene.server.asked if fetched(path, "torch")]
    assert ranges[:3] == ["", "bytes=65536-", "bytes=131072-"]


def fetched(path: str, package: str = "") -> bool:
    return path.startswith(f"/files/{package}") and path.endswith(".whl")


def test_what_arrived_is_not_asked_for_again(scene: Scene) -> None:
    scene.work("fetch")
    scene.server.asked.clear()
    site = scene.work("unpack")
    assert isinstance(site, Path)
    assert (site / "torch" / "__init__.py").is_file()
    assert not [path for path, _ in scene.server.asked if fetched(path)]


def test_an_index_need_not_list_sizes(scene: Scene) -> None:
    scene.server.sizes = False
    assert scene.work("resolve") == sum(map(len, scene.server.wheels.values()))


def broken(scene: Scene, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = next(name for name in scene.server.wheels if name.startswith("torch"))
    match how:
        case "refused":
            scene.server.status = 403
        case "exchanged":  # another file under the same name, which the index knows
            scene.server.wheels[torch] = wheel("torch", "2.13.0", {"torch.py": "steal()"})
        case "exchanged on the way":
            scene.server.altered[torch] = bytes(len(scene.server.wheels[torch]))
        case "not there":
            del scene.server.wheels[torch]
        case "unreachable":
            monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
        case "no room":
            usage = shutil._ntuple_diskusage(GB, GB, 1000)
            monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
        case "no uv":
            monkeypatch.setitem(__import__("sys").modules, "uv", None)
        case "full":
            full = OSError(errno.ENOSPC, "No space left on device")
            monkeypatch.setattr(engine_worker, "fetch_files", raising(full))
        case "read-only":
            scene.root.mkdir()
            scene.root.with_name("engines").chmod(0o500)
            monkeypatch.setattr(
                engine_worker, "lock_folder", raising(OSError(errno.EACCES, "Permission denied"))
            )


def raising(error: Exception) -> Callable[..., object]:
    def fail(*args: object, **more: object) -> object:
        raise error

    return fail


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("refused", r"refused .*\.whl \(status 403\)"),
        ("exchanged", "has another torch 2.13.0"),
        ("exchanged on the way", "arrived damaged"),
        ("not there", "has no torch for this computer"),
        ("unreachable", "cannot be reached"),
        ("no room", "not enough room on the disk"),
        ("no uv", "uv is missing"),
        ("full", "no space left on device"),
        ("read-only", "permission denied"),
    ],
)
def test_a_broken_installation_says_why_and_leaves_the_engine_that_was_there(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, how: str, said: str
) -> None:
    old = have(scene, "2.12.0") if how != "read-only" else None
    with monkeypatch.context() as patch:
        broken(scene, how, patch)
        with pytest.raises(JarvisError, match=said) as caught:
            scene.work("resolve", "fetch", "unpack")
    assert "\n" not in caught.value.message
    assert scene.engines().folder() == old
    if how in ("unreachable", "no room", "no uv", "full"):  # and when that is mended, it works
        assert scene.work("fetch", "unpack")


def test_a_folder_of_wheels_needs_no_network(scene: Scene, tmp_path: Path) -> None:
    stick = tmp_path / "a stick"
    stick.mkdir()
    for name, body in wheels("2.13.0+cpu").items():
        (stick / name).write_bytes(body)
    site = scene.work("fetch", "unpack", source=stick)
    assert scene.server.asked == []
    assert isinstance(site, Path)
    assert "2.13.0+cpu" in (site / "torch" / "__init__.py").read_text("utf-8")
    (stick / "scipy-1.0-py3-none-any.whl").unlink()
    with pytest.raises(JarvisError, match="has no wheel of scipy"):
        scene.work("resolve", source=stick)


async def test_cancelling_keeps_what_arrived(scene: Scene) -> None:
    made = scene.engines()
    scene.server.cut_after, scene.server.waits = 1 << 17, True
    running = asyncio.create_task(made.install(began := Began()))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    scene.server.released.set()
    assert (await made.measure("torch"))[1] >= 1 << 16
    assert made.installed() == ()


class Began(asyncio.Event):
    """Is set when the wheel of torch is arriving."""

    def __call__(self, fraction: float | None, words: str) -> None:
        if fraction and fraction > 0.2:
            self.set()


@pytest.mark.parametrize(
    ("system", "driver", "amd", "build", "megabytes"),
    [
        ("linux", 0, False, "cpu", 300),
        ("linux", 580, False, "", 2900),
        ("linux", 550, False, "cu126", 2900),
        ("linux", 470, False, "cpu", 300),
        ("linux", 0, True, "rocm7.2", 4500),
        ("win32", 0, False, "", 230),
        ("win32", 581, False, "cu130", 2900),
        ("darwin", 0, False, "", 200),
    ],
)
def test_the_build_fits_the_computer(
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    driver: int,
    amd: bool,
    build: str,
    megabytes: int,
) -> None:
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(engines, "nvidia_driver", lambda: driver)
    monkeypatch.setattr(engines, "AMD", scene.folder if amd else scene.folder / "none")
    assert torch_build() == build
    assert scene.engines(build=build).offer().download_mb == megabytes


def test_the_driver_is_asked_for_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(hardware_probe, "_output_lines", lambda command: ["580.95.05", ""])
    assert hardware_probe.nvidia_driver() == 580
    monkeypatch.setattr(hardware_probe, "_output_lines", lambda command: [])
    assert hardware_probe.nvidia_driver() == 0


def test_the_list_that_comes_with_the_application_pins_all_with_digests() -> None:
    pins = read_pins(shipped("resources", "engine", "requirements.txt").read_text("utf-8"))
    assert set(engine.LIBRARIES) <= set(pins)
    assert all("==" in pin.line and pin.digests for pin in pins.values())
