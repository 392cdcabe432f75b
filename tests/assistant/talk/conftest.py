import pytest

from jarvis_desktop.assistant.talk.talk import Talk
from tests.assistant.talk.front import FakeFront
from tests.fake_voice import FakeMicrophone, FakeRecogniser


@pytest.fixture
def microphone():
    return FakeMicrophone()


@pytest.fixture
def recogniser():
    return FakeRecogniser(hears="what time is it")


@pytest.fixture
def front():
    return FakeFront()


@pytest.fixture
async def make(microphone, recogniser, front):
    made = []

    def make(**settings):
        talk = Talk(microphone, recogniser, **settings)
        talk.front = front
        made.append(talk)
        return talk

    yield make
    for talk in made:
        await talk.close()
    assert microphone.state == "closed"
