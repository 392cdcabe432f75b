"""Four small skills: chance (coins, dice, numbers, choices), spelling, repeating and stopping."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption, Value
from jarvis_desktop.tasks.definition import Services, define, presets
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import with_digits

MAX_COUNT = 100


async def draw(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Draw by chance. Raises InputError for an empty range or fewer than two choices."""
    said = with_digits(call.words("among").casefold())
    count, low, high = (int(call.number(name)) for name in ("count", "low", "high"))
    if found := re.search(r"\b(?:between|from)\s+(-?\d+)\s+(?:and|to)\s+(-?\d+)", said):
        low, high = int(found[1]), int(found[2])
    said = re.sub(r"\btwice\b", "2 times", said)
    if found := re.search(r"\b(\d+)\s+(?:\d+[\s-]sided )?(?:coins|dice|times)\b", said):
        count = int(found[1])
    if found := re.search(r"\bup to (\d+)\b", said):
        high = int(found[1])
    if found := re.search(r"\b(\d+)[\s-]sided\b|\bd(\d+)\b", said):
        high = int(found[1] or found[2])
    if not 1 <= count <= MAX_COUNT:
        raise InputError(tr("Between 1 and {most} can be drawn at once.", most=MAX_COUNT))
    match call.words("what"):
        case "dice":
            return [text_artifact(_dice(count, high or 6))]
        case "number":
            return [text_artifact(f"{_between(low, high or 100)}.")]
        case "choice":
            return [text_artifact(_choice(call.words("among")))]
        case "password":
            return [text_artifact(_password(said))]
        case _:
            return [text_artifact(_coins(count))]


def _between(low: int, high: int) -> int:
    if low > high:
        raise InputError(tr("There is no number from {low} to {high}.", low=low, high=high))
    return low + secrets.randbelow(high - low + 1)


def _coins(count: int) -> str:
    sides = [secrets.choice(("heads", "tails")) for _ in range(count)]
    if count == 1:
        return f"{sides[0].capitalize()}."
    return f"{', '.join(sides).capitalize()}: {sides.count('heads')} times heads."


def _dice(count: int, sides: int) -> str:
    if not 2 <= sides <= 1_000_000:
        raise InputError(tr("Dice have at least two sides."))
    rolled = [_between(1, sides) for _ in range(count)]
    if count == 1:
        return f"A {rolled[0]}."
    return f"{', '.join(map(str, rolled))}: {sum(rolled)} together."


_PASSWORD = lazy_re(
    r"(?:please )?(?:(?:can|could) you )?(?:generate|create|make|give|suggest|invent|i need|"
    r"think of)(?: me)?(?: up)? (?:an? )?(?:new |random |strong |secure |safe |good |"
    r"\d+[ -](?:character|letter|digit)s? )*(?:password|pin(?: code| number)?)"
    r"(?: (?:with|of|that has) \d+ "
    r"(?:characters|letters|digits|signs|numbers))?(?: long)?(?: for me| please)?"
)
_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without those that look alike: l, 1, I, o, 0, O."""
_SIGNS = "-_.:!?+*#%&="
PASSWORD_CHARS, PIN_DIGITS = 16, 4
MIN_PASSWORD, MAX_PASSWORD = 8, 128


def read_password(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`."""
    return {"what": "password"} if _PASSWORD.fullmatch(words.strip(" ?.!")) else None


def _password(said: str) -> str:
    """A random password, or a PIN of digits. Raises InputError for an unsafe length."""
    asked = re.search(r"\d+", said)
    if re.search(r"\bpin\b", said):
        digits = int(asked[0]) if asked else PIN_DIGITS
        if not PIN_DIGITS <= digits <= MAX_PASSWORD:
            raise InputError(tr("A PIN has at least {least} digits.", least=PIN_DIGITS))
        return "".join(secrets.choice("0123456789") for _ in range(digits))
    length = int(asked[0]) if asked else PASSWORD_CHARS
    if not MIN_PASSWORD <= length <= MAX_PASSWORD:
        raise InputError(
            tr("A password has {least} to {most} characters here.", least=MIN_PASSWORD,
               most=MAX_PASSWORD)
        )  # fmt: skip
    while True:
        word = "".join(secrets.choice(_LETTERS + _SIGNS) for _ in range(length))
        # Many sites want a capital, a small letter, a digit and a sign.
        kinds = (str.isupper, str.islower, str.isdigit, lambda sign: sign in _SIGNS)
        if all(any(kind(sign) for sign in word) for kind in kinds):
            return word


def _choice(among: str) -> str:
    listed = re.sub(r"^.*?\b(?:choose|pick|decide|select)\b", "", among, count=1, flags=re.I)
    listed = re.sub(  # "a random name from Ann, Ben"
        r"^[\s:]*(?:an?\s+)?(?:random\s+)?(?:\w+\s+)?(?=(?:from|between|out of)\b)",
        "",
        listed,
        flags=re.I,
    )
    listed = re.sub(
        r"^[\s:]*(?:(?:one|out of|between|from|of|for me|these)\b[\s:]*)+", "", listed, flags=re.I
    )
    ends = r",|;|\bor\b" if re.search(r",|;|\bor\b", listed) else r"\band\b"
    if not re.search(r"\bor\b", listed):  # "Ann, Ben and Cleo", but "tea, salt and vinegar or oil"
        ends += r"|\band\b(?=[^,;]*$)"
    things = [re.sub(r"^(?:and|or)\s+", "", part.strip(" ?.!")) for part in re.split(ends, listed)]
    things = [thing for thing in things if thing]
    if len(things) < 2:
        raise InputError(
            tr("There must be at least two things to choose between."),
            hint=tr("Say “tea or coffee”."),
        )
    return f"{secrets.choice(things)}."


CHANCE = define(
    name="chance", label="Pick by chance",
    summary="Flips a coin, rolls dice, picks a number, a password or one of several things by "
    "chance.",
    options=(
        TaskOption("what", "what decides", "coin", choices=("coin", "dice", "number", "choice",
            "password")),
        TaskOption("count", "how many coins or dice", 1),
        TaskOption("low", "the smallest number", 1),
        TaskOption("high", "the largest number; of dice, the sides", 0),
        TaskOption("among", "the things to pick from, or the whole request", "", reads="own-words"),
    ),
    cues=("flip a coin", "flip the coin", "flip me a coin", "toss a coin"),
    presets=presets(
        ({"what": "dice"}, "roll a die|roll a dice|roll the dice|roll # dice"),
        ({"what": "choice"},
         "pick a random ... from|choose a random ... from|pick someone from|pick somebody from|"
         "pick one of|choose one of|pick between|choose between|decide between|pick one from"),
    ),
    skill=draw, reads=read_password, note="the system's source of randomness",
)  # fmt: skip


MAX_LETTERS = 200
_NAMES = {" ": "space", "-": "hyphen", "'": "apostrophe", "’": "apostrophe", ".": "dot"}


async def spell(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """The word and its letters, or each of several: "rhythm and necessary". Raises InputError if
    there is no word."""
    word = word_in(call.words("word"))
    if not word:
        raise InputError(
            tr("The word to spell is missing."), hint=tr("Try “how do you spell rhythm”.")
        )
    if len(word) > MAX_LETTERS:
        raise InputError(
            tr("That is too long to spell: the limit is {longest} letters.", longest=MAX_LETTERS)
        )
    several = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", word)
    words = several if all(re.fullmatch(r"[\w'’-]+", each) for each in several) else [word]
    return [text_artifact("\n".join(map(_spelled, words)))]


def _spelled(word: str) -> str:
    letters = ", ".join(_NAMES.get(letter, letter) for letter in word)
    count = sum(letter.isalpha() for letter in word)
    return f"{word}: {letters} ({quantity(count, 'letter')})."


def word_in(words: str) -> str:
    """The word that a request asks about, such as "how is “rhythm” spelled"."""
    said = " ".join(words.split()).strip(" ?!.,")
    for form in _FORMS:
        if found := form.search(said):
            said = found[1]
            break
    return said.strip("\"“”'‘’?!,. ")


_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\bhow (?:is|are|was|do you write|would you write)\s+(.+?)\s+(?:spelled|spelt)\b",
        r"\bhow\s+(.+?)\s+is (?:spelled|spelt)\b",
        r"\b(?:spell(?:ing)?|spell out)\s+(?:out\s+)?(?:of\s+)?(?:for me\s+)?"
        r"(?:the )?(?:(?:word|name)\s+)?(.+?)(?:\s+(?:for me|please|letter by letter))*$",
    )
)

SPELL = define(
    name="spell", label="Spell",
    summary="Spells a word.",
    options=(TaskOption("word", "the word to spell, or the question", "", reads="clause"),),
    cues=("^spell", "how do you spell"),
    skill=spell, note="the word as it was written; a spoken one as it was heard",
)  # fmt: skip


async def repeat(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Return the text as it is. Raises InputError if there is none."""
    text = call.text("text") or call.words("words")
    if not text.strip():
        raise InputError(tr("There is nothing to repeat yet."))
    return [text_artifact(text)]


REPEAT = define(
    name="repeat", label="Repeat",
    summary="Repeats the last answer, or a given text.",
    ports=(Port("text", (Kind.TEXT,), required=False),),
    options=(TaskOption("words", "the text to repeat, if it is not a result", "",
        reads="last-reply"),),
    cues=("^repeat$", "^repeat that$", "^say that again$", "^again$", "^repeat xquote*"),
    skill=repeat, note="the last answer of the conversation",
)  # fmt: skip


async def stop(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Stop everything else and say how much that was."""
    count = services.stop_others()
    if not count:
        return [text_artifact("Nothing else is running.")]
    return [text_artifact(f"Stopped {quantity(count, 'request')}.")]


STOP = define(
    name="stop", label="Stop",
    summary="Stops everything that is running, and is silent.", acts=True,
    cues=(
        "^stop$", "^stop it$", "^stop that$", "^stop now$", "^stop please$", "^please stop$",
        "^stop everything$", "^stop talking$", "^stop speaking$", "^stop reading$", "^cancel$",
        "^cancel that$", "^cancel it$", "^cancel everything$", "^quiet$", "^be quiet$", "^silence$",
        "^be silent$", "^shut up$", "^hush$", "^enough$", "^that's enough$", "^abort$", "^halt$",
        "^never mind$", "^nevermind$", "^forget it$", "^stop jarvis$",
    ),
    skill=stop, note="ends other requests and all speech",
)  # fmt: skip
