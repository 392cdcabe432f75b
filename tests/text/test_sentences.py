from jarvis_desktop.text.sentences import (
    MAX_SPOKEN_CHARS,
    paragraphs,
    sentences,
    split,
    spoken_sentences,
    stretches,
)


def test_lines_broken_by_a_page_are_healed():
    text = (
        "The bridge was opened in the sum-\nmer of 1937 and has carried\n"
        "traffic ever since. It is red."
    )
    assert sentences(text) == [
        "The bridge was opened in the summer of 1937 and has carried traffic ever since.",
        "It is red.",
    ]


def test_abbreviations_and_decimals_end_no_sentence():
    text = "Dr. Smith paid $3.50 on Jan. 5 in Washington. He left at 9 a.m. sharp."
    assert sentences(text) == [
        "Dr. Smith paid $3.50 on Jan. 5 in Washington.",
        "He left at 9 a.m. sharp.",
    ]


def test_headings_and_page_numbers_are_no_sentences():
    text = (
        "ANNUAL REPORT\n\nThe year went well for everybody.\n\n- 12 -\n\nPage 3 of 9\n\nSales rose."
    )
    assert sentences(text) == ["The year went well for everybody.", "Sales rose."]


def test_a_text_of_headings_alone_gives_those():
    assert sentences("WELCOME HOME") == ["WELCOME HOME"]


def test_list_entries_stay_apart():
    assert paragraphs("Bring:\n- warm clothes\n- good shoes") == [
        "Bring:",
        "- warm clothes",
        "- good shoes",
    ]


def test_words_without_an_end_are_cut():
    parts = sentences(" ".join(["word"] * 200))
    assert len(parts) > 3
    assert " ".join(parts) == " ".join(["word"] * 200)


def test_east_asian_sentences_are_parted():
    assert sentences("これは本です。それはペンです。") == ["これは本です。", "それはペンです。"]


def test_speech_keeps_headings_and_numbers():
    assert stretches("CHAPTER ONE\n\n42\n\nIt began. It ended.\n\n***") == [
        "CHAPTER ONE",
        "42",
        "It began.",
        "It ended.",
    ]


def test_who_speaks_may_follow_a_quotation() -> None:
    assert split('"Stop!" he said. Then he left.') == ['"Stop!" he said.', "Then he left."]
    assert split("See No. 5. He said no. Yes.") == ["See No. 5.", "He said no.", "Yes."]
    assert split("Well... then. I am I. You go.") == ["Well...", "then.", "I am I.", "You go."]
    assert split("1. Milk") == ["1. Milk"]
    assert split("J. R. Smith et al. wrote it.") == ["J. R. Smith et al. wrote it."]
    assert split("He met Dr. Who.") == ["He met Dr. Who."]


def test_long_sentences_are_cut_for_speech() -> None:
    words = "word " * 100
    parts = spoken_sentences(f"{words.strip()}.\n\n***\n")
    assert all(len(part) <= MAX_SPOKEN_CHARS for part in parts)
    assert " ".join(parts) == f"{words.strip()}."
    clause = "a" * 200 + ", " + "b" * 200 + "."
    assert spoken_sentences(clause) == ["a" * 200 + ",", "b" * 200 + "."]
    assert [len(part) for part in spoken_sentences("c" * 700)] == [300, 300, 100]


def test_lines_that_do_not_continue_stay_apart() -> None:
    assert paragraphs("Menu\nSoup of the day with bread and butter and more\nFish") == [
        "Menu",
        "Soup of the day with bread and butter and more Fish",
    ]
    assert paragraphs("") == []


def test_a_word_that_is_also_an_abbreviation_ends_a_sentence():
    assert sentences(
        "The cat sat on. The cat sat. We had sun. It rained on Sat. and Sun. too."
    ) == [
        "The cat sat on.",
        "The cat sat.",
        "We had sun.",
        "It rained on Sat. and Sun. too.",
    ]
