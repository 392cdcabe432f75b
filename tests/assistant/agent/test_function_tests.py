from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent import function_tests
from jarvis_desktop.assistant.agent.function_tests import FunctionTestReport, join_tests, user_tests
from jarvis_desktop.core.code import CodeOutcome, Ending, FunctionDraft, cases_in

DOUBLE = '''"""Sums."""

from library import half


def double(x: int) -> int:
    """Twice it."""
    return round(half(x) * 4)
'''

TESTS = """from library import double


def test_of_two():
    assert double(2) == 4


def test_of_nothing():
    assert double(0) == 0
"""


@dataclass
class Runner:
    """Runs a script in a Python of its own, with a library and typeguard beside it."""

    root: Path

    def run(self, script: str) -> CodeOutcome:
        package = self.root / "code" / "library"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(
            "def half(x: int) -> float:\n    return x / 2\n", "utf-8"
        )
        shown = (
            "import ast, sys\n"
            "tree = ast.parse(sys.stdin.read())\n"
            "last = ast.Expression(tree.body.pop().value)\n"
            "names = {}\n"
            "exec(compile(tree, 'script.py', 'exec', dont_inherit=True), names)\n"
            "print('\\n=' + repr(eval(compile(last, 'script.py', 'eval'), names)))\n"
        )
        ended = subprocess.run(
            [sys.executable, "-c", shown],
            input=script,
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root / "code")},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if ended.returncode:
            return CodeOutcome(Ending.ERROR, printed=ended.stdout, error=ended.stderr)
        printed, _, value = ended.stdout.rpartition("\n=")
        return CodeOutcome(Ending.DONE, printed=printed, value=value.strip())


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def report(runner: Runner, source: str, tests: str, earlier: str = "") -> FunctionTestReport:
    draft = FunctionDraft("double", source, tests)
    outcome = runner.run(function_tests.write_script(draft, earlier))
    names = [*cases_in(tests), *(f"earlier {name}" for name in cases_in(earlier))]
    return function_tests.parse_report(outcome, names, "It ended.")


def test_a_good_function_passes(runner: Runner) -> None:
    seen = report(runner, DOUBLE, TESTS, "def test_of_one():\n    assert double(1) == 2\n")
    assert seen == FunctionTestReport(
        True,
        "4 of 4 passed.\npassed the function is imported\npassed test_of_two\n"
        "passed test_of_nothing\npassed earlier test_of_one",
    )


def test_what_fails_is_told_with_its_values(runner: Runner) -> None:
    tests = TESTS + "\n\ndef test_of_three():\n    got = double(3)\n    assert got == 7\n"
    seen = report(runner, DOUBLE, tests)
    assert not seen.passed
    assert "FAILED test_of_three" in seen.summary
    assert "passed test_of_two" in seen.summary
    assert 'File "<tests>", line 14, in test_of_three\n    assert got == 7' in seen.failures
    assert "AssertionError" in seen.failures
    assert "with got = 6" in seen.failures
    assert seen.text == f"{seen.summary}\n{seen.failures}".strip()


@pytest.mark.parametrize(
    ("source", "tests", "words"),
    [
        (
            DOUBLE,
            "def test_x():\n    double('a')\n",
            'argument "x" (str) is not an instance of int',
        ),
        (
            DOUBLE.replace("round(half(x) * 4)", "str(x)"),
            "def test_x():\n    double(1)\n",
            "the return value (str) is not an instance of int",
        ),
        (
            "def double(x: list[int]) -> int:\n    return 1\n",
            "def test_x():\n    double([1, 'a'])\n",
            "item 1 of argument",
        ),
        (
            "from __future__ import annotations\n\n"
            "def double(x: list[int]) -> int:\n    y: int = 'a'\n    return y\n",
            "def test_x():\n    double([1])\n",
            "is not an instance of int",
        ),
    ],
)
def test_wrong_types_fail(runner: Runner, source: str, tests: str, words: str) -> None:
    seen = report(runner, source, tests)
    assert not seen.passed
    assert words in seen.failures


def test_a_type_that_only_checkers_see_is_no_failure(runner: Runner) -> None:
    source = (
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from pandas import DataFrame\n\n"
        "def double(x: DataFrame) -> int:\n    return 2\n"
    )
    assert report(runner, source, "def test_x():\n    assert double(1) == 2\n").passed


def test_a_test_that_never_ran_has_not_passed(runner: Runner) -> None:
    seen = report(runner, DOUBLE, TESTS + "\ndef test_more(): pass\n\ntest_more = 1\n")
    assert not seen.passed
    assert seen.summary.endswith("NOT RUN test_more")
    assert not seen.failures


def test_an_exit_or_a_failing_import_is_a_failure_like_any_other(runner: Runner) -> None:
    seen = report(runner, DOUBLE, "import sys\n\ndef test_x():\n    sys.exit(0)\n" + TESTS)
    assert "FAILED test_x" in seen.summary
    assert "passed test_of_two" in seen.summary
    seen = report(runner, "import not_there\n" + DOUBLE, TESTS)
    assert not seen.passed
    assert seen.summary == (
        "0 of 3 passed.\nFAILED the function is imported\nNOT RUN test_of_two\n"
        "NOT RUN test_of_nothing"
    )
    assert "No module named 'not_there'" in seen.failures
    seen = report(runner, DOUBLE, "import not_there\n" + TESTS)
    assert "FAILED the tests are read" in seen.summary


def test_many_failures_stay_short(runner: Runner) -> None:
    tests = "".join(
        f"def test_{n}():\n    words = '{'x' * 900}'\n    assert double(1) == 3, words * 20\n"
        for n in range(40)
    )
    seen = report(runner, DOUBLE, tests)
    assert seen.summary.count("FAILED") == 40
    assert len(seen.text) < 6000


@pytest.mark.parametrize(
    "quotes",
    ["'''", '"""', "'''\n\"\"\"", "'''\n\"\"\"\\", "\\"],
    ids=["'", '"', "both", "b\\", "\\"],
)
def test_whatever_stands_in_a_source_comes_back_out_of_the_script(quotes: str) -> None:
    source = f"def double(x: int) -> int:\n    return 2 * x  # {quotes.replace(chr(10), ' ')}\n"
    draft = FunctionDraft("double", source, TESTS)
    script = function_tests.write_script(draft, "def test_x():\n    pass\n")
    assert function_tests.read_script(script, draft) == (draft, "def test_x():\n    pass\n")
    edited = script.replace("2 * x", "x + x")
    taken_out = function_tests.read_script(edited, draft)
    assert taken_out
    assert taken_out[0].source == source.replace("2 * x", "x + x")


def test_the_script_can_be_read() -> None:
    script = function_tests.write_script(FunctionDraft("double", DOUBLE, TESTS), "")
    assert DOUBLE in script
    assert TESTS in script
    ast.parse(script)


@pytest.mark.parametrize("script", ["FUNCTION = (", "FUNCTION = 1\nTESTS = ''\n", "print(1)"])
def test_a_script_that_lost_its_function_gives_none(script: str) -> None:
    assert function_tests.read_script(script, FunctionDraft("double", DOUBLE)) is None


@pytest.mark.parametrize(
    "outcome",
    [
        CodeOutcome(Ending.TIMEOUT, printed="passed test_a\n"),
        CodeOutcome(Ending.DONE, value=""),
        CodeOutcome(Ending.DONE, value="[('test_a', '')"),
        CodeOutcome(Ending.DONE, value="[1]"),
        CodeOutcome(Ending.DONE, value="{'test_a': ''}"),
        CodeOutcome(Ending.DONE, value="[]"),
        CodeOutcome(Ending.DONE, value="[('test_a',)]"),
    ],
)
def test_what_did_not_run_to_its_end_has_not_passed(outcome: CodeOutcome) -> None:
    seen = function_tests.parse_report(outcome, ["test_a"], "It was ended.")
    assert not seen.passed
    assert seen.summary == "The tests did not run to their end."
    assert seen.failures.startswith("It was ended.")


def test_the_persons_tests_stay_whatever_an_llm_makes_of_the_rest() -> None:
    own, persons = "def test_a():\n    pass\n", "def test_p():\n    pass"
    whole = join_tests(own, persons)
    assert user_tests(whole) == persons
    changed = whole.replace("test_p", "test_q")
    assert join_tests(changed, persons) == whole
    assert join_tests(own, " ") == own
    assert join_tests(whole, "") == own
    assert user_tests(own) == ""


def test_results_are_printed_as_they_come(runner: Runner) -> None:
    outcome = runner.run(function_tests.write_script(FunctionDraft("double", DOUBLE, TESTS), ""))
    assert outcome.printed.splitlines() == [
        "passed the function is imported",
        "passed test_of_two",
        "passed test_of_nothing",
    ]
