import pytest

from jarvis_desktop.text.dictation import DictationRules


def written(spoken: str, **rules: object) -> str:
    return DictationRules(**rules).written(spoken)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spoken", "text"),
    [
        (" I will be there. ", "I will be there."),
        ("Dear Anna, new line, thank you.", "Dear Anna,\nThank you."),
        ("Hello there. New paragraph. how are you", "Hello there.\n\nHow are you"),
        ("One newline two", "One\nTwo"),
        ("New line. Hello", "\nHello"),
        ("Hallo, neue Zeile, wie geht es?", "Hallo,\nWie geht es?"),
        ("Das war es. Neuer Absatz.", "Das war es.\n\n"),
        ("你好，换行，再见", "你好，\n再见"),
        ("They sell a new line of cars.", "They sell a new line of cars."),
        ("Come at five. No, at six. Scratch that. Come at seven.", "Come at five. Come at seven."),
        ("Come at five, scratch that, come at six.", "come at six."),
        ("One. Two. Three. Scratch that. Scratch that. Four.", "One. Four."),
        ("First line. New line. Second, scratch that.", "First line.\n"),
        ("Scratch that.", ""),
        ("Ich komme um fünf. Streich das.", ""),
        ("我五点来。划掉。", ""),
        ("You should scratch that.", "You should scratch that."),
        ("Please scratch that itch.", "Please scratch that itch."),
    ],
)
def test_commands_are_obeyed_where_they_are_meant(spoken, text):
    assert written(spoken) == text


def test_commands_can_be_switched_off():
    assert written("One, new line, two", commands=False) == "One, new line, two"


@pytest.mark.parametrize(
    ("spoken", "text"),
    [
        ("Write to my mail, please.", "Write to anna@example.org, please."),
        ("My-mail is old, my mailbox is not", "anna@example.org is old, my mailbox is not"),
        ("my mail address", "Main Street 5\nBerlin"),
        ("我的邮箱是新的", "a@b.cn是新的"),
        ("nothing = here", "nothing = here"),
    ],
)
def test_replacements_are_written_in_place_of_phrases(spoken, text):
    replacements = (
        "my mail = anna@example.org",
        "my mail address=Main Street 5\\nBerlin",
        "我的邮箱 = a@b.cn",
        "no sign",
        " = empty",
    )
    assert written(spoken, replacements=replacements) == text


def test_a_replacement_is_not_replaced_again_and_is_no_command():
    rules = {"replacements": ("one = two", "two = new line")}
    assert written("one two", **rules) == "two new line"


@pytest.mark.parametrize(
    ("spoken", "text"),
    [
        ("Use py side here", "Use PySide here"),
        ("Anika and Sorensen came", "Annika and Sørensen came"),
        ("Jean Luc Picard", "Jean-Luc Picard"),
        ("Annikas cat", "Annikas cat"),
        ("I will ask Will", "I will ask Will"),
        ("an artist", "an artist"),
        ("cuber netties", "cuber netties"),
    ],
)
def test_own_words_keep_their_spelling(spoken, text):
    own = ("PySide", "Annika", "Sørensen", "Jean-Luc", "Will", "Kubernetes")
    assert written(spoken, words=own) == text
