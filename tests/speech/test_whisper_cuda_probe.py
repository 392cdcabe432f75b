import logging
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.speech import whisper
from jarvis_desktop.speech.cuda_probe import CPU, find_processor, probe
from jarvis_desktop.speech.recogniser import SHIPPED

ENGINES = "tests.speech.file_engines"


def there() -> bool:
    return True


def quiet(fraction, message):
    pass


async def test_without_signs_of_a_card_no_process_is_started():
    assert await find_processor(SHIPPED, signs=lambda: False, probe="no.such:module") == CPU


async def test_a_card_that_works_is_found():
    found = await find_processor(SHIPPED, signs=there, probe=f"{ENGINES}:finding_a_card")
    assert found == ("cuda", "float16")


@pytest.mark.parametrize("engine", ["aborting", "hanging"])
async def test_a_probe_that_crashes_or_hangs_leaves_the_processor_and_says_why(engine, caplog):
    with caplog.at_level(logging.INFO):
        look = find_processor(SHIPPED, signs=there, probe=f"{ENGINES}:{engine}", timeout=2.0)
        assert await look == CPU
    assert "no card for Whisper: The probe of the graphics card" in caplog.text


async def test_broken_weights_say_nothing_of_the_card(tmp_path):
    probe = "tests.speech.file_engines:broken_weights"
    assert await find_processor(tmp_path, signs=there, probe=probe) is None


def with_card(
    monkeypatch: pytest.MonkeyPatch,
    *,
    types: Sequence[str] = ("float32", "float16", "int8"),
    trouble: str = "",
) -> None:
    """Let CTranslate2 say that there is a card; what is loaded on it runs on the processor."""
    load = whisper.load

    def loaded(folder, *, device="cpu", compute_type="int8"):
        if device == "cuda" and trouble:
            raise UnavailableError("broken") from RuntimeError(trouble)
        return load(folder)

    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda device: set(types))
    monkeypatch.setattr(whisper, "load", loaded)


@pytest.mark.parametrize(
    ("types", "best"),
    [
        (("float32", "float16", "int8_float16"), "float16"),
        (("float32", "int8_float32", "int8"), "int8_float32"),
    ],
)
def test_whisper_writes_on_the_card_as_it_computes_best(monkeypatch, types, best):
    with_card(monkeypatch, types=types)
    assert probe(quiet, SHIPPED) == ("cuda", best)


def test_why_whisper_does_not_run_on_a_card_is_said(monkeypatch):
    with_card(monkeypatch, trouble="CUDA failed with error out of memory")
    with pytest.raises(RuntimeError, match="out of memory"):
        probe(quiet, SHIPPED)


def test_weights_that_are_broken_everywhere_are_no_fault_of_the_card(monkeypatch, tmp_path):
    with_card(monkeypatch, trouble="bad")
    with pytest.raises(UnavailableError, match="weights"):
        probe(quiet, tmp_path)


def test_a_card_of_another_maker_is_left_alone(monkeypatch):
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    assert probe(quiet, SHIPPED) == CPU


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux names libraries")
def test_libraries_that_pip_brought_are_found(tmp_path):
    libraries = tmp_path / "nvidia" / "cublas" / "lib"
    libraries.mkdir(parents=True)
    any_library = next(Path(ctranslate2.__file__).parents[1].glob("ctranslate2.libs/libgomp*"))
    shutil.copy(any_library, libraries / "libcublas.so.12")
    script = (
        "from jarvis_desktop.speech.whisper import offer_libraries; offer_libraries();"
        "print('libcublas.so.12' in open('/proc/self/maps').read())"
    )
    done = subprocess.run(
        (sys.executable, "-c", script),
        env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True\n"
