import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.text.sentences import MAX_SPOKEN_CHARS, spoken_sentences
from jarvis_desktop.text.speakable import SentenceStream, speakable

MARKDOWN = st.text(
    st.sampled_from("ab Z9.!?…,;:-*_`~#>|[]()<>\n\t/&é°→你。😀\u200b\ufe0f\u20e3"), max_size=400
)


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Plain words", "Plain words."),
        ("## A heading\n\nText.", "A heading.\nText."),
        ("**bold** and *italic* and __both__ and `code`", "bold and italic and both and code."),
        ("~~gone~~ stays", "gone stays."),
        ("__init__ and snake_case", "init and snake case."),
        ("- first\n* second\n• third\n- [x] done", "first.\nsecond.\nthird.\ndone."),
        ("1. one\n2. two", "1. one.\n2. two."),
        ("> quoted\n> > twice", "quoted.\ntwice."),
        ("before\n```python\nprint(1)\n```\nafter", "before.\nafter."),
        ("before\n~~~\nnever closed", "before."),
        ("see [the guide](https://example.org/a) now", "see the guide now."),
        ("see [the guide][1] now", "see the guide now."),
        ("![a cat](cat.png)", "a cat."),
        ("look at https://example.org/x?y=1 and www.example.org please", "look at and please."),
        ("One. Two! Three", "One.\nTwo!\nThree."),
        ("<think>First. Hm\n```\n</think>\nSecond", "Second."),
        ("So <Thinking>it. is</Thinking> done", "So done."),
        ("So <think>it never ends. At all", "So."),
        ("Say `<think>` to it", "Say to it."),
        ("<b>bold</b><br/>new <!-- hidden -->end", "bold new end."),
        ("A <b>tag</b> and a < b", "A tag and a is less than b."),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a, b.\n1, 2."),
        ("one\n---\n***\n===\ntwo", "one.\ntwo."),
        ("Done 🎉👍🏽 well", "Done well."),
        ("21 °C → 70 °F", "21 degrees Celsius to 70 degrees Fahrenheit."),
        ("salt & pepper", "salt and pepper."),
        ("a\u200bb\u202ec", "abc."),
        ("as shown[1], see [2, 3] and [^4]", "as shown, see and."),
        ("Tom &amp; Jerry &lt;3", "Tom and Jerry less than 3."),
        ("it is fine :) really ;-)", "it is fine really."),
        ("what \\(x \\times y\\) is", "what x times y is."),
        ("so $x^2 + y_1 = \\frac{a}{b}$ is", "so x squared plus y 1 equals a divided by b is."),
        ("$$\\sqrt{x} \\leq \\text{the end}$$", "square root of x at most the end."),
        ("it is 90^\\circ and \\unknown", "it is 90 degrees and unknown."),
        ("it costs $5 and then $10 = all", "it costs 5 dollars and then 10 dollars equals all."),
        ("Really?\nYes!\nFirst:", "Really?\nYes!\nFirst:"),
        ("word ( 🎉 ) next", "word next."),
        ("🎉\n***\n...", ""),
        ("", ""),
    ],
)
def test_speakable(written, spoken):
    assert speakable(written) == spoken


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("It costs 3.50 euros. Good.", ["It costs 3.50 euros.", "Good."]),
        ("Mr. Smith met Dr. Jones. They spoke.", ["Mr. Smith met Dr. Jones.", "They spoke."]),
        ("Use tools, e.g. a saw. Then stop.", ["Use tools, e.g. a saw.", "Then stop."]),
        ("Apples, pears etc. Then more.", ["Apples, pears etc.", "Then more."]),
        ("Apples etc. are fruit.", ["Apples etc. are fruit."]),
        ("J. R. Smith came.", ["J. R. Smith came."]),
        ("It was I. She left.", ["It was I.", "She left."]),
        ("1. first thing\n2. second", ["1. first thing", "2. second"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Wait... What?", ["Wait...", "What?"]),
        ("He waits. then goes", ["He waits. then goes"]),
        ("Open report.pdf now. Done.", ["Open report.pdf now.", "Done."]),
        ("你好。再见！", ["你好。", "再见！"]),
        (". Starts with a point", ["Starts with a point"]),
        ("  spaced \t out \n\n\n next ", ["spaced out", "next"]),
        ("!!! ... —", []),
        ("", []),
    ],
)
def test_sentences(text, parts):
    assert spoken_sentences(text) == parts


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("word " * 200, MAX_SPOKEN_CHARS),
        ("a fairly long clause of words, " * 30, MAX_SPOKEN_CHARS),
        ("x" * 1000, MAX_SPOKEN_CHARS),
        ("start, " + "y" * 600, MAX_SPOKEN_CHARS),
    ],
)
def test_a_long_run_is_cut(text, longest):
    parts = spoken_sentences(text)
    assert len(parts) > 1
    assert max(map(len, parts)) <= longest
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_long_run_is_cut_after_a_comma():
    assert all(part.endswith(",") for part in spoken_sentences("one two three four, " * 40))


@settings(deadline=None)
@given(MARKDOWN)
def test_sentences_lose_no_word_and_make_no_empty_part(text):
    parts = spoken_sentences(text)
    assert all(any(letter.isalnum() for letter in part) for part in parts)
    assert all(len(part) <= MAX_SPOKEN_CHARS for part in parts)
    kept = [letter for part in parts for letter in part if letter.isalnum()]
    assert kept == [letter for letter in text if letter.isalnum()]


@settings(deadline=None)
@given(MARKDOWN)
def test_speakable_says_no_markup(text):
    spoken = speakable(text)
    assert not set(spoken) & set("😀\u200b\ufe0f\u20e3\t`")
    assert "**" not in spoken
    assert all(any(letter.isalnum() for letter in line) for line in spoken.splitlines())
    assert all(any(letter.isalnum() for letter in part) for part in spoken_sentences(spoken))


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_at_all_is_accepted(text):
    assert all(part.strip() == part for part in spoken_sentences(speakable(text)))


def streamed(text: str, size: int) -> list[str]:
    stream = SentenceStream()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [part for piece in pieces for part in stream.feed(piece)] + stream.rest()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four."]),
        ("**One.** *Two*. Six", ["One.", "Two.", "Six."]),
        ("**Three. Four** five. Six", ["Three.", "Four five.", "Six."]),
        ("See [the. Guide](https://x.org/a. b) now. Then", ["See the.", "Guide now.", "Then."]),
        ("Look: https://x.org/a. Next", ["Look:", "Next."]),
        ("One\n```python\nprint('Hi. There.')\n<!--\n```\nTwo. C", ["One.", "Two.", "C."]),
        ("~~~\nHi. There.", []),
        ("```It. Is``` no block. So", ["It.", "Is no block.", "So."]),
        ("In `it. Now` it. So", ["In it.", "Now it.", "So."]),
        ("| It. Is | c |\n|---|---|\n| 1. X | 2 |\nEnd", ["It.", "Is, c.", "1. X, 2.", "End."]),
        ("x <b>bold. Move</b> on. Y", ["x bold.", "Move on.", "Y."]),
        ("One <!-- two. Three\nfour --> five. Six", ["One five.", "Six."]),
        ("One <!-- two.", ["One."]),
        ("Mr. Smith met Dr. Jones. They spoke", ["Mr. Smith met Dr. Jones.", "They spoke."]),
        ("1. One\n- Two. Three\n# Four", ["1. One.", "Two.", "Three.", "Four."]),
        ("你好。再见！好", ["你好。", "再见！", "好."]),
        ("", []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_a_text_that_is_being_written(text, parts, size):
    assert streamed(text, size) == parts


def test_a_sentence_comes_out_once_the_next_one_begins():
    stream = SentenceStream()
    assert [stream.feed(piece) for piece in ("One", ".", " ", "T", "wo. ", "[a](b", "). C")] == [
        [], [], [], ["One."], [], ["Two."], ["a."],
    ]  # fmt: skip
    assert stream.rest() == ["C."]


def test_what_never_ends_is_spoken_in_parts():
    stream = SentenceStream()
    assert stream.feed("word " * 300)
    assert stream.feed("x" * 2000)


@settings(deadline=None)
@given(MARKDOWN, st.integers(1, 9))
def test_a_stream_says_the_same_however_it_is_cut(text, size):
    whole = streamed(text, 10_000)
    assert streamed(text, size) == whole
    assert speakable(text).splitlines() == whole
    for part in whole:
        assert not set(part) & set("😀\u200b\ufe0f\u20e3\t`\n")
        assert len(part) <= MAX_SPOKEN_CHARS
        assert any(letter.isalnum() for letter in part)


PIECES = st.sampled_from(
    "<think> </think> <!-- --> ``` ~~~ ** [a](b) | <b> `x` 你好。 One. Two! (so) e.g. 3.5 GB €5 & "
    "14:30 2026-11-22 a_b.pdf Mr. … $x^2$ \\( \n # - > das ist".split(" ")
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=60), st.sampled_from(["", " ", " ", "\n"]), st.integers(1, 30))
def test_a_stream_of_markup_says_the_same_however_it_is_cut(pieces, between, size):
    text = between.join(pieces)
    assert streamed(text, size) == streamed(text, 1)


@pytest.mark.parametrize("long", ["word " * 700, "x" * 3000, "One. <b " * 400, "你" * 3000])
def test_a_line_without_end_says_the_same_however_it_is_cut(long):
    parts = streamed(long, 1)
    assert parts == streamed(long, 977)
    assert sum(letter.isalnum() for letter in "".join(parts)) >= sum(map(str.isalnum, long)) - 10


WORDS = "apple banana cherry Über été 你好 один snake_case it's".split()
AMONG = st.sampled_from(
    ["", " ", ". ", ", ", "\n", "\n\n- ", " **", "** ", " & ", " 5 € ", " 3.5 GB ", " 14:30 ",
     " [1] ", "! ", " (", ") ", " 🎉 ", " → ", " | ", "\n# ", "\n> ", " a_b.pdf ", " v1.2 ",
     " ½ ", " -5 "]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORDS), AMONG), max_size=60), st.integers(1, 9))
def test_a_stream_loses_no_word(written, size):
    text = "".join(word + (between or " ") for word, between in written)
    spoken = "".join("".join(streamed(text, size)).split())
    at = 0
    for word, _ in written:
        at = spoken.index(word.replace("_", ""), at) + len(word.replace("_", ""))


@settings(deadline=None)
@given(st.text(st.sampled_from("ab Z9.!?,;\n"), max_size=400))
def test_sentences_of_stretches_are_these_stretches(text):
    parts = speakable(text).splitlines()
    assert spoken_sentences("\n".join(parts)) == parts
