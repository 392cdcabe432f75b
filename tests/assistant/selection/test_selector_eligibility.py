"""Why an expert is not for a task: room, licence, terms, language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.assistant.selection.selector import Eligibility, ExpertCapacity, LicenceRules
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import PROCESSOR, Graphics, Hardware, MemorySize, Placement
from jarvis_desktop.core.task import Arg, Port, Ref, Task, TaskOption, TaskType
from tests.types import READ, SHORTEN

GB = 10**9
TRANSLATE = TaskType(
    "translation",
    "Translates.",
    (Port("text", (Kind.TEXT,), many=True),),
    (Kind.TEXT,),
    options=(TaskOption("language", "into which", "English"),),
)
BIG = Expert("big", "any", memory_mb=7000, download_mb=3000)
ENGLISH = Expert("writer", "any", languages=("en",))
PICTURE = Artifact(Kind.IMAGE, path=Path("a.png"))
TO_GERMAN = Expert("opus", "any", languages=("en", "de"))


def ruled_out(text: str, code: str) -> bool:
    """Knows a German text by its first word."""
    return text.startswith("Der") and code != "de"


def having(memory: int, *, graphics: int = 0) -> ExpertCapacity:
    """So many gigabytes."""
    card = Graphics("card", memory=graphics * GB) if graphics else None
    return ExpertCapacity(Hardware(memory * GB, graphics=card))


def shorten(text: Arg) -> Task:
    return Task(0, SHORTEN, {"text": text})


def translate(text: Arg, language: str = "") -> Task:
    args: dict[str, Arg] = {"text": text}
    return Task(0, TRANSLATE, args | {"language": language} if language else args)


def objection(
    expert: Expert,
    task: Task | None = None,
    *,
    fitting: Eligibility | None = None,
    room: ExpertCapacity | None = None,
    request: str = "",
) -> str:
    rules = fitting or Eligibility(ruled_out=ruled_out)
    return rules.objection(
        expert, task or shorten("Hello."), request=request, room=room or ExpertCapacity()
    )


def to_fetch(expert: Expert, *, room: ExpertCapacity | None = None, gated: bool = False) -> str:
    return Eligibility(gated=gated).objection_to_fetching(
        expert, shorten("Hello."), request="", room=room or ExpertCapacity()
    )


def test_nothing_is_held_against_an_expert_of_which_nothing_is_known() -> None:
    assert (
        Eligibility().objection(Expert("x", "any"), shorten("a"), request="", room=ExpertCapacity())
        == ""
    )
    assert Eligibility().room() == ExpertCapacity()


def test_the_memory_must_suffice() -> None:
    assert objection(BIG, room=having(16)) == ""
    assert objection(BIG, room=having(4)) == (
        "needs about 3.7 GB of memory, and experts can have 2.5 GB here"
    )


def test_an_expert_that_fits_in_16_bits_only_is_not_refused() -> None:
    assert objection(BIG, room=having(8)) == ""


def test_a_graphics_card_holds_what_the_main_memory_cannot() -> None:
    large = Expert("large", "any", memory_mb=20_000, memory_half_mb=10_000)
    assert "needs about 10.0 GB" in objection(large, room=having(10))
    assert objection(large, room=having(10, graphics=12)) == ""
    assert objection(large, room=having(10, graphics=8)) == (
        "needs about 10.0 GB of memory, "
        "and experts can have 8.0 GB, or 7.2 GB of the graphics card here"
    )


def test_what_was_measured_counts_and_not_what_was_thought() -> None:
    """Neither is what could run refused, nor what cannot run accepted."""
    here = having(8)
    seen = {
        ("big", PROCESSOR): MemorySize(9 * GB),
        ("big", Placement(half=True)): MemorySize(7 * GB),
    }
    assert "needs about 7.0 GB" in objection(BIG, room=replace(here, measured=seen))
    small = {("large", PROCESSOR): MemorySize(3 * GB)}
    large = Expert("large", "any", memory_mb=20_000)
    assert objection(large, room=here) != ""
    assert objection(large, room=replace(here, measured=small)) == ""


def test_the_memory_that_a_person_gives_to_experts_is_all_they_get() -> None:
    assert "experts can have 2.0 GB" in objection(BIG, room=replace(having(16), budget=2 * GB))


def test_programs_that_are_open_now_do_not_count() -> None:
    full = ExpertCapacity(Hardware(memory=16 * GB, available=GB))
    assert objection(BIG, room=full) == ""


def test_the_licence_must_be_wanted() -> None:
    free, not_for_sale = (
        Expert("a", "any", licence="MIT"),
        Expert("b", "any", licence="CC-BY-NC-4.0"),
    )
    no_nc = Eligibility(licences=LicenceRules(denied=("cc-by-nc-*",)))
    assert objection(free, fitting=no_nc) == ""
    assert "has the licence CC-BY-NC-4.0" in objection(not_for_sale, fitting=no_nc)
    only_mit = Eligibility(licences=LicenceRules(allowed=("MIT",)))
    assert objection(free, fitting=only_mit) == ""
    assert "your settings leave out" in objection(not_for_sale, fitting=only_mit)
    assert objection(Expert("c", "any"), fitting=only_mit) == ""


def test_what_is_to_be_fetched_must_find_room_and_be_free_to_get() -> None:
    assert to_fetch(BIG) == ""
    assert to_fetch(BIG, room=ExpertCapacity(disk=4 * GB)) == ""
    assert (
        to_fetch(BIG, room=ExpertCapacity(disk=3 * GB))
        == "takes 3.0 GB of the disk, and 3.0 GB are free"
    )
    built = replace(BIG, base=Expert("base", "any", download_mb=1000))
    assert to_fetch(built, room=ExpertCapacity(disk=4 * GB)) == (
        "takes 4.0 GB of the disk, and 4.0 GB are free"
    )


def test_what_can_never_be_within_the_disk_budget_is_not_fetched():
    assert to_fetch(BIG, room=ExpertCapacity(disk_budget=3 * GB)) == ""
    built = replace(BIG, base=Expert("base", "any", download_mb=1000))
    assert to_fetch(built, room=ExpertCapacity(disk_budget=3 * GB)) == (
        "takes 4.0 GB of the disk, and your settings allow experts 3.0 GB"
    )
    assert "needs about" in to_fetch(BIG, room=having(1))
    gated = Expert("flux", "any", gated=True)
    assert "accepted its terms" in to_fetch(gated)
    assert to_fetch(gated, gated=True) == ""


@pytest.mark.parametrize(
    ("task", "request_text", "why"),
    [
        (shorten("Hello."), "Der Text bitte kurz", ""),
        (shorten("Der Hund bellt."), "Shorten this", "understands English only"),
        (shorten(text_artifact("Der Hund.")), "Shorten this", "understands English only"),
        (shorten(Ref(1)), "Der Text bitte kurz", "understands English only"),
        (shorten(Ref(1)), "Shorten it", ""),
        (Task(0, READ, {"image": PICTURE}), "Der Text bitte", "understands English only"),
        (shorten(3), "Shorten it", ""),
    ],
)  # fmt: skip
def test_an_expert_with_one_language_is_for_texts_in_it(
    task: Task, request_text: str, why: str
) -> None:
    assert objection(ENGLISH, task, request=request_text) == why


@pytest.mark.parametrize(
    ("task", "fits"),
    [
        (translate("Hello.", "German"), True),
        (translate("Hello.", "de"), True),
        (translate("Hello.", "French"), False),
        (translate("Hello."), False),
        (translate("Hello.", "Klingon"), True),
        (translate("Der Hund.", "German"), False),
        (translate((Ref(1), "Der Hund."), "German"), False),
        (translate(Ref(1), "German"), True),
        (shorten("Hello."), True),
    ],
)
def test_an_expert_with_two_languages_translates_in_one_direction(task: Task, fits: bool) -> None:
    why = "" if fits else "translates from English into German only"
    assert objection(TO_GERMAN, task, request="Der Hund") == why


def test_an_expert_with_many_languages_is_for_all() -> None:
    assert objection(Expert("nllb", "any", languages=("*",)), translate("Der", "French")) == ""
    klingon = Expert("k", "any", languages=("tlh",))
    assert objection(klingon, shorten("Der")) == "understands tlh only"
