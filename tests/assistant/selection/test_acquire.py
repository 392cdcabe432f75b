from __future__ import annotations

from dataclasses import replace

import pytest

from jarvis_desktop.assistant.live_turn import JournalWriter, LiveTurn
from jarvis_desktop.assistant.selection.acquire import Acquisition, ExpertAcquirer
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import Noted, TaskProgress
from jarvis_desktop.core.expert import Candidate, Expert, Selection
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.turn import Turn
from tests.assistant.conftest import NOON
from tests.fake_fetcher import FakeFetcher
from tests.fake_journal import FakeJournal
from tests.fakes import FakeFrontend

SMALL = Expert("small-one", "fill-mask", download_mb=300, licence="MIT", verified=True)
OTHER = replace(SMALL, id="other")


def offer(expert: Expert, task_id: int = 1) -> Selection:
    return Selection(task_id, (), "It needs one.", offer=expert)


class Scene:
    """An obtainer, and somebody who is asked."""

    def __init__(self, mode: Mode = Mode.HYBRID, *, consent: bool = True) -> None:
        self.fetcher = FakeFetcher()
        self.frontend = FakeFrontend(consent=consent)
        turn = Turn("t", NOON)
        journal_writer = JournalWriter(FakeJournal(), Unfinished("c", turn), acting=())
        self.live = LiveTurn(turn, self.frontend, journal_writer=journal_writer)
        self.obtainer = ExpertAcquirer(self.fetcher, Policy(mode), ask_above_mb=500)

    async def obtain(self, *experts: Expert) -> bool:
        return (await self.obtained(*experts)).fetched

    async def obtained(self, *experts: Expert, ask: bool = False) -> Acquisition:
        offers = [offer(item) for item in experts]
        return await self.obtainer.obtain(offers, self.live, ask=ask)

    @property
    def notes(self) -> list[str]:
        return [event.text for event in self.frontend.events if isinstance(event, Noted)]


async def test_a_small_one_is_fetched_at_once_and_that_is_said():
    scene = Scene()
    assert await scene.obtain(SMALL)
    assert scene.fetcher.fetched == [SMALL]
    assert not scene.frontend.questions
    assert scene.notes == ["small-one (300 MB to download, licence MIT) is fetched for this."]
    assert TaskProgress(1, 0.5, "half of it") in scene.frontend.events


@pytest.mark.parametrize(
    ("mode", "expert", "words"),
    [
        (Mode.LOCAL, SMALL, "This needs small-one"),
        (Mode.HYBRID, replace(SMALL, download_mb=501), "501 MB"),
        (Mode.HYBRID, replace(SMALL, download_mb=0), "This needs small-one"),
        (Mode.HYBRID, replace(SMALL, pickled=True), "a format that can contain code"),
        (
            Mode.HYBRID,
            replace(SMALL, base=Expert("painter", "text-to-image", download_mb=3000)),
            "3.3 GB to download, licence MIT). That includes painter (about 3.0 GB to download)",
        ),
        (
            Mode.HYBRID,
            replace(SMALL, base=Expert("painter", "text-to-image", download_mb=1, pickled=True)),
            "a format that can contain code",
        ),
    ],
)
async def test_others_are_asked_about(mode, expert, words):
    scene = Scene(mode, consent=False)
    assert not await scene.obtain(expert)
    (question,) = scene.frontend.questions
    assert words in question
    assert question.endswith("Download it now?")
    assert not scene.fetcher.fetched
    assert await Scene(mode).obtain(expert)


RUNNER = Expert("torch", "", download_mb=300, licence="BSD-3-Clause")


@pytest.mark.parametrize(
    ("here", "words"),
    [
        (
            (),
            "This needs small-one (300 MB to download, licence MIT). It also needs torch (about "
            "300 MB to download, licence BSD-3-Clause), which runs experts here. Download it now?",
        ),
        (
            ("small-one",),
            "This needs torch (about 300 MB to download, licence BSD-3-Clause). Download it now?",
        ),
    ],
)
async def test_what_runs_experts_is_always_asked_about_with_its_size(here, words):
    scene = Scene(Mode.HYBRID)
    scene.obtainer.ask_above_mb = 10_000
    scene.fetcher.runner, scene.fetcher.here = RUNNER, here
    assert await scene.obtain(SMALL)
    assert scene.frontend.questions == [words]


async def test_what_would_be_deleted_is_named_and_asked_about():
    scene = Scene()
    scene.fetcher.gone = ("old-one", "older-one")
    assert await scene.obtain(SMALL)
    assert "old-one and older-one will be deleted" in scene.frontend.questions[0]


async def test_one_that_cannot_be_had_does_not_keep_the_next_one_away():
    scene = Scene()
    scene.fetcher.error = UnavailableError("The Hub cannot be reached.")
    why = "The Hub cannot be reached."
    failed = {SMALL.id: why, OTHER.id: why}
    assert await scene.obtained(SMALL, OTHER) == Acquisition(False, frozenset(), failed)


async def test_the_same_one_is_fetched_once_for_two_tasks():
    scene = Scene()
    both = [offer(SMALL), offer(SMALL, 2)]
    assert (await scene.obtainer.obtain(both, scene.live)).fetched
    assert scene.fetcher.fetched == [SMALL]
    told = [event for event in scene.frontend.events if isinstance(event, TaskProgress)]
    assert {event.task_id for event in told} == {1, 2}, "each of them tells how far it is"
    nobody = [Selection(1, (), "None.")]
    assert await scene.obtainer.obtain(nobody, scene.live) == Acquisition(False, frozenset(), {})


async def test_one_that_the_person_stops_is_told_of_and_the_next_one_is_fetched():
    scene = Scene()
    scene.fetcher.stopped = {"small-one"}
    obtained = await scene.obtained(SMALL, OTHER)
    assert obtained == Acquisition(True, frozenset({"small-one"}), {})
    assert scene.fetcher.fetched == [OTHER]
    assert "You stopped the download of small-one." in scene.notes


async def test_small_ones_too_are_asked_about_where_that_is_wanted():
    scene = Scene()
    assert (await scene.obtained(SMALL, ask=True)).fetched
    assert scene.frontend.questions[0].startswith("This needs small-one")


async def test_a_base_that_is_here_already_is_neither_told_nor_counted():
    scene = Scene()
    scene.fetcher.here = ("painter",)
    painter = Expert("painter", "text-to-image", download_mb=3000, pickled=True)
    assert await scene.obtain(replace(SMALL, base=painter))
    assert not scene.frontend.questions


async def test_what_other_tasks_of_the_plan_need_is_not_deleted_for_it():
    scene = Scene()
    scene.fetcher.gone = ("chosen", "its-base", "fallback")
    chosen = Expert("chosen", "any", base=Expert("its-base", "any"))
    candidates = Candidate(chosen, "local"), Candidate(Expert("fallback", "any"), "local")
    selections = [Selection(2, candidates, "Ranked."), offer(SMALL), offer(OTHER, 3)]
    selections += [Selection(4, (), "None.")]
    assert (await scene.obtainer.obtain(selections, scene.live)).fetched
    assert "To make room on the disk, fallback will be deleted." in scene.frontend.questions[0]
    assert scene.fetcher.spared == {"chosen", "its-base", "small-one", "other"}
