"""The plan of a goal, and code, before a person at a terminal: what they say is what is taken."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jarvis_desktop.cli import terminal
from jarvis_desktop.cli.terminal import TerminalFrontend, numbered
from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.goal import outline_from_markdown
from jarvis_desktop.core.ports import Review
from tests.cli.house import BUBBLEWRAP, CTRL_D, NONE, Person, person

__all__ = ["person"]

OUTLINE = outline_from_markdown("1. Fetch\n2. Plot")
CODE = CodeRequest("import math\nmath.pi\n", "Reckon with a circle.", BUBBLEWRAP)
Shown = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


def use_editor(folder: Path, monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    """An editor that does something with the `file` it is given."""
    script = folder / "the editor.py"
    script.write_text(f"import pathlib, sys\nfile = pathlib.Path(sys.argv[1])\n{does}\n")
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{script}'")


def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (terminal, terminal):
        monkeypatch.setattr(module, "somebody_is_there", lambda: False)


@pytest.mark.parametrize(
    ("said", "review"),
    [
        ("", Review(OUTLINE)),
        ("y", Review(OUTLINE)),
        ("add a step that mails it", Review(OUTLINE, "add a step that mails it")),
        ("q", None),
        (CTRL_D, None),
    ],
)
async def test_what_is_said_to_a_plan(
    person: Person, capsys: Shown, said: str, review: Review | None
) -> None:
    person.says(said)
    assert await TerminalFrontend().review_outline(OUTLINE, "It was changed.") == review
    shown = "plan    It was changed.\n- [ ] 1. Fetch\n- [ ] 2. Plot\n"
    assert capsys.readouterr().err == shown + ("\n" if said == CTRL_D else "")


async def test_a_plan_is_edited_in_the_editor(
    person: Person, capsys: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    does = "file.write_text(file.read_text().replace('2. Plot', '2. Draw') + '3. Tell')"
    use_editor(tmp_path, monkeypatch, does)
    person.says("e", "")
    review = await TerminalFrontend().review_outline(OUTLINE, "")
    assert review == Review(outline_from_markdown("1. Fetch\n2. Draw\n3. Tell"))
    assert capsys.readouterr().err.endswith("- [ ] 1. Fetch\n- [ ] 2. Draw\n- [ ] 3. Tell\n")


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("file.write_text('')", "The plan has no step."),
        ("sys.exit(1)", "ended with code 1"),
        ("file.unlink()", "cannot be read as text"),
        ("file.write_bytes(b'1. caf\\xe9')", "cannot be read as text"),
    ],
)
async def test_an_edit_that_is_none_changes_nothing(
    person: Person,
    capsys: Shown,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    does: str,
    says: str,
) -> None:
    use_editor(tmp_path, monkeypatch, does)
    person.says("e", "")
    assert await TerminalFrontend().review_outline(OUTLINE, "") == Review(OUTLINE)
    assert says in capsys.readouterr().err


async def test_a_plan_is_typed_where_there_is_no_editor(person: Person, capsys: Shown) -> None:
    person.says("e\n1. Fetch\n3. Draw\n", "")
    review = await TerminalFrontend().review_outline(OUTLINE, "")
    assert review == Review(outline_from_markdown("1. Fetch\n3. Draw", OUTLINE))
    assert "an empty line ends it" in capsys.readouterr().err


async def test_nobody_accepts_a_plan_where_nobody_is(
    capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody(monkeypatch)
    assert await TerminalFrontend(consent=True).review_outline(OUTLINE, "") is None
    assert "--yes-plan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("y", Verdict(Allow.ONCE, CODE.source)),
        ("Yes", Verdict(Allow.ONCE, CODE.source)),
        ("g", Verdict(Allow.GOAL, CODE.source)),
        ("n", Verdict(Allow.NO, CODE.source)),
        ("", Verdict(Allow.NO, CODE.source)),
        (CTRL_D, Verdict(Allow.NO, CODE.source)),
        ("take numpy", Verdict(Allow.NO, CODE.source, "take numpy")),
        ("yes but take numpy", Verdict(Allow.NO, CODE.source, "yes but take numpy")),
    ],
)
async def test_what_is_said_to_code(
    person: Person, capsys: Shown, said: str, verdict: Verdict
) -> None:
    person.says(said)
    assert await TerminalFrontend(consent=True).review_code(CODE) == verdict
    assert capsys.readouterr().err == (
        "code    Reckon with a circle.\n"
        "        in the sandbox (bubblewrap), without network\n"
        "   1 │ import math\n"
        "   2 │ math.pi\n" + ("\n" if said == CTRL_D else "")
    )
    assert person.asked == [
        "y runs it, g runs it and all that follows for this goal, n does not; "
        "or say what should be different: "
    ]


async def test_what_was_typed_before_is_no_word_on_code(person: Person) -> None:
    person.types_ahead("y\ny\n")
    person.says("n")
    assert (await TerminalFrontend().review_code(CODE)).allow is Allow.NO


async def test_code_without_a_sandbox_says_so_and_is_allowed_once_at_most(
    person: Person, capsys: Shown
) -> None:
    code = CodeRequest("1", "Add.", NONE, hosts=("example.org",))
    person.says("g", "y")
    assert await TerminalFrontend().review_code(code) == Verdict(Allow.ONCE, "1")
    shown = capsys.readouterr().err
    assert shown.startswith("NOT SANDBOXED: ")
    assert "        Install bubblewrap.\n" in shown
    assert "        it reaches example.org\n" in shown
    assert "in the sandbox" not in shown
    assert "“g” is not possible here" in shown
    assert "g runs" not in person.asked[0]


async def test_a_function_that_is_to_be_kept(person: Person, capsys: Shown) -> None:
    code = CodeRequest(
        "def one() -> int:\n    return 1\n", "Count.", BUBBLEWRAP,
        hosts=("a:1", "b"), saves="one", tests="2 passed.\n1 failed.",
    )  # fmt: skip
    person.says("g", "e", "y")
    assert (await TerminalFrontend().review_code(code)).allow is Allow.ONCE
    shown = capsys.readouterr().err
    assert "keep    one in the code library: Count.\n" in shown
    assert "it reaches a:1, b\n" in shown
    assert "   2 │     return 1\ntests   2 passed.\n        1 failed.\n" in shown
    assert "“g” is not possible here" in shown
    assert "“e” is not possible here" in shown
    assert person.asked[0].startswith("y keeps it, n does not;")


async def test_of_a_function_that_is_replaced_the_difference(person: Person, capsys: Shown) -> None:
    before = "def one() -> int:\n    return 1\n"
    code = CodeRequest(
        before.replace("1", "2"), "Mend.", BUBBLEWRAP, saves="one", replaces=before
    )  # fmt: skip
    person.says("y")
    await TerminalFrontend().review_code(code)
    shown = capsys.readouterr().err
    assert "--- as it is kept\n+++ as it would be kept\n" in shown
    assert "-    return 1\n+    return 2\n" in shown


async def test_edited_code_is_shown_again_and_taken_as_it_is(
    person: Person, capsys: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_editor(tmp_path, monkeypatch, "file.write_bytes(b'x = \"\\xc3\\xa4\"  \\r\\n\\n')")
    person.says("e", "y")
    verdict = await TerminalFrontend().review_code(CODE)
    assert verdict == Verdict(Allow.ONCE, 'x = "ä"  \r\n\n')
    assert '   1 │ x = "ä"  \n   2 │ \n' in capsys.readouterr().err
    assert "e edits it" in person.asked[0]


@pytest.mark.parametrize(
    ("source", "does", "says"),
    [
        ("1", "file.write_bytes(b'\\xff')", "cannot be read as text"),
        ("1\ud800", "file.write_text('2')", "characters that no file can hold"),
    ],
)
async def test_code_whose_edit_is_no_text_is_as_it_was(
    person: Person,
    capsys: Shown,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    does: str,
    says: str,
) -> None:
    use_editor(tmp_path, monkeypatch, does)
    person.says("e", "y")
    code = CodeRequest(source, "Add.", BUBBLEWRAP)
    assert await TerminalFrontend().review_code(code) == Verdict(Allow.ONCE, source)
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("named", ["no-such-editor", "'"])
async def test_an_editor_that_is_none(
    person: Person, capsys: Shown, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("VISUAL", named)
    person.says("e", "n")
    assert (await TerminalFrontend().review_code(CODE)).source == CODE.source
    said = capsys.readouterr().err
    assert "cannot be started" in said or "“e” is not possible here" in said


@pytest.mark.parametrize(
    ("letter", "number"),
    [("\x1b[8m", "U+001B"), ("\u202e", "U+202E"), ("\u200b", "U+200B"), ("\r", "U+000D")],
)
async def test_characters_that_cannot_be_seen_are_told(
    person: Person, capsys: Shown, letter: str, number: str
) -> None:
    person.says("n")
    source = f"a = 1 {letter}# b\r\n"
    await TerminalFrontend().review_code(CodeRequest(source, "Add.", BUBBLEWRAP))
    shown = capsys.readouterr().err
    assert f"characters that cannot be seen: {number}.\n" in shown
    assert not {"\x1b", "\u202e", "\r"} & set(shown)


async def test_words_about_code_stay_on_their_line(person: Person, capsys: Shown) -> None:
    person.says("n")
    code = CodeRequest("1", "Add.\n        in the sandbox (bubblewrap)", NONE, saves="a\nb")
    await TerminalFrontend().review_code(code)
    assert "keep    a b in the code library: Add. in the sandbox" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (CODE, "agent --allow-code sandboxed does so in advance."),
        (
            CodeRequest("1", "Add.", BUBBLEWRAP, hosts=("a.org", "b.org:80")),
            "--allow-code sandboxed --allow-host a.org --allow-host b.org:80 does so in advance.",
        ),
        (CodeRequest("1", "Add.", BUBBLEWRAP, saves="add"), "not once files or pages were read"),
        (CodeRequest("1", "Add.", NONE), "each time. Install bubblewrap."),
    ],
)
async def test_nobody_allows_code_where_nobody_is_and_a_line_says_so(
    capsys: Shown, monkeypatch: pytest.MonkeyPatch, code: CodeRequest, says: str
) -> None:
    nobody(monkeypatch)
    verdict = await TerminalFrontend(consent=True).review_code(code)
    assert (verdict.allow, verdict.source) == (Allow.NO, code.source)
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.count("\n") == 1


def test_lines_are_numbered_as_python_counts_them() -> None:
    assert numbered("a\fb\r\nc\u2028d\n\n") == "   1 │ a\fb\n   2 │ c\u2028d\n   3 │ "
