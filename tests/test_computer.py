"""How much this computer has, and what it says where the system does not tell."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from jarvis_desktop import computer

Answer = Callable[..., object]


@pytest.fixture(autouse=True)
def measured_anew() -> Iterator[None]:
    for function in (computer.memory_bytes, computer.gpu_memory_bytes):
        function.cache_clear()
    yield
    for function in (computer.memory_bytes, computer.gpu_memory_bytes):
        function.cache_clear()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], None]:
    """Lets nvidia-smi answer."""

    def use(answer: Answer) -> None:
        monkeypatch.setattr(computer, "sys", SimpleNamespace(platform="linux"))
        monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
        monkeypatch.setattr(subprocess, "run", answer)

    return use


def says(text: str, code: int = 0) -> Answer:
    def run(command: list[str], **options: object) -> object:
        assert command[1:] == ["--query-gpu=memory.total", "--format=csv,noheader,nounits"]
        assert options["timeout"] == computer.PATIENCE
        return SimpleNamespace(stdout=text, returncode=code)

    return run


def raises(error: Exception) -> Answer:
    def run(*_: object, **__: object) -> object:
        raise error

    return run


def test_this_computer_has_memory_and_a_disk(tmp_path: Path) -> None:
    assert computer.memory_bytes() > 100_000_000
    assert computer.free_disk_bytes(tmp_path) > 0
    assert computer.free_disk_bytes(tmp_path / "not" / "yet" / "made") > 0


def test_memory_that_the_system_does_not_tell_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(computer, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(computer, "os", SimpleNamespace(sysconf=raises(ValueError("unrecognized"))))
    assert computer.memory_bytes() == 0


def test_a_disk_that_cannot_be_read_is_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", raises(PermissionError()))
    assert computer.free_disk_bytes(tmp_path) == 0


def test_without_the_driver_there_is_no_graphics_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert computer.gpu_memory_bytes() == 0


@pytest.mark.parametrize(
    ("answer", "mib"),
    [
        (says("8192\n"), 8192),
        (says("8192\r\n24564\r\n"), 24564),
        (says("[N/A]\n6144\n"), 6144),
        (says("[N/A]\n"), 0),
        (says("No devices were found\n", 6), 0),
        (says("4096\n", 9), 0),
        (raises(subprocess.TimeoutExpired("nvidia-smi", 5)), 0),
        (raises(PermissionError()), 0),
    ],
)
def test_the_largest_card_counts(
    driver: Callable[[Answer], None], answer: Answer, mib: int
) -> None:
    driver(answer)
    assert computer.gpu_memory_bytes() == mib * computer.MIB


def test_the_driver_is_asked_once(driver: Callable[[Answer], None]) -> None:
    driver(says("8192"))
    computer.gpu_memory_bytes()
    driver(raises(AssertionError("asked again")))
    assert computer.gpu_memory_bytes() == 8192 * computer.MIB


def test_on_apple_silicon_two_thirds_of_the_memory_are_for_graphics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(computer, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert computer.gpu_memory_bytes() == computer.memory_bytes() * 2 // 3


def test_on_windows_the_kernel_tells_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    def fill(reference: object) -> int:
        status = reference._obj  # type: ignore[attr-defined]
        assert status.length == 64  # as Windows documents MEMORYSTATUSEX
        status.total = 16 << 30
        return 1

    kernel = SimpleNamespace(GlobalMemoryStatusEx=fill)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(ctypes, "c_ulong", ctypes.c_uint32)  # its size on Windows
    monkeypatch.setattr(computer, "sys", SimpleNamespace(platform="win32"))
    assert computer.memory_bytes() == 16 << 30
    kernel.GlobalMemoryStatusEx = lambda reference: 0
    computer.memory_bytes.cache_clear()
    assert computer.memory_bytes() == 0
