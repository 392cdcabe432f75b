"""How much this computer has, and what it says where the system does not tell."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from jarvis_desktop.platform import hardware_probe

Answer = Callable[..., object]


@pytest.fixture(autouse=True)
def measured_anew() -> Iterator[None]:
    for function in (hardware_probe.memory_bytes, hardware_probe.gpu_memory_bytes):
        function.cache_clear()
    yield
    for function in (hardware_probe.memory_bytes, hardware_probe.gpu_memory_bytes):
        function.cache_clear()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], None]:
    """Lets nvidia-smi answer."""

    def use(answer: Answer) -> None:
        monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="linux"))
        monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
        monkeypatch.setattr(subprocess, "run", answer)

    return use


def says(text: str, code: int = 0) -> Answer:
    def run(command: list[str], **options: object) -> object:
        assert command[1] in {"--query-gpu=memory.total", "--query-gpu=memory.free"}
        assert command[2] == "--format=csv,noheader,nounits"
        assert options["timeout"] == hardware_probe.DRIVER_TIMEOUT_S
        return SimpleNamespace(stdout=text, returncode=code)

    return run


def raises(error: Exception) -> Answer:
    def run(*_: object, **__: object) -> object:
        raise error

    return run


def test_this_computer_has_memory_and_a_disk(tmp_path: Path) -> None:
    assert hardware_probe.memory_bytes() > 100_000_000
    assert hardware_probe.free_disk_bytes(tmp_path) > 0
    assert hardware_probe.free_disk_bytes(tmp_path / "not" / "yet" / "made") > 0


def test_memory_that_the_system_does_not_tell_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(
        hardware_probe, "os", SimpleNamespace(sysconf=raises(ValueError("unrecognized")))
    )
    assert hardware_probe.memory_bytes() == 0


def test_a_disk_that_cannot_be_read_is_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", raises(PermissionError()))
    assert hardware_probe.free_disk_bytes(tmp_path) == 0


def test_without_the_driver_there_is_no_graphics_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert hardware_probe.gpu_memory_bytes() == 0


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
    assert hardware_probe.gpu_memory_bytes() == mib * hardware_probe.MIB


def test_the_driver_is_asked_once(driver: Callable[[Answer], None]) -> None:
    driver(says("8192"))
    hardware_probe.gpu_memory_bytes()
    driver(raises(AssertionError("asked again")))
    assert hardware_probe.gpu_memory_bytes() == 8192 * hardware_probe.MIB


def test_on_apple_silicon_two_thirds_of_the_memory_are_for_graphics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert hardware_probe.gpu_memory_bytes() == hardware_probe.memory_bytes() * 2 // 3


def test_what_is_free_of_the_card_is_asked_each_time(
    driver: Callable[[Answer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(says("6000"))
    assert hardware_probe.gpu_free_bytes() == 6000 * hardware_probe.MIB
    asked: list[list[str]] = []

    def run(command: list[str], **options: object) -> object:
        asked.append(command)
        return SimpleNamespace(stdout="100", returncode=0)

    driver(run)
    assert hardware_probe.gpu_free_bytes("GPU-7") == 100 * hardware_probe.MIB
    assert asked[0][-1] == "--id=GPU-7"


def on_linux(monkeypatch: pytest.MonkeyPatch, root: Path, **files: str) -> None:
    """A Linux whose files are these; "__" stands for a folder."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(hardware_probe, "PROC", root / "proc")
    monkeypatch.setattr(hardware_probe, "CGROUPS", root / "groups")


MEMINFO = "MemTotal:  16000000 kB\nMemAvailable:  9000000 kB\nSwapFree: 2000 kB\nHugePages: x\n"


def test_on_linux_the_system_tells_what_is_free(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on_linux(monkeypatch, tmp_path, proc__meminfo=MEMINFO)
    assert hardware_probe.available_bytes() == 9_000_000 * 1024
    assert hardware_probe.swap_bytes() == 2000 * 1024
    on_linux(monkeypatch, tmp_path / "none")
    assert hardware_probe.available_bytes() == hardware_probe.swap_bytes() == 0


def test_a_control_group_that_gives_less_is_all_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {
        "proc__meminfo": MEMINFO,
        "proc__self__cgroup": "12:cpu:/x\n0::/user/app\n",
        "groups__user__app__memory.max": "max\n",
        "groups__user__memory.max": "800000000\n",
        "groups__user__memory.current": "700000000\n",
        "groups__user__memory.stat": "anon 1\ninactive_file 200000000\n",
    }
    on_linux(monkeypatch, tmp_path, **files)
    assert hardware_probe.memory_bytes() == 800_000_000
    assert hardware_probe.available_bytes() == 300_000_000
    (tmp_path / "groups/user/memory.current").write_text("1000000000\n")
    assert hardware_probe.available_bytes() == 1  # 0 would be: nobody knows


def test_a_process_knows_what_it_takes_and_took_at_most() -> None:
    now, most = hardware_probe.resident_bytes()
    assert most >= now > 10_000_000
    ballast = bytearray(b"x") * 200_000_000  # written to: untouched pages take no memory
    assert hardware_probe.resident_bytes()[1] >= now + len(ballast) // 2
    assert hardware_probe.resident_bytes_of(os.getpid()) > len(ballast)
    del ballast
    assert hardware_probe.resident_bytes()[1] >= now + 100_000_000
    assert hardware_probe.resident_bytes_of(2**22 + 1) == 0


def test_on_macos_vm_stat_tells_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "Mach Virtual Memory Statistics: (page size of 16384 bytes)\n"
        "Pages free:                               10.\n"
        "Pages active:                           5000.\n"
        "Pages inactive:                           20.\n"
        "Pages speculative:                         3.\n"
        "Pages purgeable:                           4.\n"
    )
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=text, returncode=0)
    )
    assert hardware_probe.available_bytes() == 37 * 16384
    assert hardware_probe.swap_bytes() == 0
    now, most = hardware_probe.resident_bytes()
    assert now == most > 0
    monkeypatch.setattr(subprocess, "run", raises(OSError()))
    assert hardware_probe.available_bytes() == 0


@pytest.mark.parametrize(
    ("system", "machine", "driver", "there"),
    [
        ("darwin", "arm64", False, True),
        ("darwin", "x86_64", False, False),
        ("linux", "x86_64", True, True),
        ("win32", "AMD64", False, False),
    ],
)
def test_signs_of_a_graphics_card(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    system: str,
    machine: str,
    driver: bool,
    there: bool,
) -> None:
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform=system))
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(hardware_probe, "DRIVERS", (tmp_path if driver else tmp_path / "none",))
    assert hardware_probe.seems_to_have_graphics() is there


def test_on_windows_the_kernel_tells_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    def fill(reference: object) -> int:
        status = reference._obj  # type: ignore[attr-defined]
        assert status.length == 64  # as Windows documents MEMORYSTATUSEX
        status.total, status.free, status.free_with_swap = 16 << 30, 5 << 30, 8 << 30
        return 1

    kernel = SimpleNamespace(GlobalMemoryStatusEx=fill)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(ctypes, "c_ulong", ctypes.c_uint32)  # its size on Windows
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="win32"))
    assert hardware_probe.memory_bytes() == 16 << 30
    assert hardware_probe.available_bytes() == 5 << 30
    assert hardware_probe.swap_bytes() == 3 << 30
    kernel.GlobalMemoryStatusEx = lambda reference: 0
    hardware_probe.memory_bytes.cache_clear()
    assert hardware_probe.memory_bytes() == 0


def test_on_windows_the_kernel_tells_what_a_process_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import ctypes

    def fill(process: object, reference: object, length: int) -> int:
        counters = reference._obj  # type: ignore[attr-defined]
        assert counters.length == length == 72  # as Windows documents PROCESS_MEMORY_COUNTERS
        counters.most, counters.now = 7 << 20, 5 << 20
        return 1

    def current() -> int:
        return -1

    kernel = SimpleNamespace(K32GetProcessMemoryInfo=fill, GetCurrentProcess=current)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(ctypes, "c_ulong", ctypes.c_uint32)
    monkeypatch.setattr(hardware_probe, "sys", SimpleNamespace(platform="win32"))
    assert hardware_probe.resident_bytes() == (5 << 20, 7 << 20)
    kernel.K32GetProcessMemoryInfo = lambda *_: 0
    assert hardware_probe.resident_bytes() == (0, 0)
