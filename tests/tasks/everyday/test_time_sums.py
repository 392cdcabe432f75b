from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.time_sums import answer, read
from jarvis_desktop.text.numbers import with_digits

NOW = datetime(2026, 11, 29, 14, 30, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("When it's 3pm in London, what time is it in New York?",
         "When it is 15:00 in London, it is 10:00 in New York."),
        ("what time is it in Tokyo when it is noon here",
         "When it is 12:00 here, it is 20:00 in Tokyo."),
        ("what is 8 pm London time in Tokyo",
         "When it is 20:00 in London, it is 05:00 on the next day in Tokyo."),
        ("convert 3pm est to cet", "When it is 15:00 in EST, it is 21:00 in CET."),
        ("if it is 2am here what time is it in Los Angeles",
         "When it is 02:00 here, it is 17:00 on the day before in Los Angeles."),
        ("what time will it be in 3 hours", "It will be 17:30."),
        ("what time is it 12 hours from now", "It will be 02:30 on 30 November 2026."),
        ("what time was it 45 minutes ago", "It was 13:45."),
        ("add 3 hours and 45 minutes to 10:20", "3 hours and 45 minutes after 10:20 is 14:05."),
        ("what is 22:30 plus 2 hours", "2 hours after 22:30 is 00:30 on the next day."),
        ("11am minus half an hour", "Half an hour before 11:00 is 10:30."),
        ("take 90 minutes from midnight",
         "90 minutes before 00:00 is 22:30 on the day before."),
        ("subtract an hour from 9 o'clock", "An hour before 09:00 is 08:00."),
        ("what time is 50 hours after noon", "50 hours after 12:00 is 14:00, 2 days later."),
        ("what is 2 hours before 1am", "2 hours before 01:00 is 23:00 on the day before."),
        ("30 seconds after 8:15", "30 seconds after 08:15 is 08:15:30."),
        ("how long is it from 9:30 to 17:15", "From 09:30 to 17:15 it is 7 hours and 45 minutes."),
        ("how many hours between 10pm and 6am",
         "From 22:00 to 06:00 on the next day it is 8 hours."),
        ("how long is it from 8:00 until 8:20", "From 08:00 to 08:20 it is 20 minutes."),
        ("how many days are left this year", "After today there are 32 days left of this year."),
        ("how many weeks are left in 2026",
         "After today there are 4 weeks and 4 days left in 2026."),
        ("how many weeks are left this month", "After today there is 1 day left of this month."),
        ("how many days until the end of the month",
         "After today there is 1 day left of this month."),
        ("how many days are left in the week", "After today there are 0 days left of this week."),
        ("is 2028 a leap year?", "Yes, 2028 will be a leap year."),
        ("was 1900 a leap year",
         "No, 1900 was not a leap year. The next one after it is 1904."),
        ("is this year a leap year",
         "No, 2026 is not a leap year. The next one after it is 2028."),
        ("when is the next leap year", "The next leap year is 2028."),
        ("how old is someone born on 3 May 1990",
         "Someone born on 3 May 1990 is 36 years old."),
        ("how old am I if I was born on December 1, 2000",
         "Someone born on 1 December 2000 is 25 years old."),
        ("how old is a person born in 1990", "Someone born in 1990 turns 36 this year."),
        ("how many days are in February", "February has 28 days, and 29 in a leap year."),
        ("how many days does february 2028 have", "February 2028 has 29 days."),
        ("how many days are in this month", "November 2026 has 30 days."),
        ("how many days has april", "April 2026 has 30 days."),
        ("how many days are there in 2028", "2028 has 366 days."),
        ("how many days are in next year", "2027 has 365 days."),
        ("what date is 90 days from now", "27 February 2027 is a Saturday."),
        ("what is the date 6 weeks from today", "10 January 2027 is a Sunday."),
        ("what day was it 3 months ago", "29 August 2026 was a Saturday."),
        ("what day will it be in 2 years", "29 November 2028 is a Wednesday."),
        ("30 days after 3 March", "30 days after 3 March 2027 is Friday, 2 April 2027."),
        ("what is 2 weeks before 1 May",
         "2 weeks before 1 May 2027 is Saturday, 17 April 2027."),
        ("when is 45 days before Christmas",
         "45 days before 25 December 2026 is Tuesday, 10 November 2026."),
        ("one month after 31 January 2027",
         "1 month after 31 January 2027 is Sunday, 28 February 2027."),
        ("how long until 5pm", "It is 2 hours and 30 minutes until 17:00."),
        ("how many minutes until 14:45", "It is 15 minutes until 14:45."),
        ("how long is it until 6am", "It is 15 hours and 30 minutes until 06:00 tomorrow."),
        ("what is 6 pm in military time", "6 pm is 18:00."),
        ("what quarter are we in", "It is quarter 4 of 2026."),
        ("is it leap year", "No, 2026 is not a leap year. The next one after it is 2028."),
        ("what day was july 4 1976", "4 July 1976 was a Sunday."),
        ("what day of the week was the 20th of July 1969", "20 July 1969 was a Sunday."),
        ("which weekday is 2027-03-03", "3 March 2027 is a Wednesday."),
        ("what day does Christmas fall on", "25 December 2026 is a Friday."),
        ("tell me what day new year's eve was", None),
    ],
)  # fmt: skip
def test_answers(said: str, expected: str | None):
    assert answer(with_digits(said.lower()), NOW) == expected


@pytest.mark.parametrize(
    "said",
    ["what time is it", "what day is it", "what's the weather tomorrow", "3 hours after sunset",
     "how many days in march had rain", "10 minutes after the meeting", "what day is the meeting",
     "remind me 10 minutes before 5pm", "how old is the oldest person born in germany",
     "how old is the child born on 3 may 2199", "convert 3pm to the future",
     "what is 5 o'clock shadow in german", "add 3 hours to 99:99", "from 99:10 to 12",
     "how long is it from 25:00 to 26:00", "how many days are left in 1999",
     "how long until 25:00", "what is 30 in military time",
     "2 hours after christmas", "when it is 30 in london what time is it in rome"],
)  # fmt: skip
def test_other_words_ask_for_no_such_sum(said: str):
    assert read(said) is None


def test_a_day_that_does_not_exist_is_asked_for_and_refused():
    assert read("what day was 31 february 2020") == {}
    with pytest.raises(InputError, match="not a date"):
        answer("what day was 31 february 2020", NOW)
