"""Whether two results are the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from jarvis_desktop.assistant.agent.agreement import agree
from jarvis_desktop.assistant.agent.expected_results import ExpectedResult, ResultKind
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from tests.assistant.agent.workplace import file

A, C, T, X, F = ResultKind


def same(one: str, two: str, words: Sequence[str] = ("north", "south")) -> bool:
    return agree((one, ()), (two, ()), [ExpectedResult(A, "")], words)


def test_answers_are_compared_by_numbers_and_names() -> None:
    assert same("North: 1,204.50", "It is North with 1204.5 euros.")
    assert not same("North: 1204", "North: 1300")
    assert not same("North: 1204", "South: 1204")
    assert same("North", "North 12 and South 3")
    assert not same("best", "the best is 12")
    assert same("Best is North.", "North is best.")
    assert not same("Best is North.", "Best is South.")
    assert not same("yes", "")
    of_two = [ExpectedResult(A, "", goal="How fast is worker 2?")]
    assert not agree(("Worker 2: 12", ()), ("Worker 2: 13", ()), of_two, ())
    assert agree(("Worker 2: 12", ()), ("12.0", ()), of_two, ())


def test_charts_tables_and_texts_are_compared(tmp_path: Path) -> None:
    want = [ExpectedResult(T, "")]

    def alike(
        one: str,
        two: str,
        made: Sequence[Artifact] = (),
        other: Sequence[Artifact] = (),
        expected: Sequence[ExpectedResult] = want,
    ) -> bool:
        return agree((one, made), (two, other), expected, ())

    draws, texts = [ExpectedResult(C, "")], [ExpectedResult(X, "")]
    bar = "Wrote {}.png: bar chart, 2 points: a 1; b {}"
    assert alike(bar.format("x", 2), bar.format("y", 2), expected=draws)
    assert not alike(bar.format("x", 2), bar.format("y", 3), expected=draws)
    assert not alike(bar.format("x", 2), "", expected=draws)
    beside = f"Wrote t.csv: 2 rows, columns a\n{bar.format('x', 2)}"
    assert alike(beside, bar.format("y", 2), expected=draws)
    assert alike(bar.format("x", 2), "")  # nobody asked for it
    one = file(tmp_path, "a.csv", "name,n\nx,1.0\ny,2\n")
    two = file(tmp_path, "b.csv", "N,NAME,more\n2,Y,3\n1,X,4\n")
    other = file(tmp_path, "c.csv", "name,n\nx,1\ny,3\n")
    longer = file(tmp_path, "d.csv", "name,n\nx,1\ny,2\nz,3\n")
    assert alike("", "", [one], [two])
    assert not alike("", "", [one], [other])
    assert not alike("", "", [one], [longer])
    assert not alike("", "", [one], [])
    book = file(tmp_path, "e.xlsx")
    wrote = "Wrote e.xlsx: {} rows, columns a"
    assert alike(wrote.format(3), wrote.format(3), [book], [book])
    assert not alike(wrote.format(3), wrote.format(4), [book], [book])
    few, many = file(tmp_path, "a.md", "one two three"), file(tmp_path, "b.md", "four two five six")
    assert not alike("", "", [few], [many], texts)
    left, right = file(tmp_path, "a.txt", "3 words"), file(tmp_path, "b.txt", "4 words")
    assert alike("", "", [left], [left], texts)
    assert not alike("", "", [left], [right], texts)
    assert not alike("", "", [left], [], [ExpectedResult(F, "")])
    gone = Artifact(Kind.TEXT, path=tmp_path / "gone.txt", name="gone.txt")
    both = [gone, text_artifact("x")]
    assert alike("", "", both, both, texts)


def test_pictures_are_compared_by_their_sizes(tmp_path: Path) -> None:
    def picture(name: str, width: int) -> Artifact:
        Image.new("RGB", (width, 10)).save(tmp_path / name)
        return Artifact(Kind.IMAGE, path=tmp_path / name, name=name)

    want = [ExpectedResult(F, "", suffixes=(".png",))]
    one, two = [picture("a.png", 20)], [picture("b.png", 20), file(tmp_path, "b.txt")]
    assert agree(("", one), ("", two), want, ())
    assert not agree(("", one), ("", [picture("c.png", 30)]), want, ())
    assert not agree(("", one), ("", [file(tmp_path, "d.png")]), want, ())
