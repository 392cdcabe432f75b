from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.code_session import (
    ScriptRun,
    clean_code,
    format_diff,
    library_imports,
)
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.prompts import cut_middle
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.code import CodeOutcome, Ending, FunctionDraft, Script
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, LogEntry
from jarvis_desktop.core.ports import Context, Resource
from tests.assistant.agent.workplace import Workplace
from tests.assistant.conftest import NOON
from tests.fakes import FakeFrontend


@pytest.fixture
def place(tmp_path: Path, frontend: FakeFrontend) -> Workplace:
    return Workplace(tmp_path, frontend, code=CodeTerms.ASK)


def table(folder: Path, name: str, content: str = "a\n1\n", called: str = "") -> Artifact:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    return Artifact(Kind.TABLE, path=folder / name, name=called or name)


async def ran(place: Workplace, goal_run: GoalRun, source: str = "1\n") -> ScriptRun:
    to = place.store.workdir()
    script = Script(source)
    return await place.bench(goal_run).run(
        script, approved=script.sha256, to=to, timeout=5, report=lambda text: None
    )


async def test_one_session_serves_a_goal_and_ends_with_it(place: Workplace) -> None:
    goal_run = place.goal_run()
    await ran(place, goal_run)
    await ran(place, goal_run)
    [session] = place.sandbox.sessions
    assert session.folder == place.root / "g" / "files"
    assert session.library == place.root / "g" / "code"
    assert not session.closed
    await place.workshop.close("g")
    await place.workshop.close("g")
    assert session.closed
    await ran(place, goal_run)
    assert len(place.sandbox.sessions) == 2


async def test_a_goal_without_code_has_nothing_to_end(place: Workplace) -> None:
    goal_run = place.goal_run()
    place.bench(goal_run)
    await place.workshop.close("g")
    assert not place.sandbox.sessions


async def test_code_finds_all_files_under_clean_names(place: Workplace, tmp_path: Path) -> None:
    given = tmp_path / "given"
    files = [
        table(given, "a.csv", called="prices.csv"),
        table(given, "b.csv", called="Prices.csv"),
        table(given, "c.csv", called="../€vil\n: name?.csv"),
        table(given, "con.csv"),
        table(given, "d.csv", called="???"),
        table(given, "e", called="plain"),
    ]
    goal_run = place.goal_run(files=files)
    goal_run.made.append(text_artifact("What was said.\ud800"))
    await ran(place, goal_run)
    [session] = place.sandbox.sessions
    contents = session.files
    assert list(contents) == [
        "prices.csv",
        "Prices-2.csv",
        "_vil _ name_.csv",
        "_con.csv",
        "_.csv",
        "plain",
        "text 1.txt",
    ]
    assert contents["text 1.txt"].read_text() == "What was said.?"
    assert contents["prices.csv"] == files[0].path


async def test_files_of_earlier_turns_are_given_along_the_newest_of_them(
    place: Workplace, tmp_path: Path
) -> None:
    old = [
        Resource("", table(tmp_path / "given", f"{n}.csv", f"{n}\n"), given=True) for n in range(12)
    ]
    words = Resource("", text_artifact("Hello."), given=False)
    goal_run = place.goal_run(context=Context(resources=(*old, words)))
    await ran(place, goal_run)
    [session] = place.sandbox.sessions
    assert list(session.files) == [f"table {n}.csv" for n in range(3, 13)]


async def test_files_that_came_since_are_given_and_none_twice(
    place: Workplace, tmp_path: Path
) -> None:
    goal_run = place.goal_run(files=[table(tmp_path / "given", "a.csv")])
    await ran(place, goal_run)
    goal_run.made.append(table(tmp_path / "made", "b.csv"))
    await ran(place, goal_run)
    await ran(place, goal_run)
    [session] = place.sandbox.sessions
    assert session.found == [["a.csv"], ["a.csv", "b.csv"], ["a.csv", "b.csv"]]
    await place.bench(goal_run).allow("example.org")  # what code made of them is not written over
    await ran(place, goal_run)
    assert place.sandbox.sessions[1].found == [[]]
    assert not place.bench(goal_run).files.renamed(goal_run)


async def test_files_are_given_again_where_they_did_not_arrive(
    place: Workplace, tmp_path: Path
) -> None:
    place.sandbox.errors = [ExpertError("Python cannot be started.")]
    goal_run = place.goal_run(files=[table(tmp_path / "given", "a.csv")])
    with pytest.raises(ExpertError):
        await ran(place, goal_run)
    await ran(place, goal_run)
    first, second = place.sandbox.sessions
    assert first.closed
    assert first.files == second.files


async def test_after_a_crash_what_code_made_is_not_written_over(
    place: Workplace, tmp_path: Path
) -> None:
    made = table(tmp_path / "made", "a.csv")
    goal_run = place.goal_run(files=[table(tmp_path / "given", "a.csv")])
    entry = LogEntry(
        1, "assistant/coder", "run_code", "x", Status.DONE, "", NOON, artifacts=(made,), code="1"
    )
    goal_run.log.append(entry)
    goal_run.made.append(made)
    place.sandbox.does = lambda script, to: CodeOutcome(Ending.DONE, fresh=True)
    assert (await ran(place, goal_run)).lost
    [session] = place.sandbox.sessions
    assert list(session.files) == ["a-2.csv"]
    assert place.bench(goal_run).files.renamed(goal_run) == {"a.csv": "a-2.csv"}


async def test_a_changed_library_is_laid_out_anew(place: Workplace) -> None:
    goal_run = place.goal_run()
    await ran(place, goal_run)
    draft = FunctionDraft(
        "double", "def double(x: int) -> int:\n    '''Twice.'''\n    return 2 * x\n"
    )
    place.library.save(draft, approved=draft.sha256)
    await ran(place, goal_run)
    file = place.root / "g" / "code" / "library" / "double.py"
    assert not file.exists()
    place.bench(goal_run).library_changed()
    await ran(place, goal_run)
    assert file.read_text() == draft.source
    assert len(place.sandbox.sessions) == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("x = 1", "x = 1\n"),
        ("\ufeff\r\nx = 1\r\ny = 2\r\n\r\n", "x = 1\ny = 2\n"),
        ("```python\nx = 1\n```", "x = 1\n"),
        ("Sure:\n\n```py\nx = 1\n```\n\nand\n\n```\ny = 2\n```", "x = 1\n\ny = 2\n"),
        ("   ```python\n   x = 1\n   ```", "x = 1\n"),
        ("    x = 1\n    y = 2\n", "x = 1\ny = 2\n"),
        ('x = 1\\nprint(\\"a\\")', 'x = 1\nprint("a")\n'),
        ("text = '''\n```\nno fence\n```\n'''", "text = '''\n```\nno fence\n```\n'''\n"),
        ("x = '\ud800'", "x = '?'\n"),
        ("This is no code.\n", "This is no code.\n"),
        ("```\n```", "```\n```\n"),
        ("", "\n"),
    ],
)
def test_code_is_taken_out_of_what_llms_put_around_it(written: str, meant: str) -> None:
    assert clean_code(written) == meant


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from library import a, b as c\nimport os", ("a", "b")),
        ("from library.a import a", ("a",)),
        ("import library.a\nimport library", ("a",)),
        ("import library\nlibrary.a(library.b)\nother.c", ("a", "b")),
        ("import library as lib\nlib.a()\nlibrary.b()", ("a",)),
        ("from . import x\nfrom library_of import y\nimport os.path", ()),
        ("from (", ()),
    ],
)
def test_what_a_script_takes_from_the_library_is_found(code: str, names: tuple[str, ...]) -> None:
    assert library_imports(code) == names


def test_a_text_loses_its_middle() -> None:
    assert cut_middle("abc", 3) == "abc"
    cut = cut_middle("a" * 50 + "b" * 50, 30)
    assert cut == f"{'a' * 10}\n[… 70 characters left out …]\n{'b' * 20}"
    assert format_diff("a\nb\n", "a\nc\n") == "@@ -1,2 +1,2 @@\n a\n-b\n+c"
