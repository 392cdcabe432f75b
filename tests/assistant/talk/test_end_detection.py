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


def judged(end, *finished):
    """Let a pause be judged like this, one verdict after the other; whether it is the end."""
    ended = [end.take(silence(0.5).speech)]
    for likely in finished:
        assert end.asks()
        ended.append(end.take(silence(0.05).speech, likely))
    return ended[-1]


def test_a_pause_is_the_end_if_it_is_judged_twice_to_be():
    for verdicts, over in (((0.95, 0.95), True), ((0.95, 0.8), False), ((0.1, 0.95), False)):
        end = EndDetector(pause=2, patience=8)
        assert not end.take(silence(1).speech)
        assert not end.asks()  # nobody has spoken
        end.take(speaking(1).speech)
        assert not end.asks()
        assert judged(end, *verdicts) is over
        assert not end.asks()
        assert end.take(silence(2).speech)


def test_a_verdict_about_an_earlier_pause_is_ignored():
    end = EndDetector(pause=2, patience=8)
    end.take(speaking(1).speech)
    end.take(silence(0.3).speech)
    assert end.asks()
    assert not end.asks()  # not so soon
    end.take(speaking(0.1).speech)
    end.take(silence(0.5).speech)
    assert end.asks()
    assert not end.take(silence(0.1).speech, 0.99)  # of the first pause
    assert end.asks()
    assert not end.take(silence(0.1).speech, 0.99)
    assert end.take(silence(0.1).speech, 0.99)


def test_what_may_be_speech_is_neither_speech_nor_silence():
    end = EndDetector(pause=1, patience=1)
    assert not end.take([0.4] * 1000)
    assert not end.begun
