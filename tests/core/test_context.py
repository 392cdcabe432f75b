from jarvis_desktop.core.context import (
    current_conversation,
    in_private_conversation,
    is_private,
    local_now,
    private_id,
)


def test_the_id_says_that_a_conversation_is_not_to_be_kept():
    first, second = private_id(), private_id()
    assert first != second
    assert is_private(first)
    assert not is_private("4f1a")
    assert not is_private("")


def test_what_runs_knows_whether_it_works_for_one():
    assert not in_private_conversation()
    before = current_conversation.set(private_id())
    assert in_private_conversation()
    current_conversation.reset(before)
    assert not in_private_conversation()


def test_the_local_time_knows_its_zone():
    assert local_now().utcoffset() is not None
