"""What every test gets: folders of its own, no network, and no unexpected warning in the log."""

from __future__ import annotations

import gc
import itertools
import logging
import logging.handlers
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = ["tests.sound", "tests.screen", "tests.warm_children"]
if sys.platform == "linux":
    pytest_plugins.append("tests.portal")


# The same examples on every run, however busy the computer is: a test that fails only sometimes
# helps nobody.
hypothesis.settings.register_profile(
    "same",
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("same")


def pytest_sessionstart() -> None:
    """Close this process off once, for all tests: a fixture for each takes a second per thousand.

    Every connection that leaves this computer is refused. No audit hook stays: coverage cannot be
    measured beside one before Python 3.12, where two threads that begin at once may fail. What a
    hook does is tested in separate processes."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0]) if isinstance(address, tuple) else str(address)
            if host not in ("127.0.0.1", "::1", "localhost"):
                raise AssertionError(f"a test tried to reach {host}")
        connect(self, address)  # type: ignore[arg-type]

    socket.socket.connect = guarded  # type: ignore[method-assign,assignment]
    sys.addaudithook = lambda hook: None
    # Else each process that a test spawns runs the script that started this one again, and imports
    # pytest with it: a sixth of a second of a processor.
    main = sys.modules["__main__"]
    main.__spec__ = None
    vars(main).pop("__file__", None)


def pytest_collection_finish() -> None:
    """Else each full garbage collection looks through all modules and tests, which stay."""
    gc.collect()
    gc.freeze()


DEEP = ("[" * 500, b"[" * 500)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Collect the garbage of the tests before now, if a test nests lists until the stack is full:
    what is collected there cannot end properly, and the test that comes upon it fails for it."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    if any(isinstance(value, (str, bytes)) and value[:500] in DEEP for value in values):
        gc.collect()


_folders = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest's own looks through the folders of all tests before, for a number that is free."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_folders)}"
    folder.mkdir(0o700)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own; child processes inherit it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("JARVIS_DESKTOP_HOME", str(folder / "jarvis"))
    for name in ("HF_HOME", "HF_ENDPOINT", "HF_TOKEN", "JARVIS_LLM_KEY"):
        monkeypatch.delenv(name, raising=False)
    # An Ollama that happens to run on this computer has nothing to say in a test.
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    return folder


@pytest.fixture(autouse=True)
def quiet_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What a command logs to its file ends with the test that ran it in this process, and a log
    record at WARNING or above fails the test, unless it calls caplog.clear()."""
    root, raises = logging.getLogger(), logging.raiseExceptions
    level = root.level
    yield
    for handler in root.handlers[:]:
        if isinstance(handler, logging.handlers.RotatingFileHandler):
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)
    logging.raiseExceptions = raises
    loud = [
        record
        for when in ("setup", "call")
        for record in caplog.get_records(when)
        if record.levelno >= logging.WARNING
    ]
    assert not loud, [record.getMessage() for record in loud]
