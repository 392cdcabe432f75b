from jarvis_desktop.core.context import current_conversation, is_unkept, unkept_id, works_unkept


def test_the_id_says_that_a_conversation_is_not_to_be_kept():
    first, second = unkept_id(), unkept_id()
    assert first != second
    assert is_unkept(first)
    assert not is_unkept("4f1a")
    assert not is_unkept("")


def test_what_runs_knows_whether_it_works_for_one():
    assert not works_unkept()
    before = current_conversation.set(unkept_id())
    assert works_unkept()
    current_conversation.reset(before)
    assert not works_unkept()
