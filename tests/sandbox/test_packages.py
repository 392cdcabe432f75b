"""Which packages a script needs, and their installation by the real pip from a registry here."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import http.server
import importlib.util
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import Fault, InputError, UnavailableError
from jarvis_desktop.sandbox import packages
from jarvis_desktop.sandbox.packages import PipPackages
from tests.sandbox.sessions import PACKAGES, PYTHON, bench


def wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str], needs: tuple[str, ...] = ()
) -> None:
    """A package as a registry keeps it, under the registry's page of its name."""
    info = f"{name}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    whole = {
        **files,
        f"{info}/METADATA": head + "".join(f"Requires-Dist: {need}\n" for need in needs),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = []
    page = folder / "simple" / name
    page.mkdir(parents=True, exist_ok=True)
    file = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(page / file, "w") as archive:
        for path, text in whole.items():
            archive.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
            record.append(f"{path},sha256={digest.decode()},{len(text)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    links = "".join(f'<a href="{each.name}">{each.name}</a>' for each in sorted(page.glob("*.*")))
    (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registry of this computer, which pip asks; it gives what is in this folder."""
    folder = tmp_path / "registry"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    only(monkeypatch, f"http://127.0.0.1:{server.server_address[1]}/simple/")
    yield folder
    server.shutdown()
    thread.join()
    server.server_close()


def only(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Let pip ask nobody else."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX" + "_URL", address)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")


def there(site: Path) -> dict[str, str]:
    return {item.metadata["Name"]: item.version for item in distributions(path=[str(site)])}


def hostile(canary: Path) -> Mapping[str, str]:
    """Files that run where a Python starts in the environment that they are in, or asks for pip."""
    write = f"open({str(canary)!r}, 'w')"
    return {
        "bad.py": write,
        "bad.pth": f"import os; {write}\n",
        "sitecustomize.py": write,
        "usercustomize.py": write,
        "pip/__init__.py": write,
        "pip/__main__.py": write,
        "bad-1.0.data/scripts/python": f"#!python\n{write}",
        "bad-1.0.data/data/pyvenv.cfg": "home = /",
    }


async def test_packages_are_installed_with_what_they_need_and_run_in_the_sandbox_only(
    tmp_path: Path, registry: Path
) -> None:
    canary = tmp_path / "canary"
    wheel(registry, "bad", "1.0", hostile(canary))
    wheel(registry, "rates", "1.0", {"rates/__init__.py": "rate = 1\n", "rates/deep/old.py": ""})
    wheel(registry, "rates", "2.0", {"rates/__init__.py": "rate = 2\n", "shared/a.py": ""})
    mine = PipPackages(tmp_path / "packages")
    script = "import prices\nprices.rate"
    await mine.install(["rates==1.0", "bad"], print)
    assert there(mine.site) == {"rates": "1.0", "bad": "1.0"}

    needs = {"prices.py": "from rates import rate\n", "shared/b.py": ""}
    wheel(registry, "prices", "1.0", needs, ("rates>=2",))
    told: list[str] = []
    assert mine.missing(script) == ("prices",)
    await mine.install(["prices==1.0", "rates==2.0"], told.append)
    assert mine.missing(script) == ()
    assert there(mine.site) == {"prices": "1.0", "rates": "2.0", "bad": "1.0"}
    assert not (mine.site / "rates" / "deep").exists()
    assert {path.name for path in (mine.site / "shared").iterdir()} >= {"a.py", "b.py"}
    assert any(line.startswith("Collecting prices==1.0") for line in told)
    assert [path.name for path in (tmp_path / "packages").iterdir()] == ["site"]
    assert not canary.exists()
    async with bench(tmp_path, packages=mine.site) as made:
        assert (await made.run(script)).value == "2"

    # What is there already stays as it is, and is not fetched again.
    told.clear()
    await mine.install(["prices"], told.append)
    assert not any(line.startswith("Installing") for line in told)
    wheel(registry, "rates", "3.0", {"rates/__init__.py": "rate = 3\n"})
    wheel(registry, "other", "1.0", {"other.py": ""}, ("rates>=3",))
    with pytest.raises(UnavailableError, match="conflict with each other"):
        await mine.install(["other"], print)
    assert not canary.exists()
    # It would have run, had the folder been one that a Python starts in.
    start = f"import site; site.addsitedir({str(mine.site)!r})"
    subprocess.run([PYTHON, "-I", "-c", start], check=True)
    assert canary.exists()


async def test_what_would_have_to_be_built_is_not_there(tmp_path: Path, registry: Path) -> None:
    page = registry / "simple" / "built"
    page.mkdir(parents=True)
    (page / "built-1.0.tar.gz").write_bytes(b"")
    (page / "index.html").write_text(
        '<!DOCTYPE html><a href="built-1.0.tar.gz">built-1.0.tar.gz</a>'
    )
    with pytest.raises(UnavailableError, match="no package built") as gone:
        await PipPackages(tmp_path / "packages").install(["built"], print)
    assert gone.value.fault is Fault.GONE


async def test_without_a_way_to_the_registry_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "http://127.0.0.1:9/simple/")
    with pytest.raises(UnavailableError, match="index cannot be reached") as lost:
        await PipPackages(tmp_path / "packages").install(["x"], print)
    assert (lost.value.fault, lost.value.retryable) == (Fault.NETWORK, True)
    with pytest.raises(UnavailableError, match="without a network"):
        await PipPackages(tmp_path / "packages", network=lambda: False).install(["x"], print)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-r",
        "--target=/x",
        "a b",
        "a;b",
        "a>=1",
        "a[extra]",
        "a @ http://x",
        "http://x/y.whl",
        "./a",
        "a==1 --pre",
        "a\n",
        "a==",
        "ä",
        "x" * 101,
    ],
)
async def test_what_is_no_name_of_a_package_is_refused(tmp_path: Path, name: str) -> None:
    mine = PipPackages(tmp_path / "packages")
    with pytest.raises(InputError, match="is not the name of a package"):
        await mine.install(["numpy", name], print)
    assert not (tmp_path / "packages").exists()
    await mine.install([], print)


def fake_pip(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(packages, "_pip", lambda: (sys.executable, "-S", "-c", code))


async def test_cancelling_and_too_much_time_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip(monkeypatch, "import time\nprint('Collecting x', flush=True)\ntime.sleep(600)")
    mine = PipPackages(tmp_path / "packages")
    begun = asyncio.Event()
    task = asyncio.ensure_future(mine.install(["x"], lambda line: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    hasty = PipPackages(tmp_path / "packages", seconds=0.2)
    with pytest.raises(UnavailableError, match="not installed within") as late:
        await hasty.install(["x"], print)
    assert late.value.fault is Fault.TIMEOUT
    assert [path.name for path in (tmp_path / "packages").iterdir()] == ["site"]


async def test_going_offline_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_pip(monkeypatch, "import time\nprint('Collecting x', flush=True)\ntime.sleep(600)")
    online = True
    mine = PipPackages(tmp_path / "packages", network=lambda: online)
    mine.withdraw()
    begun = asyncio.Event()
    task = asyncio.ensure_future(mine.install(["x"], lambda line: begun.set()))
    await begun.wait()
    mine.withdraw()
    assert not task.done()
    online = False
    mine.withdraw()
    with pytest.raises(UnavailableError, match="without a network"):
        await task


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('ERROR: [Errno 28] No space left on device'); exit(1)", "disk is full"),
        ("print('ERROR: a wheel of\\x1b[31m odd shape'); exit(1)", "not installed: a wheel of"),
        ("exit(2)", "pip gave no reason"),
        ("print('fine')", "did not say what it would install"),
        ("import sys; open(sys.argv[sys.argv.index('--report') + 1], 'w').write('[]')", "not say"),
    ],
)
async def test_what_pip_says_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    fake_pip(monkeypatch, code)
    with pytest.raises(UnavailableError, match=words):
        await PipPackages(tmp_path / "packages").install(["x"], print)


async def test_names_that_pip_makes_up_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = '{"install": [{"metadata": {"name": "--x", "version": "1"}}]}'
    fake_pip(
        monkeypatch,
        f"import sys; open(sys.argv[sys.argv.index('--report') + 1], 'w').write({report!r})",
    )
    with pytest.raises(InputError, match="is not the name"):
        await PipPackages(tmp_path / "packages").install(["x"], print)


async def test_folders_and_programs_that_will_not_do_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot be written"):
        await PipPackages(tmp_path / "file").install(["x"], print)
    monkeypatch.setattr(packages, "_pip", lambda: ("/no/such/program",))
    with pytest.raises(UnavailableError, match="could not be started"):
        await PipPackages(tmp_path / "packages").install(["x"], print)


def test_which_pip_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert packages._pip()[-2:] == ("-m", "pip")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    bundled = packages._pip()
    assert Path(bundled[-1]).parent.suffix == ".whl"
    import ensurepip

    monkeypatch.setattr(ensurepip, "__file__", "/no/such/folder/__init__.py")
    with pytest.raises(UnavailableError, match="pip is missing"):
        packages._pip()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(UnavailableError, match="built without a Python"):
        packages._pip()


def test_files_outside_are_not_removed_with_an_old_version(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "old-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: old\nVersion: 1.0\n")
    (info / "RECORD").write_text("../keep.txt,,\n/etc/none,,\nold.py,,\ngone.py,,\n")
    (site / "old.py").write_text("")
    (tmp_path / "keep.txt").write_text("mine")
    packages._remove(packages._installed_packages(site)["old"], site)
    assert (tmp_path / "keep.txt").read_text() == "mine"
    assert not (site / "old.py").exists()


SCRIPT = """
import os, json.decoder
import no_such_one.inner as x, numpy as np
from PIL import Image
import jarvis
from sklearn.linear_model import Ridge
from library import download
from . import near
from .far import away
try:
    import lxml
except ImportError:
    import yaml
try:
    import dateutil
except (KeyError, ModuleNotFoundError):
    pass
try:
    import cv2
except ValueError:
    pass
def later():
    import bs4
"""


def test_what_is_missing_is_named_as_it_is_installed(tmp_path: Path) -> None:
    mine = PipPackages(tmp_path / "packages")
    assert sorted(mine.missing(SCRIPT)) == [
        "PyYAML",
        "beautifulsoup4",
        "no-such-one",
        "numpy",
        "opencv-python-headless",
        "scikit-learn",
    ]
    here = PipPackages(tmp_path / "packages", site=PACKAGES)
    assert "numpy" not in here.missing(SCRIPT)
    assert "no-such-one" in here.missing(SCRIPT)
    assert mine.missing("import (") == mine.missing("import x\0") == ()
    assert mine.missing("import b.c, a, b.d\nfrom a.b import c") == ("a", "b") or set(
        mine.missing("import b.c, a, b.d\nfrom a.b import c")
    ) == {"a", "b"}


async def test_a_file_that_lies_where_the_program_was_started_is_no_package(
    tmp_path: Path, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(registry, "evil", "1.0", {"evil.py": ""})
    found = registry / "simple" / "evil" / "evil-1.0-py3-none-any.whl"
    monkeypatch.chdir(found.parent)
    mine = PipPackages(tmp_path / "packages")
    with pytest.raises(UnavailableError):
        await mine.install([found.name], print)
    assert there(mine.site) == {}


def test_of_pips_settings_only_those_count_that_say_where_packages_come_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = {"PIP_PROXY": "http://proxy.example", "PIP_CERT": "/cert"}
    theirs = ("PIP_TARGET", "PIP_REQUIREMENT", "PIP_PYTHON", "PIP_DRY_RUN", "PYTHONPATH")
    for name, value in {**ours, **dict.fromkeys(theirs, "x")}.items():
        monkeypatch.setenv(name, value)
    told = packages._environment()
    assert {name: told[name] for name in ours} == ours
    assert not any(name in told for name in theirs)
