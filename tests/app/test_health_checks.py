"""What the doctor says of the computer that experts run on."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path

import pytest

from jarvis_desktop.app import health_checks
from jarvis_desktop.app.health_checks import (
    Finding,
    agent_mode,
    engine_of_experts,
    graphics,
    memory,
    sandbox,
)
from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.placement import MB, Graphics, Hardware
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.experts.engines import MARKER, PYTHON, Engines
from jarvis_desktop.localization import load
from jarvis_desktop.paths import shipped
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.process import engine
from tests.work_server import running_work_server

GB = 1000 * MB
RTX = Graphics("NVIDIA RTX 3060", memory=12 * GB)


@pytest.mark.parametrize(
    ("hardware", "found"),
    [
        (
            Hardware(graphics=RTX, graphics_free=9 * GB),
            Finding(
                "graphics card",
                "ok",
                "NVIDIA RTX 3060 with 12.0 GB, 9.0 GB free; it computes, by CUDA in bfloat16",
            ),
        ),
        (
            Hardware(graphics=Graphics("Apple GPU", "mps", 10 * GB, bfloat16=False)),
            Finding(
                "graphics card",
                "ok",
                "Apple GPU with 10.0 GB; it computes, by Metal in float16",
            ),
        ),
        (
            Hardware(),
            Finding(
                "graphics card", "limited", "None was found. Experts run on the processor."
            ),
        ),
        (
            Hardware(trouble="The driver is too old.", fix="Update it."),
            Finding(
                "graphics card",
                "limited",
                "The driver is too old. Experts run on the processor.",
                "Update it.",
            ),
        ),
    ],
)  # fmt: skip
def test_the_graphics_card_and_why_it_is_not_used(hardware: Hardware, found: Finding) -> None:
    assert graphics(hardware) == found


@pytest.mark.parametrize(
    ("hardware", "budget", "state", "detail"),
    [
        (
            Hardware(16 * GB, 9 * GB, swap=2 * GB, cores=8, graphics=RTX),
            0,
            "ok",
            "16.0 GB, 9.0 GB free, 2.0 GB of swap, 8 processor cores; "
            "experts get up to 12.8 GB and 10.8 GB of the graphics card together",
        ),
        (
            Hardware(16 * GB, cores=8),
            4 * GB,
            "ok",
            "16.0 GB, 8 processor cores; experts get up to 4.0 GB by your settings",
        ),
        (
            Hardware(3 * GB, cores=2),
            0,
            "limited",
            "3.0 GB, 2 processor cores; experts get up to 1.5 GB together",
        ),
        (Hardware(), 0, "limited", "the system does not say how much there is"),
    ],
)
def test_the_memory_and_what_experts_get_of_it(
    hardware: Hardware, budget: int, state: str, detail: str
) -> None:
    found = memory(hardware, budget)
    assert (found.what, found.state, found.detail) == ("memory", state, detail)


@pytest.mark.parametrize(
    ("protection", "state", "says", "mode"),
    [
        (Protection("bubblewrap", sandboxed=True), "ok", "bubblewrap", "ok"),
        (
            Protection("Landlock", sandboxed=True, why="Install bubblewrap."),
            "limited",
            "Landlock",
            "ok",
        ),
        (Protection("none", sandboxed=False, why="Say so."), "limited", "unprotected", "limited"),
    ],
)
def test_what_holds_the_code_of_agent_mode(
    protection: Protection, state: str, says: str, mode: str
) -> None:
    found = sandbox(protection)
    assert (found.what, found.state, found.fix) == ("sandbox", state, protection.why)
    assert says in found.detail
    assert agent_mode(protection, has_llm=True).state == mode
    without = agent_mode(protection, has_llm=False)
    assert (without.state, "needs a language model" in without.detail) == ("limited", True)


def test_the_name_of_all_that_is_looked_at_is_known_to_translators() -> None:
    names: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(health_checks))):
        named: ast.AST | None = None
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Finding", "device"):
            named = node.args[0]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "what":
            named = node.value
        if isinstance(named, ast.Call):
            named = named.args[0]
        if isinstance(named, ast.Constant):
            names.add(str(named.value))
    assert len(names) > 12
    german = load("de")
    assert {name for name in names if german.gettext(name) == name} == {"JARVIS Desktop", "SQLite"}


def test_what_runs_experts_is_told_with_its_size_or_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = shipped("resources", "engine", "requirements.txt")
    engines = Engines(tmp_path, listed, build=lambda: "cpu")
    assert engine_of_experts(engines).detail == "installed beside JARVIS; it runs experts"
    monkeypatch.setattr(engine, "in_environment", lambda: False)
    lacking = engine_of_experts(engines)
    assert (lacking.state, lacking.fix) == ("limited", "jarvis-desktop engine install")
    assert "300 MB to download" in lacking.detail
    for name, state in (("2.12.0", "limited"), (engines.newest, "ok")):
        folder = tmp_path / name
        folder.mkdir()
        record = {"torch": name, "python": PYTHON, "size": 7}
        (folder / MARKER).write_text(json.dumps(record), "utf-8")
        found = engine_of_experts(engines)
        assert (found.state, str(folder) in found.detail) == (state, True)


async def test_a_server_by_its_address_answers_or_does_not() -> None:
    def served(address: str, mode: Mode, model: str = "") -> WorkServer:
        place = WorkAddress(address, model)
        return WorkServer(Work.SPEECH, lambda: place, Policy(mode), key=lambda it: "")

    with running_work_server() as there:
        found = await health_checks.server(served(there.address, Mode.OFFLINE))
        assert (found.what, found.state) == ("server for speech", "ok")
        assert "answers in" in found.detail
        found = await health_checks.server(served(there.address, Mode.LOCAL, "kokoro"))
        assert found.state == "limited"
        assert found.detail.endswith("and does not list kokoro")
        assert found.fix == "jarvis-desktop servers models speech"
    found = await health_checks.server(served(there.address, Mode.LOCAL))
    assert found.state == "limited"
    found = await health_checks.server(served("box:8000", Mode.OFFLINE))
    assert "sends nothing to box:8000" in found.detail
