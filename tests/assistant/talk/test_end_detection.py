from jarvis_desktop.assistant.talk.barge_in import EndDetector
from tests.assistant.talk.front import silence, speaking


def test_a_silence_after_speech_is_its_end():
    end = EndDetector(pause=1, patience=8)
    assert not end.take(speaking(2).speech)
    assert not end.take(silence(0.9).speech)
    assert end.take(silence(0.2).speech)


def test_speech_that_goes_on_after_a_short_silence_has_not_ended():
    end = EndDetector(pause=1, patience=8)
    for _ in range(5):
        assert not end.take(speaking(0.5).speech)
        assert not end.take(silence(0.8).speech)


def test_where_nobody_begins_it_ends_after_its_patience():
    end = EndDetector(pause=1, patience=3)
    assert not end.take(silence(2.9).speech)
    assert end.take(silence(0.2).speech)
    assert not end.begun


def test_a_click_is_not_the_beginning_of_speech():
    end = EndDetector(pause=1, patience=8)
    assert not end.take((0.9, 0.9))
    assert not end.take(silence(2).speech)
    assert not end.take((0.9, 0.9))
    assert not end.begun


def test_what_may_be_speech_is_neither_speech_nor_silence():
    end = EndDetector(pause=1, patience=1)
    assert not end.take([0.4] * 1000)
    assert not end.begun
