import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.calculator import CALCULATOR, answer, calculate, is_sum
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
    ("said", "expected"),
    [
        ("convert 5 foot 11 to cm", "5 foot 11 inch is 180.34 cm."),
        ("what is 6'2\" in cm", "6 foot 2 inch is 187.96 cm."),
        ("11 stone 4 in kg", "11 stone 4 pound is about 71.668 kg."),
        ("2 hours and 15 minutes in minutes", "2 hours 15 minutes is 135 minutes."),
        ("how tall is 170 cm in feet and inches", "170 cm is 5 feet and about 6.9291 inches."),
        ("4000 seconds in hours, minutes and seconds",
         "4,000 seconds is 1 hour, 6 minutes and 40 seconds."),
        ("how warm is 70 fahrenheit in celsius",
         "70 degrees Fahrenheit is about 21.111 degrees Celsius."),
    ],
)  # fmt: skip
def test_units_in_parts(said: str, expected: str):
    assert is_sum(said)
    assert answer(said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Is 2027 a prime number?", "Yes, 2,027 is a prime number."),
        ("is 91 prime", "No, 91 is not a prime number: it is 7 times 13."),
        ("is 1 prime", "No, 1 is not a prime number."),
        ("what are the prime factors of 84", "84 is 2 times 2 times 3 times 7."),
        ("factorise 13", "13 has no other prime factors than itself."),
        ("can 91 be divided by 7?", "Yes, 91 is 7 times 13."),
        ("is 10 divisible by 4", "No, 10 divided by 4 leaves a remainder of 2."),
        ("what is the remainder when 17 is divided by 5",
         "17 divided by 5 is 3 with a remainder of 2."),
        ("is 7 odd", "Yes, 7 is odd."),
        ("is twelve an odd number", "No, 12 is even."),
        ("the highest common factor of 12 and 18",
         "The greatest common divisor of 12 and 18 is 6."),
        ("what's the lcm of 4 and 6", "The least common multiple of 4 and 6 is 12."),
        ("round 3.14159 to two decimals", "3.14159 rounded is 3.14."),
        ("round 2.5 to the nearest whole number", "2.5 rounded is 3."),
        ("round 1250 to the nearest hundred", "1250 rounded is 1,300."),
        ("what is 255 in hex", "255 in hex is FF."),
        ("binary 1010 in decimal", "Binary 1010 is 10."),
        ("2026 in roman numerals", "2026 in Roman numerals is MMXXVI."),
        ("what's the Roman numeral for 1999", "1999 in Roman numerals is MCMXCIX."),
        ("what is the roman numeral XLIV", "XLIV is 44."),
        ("what percent of 80 is 20", "20 is 25 percent of 80."),
        ("15 is how many percent of 60", "15 is 25 percent of 60."),
        ("what is the percentage of 20 in 80", "20 is 25 percent of 80."),
        ("30 of 40 in percent", "30 is 75 percent of 40."),
        ("by how many percent is 60 more than 50", "60 is 20 percent more than 50."),
        ("how much percent is 40 less than 50", "40 is 20 percent less than 50."),
        ("increase 50 by 10%", "Increase 50 by 10% is 55."),
        ("reduce 80 by 25 percent", "Reduce 80 by 25% is 60."),
        ("how much is a 3% raise on 52,000", "3% of 52000 is 1,560, which makes 53,560."),
        ("if a shirt costs 40 and is 25% off, how much is it", "40 with 25% off is 30."),
        ("what is the largest of 5, 19 and 7", "The largest is 19."),
        ("the smallest number of 5, -3 and 7", "The smallest is -3."),
        ("sort 5, 3, 9 and 1", "1, 3, 5, 9."),
        ("sort the numbers 5 3 9 from highest to lowest", "9, 5, 3."),
        ("simplify 12/16", "12/16 is 3/4."),
        ("simplify 12/4", "12/4 is 3."),
        ("what is 3/4 as a decimal", "3/4 is 0.75."),
        ("what is the area of a circle with radius 5",
         "The area of that circle is about 78.53982."),
        ("area of a rectangle 4 by 6", "The area of that rectangle is 24."),
        ("the perimeter of a square with side 3 cm", "The perimeter of that square is 12."),
        ("volume of a box 2 x 3 x 4", "The volume of that box is 24."),
        ("hypotenuse of 3 and 4", "The hypotenuse of that triangle is 5."),
    ],
)  # fmt: skip
def test_facts_about_numbers(said: str, expected: str):
    assert is_sum(said.lower().rstrip("?"))
    assert answer(said) == expected


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("is 12345678901234567890 prime", "too large to look"),
        ("the remainder of 4 divided by 0", "divided by zero"),
        ("is 4 divisible by 0", "divided by zero"),
        ("the lcm of 0 and 4", "divided by zero"),
        ("5 is what percent of 0", "divided by zero"),
        ("by how many percent is 5 more than 0", "divided by zero"),
        ("simplify 3/0", "divided by zero"),
        ("3/0 as a decimal", "divided by zero"),
        ("area of a circle 2 by 3", "read that calculation"),
        ("area of a sphere with radius 2", "read that calculation"),
        ("5000 in roman numerals", "from 1 to 3,999"),
        ("the roman numeral iiii", "not a Roman numeral"),
        ("5 kg 3 in pounds", "read that calculation"),
    ],
)
def test_facts_that_numbers_do_not_have(said: str, reason: str):
    with pytest.raises(InputError, match=reason):
        answer(said)


@pytest.mark.parametrize(
    "said",
    ["2 + 3", "what's 15% tip on 48.50", "how many seconds are in a day", "is 9 prime",
     "5 miles in km", "100 miles per hour in km/h", "3 square meters in square feet"],
)  # fmt: skip
def test_a_sum_is_known_by_its_form(said: str):
    assert is_sum(said)


@pytest.mark.parametrize(
    "said",
    ["the 3-2 win", "one of the best", "a cup of tea in london", "2 pages in english", "3 in 1",
     "half of the pictures", "cut the first 10 seconds", "what is in the picture", "five", "12",
     "a letter to the bank", "how many people are in the photo", "1 apple in pears", "2 plus"],
)  # fmt: skip
def test_other_words_are_no_sum(said: str):
    assert not is_sum(said)


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
