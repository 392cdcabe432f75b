"""Tests of how tables begin in JSON."""

import pytest

from jarvis_desktop.text.records import begins_records, begins_wrapped_records


@pytest.mark.parametrize(
    ("head", "plain", "wrapped"),
    [
        (b'\xef\xbb\xbf[ {"a": 1}', True, False),
        (b'{"a": 1}\n{"a": 2}', True, False),
        (b'{"n": -1.5e3, "t": null, "rows": [ {', False, True),
        (b'{"rows": [{"a": 1}]}\n{"rows": []}', False, True),
        (b'{"rows": [1]}', False, False),
        (b'{"rows": {"a": [{', False, False),
        (b"", False, False),
    ],
)
def test_beginnings(head: bytes, plain: bool, wrapped: bool) -> None:
    assert (begins_records(head), begins_wrapped_records(head)) == (plain, wrapped)


def test_a_long_text_that_never_ends_takes_no_time() -> None:
    assert not begins_wrapped_records(b'{"a": "' + b'\\"' * 30_000)
    assert not begins_records(b'{"a": [1]}' + b"\n" * 300_000)
