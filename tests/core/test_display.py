from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.display import (
    encodable,
    frames,
    one_line,
    printable,
    readable_size,
    unused_name,
)


def test_ordinary_names_stay_as_they_are():
    assert one_line("Größe – 写真 👨‍👩‍👧 (2).png") == "Größe – 写真 👨‍👩‍👧 (2).png"


def test_line_breaks_become_spaces():
    assert one_line("a\nb\r\n\tc\u2028d") == "a b c d"


def test_controls_and_directions_cannot_change_a_message():
    assert one_line("a\x1b[31mred\x07\0") == "a�[31mred��"
    assert one_line("exe.\u202egnp\u200f") == "exe.�gnp�"
    assert one_line("\udcff") == "�"


def test_what_is_long_is_cut():
    assert one_line("a" * 10_000) == "a" * 79 + "…"
    assert one_line("abc", limit=2) == "a…"


@given(st.text())
def test_always_one_line_that_can_be_written(text: str):
    line = one_line(text, limit=20)
    assert len(line) <= 20
    assert len(line.splitlines()) <= 1
    assert line.encode().decode() == line


def test_encodable_replaces_what_utf8_cannot_hold():
    assert encodable("a\udcffb") == "a?b"
    assert encodable("ü\0") == "ü\0"


def test_the_road_of_an_error_without_its_words() -> None:
    try:
        raise KeyError("a secret")
    except KeyError as error:
        told = frames(error)
    assert told.startswith("KeyError at test_display.py:")
    assert "secret" not in told
    assert frames(KeyError("a secret")) == "KeyError"


def test_what_steers_a_terminal_is_not_printed():
    assert printable("a\tb\nc") == "a\tb\nc"
    assert printable("\x1b]52;c;ZXZp\x07\u202eabc\x9b31m") == "�]52;c;ZXZp��abc�31m"


def test_sizes_are_for_people():
    assert readable_size(12_300) == "12 kB"
    assert readable_size(340e6) == "340 MB"
    assert readable_size(1e9) == "1.0 GB"


def test_a_name_that_is_taken_gets_a_number() -> None:
    taken = {"photo.png", "photo-2.png"}
    assert unused_name("film", ".mp4", taken=taken.__contains__) == "film.mp4"
    assert unused_name("photo", ".png", taken=taken.__contains__) == "photo-3.png"
    assert unused_name("photo", ".png", between=" ", taken=taken.__contains__) == "photo 2.png"
