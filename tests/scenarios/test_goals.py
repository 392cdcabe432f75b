"""The reference's own example: prices are downloaded, plotted and judged, by a mediocre LLM; then
again, where the function that does it is there already."""

from __future__ import annotations

import sysconfig
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import StepState, Terms
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, Settings
from tests.fakes import FakeFrontend
from tests.scenarios.mediocre import Mediocre, mediocre, prices


@dataclass
class Desk:
    """A person with an LLM, and a stock service."""

    app: Application
    llm: Mediocre
    host: str
    downloads: list[str]
    frontend: FakeFrontend

    async def reach(self, goal: str) -> Turn:
        request = Request(goal, terms=Terms(hosts=(self.host,)))
        return await self.app.assistant.handle(request, self.frontend)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))
    paths.packages.mkdir(parents=True)
    (paths.packages / "site").symlink_to(sysconfig.get_paths()["purelib"])
    with prices() as (host, downloads), mediocre(f"http://{host}/prices.csv") as llm:
        wanted = LLMSettings(provider="ollama", address=llm.address)
        app = build(Settings(llm=wanted, processes=2), paths)
        yield Desk(app, llm, host, downloads, FakeFrontend())
        await app.close()


@pytest.mark.timeout(300)
async def test_prices_are_downloaded_plotted_and_judged(desk: Desk) -> None:
    first = await desk.reach("Download the prices, plot the closing prices, name the best month.")
    assert (first.status, first.reply) == (Status.DONE, "March was best.")
    assert first.outline is not None
    assert [step.text for step in first.outline] == ["Download", "Plot", "Answer"]
    assert {step.state for step in first.outline} == {StepState.DONE}
    branches = [item.branch for item in first.rounds.values()]
    assert branches.count("write_function") == 2  # one with a slip, one without
    assert branches.count("run_code") == 2
    made = [item.name for each in first.rounds.values() for item in each.artifacts]
    assert "closing.png" in made
    assert len(desk.downloads) == 2
    assert {request.protection.sandboxed for request in desk.frontend.codes} == {True}

    desk.llm.told.clear()
    second = await desk.reach("Plot the closing prices once more, and name the best month.")
    assert (second.status, second.reply) == (Status.DONE, "March was best.")
    assert "write_function" not in {item.branch for item in second.rounds.values()}
    assert not any("def download_prices" in said for said in desk.llm.told)
    (kept,) = desk.app.library.list()
    assert (kept.name, kept.version) == ("download_prices", 1)

    history = desk.app.history.show(desk.app.history.list(5)[0].id)
    assert history
