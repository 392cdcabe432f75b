"""How text without spaces is written for an index of words."""

from jarvis_desktop.text.tokens import INDEX_MARK, spell_run, spell_runs, stem


def test_plain_text_has_no_unspaced_runs():
    assert spell_runs("a red car") == ""
    assert spell_runs("ein schöner Tag") == ""


def test_every_sign_of_a_run_is_a_word():
    assert spell_run("天気") == "天 気"
    assert spell_run("€") == f"{INDEX_MARK}20ac"


def test_no_phrase_matches_across_two_runs():
    assert spell_runs("今日 is 天気") == f"今 日 {INDEX_MARK} 天 気"


def test_words_of_one_stem_are_found_together():
    assert stem("running") == stem("runs") == stem("run")
    assert stem("stopped") == stem("stops")
    assert stem("cities") == stem("city")
    assert stem("glass") == "glass"
