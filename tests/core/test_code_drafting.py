from __future__ import annotations

import pytest

from jarvis_desktop.core.code import (
    MAX_CODE_CHARS,
    FunctionDraft,
    cases_in,
    described,
    objections,
    parsed,
)
from jarvis_desktop.core.errors import InputError

GOOD = '''"""Sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import numpy
except ImportError:
    numpy = None
else:
    EMPTY = ()
finally:
    pass

if TYPE_CHECKING:
    from decimal import Decimal
else:
    Decimal: type = float

MOST = 3


class Part:
    """A part."""


async def later() -> None: ...


def double(x: int, *more: int, least: int = 0, **rest: int) -> int | None:
    """Twice it,
    or more.

    And so on.
    """
    return 2 * x
'''

TESTS = """import math
from library import double


def number(x):
    return x


def test_of_two(y=1, *, z=2):
    assert double(2) == 4
"""


def draft(
    source: str = GOOD, tests: str = TESTS, name: str = "double", *packages: str
) -> FunctionDraft:
    return FunctionDraft(name, source, tests, packages)


def test_a_good_one_has_no_objections() -> None:
    assert objections(draft(GOOD, TESTS, "double", "scikit-learn", "zope.interface")) == ()
    assert objections(draft(tests="")) == ()


def test_it_is_described_by_its_signature_and_the_first_words_of_its_docstring() -> None:
    assert described(draft()) == (
        "double(x: int, *more: int, least: int=0, **rest: int) -> int | None",
        "Twice it, or more.",
    )
    assert described(draft("def double(x): return x")) == ("double(x)", "")
    with pytest.raises(InputError, match="has no function double"):
        described(draft("x = 1"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Double", "is not a valid name"),
        ("../x", "is not a valid name"),
        ("x" * 61, "is not a valid name"),
        ("_x", "is not a valid name"),
        ("lambda", "uses itself"),
        ("print", "uses itself"),
        ("library", "uses itself"),
        ("test_double", "sounds like a test"),
    ],
)
def test_a_name_that_will_not_do_is_told(name: str, words: str) -> None:
    assert words in objections(draft(name=name))[0]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def double(:", "The code is not valid Python in line 1"),
        ("return 1", "'return' outside function"),
        ("x = '\ud800'", "cannot be seen: U+D800"),
        ("x = '\0'", "cannot be seen: U+0000"),
        ("#" * (MAX_CODE_CHARS + 1), "longer than 60000 characters"),
        ("def other() -> None:\n    '''X.'''", "no “def double(…)” at its top level"),
        ("def double() -> None: ...", "has no docstring"),
        ("def double(a, *b, c, **d) -> None:\n    'X.'", "without a type: a, c, b, d."),
        ("def double():\n    'X.'", "does not say what type it returns"),
        (GOOD.replace("import numpy", "from library import double"), "library, that is, itself"),
        ("print(1)\n", "Line 1 does something"),
        ("import os\nos.remove('x')\n", "Line 2 does something"),
        ("if __name__ == '__main__':\n    run()\n", "Line 2 does something"),
        ("for x in y:\n    pass\n", "Line 1 does something"),
    ],
)
def test_code_that_breaks_a_rule_is_told(source: str, words: str) -> None:
    assert any(words in told for told in objections(draft(source)))


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ("def test_x(", "The tests' code is not valid Python"),
        ("#" * (MAX_CODE_CHARS + 1), "The tests are longer"),
        ("def check(): ...", "have no function “def test_…()”"),
        ("def test_x(tmp_path): ...", "test_x takes arguments"),
        ("def test_x(): ...\nasync def test_y(): ...", "test_y is “async”"),
        ("def test_x(): ...\ntest_x()", "Line 2 of the tests is outside"),
    ],
)
def test_tests_that_break_a_rule_are_told(tests: str, words: str) -> None:
    assert any(words in told for told in objections(draft(tests=tests)))


def test_packages_are_names() -> None:
    [told] = objections(draft(GOOD, TESTS, "double", "pandas; rm"))
    assert told == "“pandas; rm” is not a valid package name."
    [told] = objections(draft(GOOD, TESTS, "double", *(f"p{n}" for n in range(21))))
    assert told == "A function may need 20 packages at most."


def test_all_that_is_wrong_is_told_at_once() -> None:
    assert len(objections(FunctionDraft("Double", "def Double(x): return x", "x = (", ("?",)))) == 6


def test_a_syntax_error_quotes_its_line_in_one_line() -> None:
    with pytest.raises(InputError) as caught:
        parsed("x = 1\n\tprint(\x1b[2J1\n")
    assert caught.value.message.startswith("The code is not valid Python in line 2: ")
    assert "\x1b" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        parsed("-" * 100_000 + "1")
    assert caught.value.message


def test_a_text_with_a_strange_escape_is_read_without_a_warning() -> None:
    assert parsed("x = '\\d'")


def test_the_tests_of_a_module_are_those_that_are_called_so() -> None:
    assert cases_in(TESTS + "\n\ndef test_of_three(): ...\ndef testing(): ...\n") == (
        "test_of_two",
        "test_of_three",
    )
    with pytest.raises(InputError):
        cases_in("def (")
