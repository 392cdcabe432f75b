import pytest

from jarvis_desktop.assistant.talk.talk import MAX_TAP_S, TalkKey


def meanings(way, *presses):
    """What (down, up) pairs of times mean, one after the other."""
    key = TalkKey(way)
    found = []
    for down, up in presses:
        found += [key.down(down), key.up(up)]
    return found


def test_a_held_key_ends_with_its_release():
    assert meanings("hold", (0, 0.1), (1, 3)) == ["begin", "end", "begin", "end"]


def test_a_toggle_ends_with_the_next_press():
    assert meanings("toggle", (0, 2), (3, 3.1)) == ["begin", None, "end", None]


def test_by_itself_a_tap_toggles_and_a_longer_press_holds():
    assert meanings("auto", (0, MAX_TAP_S - 0.01), (2, 2.1)) == ["begin", "let go", "end", None]
    assert meanings("auto", (0, MAX_TAP_S)) == ["begin", "end"]


@pytest.mark.parametrize("way", ["hold", "toggle", "auto"])
def test_a_key_that_repeats_itself_does_nothing(way):
    key = TalkKey(way)
    assert key.down(0) == "begin"
    assert [key.down(at / 10) for at in range(1, 9)] == [None] * 8


def test_a_release_without_a_press_means_nothing():
    assert TalkKey("hold").up(1) is None


def test_after_a_lost_release_the_next_press_is_no_new_beginning():
    key = TalkKey("hold")
    key.down(0)
    assert key.down(5) is None
    assert key.up(5.1) == "end"


def test_what_ended_otherwise_is_begun_anew():
    key = TalkKey("auto")
    key.down(0)
    key.off()
    assert key.up(9) is None
    assert key.down(10) == "begin"
    assert key.held


def test_what_was_begun_otherwise_is_ended_by_a_press():
    key = TalkKey("hold")
    key.on()
    assert not key.held
    assert (key.down(1), key.up(2)) == ("end", None)


def test_a_key_of_which_nobody_can_tell_counts_as_up():
    key = TalkKey("hold")
    key.down(0)
    key.lost()
    assert (key.up(1), key.down(2)) == (None, "end")
