"""Whether a graphics card computes: found out in a child, where it may crash, hang or lie."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop.backends.local import gpu_probe as module
from jarvis_desktop.backends.local.gpu_probe import GpuProbe, GpuProbeResult, look
from jarvis_desktop.core.placement import Graphics
from jarvis_desktop.process import engine

GB = 1 << 30


class Matrix:
    """Ones; multiplied and summed up as they should be."""

    def __init__(self, wrong: int = 0) -> None:
        self.wrong = wrong

    def __matmul__(self, other: Matrix) -> Matrix:
        return self

    def float(self) -> Matrix:
        return self

    def sum(self) -> Matrix:
        return self

    def item(self) -> int:
        return module.MATRIX_SIZE**3 + self.wrong


def torch(
    *,
    cuda: str | None = "12.8",
    cards: tuple[tuple[str, int], ...] = (("RTX 3060", 12 * GB),),
    bfloat16: bool = True,
    starts: Exception | None = None,
    computes: Exception | int | None = None,
    mps: bool = False,
    mps_built: bool = False,
    refuses: tuple[str, ...] = (),
) -> Any:
    """The parts of torch that are asked."""

    def init() -> None:
        if starts:
            raise starts

    def ones(shape: tuple[int, int], *, device: str, dtype: str) -> Matrix:
        if isinstance(computes, Exception):
            raise computes
        if dtype in refuses:
            raise TypeError(f"{dtype} is not supported")
        return Matrix(computes or 0)

    properties = [
        SimpleNamespace(name=name, total_memory=memory, uuid=f"{at}-uuid")
        for at, (name, memory) in enumerate(cards)
    ]
    return SimpleNamespace(
        version=SimpleNamespace(cuda=cuda, hip=None),
        bfloat16="bfloat16",
        float16="float16",
        ones=ones,
        cuda=SimpleNamespace(
            init=init,
            device_count=lambda: len(properties),
            get_device_properties=lambda at: properties[at],
            set_device=lambda at: None,
            is_bf16_supported=lambda including_emulation: bfloat16,
        ),
        mps=SimpleNamespace(recommended_max_memory=lambda: 10 * GB),
        backends=SimpleNamespace(
            mps=SimpleNamespace(is_available=lambda: mps, is_built=lambda: mps_built)
        ),
    )


@pytest.mark.parametrize(
    ("there", "found"),
    [
        (torch(), Graphics("RTX 3060", memory=12 * GB)),
        (
            torch(cards=(("T4", 15 * GB),), bfloat16=False),
            Graphics("T4", memory=15 * GB, bfloat16=False),
        ),
        (
            torch(cards=(("small", 4 * GB), ("large", 24 * GB))),
            Graphics("large", memory=24 * GB, id="GPU-1-uuid"),
        ),
        (torch(cuda=None, mps=True), Graphics("Apple GPU", "mps", 10 * GB)),
        (
            torch(cuda=None, mps=True, refuses=("bfloat16",)),
            Graphics("Apple GPU", "mps", 10 * GB, bfloat16=False),
        ),
    ],
)
def test_a_card_that_computes(there: Any, found: Graphics) -> None:
    assert look(there) == GpuProbeResult(found)


TOO_OLD = RuntimeError(
    "The NVIDIA driver on your system is too old (found version 11040). Please update your GPU"
)
NO_KERNEL = RuntimeError("CUDA error: no kernel image is available for execution on the device")


@pytest.mark.parametrize(
    ("there", "trouble", "fix"),
    [
        (torch(cuda=None), "torch was built without it", "pytorch.org"),
        (torch(cuda=None, mps_built=True), "macOS is too old", "Update macOS"),
        (torch(starts=TOO_OLD), "driver is too old for torch", "Update the driver"),
        (torch(computes=NO_KERNEL), "too old, or too new, for this torch", "pytorch.org"),
        (torch(computes=RuntimeError("CUDA out of memory.")), "taken by other", "Close programs"),
        (torch(starts=RuntimeError("Found no NVIDIA driver")), "not loaded", "Install the driver"),
        (torch(cards=()), "finds no card", "Restart the computer"),
        (torch(computes=1), "does not compute: it computes wrong numbers.", "Update"),
        (torch(computes=RuntimeError("CUDA error:\n unknown error")), "CUDA error: unknown", ""),
        (torch(computes=AssertionError()), "does not compute: AssertionError.", ""),
    ],
)
def test_a_card_that_does_not_and_why(there: Any, trouble: str, fix: str) -> None:
    seen = look(there)
    assert seen.graphics is None
    assert trouble in seen.trouble
    assert seen.trouble.endswith(".")
    assert fix in seen.fix


def probe(way: str, *, signs: bool = True, patience: float = 60.0) -> GpuProbe:
    factory = way if "." in way else f"tests.backends.lookers:{way}"
    return GpuProbe(signs=lambda: signs, factory=factory, timeout=patience)


async def test_it_looks_once_however_many_ask() -> None:
    looking = probe("finding")
    first, *others = await asyncio.gather(*(looking.result() for _ in range(5)))
    assert first.graphics
    assert all(each is first for each in others)
    assert await looking.result() is first
    looking.forget()
    again = await looking.result()
    assert again.graphics != first.graphics  # by another process
    await looking.close()


async def test_who_asks_at_the_moment_of_the_result_gets_it() -> None:
    probe = GpuProbe(signs=lambda: False)
    late: list[asyncio.Task[GpuProbeResult]] = []

    async def looks() -> GpuProbeResult:
        # It asks when the look is over and nobody has been told yet.
        late.append(asyncio.create_task(probe.result()))
        return GpuProbeResult(trouble="none")

    probe._look = looks  # type: ignore[method-assign]
    assert (await probe.result()).trouble == "none"
    assert (await late[0]).trouble == "none"
    assert len(late) == 1


async def test_who_gives_up_waiting_ends_nothing_for_the_others() -> None:
    looking = probe("finding")
    impatient = asyncio.create_task(looking.result())
    patient = asyncio.create_task(looking.result())
    await asyncio.sleep(0)
    impatient.cancel()
    assert (await patient).graphics
    await looking.close()


@pytest.mark.parametrize(
    ("way", "patience", "words"),
    [("crashing", 60.0, "stopped unexpectedly"), ("hanging", 1.0, "no answer within 1 seconds")],
)
async def test_a_look_that_goes_wrong_means_the_processor(
    way: str, patience: float, words: str
) -> None:
    looking = probe(way, patience=patience)
    seen = await looking.result()
    assert seen.graphics is None
    assert words in seen.trouble
    assert seen.fix
    hardware = await looking.hardware()
    assert hardware.trouble == seen.trouble
    assert hardware.graphics_free == 0
    await looking.close()


async def test_without_a_sign_of_a_card_no_process_is_started() -> None:
    looking = probe("crashing", signs=False)
    assert await looking.result() == GpuProbeResult()
    hardware = await looking.hardware()
    assert hardware.memory >= hardware.available > 0
    assert hardware.cores > 0
    assert hardware.graphics is None


async def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ready", lambda: False)
    found = await GpuProbe(signs=lambda: True, factory="not.there:serve").result()
    assert found.graphics is None
    assert found.trouble == "The graphics card is used when torch is installed."
    assert found.fix == "jarvis-desktop engine install"


async def test_closing_ends_a_look_that_is_under_way() -> None:
    looking = probe("hanging")
    waiting = asyncio.create_task(looking.result())
    await asyncio.sleep(0)
    await looking.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await looking.close()


async def test_free_memory_of_the_card_is_asked_of_its_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def free(card: str) -> int:
        asked.append(card)
        return 5 * GB

    monkeypatch.setattr(module, "gpu_free_bytes", free)
    looking = probe("finding")
    assert (await looking.hardware()).graphics_free == 5 * GB
    assert asked == [""]
    await looking.close()


def test_before_it_was_looked_at_the_driver_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "gpu_memory_bytes", lambda: 8 * GB)
    assert probe("finding").guess().graphics == Graphics("", memory=8 * GB)
    monkeypatch.setattr(module, "sys", SimpleNamespace(platform="darwin"))
    assert probe("finding").guess().graphics == Graphics("", "mps", 8 * GB)
    assert probe("finding", signs=False).guess().graphics is None


@pytest.mark.timeout(400)
async def test_the_real_torch_of_this_computer_gives_an_answer() -> None:
    """With a card it computes there; without one it says why not, in words for a person."""
    looking = probe(module.FACTORY)
    seen = await looking.result()
    assert (seen.graphics is None) == bool(seen.trouble)
    assert "Traceback" not in seen.trouble
    assert "could not be looked at" not in seen.trouble
    await looking.close()
