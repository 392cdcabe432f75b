from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.speech import Segment, Transcript
from jarvis_desktop.tasks.audio.recognition import LINE_CHARS, MAX_LINES, cues, format_transcript

TIME = r"(\d\d+):(\d\d):(\d\d)[,.](\d{3})"


def transcript(*segments: Segment) -> Transcript:
    return Transcript(" ".join(each.text for each in segments), "whisper", "en", segments)


def lines_of(*segments: Segment) -> list[tuple[str, ...]]:
    return [cue.lines for cue in cues(segments)]


def test_srt_numbers_its_subtitles_and_writes_thousandths_after_a_comma():
    said = transcript(
        Segment(0.5, 2.25, " Good morning. "), Segment(3600, 3661.5, "An hour later.")
    )
    assert format_transcript(said, "srt") == (
        "1\n00:00:00,500 --> 00:00:02,250\nGood morning.\n\n"
        "2\n01:00:00,000 --> 01:01:01,500\nAn hour later.\n"
    )


def test_vtt_has_its_heading_and_escapes_what_players_read():
    said = transcript(Segment(1, 2, "a <b> & --> c"))
    assert format_transcript(said, "vtt") == (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\na &lt;b&gt; &amp; --&gt; c\n"
    )
    assert "-->" not in format_transcript(said, "srt").splitlines()[2]


def test_text_is_the_text_and_json_has_every_time():
    word = Segment(1, 2, " hello")
    said = transcript(Segment(1, 2, "hello", (word,)))
    assert format_transcript(said, "txt") == "hello\n"
    (segment,) = json.loads(format_transcript(said, "json"))["segments"]
    assert (segment["start"], segment["text"]) == (1, "hello")
    assert segment["words"][0]["end"] == 2


def test_a_long_segment_is_cut_where_a_sentence_ends_and_its_lines_are_alike():
    text = (
        "Hello there, this is a long sentence that goes on and never ends. "
        "Then another one comes, and it is long as well, is it not? Yes."
    )
    first, second = lines_of(Segment(0, 10, text))
    assert first == ("Hello there, this is a long sentence", "that goes on and never ends.")
    assert second == ("Then another one comes, and it", "is long as well, is it not? Yes.")


def test_the_parts_of_a_segment_get_times_by_their_length():
    first, second = cues([Segment(10, 20, "a" * 40 + " " + "b" * 39 + ". " + "c" * 60)])
    assert first.end == second.start == pytest.approx(10 + 10 * 81 / 142)
    assert first.start == 10
    assert second.end == pytest.approx(20)


def test_the_times_of_words_are_kept_and_a_pause_between_them_ends_a_subtitle():
    words = (Segment(1, 1.5, " Stop"), Segment(1.5, 2, " it."), Segment(6, 7, " Now"))
    first, second = cues([Segment(1, 7, "Stop it. Now", words)])
    assert (first.start, first.end, first.lines) == (1, 2, ("Stop it.",))
    assert (second.start, second.end, second.lines) == (6, 7, ("Now",))


def test_parts_of_words_stay_together():
    words = (Segment(0, 1, " sun"), Segment(1, 2, "flower"), Segment(2, 3, " seeds"))
    assert lines_of(Segment(0, 3, "sunflower seeds", words)) == [("sunflower seeds",)]


def test_scripts_without_spaces_are_cut_between_letters_which_are_wide():
    found = cues([Segment(0, 9, "这是一个很长的句子。" * 6)])
    assert "".join(line for cue in found for line in cue.lines) == "这是一个很长的句子。" * 6
    assert all(len(line) <= LINE_CHARS // 2 for cue in found for line in cue.lines)


def test_a_word_without_end_is_cut():
    assert lines_of(Segment(0, 1, "x" * 100))[0] == ("x" * LINE_CHARS, "x" * LINE_CHARS)


def test_what_overlaps_follows_one_another_and_is_seen_at_all():
    found = cues(
        [Segment(1, 4, "one"), Segment(2, 2, "two"), Segment(3, 3.1, " "), Segment(0, 9, "x")]
    )
    assert [(cue.start, cue.end) for cue in found] == [(1, 4), (4, 4.2), (4.2, 9)]


texts = st.text(st.sampled_from("abc é.,!?<>&- \n字　e\u0301"), max_size=200)
times = st.floats(0, 9000)


@given(st.lists(st.tuples(times, times, texts), max_size=5), st.sampled_from(["srt", "vtt"]))
def test_every_transcript_keeps_the_rules(parts, format):
    said = transcript(*(Segment(start, end, text) for start, end, text in parts))
    written = format_transcript(said, format)
    blocks = written.removeprefix("WEBVTT\n\n").strip("\n").split("\n\n")
    end = 0
    for block in filter(None, blocks):
        rows = block.split("\n")
        rows = rows[1:] if format == "srt" else rows
        found = re.fullmatch(f"{TIME} --> {TIME}", rows[0])
        assert found
        numbers = [int(each) for each in found.groups()]
        first, last = (
            ((h * 60 + m) * 60 + s) * 1000 + t for h, m, s, t in (numbers[:4], numbers[4:])
        )
        assert end <= first < last
        end = last
        assert 1 <= len(rows[1:]) <= MAX_LINES
        assert all(row.strip() and "-->" not in row for row in rows[1:])
    said_letters = "".join("".join(text.split()) for _, _, text in parts)
    shown = "".join("".join("".join(cue.lines).split()) for cue in cues(said.segments))
    assert shown == said_letters
