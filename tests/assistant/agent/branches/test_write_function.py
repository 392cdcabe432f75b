from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent import function_tests
from jarvis_desktop.assistant.agent.branches.write_function import tests_in_words as found_in_words
from jarvis_desktop.core.code import (
    Allow,
    CodeOutcome,
    CodeRequest,
    Ending,
    FunctionDraft,
    Script,
    Verdict,
)
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import RoundProgress
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, GoalLimits, Terms
from tests.assistant.agent.workplace import Workplace, edits, no, yes
from tests.fakes import FakeFrontend

DOUBLE = 'def double(x: int) -> int:\n    """Twice it."""\n    return 2 * x\n'
TESTS = "from library import double\n\n\ndef test_of_two():\n    assert double(2) == 4\n"
PERSONS = "def test_of_nothing():\n    assert double(0) == 0"


def tried(script: Script, to: Path) -> CodeOutcome:
    """All tests of the script pass, except those with a "bad" name."""
    taken_out = function_tests.read_script(script.source, FunctionDraft("double", ""))
    assert taken_out
    draft, earlier = taken_out
    names = re.findall(r"def (test_\w+)", draft.tests)
    names += [f"earlier {name}" for name in re.findall(r"def (test_\w+)", earlier)]
    results = [("the function is imported", "")]
    results += [(name, "AssertionError\n" if "bad" in name else "") for name in names]
    return CodeOutcome(Ending.DONE, value=repr(results))


@pytest.fixture
def place(tmp_path: Path, frontend: FakeFrontend) -> Workplace:
    place = Workplace(tmp_path, frontend, code=CodeTerms.ASK)
    place.sandbox.does = tried
    return place


async def test_a_function_that_passes_is_saved_with_the_persons_word(place: Workplace) -> None:
    goal_run = place.goal_run()
    seen = await place.write(
        goal_run, name="double", code=f"```python\n{DOUBLE}```", tests=TESTS, packages=["numpy"]
    )
    assert seen.status is Status.DONE
    assert seen.trusted
    assert seen.text == (
        "double is in the library now (version 1), for “from library import double”: "
        "double(x: int) -> int: Twice it."
    )
    assert seen.code == DOUBLE
    assert place.library.get("double").draft == FunctionDraft("double", DOUBLE, TESTS, ("numpy",))
    testing, saving = place.frontend.codes
    assert testing.purpose == "Test the function double before it is kept in the library."
    assert not testing.saves
    assert DOUBLE in testing.source
    assert TESTS in testing.source
    assert saving == CodeRequest(
        DOUBLE,
        "Keep double in the library, for this goal and later ones. It needs numpy.",
        place.sandbox.shelter,
        saves="double",
        tests=f"2 of 2 passed.\npassed the function is imported\npassed test_of_two\n\n{TESTS}",
    )
    assert RoundProgress(3, "one line\n") in place.frontend.events
    [session] = place.sandbox.sessions
    assert session.closed
    assert session.timeouts == [60.0]
    assert not session.files
    assert not list((place.root / "store").iterdir())


async def test_types_are_checked_by_typeguard_beside_the_library(place: Workplace) -> None:
    found: list[str] = []

    def looks(script: Script, to: Path) -> CodeOutcome:
        library = place.sandbox.sessions[-1].library
        assert library
        found.extend(sorted(path.name for path in library.iterdir()))
        assert (library / "typeguard" / "__init__.py").is_file()
        assert place.sandbox.sessions[-1].folder.is_dir()
        assert to.is_dir()
        return tried(script, to)

    place.sandbox.does = looks
    await place.write(place.goal_run(), name="double", code=DOUBLE, tests=TESTS)
    assert found == ["library", "typeguard", "typing_extensions.py"]


async def test_what_breaks_the_rules_is_told_at_once_and_asks_nobody(place: Workplace) -> None:
    goal_run = place.goal_run()
    seen = await place.write(goal_run, name="Double", code="def Double(x):\n    return x", tests="")
    assert seen.status is Status.FAILED
    assert seen.trusted
    assert seen.text.splitlines() == [
        "“Double” is not a valid name: use lower-case letters, digits and _, such as "
        "download_prices.",
        "Double has no docstring: say in its first line what it does.",
        "Double has arguments without a type: x.",
        "Double does not say what type it returns.",
        "It has no tests: write at least one function “def test_…()” with asserts.",
        "Nothing was saved. It may be mended and tried 4 times more.",
    ]
    assert not place.frontend.codes


async def test_failing_tests_save_nothing(place: Workplace) -> None:
    goal_run = place.goal_run()
    bad = TESTS.replace("test_of_two", "test_bad")
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=bad)
    assert seen.status is Status.FAILED
    assert not seen.trusted
    assert seen.text == (
        "The function was not saved: not all of its tests passed.\n1 of 2 passed.\n"
        "passed the function is imported\nFAILED test_bad\ntest_bad:\nAssertionError\n"
        "It may be mended and tried 4 times more."
    )
    assert seen.code == DOUBLE
    assert not place.library.list()
    assert goal_run.frames[1].notices == ("It may be mended and tried 4 times more.",)


async def test_mending_a_function_comes_to_an_end(place: Workplace) -> None:
    goal_run = place.goal_run(limits=GoalLimits(repairs=1))
    await place.write(goal_run, name="double", code="(", tests=TESTS)
    seen = await place.write(goal_run, name="double", code="(", tests=TESTS)
    assert "mending it is given up" in seen.text
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.text.startswith("Mending double was given up, so nothing was done")
    assert seen.trusted
    seen = await place.write(
        goal_run, name="twice", code=DOUBLE.replace("double", "twice"), tests="("
    )
    assert "tried once more" in seen.text


async def test_what_it_needs_is_installed_or_nothing_is_tried(place: Workplace) -> None:
    place.packages.needs = {"import numpy": "numpy"}
    place.frontend.consent = False
    seen = await place.write(
        place.goal_run(),
        name="double",
        code=DOUBLE,
        tests=f"import numpy\n{TESTS}",
        packages=["numpy", "x"],
    )
    assert "did not agree to install" in seen.text
    assert not place.sandbox.sessions


async def test_a_no_to_the_test_runs_nothing(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.answers(no("Call it twice."))
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.text.endswith("They say: Call it twice.")
    assert seen.trusted
    assert not place.sandbox.sessions
    assert goal_run.answers == [
        "- On “Code: Test the function double before it is kept in the library.”: Call it twice."
    ]


async def test_a_no_to_saving_saves_nothing_but_keeps_the_persons_tests(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.answers(yes, no(f"It must pass this, too:\n{PERSONS}\n"))
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.FAILED
    assert not place.library.list()
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.DONE
    saved = place.library.get("double").draft
    assert function_tests.user_tests(saved.tests) == PERSONS
    assert "passed test_of_nothing" in place.frontend.codes[-1].tests
    assert not [key for key in goal_run.frames[1].kept if key.startswith("tests")]


async def test_tests_that_the_person_gives_with_a_yes_are_run_first(place: Workplace) -> None:
    goal_run = place.goal_run()
    with_tests: Callable[[CodeRequest], Verdict] = lambda request: Verdict(  # noqa: E731
        Allow.ONCE, request.source, PERSONS
    )
    place.answers(with_tests, with_tests, with_tests)
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.DONE
    assert [bool(code.saves) for code in place.frontend.codes] == [False, False, True]
    assert PERSONS not in place.frontend.codes[0].source
    assert PERSONS in place.frontend.codes[1].source
    assert len(place.sandbox.sessions) == 1


async def test_what_the_person_makes_of_it_is_tested_before_it_is_saved(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.answers(yes, edits("2 * x", "x + x"))
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.DONE
    assert [bool(code.saves) for code in place.frontend.codes] == [False, True, False, True]
    assert "x + x" in place.frontend.codes[2].source
    assert "x + x" in place.library.get("double").draft.source
    assert "+    return x + x" in goal_run.frames[1].notices[0]


@pytest.mark.parametrize("before", [[], [yes]])
async def test_tests_of_the_person_that_fail_hold_for_the_next_try_as_well(
    place: Workplace, before: list[Callable[[CodeRequest], Verdict]]
) -> None:
    goal_run = place.goal_run()
    place.answers(*before, edits("2 * x", "2 * x", PERSONS.replace("nothing", "bad")))
    for _ in range(2):
        seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
        assert seen.status is Status.FAILED
        assert "FAILED test_of_bad" in seen.text
    await place.write(goal_run, name="twice", code=DOUBLE.replace("double", "twice"), tests=TESTS)
    assert "test_of_bad" not in place.frontend.codes[-1].source


async def test_the_test_script_may_be_changed(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.answers(edits("2 * x", "x + x"))
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.DONE
    assert place.library.get("double").draft.source == DOUBLE.replace("2 * x", "x + x")
    assert "x + x" in place.sandbox.ran[0]


async def test_the_rules_hold_for_what_the_person_writes_as_well(place: Workplace) -> None:
    place.answers(edits(" -> int", ""))
    seen = await place.write(place.goal_run(), name="double", code=DOUBLE, tests=TESTS)
    assert "does not say what type it returns.\nNothing was saved." in seen.text
    assert not [code for code in place.frontend.codes if code.saves]
    assert not place.library.list()


async def test_a_test_script_without_its_function_saves_nothing(place: Workplace) -> None:
    place.answers(edits("FUNCTION = ", "OTHER = "))
    seen = await place.write(place.goal_run(), name="double", code=DOUBLE, tests=TESTS)
    assert "the function cannot be told from it" in seen.text
    assert not place.sandbox.sessions


def saved(place: Workplace, tests: str = TESTS) -> FunctionDraft:
    draft = FunctionDraft("double", DOUBLE, tests)
    place.library.save(draft, approved=draft.sha256)
    return draft


OTHER = DOUBLE.replace("2 * x", "x * 2")
OTHER_TESTS = "def test_of_four():\n    assert double(4) == 8\n"


async def test_a_new_version_passes_the_tests_of_the_old_one(place: Workplace) -> None:
    saved(place, function_tests.join_tests(TESTS, PERSONS))
    await place.write(place.goal_run(), name="double", code=OTHER, tests=OTHER_TESTS)
    saving = place.frontend.codes[-1]
    assert saving.replaces == DOUBLE
    assert saving.tests.splitlines()[:5] == [
        "4 of 4 passed.",
        "passed the function is imported",
        "passed test_of_four",
        "passed test_of_nothing",
        "passed earlier test_of_two",
    ]
    new = place.library.get("double")
    assert new.version == 2
    assert new.draft.tests == function_tests.join_tests(OTHER_TESTS, PERSONS)


async def test_a_new_version_may_behave_otherwise_on_purpose(place: Workplace) -> None:
    saved(place, function_tests.join_tests(TESTS.replace("two", "bad"), PERSONS))
    seen = await place.write(
        place.goal_run(), name="double", code=OTHER, tests=OTHER_TESTS, replaces="another"
    )
    assert "FAILED earlier test_of_bad" in seen.text
    seen = await place.write(
        place.goal_run(), name="double", code=OTHER, tests=OTHER_TESTS, replaces="double"
    )
    assert seen.status is Status.DONE
    assert place.library.get("double").draft.tests == OTHER_TESTS


async def test_a_function_that_was_changed_behind_the_library_is_written_anew(
    place: Workplace,
) -> None:
    saved(place)
    place.library.changed.add("double")
    seen = await place.write(place.goal_run(), name="double", code=OTHER, tests=OTHER_TESTS)
    assert seen.status is Status.DONE
    assert place.library.get("double").version == 2


async def test_the_session_learns_of_a_new_function(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.DONE, fresh=False)
    await place.run(goal_run, "1")
    place.sandbox.does = tried
    await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.DONE, fresh=False)
    await place.run(goal_run, "from library import double")
    session = place.sandbox.sessions[0]
    assert len(session.ran) == 2
    assert session.library
    assert (session.library / "library" / "double.py").is_file()
    assert place.library.get("double").used == 1


async def test_a_function_is_saved_unasked_where_that_was_agreed_to(place: Workplace) -> None:
    goal_run = place.goal_run(terms=Terms(code=CodeTerms.SANDBOXED))
    seen = await place.write(goal_run, name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.DONE
    assert not place.frontend.codes
    goal_run.change(1, tainted=True)
    await place.write(goal_run, name="double", code=OTHER, tests=TESTS)
    assert [code.saves for code in place.frontend.codes] == ["double"]


async def test_what_cannot_be_tried_is_told(place: Workplace) -> None:
    place.sandbox.errors = [UnavailableError("The sandbox is gone.")]
    seen = await place.write(place.goal_run(), name="double", code=DOUBLE, tests=TESTS)
    assert seen.status is Status.FAILED
    assert seen.text == "The function could not be saved: The sandbox is gone."
    assert not list((place.root / "store").iterdir())


@pytest.mark.parametrize(
    ("said", "tests"),
    [
        ("No.", ""),
        ("test_this please", ""),
        ("def test_x( is what I want", ""),
        ("def test_x(tmp_path):\n    assert tmp_path", ""),
        (f"Add this:\n{PERSONS}", PERSONS),
        (f"Add:\n```python\n{PERSONS}\n```\nand that is it.", PERSONS),
        (f"from math import pi\n{PERSONS}\n", f"from math import pi\n{PERSONS}"),
        ("from the beginning:\ndef test_x(): pass", ""),
    ],
)
def test_tests_are_found_in_what_a_person_says(said: str, tests: str) -> None:
    assert found_in_words(said) == tests
