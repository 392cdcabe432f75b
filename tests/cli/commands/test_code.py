"""`jarvis-desktop code`: the functions that were kept."""

from __future__ import annotations

import json

import pytest

from jarvis_desktop.core.code import FunctionDraft
from tests.cli.house import SHOWN, House, Person, house, person

__all__ = ["house", "person"]

Shown = pytest.CaptureFixture[str]


def draft(name: str, *, gives: int = 1, tests: bool = True) -> FunctionDraft:
    source = f'def {name}() -> int:\n    """Count {name}."""\n    return {gives}\n'
    about = f"from library import {name}\n\n\ndef test_{name}():\n    assert {name}() == {gives}\n"
    return FunctionDraft(name, source, about if tests else "", ("pandas",))


@pytest.fixture
def kept(house: House) -> House:
    """`one` in two versions and used, `two` without tests."""
    for item in (draft("one"), draft("one", gives=2), draft("two", tests=False)):
        house.library.save(item, approved=item.sha256)
    house.library.used(["one"])
    return house


def test_the_list(kept: House, capsys: Shown) -> None:
    assert kept("code", "list") == 0
    assert capsys.readouterr().out == (
        "one() -> int\n    Count one.\n    version 2, with tests, used 1×; needs pandas\n"
        "two() -> int\n    Count two.\n    version 1, without tests, not used yet; needs pandas\n"
    )
    assert kept("code", "list", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["damaged"] == []
    first, second = shown["functions"]
    assert first == {
        "name": "one",
        "signature": "one() -> int",
        "summary": "Count one.",
        "version": 2,
        "tests": True,
        "used": 1,
        "packages": ["pandas"],
        "sha256": draft("one", gives=2).sha256,
    }
    assert (second["name"], second["tests"]) == ("two", False)


def test_an_empty_library(house: House, capsys: Shown) -> None:
    for action in ("list", "test"):
        assert house("code", action) == 0
        assert capsys.readouterr().out == "The code library is empty.\n"
    assert house("code", "test", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"functions": [], "damaged": []}


def test_one_that_was_changed_is_told_and_refused(kept: House, capsys: Shown) -> None:
    kept.library.changed.add("two")
    assert kept("code", "list") == 3
    shown = capsys.readouterr()
    assert "two" not in shown.out
    assert shown.err == "note    two was changed.\n"
    assert kept("code", "list", "--json") == 3
    assert json.loads(capsys.readouterr().out)["damaged"] == ["two was changed."]
    assert kept("code", "show", "two") == 1
    assert "two was changed." in capsys.readouterr().err
    assert kept("code", "test") == 3
    assert kept("code", "remove", "two", "--yes") == 0
    assert kept("code", "list") == 0


def test_one_is_shown(kept: House, capsys: Shown) -> None:
    assert kept("code", "show", "one") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("one() -> int\n    Count one.\n    version 2, with tests, used 1×")
    assert f"    version 2  {SHOWN}  {draft('one', gives=2).sha256}\n" in shown
    assert f"    version 1  {SHOWN}  {draft('one').sha256}\n" in shown
    assert "   3 │     return 2\n" in shown
    assert "\ntests\n   1 │ from library import one\n" in shown
    assert kept("code", "show", "two") == 0
    assert "\ntests" not in capsys.readouterr().out


def test_one_as_json(kept: House, capsys: Shown) -> None:
    assert kept("code", "show", "one", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    known = draft("one", gives=2)
    assert (shown["source"], shown["tests"]) == (known.source, known.tests)
    assert shown["sha256"] == known.sha256
    assert [item["version"] for item in shown["versions"]] == [2, 1]


def test_one_that_is_not_there(kept: House, capsys: Shown) -> None:
    for words in (["show", "three"], ["test", "one", "three"], ["remove", "three", "--yes"]):
        assert kept("code", *words) == 1
        shown = capsys.readouterr()
        assert "no function three" in shown.err
        assert shown.out == ""


@pytest.mark.parametrize(
    ("failing", "names", "code"),
    [
        (set(), [], 0),
        ({"two"}, [], 3),
        ({"one", "two"}, [], 1),
        ({"two"}, ["one"], 0),
        ({"two"}, ["two"], 1),
    ],
)
def test_the_tests_are_run(
    kept: House, capsys: Shown, failing: set[str], names: list[str], code: int
) -> None:
    kept.tester.failing = failing
    assert kept("code", "test", *names) == code
    told = [line.split(":")[0] for line in capsys.readouterr().out.splitlines() if ":" in line]
    chosen = names or ["one", "two"]
    states = [f"{'failed' if name in failing else 'done':7} {name}" for name in chosen]
    assert [line for line in told if line.split()[0] in ("done", "failed")] == states


def test_the_tests_as_json(kept: House, capsys: Shown) -> None:
    kept.tester.failing = {"two"}
    assert kept("code", "test", "--json") == 3
    assert json.loads(capsys.readouterr().out)["functions"] == [
        {"name": "one", "passed": True, "text": "2 passed."},
        {"name": "two", "passed": False, "text": "1 of 2 failed:\nNo."},
    ]


def test_all_that_is_left_is_refused(kept: House) -> None:
    kept.library.changed |= {"one", "two"}
    assert kept("code", "test") == 1


def test_what_is_not_there_is_not_asked_about(kept: House, person: Person, capsys: Shown) -> None:
    assert kept("code", "remove", "three") == 1
    assert "no function three" in capsys.readouterr().err
    assert person.asked == []


def test_one_that_was_changed_can_be_removed(kept: House, capsys: Shown) -> None:
    kept.library.changed = {"one"}
    assert kept("code", "remove", "one", "--yes") == 0
    assert capsys.readouterr().out == "one is removed.\n"


def test_removing_asks(kept: House, person: Person, capsys: Shown) -> None:
    person.says("n", "", "y")
    assert [kept("code", "remove", "one") for _ in range(2)] == [1, 1]
    assert kept("code", "remove", "one", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"removed": "one"}
    assert [item.name for item in kept.library.list()] == ["two"]


def test_where_nobody_is_there_nothing_is_removed(kept: House, capsys: Shown) -> None:
    assert kept("code", "remove", "one") == 1
    assert "--yes agrees in advance" in capsys.readouterr().err
    assert kept("code", "remove", "one", "--yes") == 0
    assert capsys.readouterr().out == "one is removed.\n"
