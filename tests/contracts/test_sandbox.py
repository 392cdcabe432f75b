"""What every sandbox promises: the real one on each launcher that there is here, and the fake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.code import (
    CodeOutcome,
    CodeSession,
    Ending,
    Packages,
    Protection,
    Sandbox,
    Script,
)
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.sandbox.packages import PipPackages
from jarvis_desktop.sandbox.session import OsSandbox
from jarvis_desktop.storage.web_fetch import checked, look_up
from tests.fake_sandbox import FakePackages, FakeSandbox
from tests.sandbox.sessions import LAUNCHERS

NONE = Protection("none", False, "for a test")
REAL = {launcher.name: Protection(launcher.name, True) for launcher in LAUNCHERS}


def real(folder: Path) -> Sandbox:
    return OsSandbox(packages=folder / "packages", find=look_up, check=checked)


@pytest.fixture(params=[*REAL, "fake"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sandbox(kind: str, tmp_path: Path) -> Sandbox:
    return FakeSandbox() if kind == "fake" else real(tmp_path)


@pytest.fixture
def protection(kind: str) -> Protection:
    return REAL.get(kind, Protection("bubblewrap", True))


async def run(session: CodeSession, source: str, to: Path, told: list[str]) -> CodeOutcome:
    script = Script(source)
    return await session.run(script, approved=script.sha256, to=to, timeout=100, report=told.append)


async def test_a_session_keeps_variables_tells_output_and_begins_anew(
    sandbox: Sandbox, protection: Protection, tmp_path: Path
) -> None:
    session = sandbox.session(tmp_path / "work", protection=protection, files={})
    told: list[str] = []
    try:
        first = await run(session, "x = 20\nprint('hello')\nx + 1", tmp_path / "to", told)
        assert first.ending is Ending.DONE
        assert (first.printed, first.value, first.error) == ("hello\n", "21", "")
        assert (first.fresh, first.made, first.left_out) == (True, (), ())
        assert "".join(told) == "hello\n"
        second = await run(session, "x * 2", tmp_path / "to", told)
        assert (second.value, second.fresh) == ("40", False)
        await session.close()
        third = await run(session, "'x' in globals()", tmp_path / "to", told)
        assert (third.value, third.fresh) == ("False", True)
    finally:
        await session.close()


async def test_only_what_was_agreed_to_runs(
    sandbox: Sandbox, protection: Protection, tmp_path: Path
) -> None:
    session = sandbox.session(tmp_path / "work", protection=protection, files={})
    with pytest.raises(InputError, match="approved"):
        await session.run(
            Script("open('ran.txt', 'w')"),
            approved=Script("open('ran.txt', 'w') ").sha256,
            to=tmp_path / "to",
            timeout=100,
            report=print,
        )
    await session.close()
    assert not (tmp_path / "work" / "ran.txt").exists()
    assert not (tmp_path / "to").exists()


async def test_errors_are_outcomes(
    sandbox: Sandbox, protection: Protection, tmp_path: Path
) -> None:
    session = sandbox.session(tmp_path / "work", protection=protection, files={})
    try:
        failed = await run(session, "print('so far')\nint('many')", tmp_path / "to", [])
        assert (failed.ending, failed.printed, failed.value) == (Ending.ERROR, "so far\n", "")
        assert 'File "script.py", line 2' in failed.error
        assert "ValueError" in failed.error
        missing = await run(session, "import no_such_thing.inner", tmp_path / "to", [])
        assert (missing.ending, missing.missing) == (Ending.ERROR, "no_such_thing")
    finally:
        await session.close()


async def test_files_go_in_and_what_is_new_comes_out(
    sandbox: Sandbox, protection: Protection, tmp_path: Path
) -> None:
    (tmp_path / "0a1b").write_text("day,price\n")
    session = sandbox.session(
        tmp_path / "work", protection=protection, files={"in.csv": tmp_path / "0a1b"}
    )
    try:
        source = (
            "with open('in.csv') as file:\n"
            "    text = file.read()\n"
            "with open('out.csv', 'w') as file:\n"
            "    print(text, file=file)\n"
            "text"
        )
        done = await run(session, source, tmp_path / "to", [])
        assert done.value == "'day,price\\n'"
        assert [(item.kind, item.name) for item in done.made] == [(Kind.TABLE, "out.csv")]
        path = done.made[0].path
        assert path is not None
        assert path.parent == tmp_path / "to"
        assert path.read_text() == "day,price\n\n"
        assert (await run(session, "1", tmp_path / "to", [])).made == ()
    finally:
        await session.close()


@pytest.mark.parametrize("make", [real, lambda folder: FakeSandbox(protects=NONE)])
async def test_without_protection_no_variable_is_kept(
    make: Callable[[Path], Sandbox], tmp_path: Path
) -> None:
    session = make(tmp_path).session(tmp_path / "work", protection=NONE, files={})
    try:
        first = await run(session, "x = 1\nx", tmp_path / "to", [])
        second = await run(session, "'x' in globals()", tmp_path / "to", [])
        assert (first.value, first.fresh) == ("1", True)
        assert (second.value, second.fresh) == ("False", True)
    finally:
        await session.close()


async def test_the_protection_is_one_that_works(tmp_path: Path) -> None:
    sandbox = real(tmp_path)
    protection = await sandbox.protection()
    assert protection.sandboxed
    assert protection == await sandbox.protection()
    session = sandbox.session(tmp_path / "work", protection=protection, files={})
    try:
        assert (await run(session, "6 * 7", tmp_path / "to", [])).value == "42"
    finally:
        await session.close()


@pytest.mark.parametrize("name", ["--target=x", "a b", "", "http://x/y"])
async def test_packages_are_named_and_nothing_else(tmp_path: Path, name: str) -> None:
    each: tuple[Packages, ...] = (PipPackages(tmp_path), FakePackages())
    for packages in each:
        with pytest.raises(InputError, match="is not the name of a package"):
            await packages.install([name], print)


def test_missing_packages_are_named_by_distribution(tmp_path: Path) -> None:
    each: tuple[Packages, ...] = (
        PipPackages(tmp_path),
        FakePackages({"sklearn": "scikit-learn", "yaml": "PyYAML"}),
    )
    for packages in each:
        assert tuple(packages.missing("import os\nfrom sklearn import svm")) == ("scikit-learn",)
        assert tuple(packages.missing("import json")) == ()
