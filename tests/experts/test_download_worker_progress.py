from __future__ import annotations

from jarvis_desktop.experts.download_worker import Progress

MB = 1_000_000


class Told:
    """A report and a clock that is set by hand."""

    def __init__(self, total: int, files: int = 1) -> None:
        self.now = 0.0
        self.words: list[str] = []
        self.fractions: list[float | None] = []
        self.progress = Progress(self.report, total, files=files, clock=lambda: self.now)

    def report(self, fraction: float | None, words: str) -> None:
        self.fractions.append(fraction)
        self.words.append(words)

    def at(self, seconds: float, count: int) -> str:
        self.now = seconds
        self.progress(count)
        return self.words[-1]


def test_speed_and_time_left_come_with_the_second_report():
    told = Told(100 * MB)
    assert told.at(0, 10 * MB) == "10 of 100 MB"
    assert told.at(1, 12 * MB) == "12 of 100 MB, 2.0 MB/s, 44 s left"
    assert told.at(50, 100 * MB) == "100 of 100 MB"


def test_what_is_small_is_told_in_kilobytes():
    told = Told(400_000)
    assert told.at(0, 0) == "0 of 400 kB"
    assert told.at(1, 100_000) == "100 of 400 kB, 100.0 kB/s, 3 s left"


def test_the_speed_is_that_of_the_last_seconds():
    told = Told(1000 * MB)
    for second in range(20):
        told.at(second, second * 10 * MB)
    for second in range(20, 27):
        told.at(second, 190 * MB + (second - 19) * MB)
    assert told.words[-1] == "197 of 1000 MB, 1.0 MB/s, 13 min left"


def test_long_waits_are_told_in_hours_and_standstill_without_a_time():
    told = Told(100_000 * MB)
    told.at(0, 0)
    assert told.at(1, 2 * MB).endswith("2.0 MB/s, 13.9 h left")
    assert told.at(10, 2 * MB) == "2 of 100000 MB"


def test_what_an_earlier_fetch_had_brought_is_no_speed():
    told = Told(1000 * MB, files=3)
    told.progress.had(100 * MB)
    told.at(0, 100 * MB)
    told.progress.next_file(100 * MB)
    told.progress.had(500 * MB)
    assert told.at(1, 502 * MB) == "602 of 1000 MB (file 2 of 3), 2.0 MB/s, 3 min left"
    told.progress.next_file(500 * MB)
    assert told.at(1.5, 0) == "600 of 1000 MB (file 3 of 3)"
    assert told.at(2, 10 * MB) == "610 of 1000 MB (file 3 of 3), 5.0 MB/s, 78 s left"


def test_files_are_counted_and_their_bytes_added_up():
    told = Told(30 * MB, files=2)
    told.at(0, 10 * MB)
    told.progress.next_file(10 * MB)
    assert told.at(1, 5 * MB) == "15 of 30 MB (file 2 of 2), 5.0 MB/s, 3 s left"
    told.progress.next_file(20 * MB)
    assert told.at(2, 0) == "30 of 30 MB (file 2 of 2)"
    assert told.fractions == [10 / 30, 0.5, 1.0]


def test_reports_come_ten_times_a_second_at_most():
    told = Told(100 * MB)
    for step in range(100):
        told.at(step / 1000, step * MB)
    assert len(told.words) == 1
    assert told.at(0.0995, 100 * MB) == "100 of 100 MB"
