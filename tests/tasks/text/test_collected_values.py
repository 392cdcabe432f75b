"""Values collected out of texts by how they are written."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.text.collected_values import (
    COLLECT_VALUES,
    collect,
    day_of,
    kinds_asked,
    values_in,
)
from tests.tasks.calls import call_of, quiet

NOTE = """Ring Ida on +49 30 123456 or 0170/1234567, in the USA (555) 123-4567. Her new address is
Ida@Post.example, the old one ida@post.example; http://post.example/list. The host 192.168.10.250
was down on 12.03.2026. Rent: €1,200.50 from 3. März 2026, before that 900 euros. On 1 May 2025 it
was 25 %, and $30 once, $30 twice. DE89 3704 0044 0532 0130 00 #garden
"""


def lines(folder: Path, asked: str, *texts: str) -> list[str]:
    paths = []
    for number, text in enumerate(texts or (NOTE,)):
        paths.append(folder / f"note{number}.txt")
        paths[-1].write_text(text, "utf-8")
    (made,) = collect(call_of(COLLECT_VALUES.type, folder / "work", text=paths, asked=asked), quiet)
    if made.path:
        with made.path.open(encoding="utf-8", newline="") as file:
            return [" | ".join(row) for row in csv.reader(file)]
    return (made.text or "").splitlines()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("list every phone number", ["+49 30 123456", "0170/1234567", "(555) 123-4567"]),
        ("the e-mail addresses in this letter", ["Ida@Post.example"]),
        ("copy the links from my e-mails", ["http://post.example/list"]),
        ("which IP addresses", ["192.168.10.250"]),
        ("all dates", ["12.03.2026", "3. März 2026", "1 May 2025"]),
        ("the dates, latest first", ["12.03.2026", "3. März 2026", "1 May 2025"]),
        ("sort the dates without duplicates", ["1 May 2025", "3. März 2026", "12.03.2026"]),
        ("the amounts", ["€1,200.50", "900 euros", "$30", "$30"]),
        ("amounts in dollars", ["$30", "$30"]),
        ("amounts, largest first", ["€1,200.50", "900 euros", "$30", "$30"]),
        ("add up the amounts", ["The sum of 2 amounts is 2,100.50 EUR.",
                                "The sum of 2 amounts is 60.00 USD.",
                                "- €1,200.50", "- 900 euros", "- $30", "- $30"]),
        ("alle IBANs und Hashtags", ["DE89 3704 0044 0532 0130 00", "#garden"]),
        ("how many percentages", ["There is 1 in the text: percentage.", "- 25 %"]),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_listed(tmp_path: Path, asked: str, found: list[str]) -> None:
    assert lines(tmp_path, asked) == found


def test_several_texts_are_looked_through_as_one(tmp_path: Path) -> None:
    texts = ("b@c.example a@b.example", "a@b.example and A@B.example")
    assert lines(tmp_path, "e-mails, alphabetically", *texts) == ["a@b.example", "b@c.example"]
    assert lines(tmp_path, "every occurrence of e-mails", *texts)[1:] == [
        "a@b.example", "a@b.example", "A@B.example"
    ]  # fmt: skip
    assert lines(tmp_path, "a table of the e-mails with their counts", *texts) == [
        "e-mail | count | file", "b@c.example | 1 | note0.txt", "a@b.example | 3 | note0.txt"
    ]  # fmt: skip
    assert lines(tmp_path, "a table of the e-mails and links", "a@b.example http://b.example") == [
        "kind | value", "e-mail | a@b.example", "web address | http://b.example"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "text", "error", "message"),
    [
        ("the colours", NOTE, ExpertError, "which values"),
        ("the dates after May", NOTE, ExpertError, "which values"),
        ("the amounts over 100", NOTE, ExpertError, "which values"),
        ("the hashtags", "nothing here", InputError, "nothing of that kind in the text: hashtag"),
        ("the links", "", InputError, "is empty"),
        ("the dates, earliest first", "03/04/2025 and 2025-01-01", ExpertError, "which day"),
        ("the dates, earliest first", "3 May and 2025-01-01", ExpertError, "have no year"),
    ],
)
def test_what_is_not_clear_is_declined(
    tmp_path: Path, asked: str, text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        lines(tmp_path, asked, text)


def test_a_text_that_is_too_long_is_not_read_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.tasks.text.collected_values.MAX_CHARS", 10)
    with pytest.raises(InputError, match=r"note0\.txt is too long"):
        lines(tmp_path, "the links", "http://a.example")


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2025-02-28", (2025, 2, 28)),
        ("1.2.25", (2025, 2, 1)),
        ("25/12/2024", (2024, 12, 25)),
        ("12/25/2024", (2024, 12, 25)),
        ("04/04/2024", (2024, 4, 4)),
        ("May 2024", (2024, 5, 0)),
        ("the 3rd of June", (0, 6, 3)),
        ("3/4/2025", None),
        ("31.02.2025", None),
        ("May June 2024", None),
        ("soon", None),
    ],
)
def test_days_are_known_if_they_are_clear(written: str, day: tuple[int, int, int] | None) -> None:
    assert day_of(written) == day


def test_a_number_in_brackets_is_listed_without_them() -> None:
    found = values_in("Ida (0170 1234567) or (030) 123456", ("phone number",))
    assert [it.text for it in found] == ["0170 1234567", "(030) 123456"]


def test_where_the_values_are_is_no_kind() -> None:
    assert kinds_asked("the phone numbers in these e-mails") == ("phone number",)
    assert kinds_asked("how many times is it said") == ()


@pytest.mark.parametrize("run", ["x" * 60_000, "1 " * 30_000, "a@" * 30_000, "(0" * 30_000])
def test_long_runs_of_signs_are_read(run: str) -> None:
    kinds = ("email", "phone number", "date", "money", "web address", "ip", "iban", "hashtag")
    assert isinstance(values_in(run, kinds), list)
