from jarvis_desktop.text.sentences import paragraphs, sentences, stretches


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
