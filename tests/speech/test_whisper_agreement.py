from jarvis_desktop.speech.whisper import Agreement, Word, text


def words(said: str) -> list[Word]:
    return [Word(f" {word}") for word in said.split()]


def agreement(*passes: str) -> Agreement:
    """After passes that each say all they heard, the settled words too."""
    agreement = Agreement()
    for said in passes:
        agreement.add(words(said)[len(agreement.settled) :])
    return agreement


def test_nothing_is_settled_by_one_pass():
    heard = agreement("what time is it")
    assert heard.settled == []
    assert text(heard.rest) == "what time is it"


def test_what_two_passes_agree_on_is_settled_but_for_the_last_word():
    heard = agreement("set a time", "set a timer for")
    assert text(heard.settled) == "set a"
    assert text(heard.rest) == "timer for"


def test_the_last_word_is_not_settled_even_where_both_passes_agree():
    assert text(agreement("set a time", "set a time").settled) == "set a"


def test_words_after_one_that_changed_are_not_settled():
    heard = agreement("read the letter now", "read a letter now please")
    assert text(heard.settled) == "read"
    assert text(heard.rest) == "a letter now please"


def test_settled_words_stay_whatever_later_passes_hear():
    heard = agreement("one two three", "one two three four", "one two three four five")
    assert text(heard.settled) == "one two three"
    heard.add(words("nothing of this kind"))
    assert text(heard.settled) == "one two three"
    assert text(heard.rest) == "nothing of this kind"


def test_case_and_punctuation_may_change_and_the_newer_is_taken():
    heard = agreement("What time. is", "what Time, is it")
    assert text(heard.settled) == "what Time,"


def test_signs_alone_are_compared_as_they_are():
    assert text(agreement("- one two", "- one two").settled) == "- one"
    assert agreement("- one two", "+ one two").settled == []


def test_silence_settles_everything():
    heard = agreement("what time is it")
    heard.settle()
    assert text(heard.settled) == "what time is it"
    assert heard.rest == []


def test_the_first_words_can_be_left():
    heard = agreement("one two three four", "one two three four")
    assert text(heard.leave(2)) == "one two"
    assert text(heard.settled) == "three"


def test_words_without_spaces_stay_together():
    assert text([Word("今日"), Word("は")]) == "今日は"
    assert text([Word(" New"), Word(" York"), Word(".")]) == "New York."
