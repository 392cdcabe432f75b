import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.calculator import CALCULATOR, answer, calculate
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("What is 15 percent of 240?", "15 percent of 240 is 36."),
        ("twelve times seven", "Twelve times seven is 84."),
        ("what is the square root of 625", "Square root of 625 is 25."),
        ("what's 2 + 3 * 4?", "2 + 3 * 4 is 14."),
        ("(2+3)*4", "(2+3)*4 is 20."),
        ("two to the power of ten", "Two to the power of ten is 1,024."),
        ("0.1 + 0.2", "0.1 + 0.2 is 0.3."),
        ("what's that times 3: what is 250 divided by 8", "31.25 times 3 is 93.75."),
        ("that plus 5: There are 1,200 rows and 3 columns.", "3 plus 5 is 8."),
        ("calculate: 5+5", "5+5 is 10."),
        (
            "2 to the power of 10, and halve that",
            "2 to the power of 10 is 1,024.\nHalve 1,024 is 512.",
        ),
        ("one divided by three", "One divided by three is about 0.333333."),
        ("half of 90", "Half of 90 is 45."),
        ("subtract 5 from 20", "Subtract 5 from 20 is 15."),
        ("20 percent off 50", "20 percent off 50 is 40."),
        ("100 plus 20%", "100 plus 20% is 120."),
        (
            "If I put 1,000 euros at 3 percent a year, how much do I have after ten years?",
            "1,000 at 3 percent a year is 1,343.92 after 10 years.",
        ),
        ("invest 250 at 4% for 2 years", "250 at 4 percent a year is 270.40 after 2 years."),
        ("average 3 and 5", "Average 3 and 5 is 4."),
        (
            "convert 5 miles to km and 70 fahrenheit to celsius",
            "5 miles is about 8.0467 km.\n70 degrees Fahrenheit is about 21.111 degrees Celsius.",
        ),
        ("tell me what 10 kg is in pounds", "10 kg is about 22.046 pounds."),
        ("12 squared, and the square root of 81", "12 squared is 144.\nSquare root of 81 is 9."),
        ("what is the mean of 1,200, 300 and 3", "The mean of 1,200, 300 and 3 is 501."),
        ("the median of 4, 1, 9 and 3", "The median of 4, 1, 9 and 3 is 3.5."),
        ("twice the sum of 3, 4 and 5", "Twice the sum of 3, 4 and 5 is 24."),
        ("product of 2, 3, and 7", "Product of 2, 3, and 7 is 42."),
        ("7!", "7! is 5,040."),
        ("what is four plus five", "Four plus five is 9."),
        ("5 miles in km", "5 miles is about 8.0467 km."),
        ("100 fahrenheit in celsius", "100 degrees Fahrenheit is about 37.778 degrees Celsius."),
        ("-40 c to f", "-40 degrees Celsius is -40 degrees Fahrenheit."),
        ("how many grams in 3 pounds", "3 pounds is about 1,360.8 grams."),
        ("how many feet are in a mile", "1 mile is 5,280 feet."),
        ("how many seconds in a day", "1 day is 86,400 seconds."),
        ("convert 70 miles per hour to km/h", "70 miles per hour is about 112.65 km/h."),
        ("how do you convert centimeters to inches", "1 centimeters is about 0.3937 inches."),
        ("1 gb in mb", "1 gb is 1,000 mb."),
        ("how much is 3,5 kg in pounds", "3.5 kg is about 7.7162 pounds."),
        ("how many miles are in 3,5 km", "3.5 km is about 2.1748 miles."),
        ("what's 12 x 12", "12 x 12 is 144."),
        ("tip of 18 percent on 56.40", "18 percent on 56.40 is 10.152."),
        ("tell me what 2 plus 2 is", "2 plus 2 is 4."),
        ("add 19% to 250", "Add 19% to 250 is 297.5."),
        ("take 20 percent off 80", "20 percent off 80 is 64."),
        ("subtract 20 percent from 80", "Subtract 20 percent from 80 is 64."),
        ("share 60 among 4 people", "Share 60 among 4 people is 15."),
        ("split 90 evenly between 3", "Split 90 evenly between 3 is 30."),
        (
            "add 19% to 250 and share the result among 5 people",
            "Add 19% to 250 is 297.5.\nShare 297.5 among 5 people is 59.5.",
        ),
    ],
)
def test_answers(said: str, expected: str):
    assert answer(said) == expected


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("9**9**9", "too large"),
        ("nine to the power of nine to the power of nine", "too large"),
        ("factorial of 100000", "too large"),
        ("10 ** 400 * 10 ** 4000", "too large"),
        ("10 divided by zero", "divided by zero"),
        ("5 modulo 0", "divided by zero"),
        ("the square root of -4", "real numbers"),
        ("banana", "read that calculation"),
        ("five plus", "read that calculation"),
        ("__import__('os').system('ls')", "read that calculation"),
        ("(1).__class__", "read that calculation"),
        ("[1] * 10", "read that calculation"),
        ("'a' * 10", "read that calculation"),
        ("", "nothing to calculate"),
        ("(" * 200, "read that calculation"),
        ("1+" * 500 + "1", "too long"),
        ("5 apples in km", "know the unit"),
        ("5 kg in metres", "different things"),
        ("20 dollars in euros", "Currencies"),
    ],
)
def test_refuses_at_once_with_a_reason(said: str, reason: str):
    begin = time.thread_time()
    with pytest.raises(InputError, match=reason):
        answer(said)
    assert time.thread_time() - begin < 10  # the table of units takes most of it, once


@given(st.text(alphabet="0123456789+-*/%^().,!eE xpi√²", max_size=40))
def test_any_sum_gives_an_answer_or_a_reason(said: str):
    with suppress(InputError):
        assert answer(said).endswith(".")


async def test_as_a_skill(tmp_path: Path):
    call = call_of(CALCULATOR.type, tmp_path, expression="two plus two")
    assert text_of(await calculate(call, quiet, FakeServices().services())) == "Two plus two is 4."
