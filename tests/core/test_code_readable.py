"""Code is what it looks like, and one name stands for one thing."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.code import FunctionDraft, deception, objections

GOOD = '''\
"""Prices."""

import math

_CACHE: dict[str, float] = {}


def price(name: str) -> float:
    """The price."""
    days = math.inf
    return days
'''


@pytest.mark.parametrize("source", ["", GOOD, GOOD.replace("\n", "\r\n"), "# ü – 天気 🎉\tx\n"])
def test_plain_code_is_what_it_looks_like(source: str) -> None:
    assert deception(source) == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\ny = '\u202e'", "line 2 that cannot be seen: U+202E."),
        ("x = 1\rprint(2)", "line 1 that cannot be seen: U+000D."),
        ("x = '\x1b[2J'", "U+001B."),
        ("x = '\0'", "U+0000."),
        ("x = '\ud800'", "U+D800."),
        ("\ufeffx = 1", "line 1 that cannot be seen: U+FEFF."),
        ("# -*- coding: utf-7 -*-\n", "names an encoding"),
        ("#!/bin/python\n# coding: latin-1\n", "names an encoding"),
        ("# coding: klingon\n", "names an encoding"),
    ],
)
def test_what_hides_something_is_told(source: str, words: str) -> None:
    assert words in deception(source)
    assert any(words in told for told in objections(FunctionDraft("price", source + GOOD)))
    tests = f"{source}\ndef test_it(): ...\n"
    assert any(words in told for told in objections(FunctionDraft("price", GOOD, tests)))


@pytest.mark.parametrize("name", ["json", "statistics", "con", "lpt1", "aux"])
def test_names_that_mean_something_else_are_refused(name: str) -> None:
    (told,) = objections(FunctionDraft(name, GOOD.replace("price(", f"{name}(")))
    assert "take another one" in told


@pytest.mark.parametrize(
    "more",
    [
        "price = print\n",
        "from os import system as price\n",
        "import price.x\n",
        "def price(name: str) -> float:\n    'Another.'\n    return 2.0\n",
        "class price: ...\n",
        "if True:\n    price = print\n",
        "try:\n    pass\nexcept ImportError:\n    price: int = 1\n",
        "try:\n    pass\nfinally:\n    a, (b, *price) = range(9)\n",
        "def _other() -> None:\n    global price\n    price = print\n",
        "_x = (price := print)\n",
    ],
)
def test_the_function_is_what_its_name_stands_for(more: str) -> None:
    assert not objections(FunctionDraft("price", GOOD))
    (told,) = objections(FunctionDraft("price", GOOD + "\n\n" + more))
    assert told == "price is given a value more than once: define it once."
