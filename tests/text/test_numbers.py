import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.text.numbers import with_digits


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("twelve times seven", "12 times 7"),
        ("two hundred and forty", "240"),
        ("two hundred forty thousand six hundred and one", "240601"),
        ("twenty-five", "25"),
        ("three point one four", "3.14"),
        ("one and a half", "1.5"),
        ("ten and a half minutes", "10.5 minutes"),
        ("half a million", "500000"),
        ("2.5 million", "2500000"),
        ("a hundred and twenty three", "123"),
        ("a dozen", "12"),
        ("three quarters of 80", "0.75 of 80"),
        ("one two three", "1 2 3"),
        ("two and three", "2 and 3"),
        ("ten second timer", "10 second timer"),
        ("1,250 times 3", "1250 times 3"),
        ("3,5 kg", "3.5 kg"),
        ("12,75 euros", "12.75 euros"),
        ("1,250,000", "1250000"),
        ("1,2,3", "1,2,3"),
        ("12,34,56", "12,34,56"),
        ("nothing to see here", "nothing to see here"),
    ],
)
def test_spoken_numbers_become_digits(said: str, written: str):
    assert with_digits(said) == written


@given(st.text(max_size=200))
def test_any_text_is_survived(text: str):
    assert isinstance(with_digits(text), str)
