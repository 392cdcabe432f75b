from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.timer import (
    TIMER,
    each_timer,
    label_of,
    manage_timers,
    read_of_running,
    seconds_of,
    spoken_length,
)
from tests.tasks.calls import NOON, FakeServices, call_of, quiet, text_of


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("ten seconds", 10),
        ("Set a timer for ten seconds", 10),
        ("an hour and a half", 5400),
        ("half an hour", 1800),
        ("a quarter of an hour", 900),
        ("three quarters of an hour", 2700),
        ("2 hours, 15 minutes and 10 seconds", 8110),
        ("one and a half minutes", 90),
        ("5m", 300),
        ("a 20-minute timer", 1200),
        ("a thirty second timer", 30),
        ("for 3 pm", 3 * 3600),
        ("wake me up at 7", 7 * 3600),
        ("at 11:30 am", 23.5 * 3600),
        ("tomorrow at 3 pm", 27 * 3600),
        ("at seven in the evening", 7 * 3600),
        ("until 14:20", 2 * 3600 + 1200),
        ("1,5 hours", 5400),
        ("for 7 tomorrow", 19 * 3600),
        ("wake me at 7 for work", 7 * 3600),
        ("at five thirty", 5.5 * 3600),
    ],
)
def test_durations(said: str, seconds: float):
    assert seconds_of(said, NOON) == seconds


@pytest.mark.parametrize(
    "said", ["", "soon", "zero minutes", "90 days", "at 25:00", "-", "9" * 300 + " days"]
)
def test_no_durations(said: str):
    with pytest.raises(InputError):
        seconds_of(said, NOON)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("set a timer for a million years", "30 days at most"),
        ("set a timer for two months", "30 days at most"),
        ("forever", "30 days at most"),
        ("set a timer for minus five seconds", "negative time"),
        ("-5 seconds", "negative time"),
        ("set a timer for 5 parsecs", "how long “5 parsecs” is"),
        ("set a timer for 3 eggs", "how long “3 eggs” is"),
        ("for 1000000", "not clear"),
        ("set a timer for zero minutes", "more than zero"),
        ("set a timer", "not clear how long"),
        ("fix alarm", "set, list or cancel timers"),
        ("alarm", "set, list or cancel timers"),
    ],
)
def test_says_in_one_sentence_why_no_timer_is_set(said: str, reason: str):
    with pytest.raises(InputError, match=reason):
        seconds_of(said, NOON)


async def test_sets_lists_and_cancels(tmp_path: Path):
    services = FakeServices().services()

    async def say(**args: str) -> str:
        return text_of(await manage_timers(call_of(TIMER.type, tmp_path, **args), quiet, services))

    assert await say(action="list") == "No timer is running."
    assert (
        await say(duration="ten seconds")
        == "The timer is set for 10 seconds. It rings at 12:00:10."
    )
    assert await say(duration="two hours", label="bread") == (
        "The timer “bread” is set for 2 hours. It rings at 14:00."
    )
    assert await say(action="list") == "Timer: 10 seconds left.\nbread: 2 hours left."
    assert await say(action="cancel") == "All 2 timers are cancelled."
    assert await say(action="cancel") == "No timer is running."
    assert "on Tuesday, 5 May" in await say(duration="13 hours")
    assert await say(action="cancel") == "The timer is cancelled."


def test_lengths_in_words():
    assert spoken_length(5400) == "1 hour and 30 minutes"
    assert spoken_length(90_061) == "1 day, 1 hour, 1 minute and 1 second"
    assert spoken_length(0.2) == "less than a second"


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("set a timer for 3 seconds called tea", "tea"),
        ("set a timer called “Tea for two” for four minutes", "Tea for two"),
        ("set a 5 minute timer named eggs.", "eggs"),
        ("set a timer for 10 minutes for the pasta", "the pasta"),
        ("remind me in 20 minutes to take the cake out", "take the cake out"),
        ("remind me to call Mum in ten minutes", "call Mum"),
        ("remind me to water the plants at 5 pm", "water the plants"),
        ("remind me about the meeting tomorrow at 9", "the meeting"),
        ("Set a timer for 10 seconds for tea", "tea"),
        ("set a timer for tea for ten minutes", "tea"),
        ("set a timer for tea in 10 minutes", "tea"),
        ("set a timer for a cake for half an hour", "a cake"),
        ("wake me at 7 for work", "work"),
        ("Set a tea timer for 3 minutes", "tea"),
        ("start my soft egg timer for 5 minutes", "soft egg"),
        ("set a 5 minute Pasta timer", "Pasta"),
        ("a thirty second plank timer", "plank"),
        ("20-minute pizza timer", "pizza"),
        ("set an hour and a half laundry timer", "laundry"),
        ("timer 5 minutes pasta", "pasta"),
        ("timer for five minutes: green tea", "green tea"),
        ("timer 1 hour 30 minutes bread", "bread"),
        ("set a timer for 10 minutes", ""),
        ("set a 10 minute timer", ""),
        ("set a new timer for 1 hour", ""),
        ("a 20-minute timer", ""),
        ("a thirty second timer", ""),
        ("set a timer for an hour and a half", ""),
        ("set a timer for one and a half minutes", ""),
        ("set a timer for a quarter of an hour", ""),
        ("set a timer for three quarters of an hour", ""),
        ("timer 5 minutes from now", ""),
        ("set a timer for 2 hours, 15 minutes and 10 seconds", ""),
        ("set a timer for about ten minutes", ""),
        ("set an alarm for seven", ""),
        ("set an alarm for 7 tomorrow", ""),
        ("set an alarm for 7 am", ""),
        ("set an alarm for five thirty", ""),
        ("set an alarm for tomorrow at 9", ""),
        ("set an alarm for noon", ""),
        ("set an alarm for Monday at 7", ""),
        ("set an early alarm for six in the morning", ""),
        ("set an alarm for the morning at 7", ""),
        ("set another timer for 5 minutes", ""),
        ("set a second timer for 5 minutes", ""),
        ("set a timer until 14:20", ""),
        ("count down from ten seconds", ""),
        ("set a timer for 30 seconds please", ""),
        ("remind me in 10 minutes", ""),
        ("wake me up at seven", ""),
        ("remind me to call Mum on Friday at 9", "call Mum"),
        ("remind me to call Mum next Friday at 9", "call Mum"),
        ("remind me the day after tomorrow at noon to call Mum", "call Mum"),
        ("remind me about the rent on the 3rd of June at 9", "the rent"),
        ("remind me on the 3rd of June at 9 to pay the rent", "pay the rent"),
        ("remind me at quarter to eight to leave", "leave"),
        ("remind me at ten to call Mum", "call Mum"),
        ("remind me at 9 to call Mum on Friday", "call Mum on Friday"),
        ("remind me to water the plants every day at 9", "water the plants"),
        ("set an alarm for half past 7", ""),
        ("set an alarm for quarter to 8", ""),
        ("set a timer for the next 10 minutes", ""),
        ("set a timer for the next ten minutes please", ""),
        ("set a timer for the next episode in 10 minutes", "episode"),
        ("set a timer for pizza, 10 minutes", "pizza"),
        ("set a timer for the eggs of 5 minutes", "the eggs"),
        ("timer for pasta 5 minutes and sauce 3 minutes", "pasta"),
        ("timer 5 minutes pasta, then 3 minutes sauce", "pasta"),
        ("set a timer called pizza, 10 minutes", "pizza"),
        ("set a timer called quarter to eight show for 10 minutes", "quarter to eight show"),
        ("remind me at 9 to be there by quarter to eight", "be there by quarter to eight"),
        ("set a timer for 'green tea' for 5 minutes", "green tea"),
        ("timer 5 minutes “soft eggs”", "soft eggs"),
        ("set a timer for the check in", "the check in"),
        ("set a kitchen clean-up timer for 3 minutes", "kitchen clean-up"),
        ("timer 5 minutes ok", ""),
        ("timer 5 minutes again", ""),
        ("timer 10 minutes as fast as you can", ""),
        ("timer 10 minutes, thanks", ""),
        ("timer 10 minutes, make it loud", ""),
        ("set a timer for approximately 10 minutes", ""),
        ("set a timer for a bit, 10 minutes", ""),
        ("set the same timer for 5 minutes", ""),
        ("set a loud alarm for 5 minutes", ""),
    ],
)
def test_what_it_is_for(said: str, label: str):
    assert label_of(said) == label


async def test_its_name_is_read_off_the_request(tmp_path: Path):
    services = FakeServices().services()
    call = call_of(TIMER.type, tmp_path, duration="remind me to call Mum in ten minutes")
    assert text_of(await manage_timers(call, quiet, services)).startswith(
        "The timer “call Mum” is set for"
    )
    assert [timer.label for timer in services.timers.pending()] == ["call Mum"]


@pytest.mark.parametrize(
    ("said", "set_for"),
    [
        (
            "I need two timers, 4 minutes for the tea and 11 minutes for the pasta",
            [("the tea", 240), ("the pasta", 660)],
        ),
        ("set a timer for 4 minutes and another one for 11 minutes", [("", 240), ("", 660)]),
        ("a timer for 90 seconds and another for an hour", [("", 90), ("", 3600)]),
        ("set timers for 5, 10 and 15 minutes", [("", 300), ("", 600), ("", 900)]),
        ("timer 5 minutes pasta, then 3 minutes sauce", [("pasta", 300), ("sauce", 180)]),
        (
            "remind me in 20 minutes to eat and in an hour to call Ben",
            [("eat", 1200), ("call Ben", 3600)],
        ),
        ("remind me in an hour and in two hours to drink", [("drink", 3600), ("drink", 7200)]),
    ],
)
async def test_several_are_set_at_once(tmp_path: Path, said: str, set_for: list[tuple[str, int]]):
    services = FakeServices().services()
    told = text_of(
        await manage_timers(call_of(TIMER.type, tmp_path, duration=said), quiet, services)
    )
    assert told.count("is set for") == len(set_for)
    found = {(it.label, (it.due - NOON).total_seconds()) for it in services.timers.pending()}
    assert found == set(set_for)


@pytest.mark.parametrize(
    "said",
    [
        "2 hours, 15 minutes and 10 seconds",
        "an hour and a half",
        "remind me in 10 minutes to call Ann and talk for 5 minutes",
    ],
)
def test_one_is_one(said: str):
    assert each_timer(said) == [said]


async def test_none_is_set_if_one_cannot_be(tmp_path: Path):
    services = FakeServices().services()
    call = call_of(TIMER.type, tmp_path, duration="two timers, 5 minutes and 90 days")
    with pytest.raises(InputError, match="30 days"):
        await manage_timers(call, quiet, services)
    assert not services.timers.pending()


async def managed(services: FakeServices, folder: Path, said: str) -> str:
    call = call_of(TIMER.type, folder, duration=said)
    return text_of(await manage_timers(call, quiet, services.services()))


async def test_the_only_timer_can_run_longer(tmp_path: Path):
    services = FakeServices()
    await managed(services, tmp_path, "set a timer for 10 minutes for the pasta")
    told = await managed(services, tmp_path, "add 5 minutes to the timer")
    assert told == "The timer now runs 15 minutes. It rings at 12:15."
    assert [timer.label for timer in services.timers.running] == ["the pasta"]
    await managed(services, tmp_path, "extend my timer by half an hour please")
    (timer,) = services.timers.pending()
    assert (timer.due - NOON).total_seconds() == 45 * 60


async def test_nothing_is_prolonged_if_it_is_not_clear_what(tmp_path: Path):
    services = FakeServices()
    with pytest.raises(InputError, match="No timer"):
        await managed(services, tmp_path, "add 5 minutes to the timer")
    await managed(services, tmp_path, "set two timers, 5 minutes and 7 minutes")
    with pytest.raises(InputError, match="Several"):
        await managed(services, tmp_path, "add 5 minutes to the timer")
    assert len(services.timers.running) == 2


async def test_a_timer_is_not_paused_and_above_all_not_cancelled(tmp_path: Path):
    services = FakeServices()
    await managed(services, tmp_path, "set a timer for 10 minutes")
    with pytest.raises(InputError, match="cannot be paused"):
        await managed(services, tmp_path, "pause the timer")
    assert len(services.timers.running) == 1


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("delete all reminders", {"action": "cancel"}),
        ("show my timers", {"action": "list"}),
        ("pause the timer", {"action": "set"}),
        ("add 2 minutes to my timer", {"action": "set"}),
        ("set a timer for 5 minutes", None),
        ("delete all files", None),
    ],
)
def test_what_is_said_of_running_timers_is_read(said: str, options: dict[str, str] | None):
    assert read_of_running(said) == options
