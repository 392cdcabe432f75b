"""Which candidates a task gets, and the reason where it gets none."""

from __future__ import annotations

from jarvis_desktop.assistant.selector import Selector, readable_size
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Task
from tests.fakes import FakeCatalogue
from tests.types import CLOCK

PLAN = Plan((Task(0, CLOCK),))
LOCAL = Candidate(Expert("mine", "clock"), "local")
REMOTE = Candidate(Expert("theirs", "clock"), "hf_api", remote=True)


def reason(catalogue: FakeCatalogue, mode: Mode = Mode.LOCAL) -> str:
    selection = Selector(catalogue, Policy(mode)).select(PLAN)[0]
    assert selection.candidates == ()
    return selection.reason


def test_the_policy_filters_and_the_order_is_kept() -> None:
    catalogue = FakeCatalogue(listed={"clock": (REMOTE, LOCAL)})
    selection = Selector(catalogue, Policy(Mode.HYBRID)).select(PLAN)[0]
    assert selection.candidates == (REMOTE, LOCAL)
    assert selection.reason == "theirs answers over the network."
    selection = Selector(catalogue, Policy(Mode.LOCAL)).select(PLAN)[0]
    assert selection.candidates == (LOCAL,)
    assert selection.reason == "mine runs on this computer now."


def test_a_mode_that_allows_none() -> None:
    assert "“offline” allows none" in reason(
        FakeCatalogue(listed={"clock": (REMOTE,)}), Mode.OFFLINE
    )


def test_an_expert_that_would_have_to_be_fetched_is_named_with_its_size() -> None:
    expert = Expert("sun-dial", "clock", download_mb=2500, licence="MIT")
    catalogue = FakeCatalogue(listed={"clock": ()}, to_fetch={"clock": (expert,)})
    assert reason(catalogue) == (
        "It needs an expert that is not on this computer: sun-dial (about 2.5 GB to download, "
        "licence MIT). To get it: jarvis-desktop experts pull sun-dial"
    )
    assert "choose another mode" in reason(catalogue, Mode.OFFLINE)


def test_a_size_that_was_checked_is_not_about() -> None:
    expert = Expert("sun-dial", "clock", download_mb=340, verified=True)
    catalogue = FakeCatalogue(listed={"clock": ()}, to_fetch={"clock": (expert,)})
    assert "sun-dial (340 MB to download)." in reason(catalogue)
    assert readable_size(1000) == "1.0 GB"


def test_an_expert_that_cannot_run_here_is_named_but_not_offered() -> None:
    expert = Expert("sun-dial", "clock", download_mb=340)
    catalogue = FakeCatalogue(listed={"clock": ()}, beyond={"clock": (expert,)})
    assert reason(catalogue) == (
        "It needs an expert such as sun-dial (about 340 MB to download), "
        "which this version of JARVIS cannot run yet."
    )


def test_no_expert_at_all() -> None:
    assert reason(FakeCatalogue(listed={"clock": ()})) == "There is no expert for clock yet."
