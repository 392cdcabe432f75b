from unittest.mock import Mock

import pytest

from jarvis_desktop.assistant.talk.talk import Talk, talk_command_handler
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import HotkeyStatus
from tests.assistant.talk.front import FakeFront
from tests.fake_voice import LENT, FakeMicrophone, FakeRecogniser

STATUS = {
    "way": "x11",
    "key": "Ctrl+Alt+Space",
    "holds": True,
    "why": "It is a test.",
}


@pytest.fixture
def statuses():
    return [LENT]


@pytest.fixture
async def talk():
    talk = Talk(FakeMicrophone(), FakeRecogniser())
    talk.front = FakeFront()
    yield talk
    await talk.close()


@pytest.fixture
def dictate():
    return Mock()


@pytest.fixture
def command(talk, statuses, dictate):
    answer = talk_command_handler(talk, lambda: statuses[-1], dictate)

    async def command(action):
        return await answer({"do": "talk", "action": action})

    return command


async def test_start_stop_toggle_and_cancel_do_what_they_say(command, talk):
    assert (await command("status"))["state"] == "idle"
    assert (await command("start"))["state"] == "waiting"
    assert (await command("start"))["state"] == "waiting"
    assert (await command("stop"))["state"] == "recognising"
    assert (await command("toggle"))["state"] == "waiting"
    assert (await command("toggle"))["state"] == "recognising"
    assert (await command("start"))["state"] == "waiting"
    await command("cancel")
    assert talk.front.said == []


async def test_dictation_is_started_or_stopped(command, dictate):
    assert (await command("dictate"))["state"] == "idle"
    dictate.assert_called_once_with()


async def test_each_answer_tells_how_the_key_is_had(command, statuses):
    assert (await command("status"))["hotkey"] == STATUS
    statuses.append(HotkeyStatus(why="It is lost."))
    assert (await command("start"))["hotkey"]["why"] == "It is lost."


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"do": "show"},
        {"do": "talk"},
        {"do": "talk", "action": "sing"},
        {"do": "talk", "action": ["start"]},
        {"do": ["talk"], "action": "start"},
    ],
)
async def test_anything_else_is_refused(talk, wrong):
    with pytest.raises(InputError, match="does not know"):
        await talk_command_handler(talk, lambda: LENT, Mock())(wrong)
    assert talk.state == "idle"
