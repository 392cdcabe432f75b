import pytest

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.platform import hotkey_native
from jarvis_desktop.platform.shortcut import KEYS, MODIFIERS, parse


@pytest.mark.parametrize(
    ("written", "read", "xdg"),
    [
        ("Ctrl+Alt+Space", "Ctrl+Alt+Space", "CTRL+ALT+space"),
        (" alt + CONTROL + space ", "Ctrl+Alt+Space", "CTRL+ALT+space"),
        ("win+shift+j", "Shift+Super+J", "SHIFT+LOGO+j"),
        ("Cmd+Option+Return", "Alt+Super+Enter", "ALT+LOGO+Return"),
        ("F9", "F9", "F9"),
        ("pause", "Pause", "Pause"),
        ("Ctrl+PgUp", "Ctrl+PageUp", "CTRL+Prior"),
        ("Super+`", "Super+`", "LOGO+grave"),
        ("Ctrl+Period", "Ctrl+.", "CTRL+period"),
    ],
)
def test_a_combination_is_read_and_written(written, read, xdg):
    combination = parse(written)
    assert str(combination) == read
    assert combination.xdg == xdg
    assert parse(read) == combination


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("Ctrl+", "the key after the last + is missing"),
        ("", "the key after the last + is missing"),
        ("Ctrl++A", "something is missing before a +"),
        ("Ctrl+Alt", "a key that is pressed with them is missing"),
        ("Ctrl+Esc", "Esc ends what is said"),
        ("Ctrl+Spcae", 'no key is called "Spcae"'),
        ("Strg+A", 'nothing is called "Strg"'),
        ("A+B", "only one key can be combined with"),
        ("Ctrl+ctrl+A", "it has Ctrl twice"),
        ("Ctrl-A", "no key is called"),
        ("A", "every other program needs it"),
        ("Shift+Space", "every other program needs it"),
        ("Ctrl+\u202e\n" + 99 * "x", "no key is called"),
    ],
)
def test_what_is_wrong_with_a_key_is_said_with_what_to_write(written, why):
    with pytest.raises(InputError, match="cannot be used") as raised:
        parse(written)
    assert why in raised.value.message
    assert "Ctrl+Alt+" in raised.value.hint
    assert raised.value.message.isprintable()
    assert len(raised.value.message) < 160


def test_no_two_keys_are_the_same_anywhere():
    for attribute in ("keysym", "code", "windows", "macos"):
        values = [getattr(key, attribute) for key in KEYS.values()]
        values = [value for value in values if value is not None]
        assert len(values) == len(set(values)), attribute


def test_windows_takes_bits_and_a_virtual_key():
    assert hotkey_native.windows_registered(parse("Ctrl+Alt+Space")) == (0x4000 | 2 | 1, 0x20)
    assert hotkey_native.windows_registered(parse("Win+Shift+F12")) == (0x4000 | 8 | 4, 0x7B)
    assert set(hotkey_native.WINDOWS_BITS) == set(hotkey_native.MACOS_BITS) == set(MODIFIERS)


def test_macos_takes_a_place_on_the_keyboard_and_bits():
    assert hotkey_native.macos_registered(parse("Ctrl+Alt+Space")) == (49, 0x1000 | 0x0800)
    assert hotkey_native.macos_registered(parse("Cmd+Shift+0")) == (29, 0x0100 | 0x0200)
    with pytest.raises(UnavailableError, match="no key Pause"):
        hotkey_native.macos_registered(parse("Pause"))
