"""The skills of one sentence: stop, repeat, spell, chance."""

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday import small_skills
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


@pytest.mark.parametrize(
    ("turns", "answer"),
    [(0, "Nothing else is running."), (1, "Stopped 1 request."), (3, "Stopped 3 requests.")],
)
async def test_stop(tmp_path: Path, turns: int, answer: str):
    services = FakeServices(turns=turns).services()
    assert (
        text_of(await small_skills.stop(call_of(small_skills.STOP.type, tmp_path), quiet, services))
        == answer
    )


async def test_repeat(tmp_path: Path):
    services = FakeServices().services()
    for args in ({"text": "Once more."}, {"words": "Once more."}):
        call = call_of(small_skills.REPEAT.type, tmp_path, **args)
        assert text_of(await small_skills.repeat(call, quiet, services)) == "Once more."
    with pytest.raises(InputError, match="nothing to repeat"):
        await small_skills.repeat(call_of(small_skills.REPEAT.type, tmp_path), quiet, services)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("curiosity", "curiosity: c, u, r, i, o, s, i, t, y (9 letters)."),
        ("How is curiosity spelled?", "curiosity: c, u, r, i, o, s, i, t, y (9 letters)."),
        ("how do you spell the word rhythm", "rhythm: r, h, y, t, h, m (6 letters)."),
        (
            "spell salt, rhythm and tea",
            "salt: s, a, l, t (4 letters).\nrhythm: r, h, y, t, h, m (6 letters).\n"
            "tea: t, e, a (3 letters).",
        ),
        ("spell “it's” please", "it's: i, t, apostrophe, s (3 letters)."),
        ("Zürich", "Zürich: Z, ü, r, i, c, h (6 letters)."),
    ],
)
async def test_spell(tmp_path: Path, said: str, answer: str):
    call = call_of(small_skills.SPELL.type, tmp_path, word=said)
    assert text_of(await small_skills.spell(call, quiet, FakeServices().services())) == answer


@pytest.mark.parametrize("said", ["", " ? ", "x" * 500])
async def test_nothing_to_spell(tmp_path: Path, said: str):
    call = call_of(small_skills.SPELL.type, tmp_path, word=said)
    with pytest.raises(InputError):
        await small_skills.spell(call, quiet, FakeServices().services())


async def drawn(tmp_path: Path, **args: str | int) -> str:
    call = call_of(small_skills.CHANCE.type, tmp_path, **args)
    return text_of(await small_skills.draw(call, quiet, FakeServices().services()))


async def test_chance_gives_all_there_is_and_nothing_else(tmp_path: Path):
    coins = {await drawn(tmp_path, what="coin") for _ in range(100)}
    assert coins == {"Heads.", "Tails."}
    dice = {await drawn(tmp_path, what="dice", among="roll a die") for _ in range(300)}
    assert dice == {f"A {side}." for side in range(1, 7)}
    said = "pick a number between three and five"
    numbers = {await drawn(tmp_path, what="number", among=said) for _ in range(100)}
    assert numbers == {"3.", "4.", "5."}
    for said in (
        "tea, milk or coffee",
        "choose between tea, milk, and coffee",
        "pick a random drink from tea, milk and coffee",
    ):
        things = {await drawn(tmp_path, what="choice", among=said) for _ in range(100)}
        assert things == {"tea.", "milk.", "coffee."}


async def test_passwords_have_all_kinds_of_signs_and_the_length_that_is_asked(tmp_path: Path):
    words = {await drawn(tmp_path, what="password", among="make a password") for _ in range(50)}
    assert len(words) == 50
    assert all(len(word) == 16 and word.lower() != word != word.upper() for word in words)
    assert all(set("0123456789") & set(word) and set("-_.:!?+*#%&=") & set(word) for word in words)
    long = await drawn(tmp_path, what="password", among="a password of twenty characters")
    assert len(long) == 20
    pin = await drawn(tmp_path, what="password", among="give me a 6 digit pin")
    assert len(pin) == 6
    assert pin.isdigit()


@pytest.mark.parametrize(
    ("said", "reason"),
    [("a password with 3 characters", "8 to 128"), ("a 2 digit pin", "at least 4")],
)
async def test_passwords_that_anyone_guesses_are_refused(said: str, reason: str, tmp_path: Path):
    with pytest.raises(InputError, match=reason):
        await drawn(tmp_path, what="password", among=said)


async def test_how_often_and_up_to_what_is_read(tmp_path: Path):
    assert "times heads" in await drawn(tmp_path, what="coin", among="toss a coin twice")
    said = "pick a random number up to 2"
    numbers = {await drawn(tmp_path, what="number", among=said) for _ in range(60)}
    assert numbers == {"1.", "2."}


async def test_several_dice_are_added_up(tmp_path: Path):
    answer = await drawn(tmp_path, what="dice", among="roll three dice")
    *dice, total = [int(part) for part in answer.replace(":", ",").split(" together")[0].split(",")]
    assert len(dice) == 3
    assert sum(dice) == total
    assert "d" not in await drawn(tmp_path, what="dice", among="roll a d20")


@pytest.mark.parametrize(
    "args",
    [
        {"what": "coin", "count": 0},
        {"what": "dice", "count": 1000},
        {"what": "dice", "high": 1},
        {"what": "number", "low": 5, "high": 1},
        {"what": "choice", "among": "tea"},
        {"what": "choice", "among": ""},
    ],
)
async def test_chance_refuses_what_makes_no_sense(tmp_path: Path, args: dict[str, str | int]):
    with pytest.raises(InputError):
        await drawn(tmp_path, **args)
