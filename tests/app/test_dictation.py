"""Dictation as it is built: settings, the two keys, and one voice at a time."""

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.app.dictation import DICTATES, TALKS
from jarvis_desktop.core.speech import HotkeyStatus, Unheard
from jarvis_desktop.paths import user_paths
from jarvis_desktop.settings import DictationSettings, Settings, SpeechSettings
from tests.assistant.talk.front import FakeDictationFront, FakeFront, silence, speaking
from tests.fake_voice import FakeHotkey, FakeMicrophone, FakeRecogniser, FakeTextInserter


@pytest.fixture
async def app():
    app = build(Settings(), user_paths())
    session, microphone, recogniser = app.dictation.session, FakeMicrophone(), FakeRecogniser()
    microphone.sounds = [speaking(1)]
    for talk in (app.talk, session.talk):
        talk._microphone, talk._recogniser = microphone, recogniser
    session._inserter = FakeTextInserter()
    session._escape = lambda on: None
    yield app
    await app.close()


@pytest.mark.parametrize("holds", [True, False])
async def test_the_key_dictates_and_nothing_becomes_a_request(app, holds):
    key = app.dictation.key = FakeHotkey(HotkeyStatus("x11", "Ctrl+Alt+W", holds=holds))
    await app.dictation.bind()
    assert key.press
    assert key.release
    await app.dictation.adopt(DictationSettings(key_way="hold"), ())
    asked, shown = FakeFront(), FakeDictationFront()
    app.talk.front, app.dictation.session.front = asked, shown
    key.press()
    key.release() if not holds else None
    await shown.hears()
    assert app.dictation.session.active
    key.release() if holds else key.press()
    await shown.until("written")
    assert app.dictation.session._inserter.inserted == ["what time is it"]
    assert [each.text for each in app.dictation.log.kept()] == ["what time is it"]
    assert (asked.events, asked.said) == ([], [])
    assert asked.barged == 0


async def test_settings_apply_at_once(app):
    dictation = app.dictation
    dictation.log.add("before")
    await app.adopt(
        Settings(
            dictation=DictationSettings(
                commands=False, replacements=("a = b",), clean_up=True, space=True, key=""
            ),
            speech=SpeechSettings(words=("Ada",)),
        )
    )
    assert dictation.session.rules.written("a new line") == "b new line"
    assert dictation.session.rules.words == ("Ada",)
    assert (dictation.session.tidies, dictation.session.spaces) == (True, True)
    assert [each.text for each in dictation.log.kept()] == ["before"]
    dictation.private = True
    dictation._keep("private")
    dictation.private = False
    dictation._keep("kept")
    assert [each.text for each in dictation.log.kept()] == ["kept", "before"]
    await app.adopt(Settings(dictation=DictationSettings(keep=False)))
    dictation._keep("not kept")
    assert dictation.log.kept() == []


async def test_one_voice_at_a_time(app):
    front = app.talk.front = FakeFront()
    session = app.dictation.session
    session.toggle()
    app.talk.start()
    assert front.events[-1] == Unheard(DICTATES)
    app.dictation._cancel()
    app.talk.start()
    session.toggle()
    assert session.state.message == TALKS
    assert not session.active


async def test_nothing_is_spoken_into_a_dictation(app, monkeypatch):
    silenced = []
    monkeypatch.setattr(app.speaker, "silence", lambda: silenced.append(1))
    app.speech.spoken("An answer.")
    assert silenced == []
    app.dictation.session.toggle()
    silenced.clear()
    app.speech.spoken("An answer.")
    await app.dictation.session.settled()
    assert silenced
    app.dictation.session.cancel()


async def test_in_a_terminal_a_silence_ends_it(app):
    shown = app.dictation.session.front = FakeDictationFront(own=[])
    app.dictation.use_in_terminal(0.5)
    app.dictation.session.talk.start()
    await shown.hears()
    app.dictation.session.talk._microphone.feed(silence(0.6))
    await shown.until("written")
    assert shown.own == ["what time is it"]
