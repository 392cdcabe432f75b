"""The real application over real weights, each of which is loaded once for all tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
import real_weights

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.importing import identified
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, Settings, SpeechSettings
from tests.real.llm_server import CountingProxy, counting_proxy, running_llm_server
from tests.scenarios.conftest import Person

# Each test has a home of its own, in which they would be looked for.
os.environ.setdefault("JARVIS_REAL_WEIGHTS", str(real_weights.root()))

RealWeightsFolder = Callable[[str], Path]
Build = Callable[[Settings], Application]


@pytest.fixture(scope="session")
def weights_of() -> RealWeightsFolder:
    """The folder of real weights."""

    def folder(name: str) -> Path:
        there = real_weights.folder_of(name)
        assert there, f"Fetch them first: python3 packaging/real_weights.py {name}"
        return there

    return folder


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def build_app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Build]:
    """Builds applications, each in a home of its own."""
    built: list[Application] = []

    def make(settings: Settings) -> Application:
        root = tmp_path_factory.mktemp("house")
        paths = Paths(root / "config", root / "data", root / "cache", root / "logs")
        built.append(build(settings, paths))
        return built[-1]

    yield make
    for app in built:
        await app.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def app(build_app: Build) -> Application:
    """An application without an LLM."""
    speech = SpeechSettings(language="en")
    return build_app(Settings(processes=2, speech=speech, llm=LLMSettings(provider="none")))


@pytest.fixture
def person(app: Application, tmp_path: Path) -> Person:
    return Person(app, tmp_path)


async def imported(app: Application, folder: Path) -> Expert:
    """The expert in a folder, which is recognised and imported as by `experts import`."""
    expert = identified(folder, app.catalogue.known())
    if app.weights.folder(expert) is None:
        await app.weights.import_folder(expert, folder)
    return expert


@dataclass(frozen=True)
class LLMHouse:
    """An application with an LLM, and how often this is asked."""

    app: Application
    proxy: CountingProxy


LLMS = [
    pytest.param("smollm2-135m", marks=pytest.mark.real),
    pytest.param("qwen-coder-1.5b", marks=pytest.mark.real_large),
]


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=LLMS)
async def llm_house(
    request: pytest.FixtureRequest, build_app: Build, weights_of: RealWeightsFolder
) -> AsyncIterator[LLMHouse]:
    weights = weights_of(request.param) / f"{request.param}.gguf"
    with running_llm_server(weights) as server:
        async with counting_proxy(server) as proxy:
            llm = LLMSettings(provider="openai", address=f"{proxy.address}/v1")
            yield LLMHouse(build_app(Settings(processes=2, llm=llm)), proxy)
