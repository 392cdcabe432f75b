from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import Allow, CodeOutcome, Ending, FunctionDraft, Script, Verdict
from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.core.events import Noted, RoundProgress
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, GoalLimits, Terms
from tests.assistant.agent.workplace import BARE, WELL, Workplace, edits, no
from tests.fakes import FakeFrontend


@pytest.fixture
def place(tmp_path: Path, frontend: FakeFrontend) -> Workplace:
    return Workplace(tmp_path, frontend, code=CodeTerms.ASK)


async def test_what_a_script_gives_is_told(place: Workplace) -> None:
    place.sandbox.does = lambda script, to: CodeOutcome(
        Ending.DONE, printed="1\n2\n", value="'March'", seconds=0.52
    )
    goal_run = place.goal_run()
    seen = await place.run(goal_run, "print(1)\n'March'")
    assert seen.status is Status.DONE
    assert not seen.trusted
    assert not seen.ends
    assert seen.code == "print(1)\n'March'\n"
    assert seen.text == (
        "It ran to its end, in 0.5 s.\nIt printed:\n1\n2\nThe value of its last expression: 'March'"
    )
    assert RoundProgress(3, "one line\n") in place.frontend.events
    assert goal_run.live.turn.rounds[3].printed == "one line\n"
    assert place.sandbox.sessions[0].timeouts == [120.0]
    [request] = place.frontend.codes
    assert (request.source, request.purpose) == ("print(1)\n'March'\n", "to see")


async def test_without_a_purpose_there_is_one(place: Workplace) -> None:
    await place.run(place.goal_run(), "1", purpose="")
    assert place.frontend.codes[0].purpose == "Do a part of the goal."


async def test_code_is_taken_out_of_its_fence(place: Workplace) -> None:
    await place.run(place.goal_run(), "Here it is:\n```python\r\nx = 1\r\n```\n")
    assert place.sandbox.ran == ["x = 1\n"]


async def test_what_is_no_python_is_not_asked_about(place: Workplace) -> None:
    goal_run = place.goal_run()
    seen = await place.run(goal_run, "print(1")
    assert seen.status is Status.FAILED
    assert seen.trusted
    assert seen.text == (
        "The code is not valid Python in line 1: '(' was never closed. The line is: print(1 "
        "Nothing ran. It may be mended and tried 4 times more."
    )
    assert not place.frontend.codes
    assert not place.sandbox.sessions


async def test_a_no_goes_to_the_coder_with_what_the_person_says(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.answers(no("Use the file that I gave."), no())
    first = await place.run(goal_run, "1")
    second = await place.run(goal_run, "1")
    assert first.text == (
        "The person did not allow this code, so nothing was done. "
        "They say: Use the file that I gave."
    )
    assert second.text.endswith("Take another way, or ask what they would like.")
    for seen in (first, second):
        assert seen.status is Status.FAILED
        assert seen.trusted
    assert not place.sandbox.sessions
    assert not goal_run.frames[1].kept


async def test_what_the_person_makes_of_it_runs_and_the_coder_learns_of_it(
    place: Workplace,
) -> None:
    goal_run = place.goal_run()
    place.answers(edits("10", "3", "Three will do.\x1b[2J"))
    seen = await place.run(goal_run, "a = 1\nn = 10\nprint(n)\n")
    assert place.sandbox.ran == ["a = 1\nn = 3\nprint(n)\n"]
    assert seen.code == "a = 1\nn = 3\nprint(n)\n"
    assert goal_run.frames[1].notices == (
        "The person changed the code before it was used:\n"
        "@@ -1,3 +1,3 @@\n a = 1\n-n = 10\n+n = 3\n print(n)",
        "The person says to the code: Three will do.�[2J",
    )
    assert goal_run.answers == ["- On “Code: to see”: Three will do.�[2J"]


async def test_what_was_agreed_to_is_what_runs(place: Workplace) -> None:
    place.answers(lambda request: Verdict(Allow.ONCE, "print('edited\udcff')\r\n"))
    seen = await place.run(place.goal_run(), "1")
    assert place.sandbox.ran == ["print('edited\udcff')\r\n"]
    assert seen.status is Status.DONE


async def test_packages_are_installed_with_the_persons_word(place: Workplace) -> None:
    place.packages.needs = {"import pandas": "pandas", "import matplotlib": "matplotlib"}
    seen = await place.run(place.goal_run(), "import pandas\nimport matplotlib\n")
    assert seen.status is Status.DONE
    assert place.frontend.questions == [
        "This code needs pandas and matplotlib, which are not installed. Install them into the "
        "environment that only code of goals uses?"
    ]
    assert place.packages.installed == ["pandas", "matplotlib"]
    assert RoundProgress(3, "Installing pandas, matplotlib\n") in place.frontend.events


async def test_packages_that_the_person_does_not_want_are_done_without(place: Workplace) -> None:
    place.packages.needs = {"import pandas": "pandas"}
    place.frontend.consent = False
    seen = await place.run(place.goal_run(), "import pandas\n")
    assert seen.text == (
        "The code needs pandas, and the person did not agree to install it. "
        "Do without, or ask the person."
    )
    assert seen.trusted
    assert len(place.frontend.codes) == 1  # read first: what is it that needs them?
    assert not place.packages.installed
    assert not place.sandbox.sessions


async def test_packages_that_cannot_be_had_are_done_without(place: Workplace) -> None:
    place.packages.needs = {"import pandas": "pandas"}
    place.packages.error = UnavailableError("There is no network.")
    seen = await place.run(place.goal_run(), "import pandas\n")
    assert seen.status is Status.FAILED
    assert seen.text == "pandas could not be installed: There is no network. Do without."


async def test_so_many_packages_are_not_installed(place: Workplace) -> None:
    place.packages.needs = {f"m{n} ": f"m{n}" for n in range(21)}
    seen = await place.run(place.goal_run(), "'''" + " ".join(place.packages.needs) + "'''")
    assert seen.text == "The code needs 21 more packages; at most 20 are added."


async def test_what_the_person_writes_may_need_packages_too(place: Workplace) -> None:
    place.packages.needs = {"import pandas": "pandas"}
    place.frontend.consent = False
    place.answers(edits("pass", "import pandas"))
    seen = await place.run(place.goal_run(), "pass")
    assert seen.status is Status.FAILED
    assert not place.sandbox.sessions


async def test_files_that_code_makes_are_kept_by_their_names(place: Workplace) -> None:
    def makes(script: Script, to: Path) -> CodeOutcome:
        (to / "prices.csv").write_text("a\n1\n")
        (to / "empty.txt").write_text("")
        made = (
            Artifact(Kind.TABLE, path=to / "prices.csv", name="prices.csv"),
            Artifact(Kind.DOCUMENT, path=to / "empty.txt", name="empty.txt"),
        )
        return CodeOutcome(Ending.DONE, made=made, left_out=("link is a link, not a file.",))

    place.sandbox.does = makes
    goal_run = place.goal_run()
    seen = await place.run(goal_run, "1")
    [table] = seen.artifacts
    assert table.name == "prices.csv"
    assert table.path
    assert place.store.holds(table.path)
    assert "It made or changed these files: prices.csv (table)." in seen.text
    assert "empty.txt was not taken: there is nothing in it." in seen.text
    assert "link is a link, not a file." in seen.text
    assert list((place.root / "store").iterdir()) == [table.path.parent]
    goal_run.made.append(table)  # as the controller does; the session has it already
    await place.run(goal_run, "2")
    [session] = place.sandbox.sessions
    assert not session.files


async def test_many_files_are_counted(place: Workplace) -> None:
    def makes(script: Script, to: Path) -> CodeOutcome:
        names = [f"{n}.txt" for n in range(43)]
        for name in names:
            (to / name).write_text("x")
        made = tuple(Artifact(Kind.DOCUMENT, path=to / name, name=name) for name in names)
        return CodeOutcome(Ending.DONE, made=made)

    place.sandbox.does = makes
    seen = await place.run(place.goal_run(), "1")
    assert "39.txt (document) and 3 more." in seen.text
    assert len(seen.artifacts) == 43


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Ending.ERROR, "It ended with an error."),
        (Ending.TIMEOUT, "longer than 120 seconds. Let it do less"),
        (Ending.MEMORY, "more memory"),
        (Ending.LIMIT, "wrote too much"),
        (Ending.CRASHED, "ended in the middle"),
    ],
)
async def test_each_ending_is_told_with_what_would_help(
    place: Workplace, ending: Ending, words: str
) -> None:
    place.sandbox.does = lambda script, to: CodeOutcome(
        ending, error="Traceback:\nKeyError: 'Close'", missing="sklearn"
    )
    goal_run = place.goal_run()
    seen = await place.run(goal_run, "1")
    assert seen.status is Status.FAILED
    assert words in seen.text
    assert "KeyError: 'Close'" in seen.text
    assert "The module sklearn is not installed" in seen.text
    assert seen.text.endswith("It may be mended and tried 4 times more.")
    assert goal_run.frames[1].notices == ("It may be mended and tried 4 times more.",)


async def test_how_it_ended_is_told_once(place: Workplace) -> None:
    words = "It was ended because it began more than 256 processes and threads."
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.LIMIT, error=words)
    seen = await place.run(place.goal_run(), "1")
    assert seen.text.startswith(f"{words} Let it do less, in one process.\nIt may be mended")


async def test_mending_comes_to_an_end(place: Workplace) -> None:
    goal_run = place.goal_run(limits=GoalLimits(repairs=2))
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.ERROR)
    first = await place.run(goal_run, "1", "Fetch the prices")
    second = await place.run(goal_run, "2", "Fetch the prices.")
    third = await place.run(goal_run, "(", "fetch the prices")
    assert first.text.endswith("It may be mended and tried 2 times more.")
    assert second.text.endswith("It may be mended and tried once more.")
    assert third.text.endswith(
        "It failed 3 times in a row, and mending it is given up: take another way: change the "
        "plan (re_plan), ask the person (ask_user), or finish with what there is."
    )
    fourth = await place.run(goal_run, "3", "Fetch, the prices!")
    assert fourth.status is Status.FAILED
    assert fourth.trusted
    assert "was given up, so nothing ran" in fourth.text
    assert place.sandbox.ran == ["1\n", "2\n"]
    other = await place.run(goal_run, "4", "Read the file")
    assert other.text.endswith("It may be mended and tried 2 times more.")
    place.sandbox.does = lambda script, to: WELL
    await place.run(goal_run, "5", "Read the file")
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.ERROR)
    again = await place.run(goal_run, "6", "Plot it")
    assert again.text.endswith("It may be mended and tried 2 times more.")


async def test_without_a_mend_one_failure_ends_it(place: Workplace) -> None:
    goal_run = place.goal_run(limits=GoalLimits(repairs=0))
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.ERROR)
    seen = await place.run(goal_run, "1", "")
    assert "It failed once, and mending it is given up" in seen.text
    await place.run(goal_run, "2", "")
    assert place.sandbox.ran == ["1\n", "2\n"]  # what has no name cannot be known again


async def test_a_sandbox_that_is_gone_fails_and_the_next_run_begins_another(
    place: Workplace,
) -> None:
    place.sandbox.errors = [UnavailableError("The sandbox is gone.", hint="Look at it.")]
    goal_run = place.goal_run()
    seen = await place.run(goal_run, "1")
    assert seen.status is Status.FAILED
    assert seen.text == "The code could not run: The sandbox is gone. Look at it."
    assert (await place.run(goal_run, "2")).status is Status.DONE
    first, second = place.sandbox.sessions
    assert first.closed
    assert not second.closed


async def test_a_host_may_be_allowed_for_the_goal(place: Workplace) -> None:
    place.sandbox.does = lambda script, to: CodeOutcome(
        Ending.ERROR, refused_hosts=("example.org:443", "bad host\x1b\n")
    )
    goal_run = place.goal_run(terms=Terms(hosts=("data.example.org",)))
    seen = await place.run(goal_run, "1")
    assert place.frontend.questions == [
        "The code wanted to reach example.org:443, which is not allowed. Allow it for this goal?"
    ]
    assert "The person allows code to reach example.org:443 now: run it again." in seen.text
    assert "run it again" in goal_run.frames[1].notices[0]
    place.sandbox.does = lambda script, to: WELL
    await place.run(goal_run, "2")
    first, second = place.sandbox.sessions
    assert first.closed
    assert first.hosts == ("data.example.org",)
    assert second.hosts == ("data.example.org", "example.org:443")
    assert place.frontend.codes[1].hosts == ("data.example.org", "example.org:443")


async def test_a_host_may_be_refused(place: Workplace) -> None:
    place.frontend.consent = False
    place.sandbox.does = lambda script, to: CodeOutcome(
        Ending.DONE, refused_hosts=("example.org:443",)
    )
    seen = await place.run(place.goal_run(), "1")
    assert "Code may not reach example.org:443: do without." in seen.text
    assert "--allow-host example.org:443" in seen.text
    assert not place.sandbox.sessions[0].closed


async def test_variables_that_are_gone_are_told_of(place: Workplace) -> None:
    goal_run = place.goal_run()
    gone = "the variables of earlier runs are gone"
    assert gone not in (await place.run(goal_run, "1")).text
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.DONE, fresh=False)
    assert gone not in (await place.run(goal_run, "2")).text
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.DONE, fresh=True)
    assert gone in (await place.run(goal_run, "3")).text


async def test_without_a_sandbox_that_is_said(place: Workplace) -> None:
    place.sandbox.shelter = BARE
    goal_run = place.goal_run(terms=Terms(code=CodeTerms.SANDBOXED))
    for code in ("1", "2"):
        seen = await place.run(goal_run, code)
        assert "There is no sandbox on this computer" in seen.text
        assert "began anew" not in seen.text
    assert [request.protection for request in place.frontend.codes] == [BARE, BARE]


async def test_sandboxed_code_is_not_asked_about_where_that_was_agreed_to(
    place: Workplace,
) -> None:
    await place.run(place.goal_run(terms=Terms(code=CodeTerms.SANDBOXED)), "1")
    assert not place.frontend.codes
    assert place.sandbox.ran == ["1\n"]


DOUBLE = "def double(x: int) -> int:\n    '''Twice it.'''\n    return 2 * x\n"


def with_double(place: Workplace, source: str = DOUBLE) -> None:
    draft = FunctionDraft("double", source)
    place.library.save(draft, approved=draft.sha256)


async def test_uses_of_the_library_are_counted(place: Workplace) -> None:
    with_double(place)
    goal_run = place.goal_run()
    await place.run(goal_run, "from library import double\ndouble(2)")
    assert place.library.get("double").used == 1
    laid_out = place.sandbox.sessions[0].library
    assert laid_out
    assert (laid_out / "library" / "double.py").read_text() == DOUBLE


async def test_uses_that_cannot_be_counted_stop_nothing(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(names: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(place.library, "used", broken)
    goal_run = place.goal_run()
    seen = await place.run(goal_run, "import library\nlibrary.double(2)")
    assert seen.status is Status.DONE
    assert goal_run.live.turn.trace == (
        "The use of the library was not counted: The disk is full.",
    )


async def test_what_the_librarys_functions_need_is_installed(place: Workplace) -> None:
    with_double(place, f"import numpy\n{DOUBLE}")
    place.packages.needs = {"import numpy": "numpy"}
    await place.run(place.goal_run(), "from library import double, gone\ndouble(2)")
    assert place.packages.installed == ["numpy"]


async def test_a_library_that_was_changed_is_told_of_once(place: Workplace) -> None:
    with_double(place)
    place.library.changed.add("double")
    goal_run = place.goal_run()
    assert "double was changed." in (await place.run(goal_run, "1")).text
    place.bench(goal_run).library_changed()
    assert "double was changed." not in (await place.run(goal_run, "2")).text
    assert place.frontend.events.count(Noted("double was changed.")) == 1


async def test_stopping_leaves_nothing_behind(place: Workplace) -> None:
    place.sandbox.hold = True
    goal_run = place.goal_run()
    work = asyncio.create_task(place.run(goal_run, "1"))
    while not (place.sandbox.sessions and place.sandbox.sessions[0].ran):
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not list((place.root / "store").iterdir())
    await place.workshop.close("g")
    assert place.sandbox.sessions[0].closed
