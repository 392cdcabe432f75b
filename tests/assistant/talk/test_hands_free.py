import asyncio

import pytest

from jarvis_desktop.assistant.talk import hands_free
from jarvis_desktop.assistant.talk.hands_free import NOT_BY_VOICE, YES_OR_NO, HandsFree
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import Speaking
from jarvis_desktop.core.speech import Transcript
from tests.fakes import FakeFrontend

QUESTION = "Fetch 80 megabytes now?"


class Person:
    """Answers aloud as scripted, None is no answer, and hears what is said."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.told = []
        self.slowed = 0

    async def answer(self, ask, *, limit, early=False):
        await ask()
        heard = self.answers.pop(0)
        return None if heard is None else Transcript(heard, "fake")

    async def say(self, text, show):
        show(Speaking(text))
        self.told.append(text)

    def slower(self):
        self.slowed += 1


class Screen(FakeFrontend):
    """Answers once it is clicked."""

    def __init__(self):
        super().__init__()
        self.clicked = asyncio.get_running_loop().create_future()
        self.withdrawn = False

    async def ask(self, question):
        return await self.confirm(question)

    async def confirm(self, question, *, yes=""):
        self.questions.append(question)
        try:
            return await self.clicked
        except asyncio.CancelledError:
            self.withdrawn = True
            raise


async def confirm(person, *, by_voice=True, screen=None):
    asked, screen = HandsFree(person, person), screen or Screen()
    return await asked.confirm(screen, QUESTION, by_voice=by_voice, show=screen.show)


async def test_a_spoken_yes_and_no():
    assert await confirm(Person("Yes, please"))
    assert not await confirm(Person("No!"))
    assert not await confirm(Person("Stop"))


async def test_no_answer_is_a_no():
    assert not await confirm(Person(None))


async def test_the_question_is_withdrawn_from_the_screen_once_it_was_answered_aloud():
    screen = Screen()
    assert await confirm(Person("yes"), screen=screen)
    assert screen.questions == [QUESTION]
    assert screen.withdrawn


async def test_what_is_not_clear_is_asked_for_again_and_then_is_a_no():
    person = Person("perhaps", "purple", "banana")
    assert not await confirm(person)
    assert person.told == [QUESTION, *[f"{YES_OR_NO} {QUESTION}"] * 2]


async def test_it_is_said_again_and_slower():
    person, screen = Person("repeat", "slower", "yes"), Screen()
    assert await confirm(person, screen=screen)
    assert (person.told, person.slowed) == ([QUESTION] * 3, 1)
    assert screen.events == [Speaking(QUESTION), Speaking("")] * 3


async def test_a_click_answers_while_it_is_being_asked():
    screen = Screen()

    class Silent(Person):
        async def answer(self, ask, *, limit, early=False):
            await ask()
            screen.clicked.set_result(True)
            await asyncio.Event().wait()

    assert await confirm(Silent(), by_voice=False, screen=screen)


async def test_what_a_voice_may_not_agree_to_waits_for_the_screen():
    screen = Screen()

    class Aloud(Person):
        async def say(self, text, show):
            await super().say(text, show)
            if text == NOT_BY_VOICE:
                screen.clicked.set_result(True)

    person = Aloud("yes", "well")
    assert await confirm(person, by_voice=False, screen=screen)
    assert person.told[-1] == NOT_BY_VOICE


async def test_without_a_click_it_stays_a_no(monkeypatch):
    monkeypatch.setattr(hands_free, "SCREEN_TIMEOUT_S", 0)
    assert not await confirm(Person("yes", "well"), by_voice=False)
    assert not await confirm(Person("yes", None), by_voice=False)


async def test_what_was_agreed_to_by_voice_alone_can_still_be_refused_so():
    assert not await confirm(Person("yes", "oh, no"), by_voice=False)


async def test_where_nobody_can_be_heard_the_screen_still_asks():
    screen = Screen()

    class Deaf(Person):
        async def answer(self, ask, *, limit, early=False):
            screen.clicked.set_result(True)
            raise UnavailableError("There is no microphone.")

    assert await confirm(Deaf(), screen=screen)
    screen = Screen()
    screen.clicked.set_result("typed")
    assert await ask(Deaf(), screen) == "typed"


async def test_where_nobody_can_be_heard_and_nobody_clicks_it_is_a_no(monkeypatch):
    monkeypatch.setattr(hands_free, "SCREEN_TIMEOUT_S", 0)

    class Deaf(Person):
        async def answer(self, ask, *, limit, early=False):
            raise UnavailableError("There is no microphone.")

    assert not await confirm(Deaf())


async def test_a_voice_may_always_refuse():
    assert not await confirm(Person("no"), by_voice=False)


async def test_cancelling_leaves_nothing_behind():
    screen, begun = Screen(), asyncio.Event()

    class Silent(Person):
        async def answer(self, ask, *, limit, early=False):
            await ask()
            begun.set()
            await asyncio.Event().wait()

    asking = asyncio.create_task(confirm(Silent(), screen=screen))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert screen.withdrawn


async def ask(person, screen):
    return await HandsFree(person, person).ask(screen, "Which one?", show=screen.show)


async def test_an_open_question_is_answered_aloud():
    screen = Screen()
    person = Person("the second one")
    assert await ask(person, screen) == "the second one"
    assert person.told == ["Which one?"]


async def test_where_nobody_speaks_the_screen_waits_on():
    screen = Screen()
    asking = asyncio.create_task(ask(Person(None), screen))
    while not screen.questions:
        await asyncio.sleep(0)
    screen.clicked.set_result("typed")
    assert await asking == "typed"


async def test_an_open_question_waits_on_the_screen_where_nobody_can_be_heard():
    screen, told = Screen(), asyncio.Event()

    class Deaf(Person):
        async def answer(self, ask, *, limit, early=False):
            told.set()
            raise UnavailableError("There is no microphone.")

    asking = asyncio.create_task(ask(Deaf(), screen))
    await told.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not asking.done()
    screen.clicked.set_result("typed")
    assert await asking == "typed"
