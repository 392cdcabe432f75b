"""Damaged results are seen, and right ones are left alone: the cases of the benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.backends import result_checks
from jarvis_desktop.backends.result_checks import inspect
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call
from jarvis_desktop.text.languages import is_clearly_not
from tests.benchmarks.outcome_texts import TYPES, Case
from tests.benchmarks.outcomes import LEAST_SEEN, MOST_FALSE, cases, found


@pytest.fixture(scope="module")
def all_cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    return list(cases(tmp_path_factory.mktemp("outcomes"), variants=2))


def test_damaged_results_are_seen(all_cases: list[Case]) -> None:
    wrong = [case for case in all_cases if case.wrong]
    unseen = [f"{case.name} ({case.call.task})" for case in wrong if not found(case)]
    assert len({case.name for case in wrong}) >= 19
    assert len(unseen) <= (1 - LEAST_SEEN) * len(wrong), unseen


def test_right_ones_are_left_alone(all_cases: list[Case]) -> None:
    right = [case for case in all_cases if not case.wrong]
    alarms = [words for case in right if (words := found(case))]
    assert len(right) > 100
    assert len(alarms) <= MOST_FALSE * len(right), alarms


def test_a_doubt_is_said_of_the_expert_and_another_try_may_help(tmp_path: Path) -> None:
    call = Call("zero-shot-classification", {}, {"labels": "a cat, a dog"}, tmp_path)
    expert = Candidate(Expert("sorter", call.task), "local")
    with pytest.raises(ExpertError, match=r"^sorter named none of the labels\.$") as caught:
        inspect(expert, call, TYPES[call.task], [text_artifact("A horse: 99%")])
    assert (caught.value.fault, caught.value.retryable) == (Fault.ANSWER, True)


@pytest.mark.parametrize(
    ("task", "labels", "said"),
    [
        ("zero-shot-image-classification", "is this a cat or a dog?", "cat: 80%\ndog: 20%"),
        ("zero-shot-classification", f"{'a b' * 20}, {'c_d' * 20}", f"{('a b' * 20)[:39]}…: 90%"),
        ("zero-shot-classification", "very_good, bad", "very good: 90%"),
        ("zero-shot-classification", "10-20% off, full price", "10-20% off: 35%"),
        ("text-classification", "", "1.5-2.5%: 99.5 %"),
    ],
)
def test_labels_are_read_as_experts_read_them(
    tmp_path: Path, task: str, labels: str, said: str
) -> None:
    call = Call(task, {}, {"labels": labels} if labels else {}, tmp_path)
    assert result_checks.text_doubt(said, call, is_clearly_not) == ""


def test_a_share_below_nothing_is_seen(tmp_path: Path) -> None:
    call = Call("text-classification", {}, {}, tmp_path)
    assert (
        result_checks.text_doubt("positive: -3%", call, is_clearly_not)
        == "gave invalid percentages"
    )


def test_a_built_in_way_is_trusted(tmp_path: Path) -> None:
    from PIL import Image

    page = tmp_path / "page.png"
    Image.new("RGB", (200, 300), "white").save(page)
    call = Call("image-to-image", {}, {}, tmp_path)
    builtin = Candidate(Expert("builtin/image-to-image", call.task), "builtin")
    made = [Artifact(Kind.IMAGE, path=page)]
    inspect(builtin, call, TYPES[call.task], made)
    with pytest.raises(ExpertError, match="blank picture"):
        inspect(Candidate(Expert("painter", call.task), "local"), call, TYPES[call.task], made)
