"""How long a call may take, by what is known."""

from __future__ import annotations

from dataclasses import replace

from jarvis_desktop.assistant.execution.task_runner import MIN_DEADLINE_S, deadline
from jarvis_desktop.core.expert import Candidate, Experience, Expert

HERE = Candidate(Expert("nllb", "translation", download_mb=2000), "local")
AFAR = Candidate(Expert("gpt", "translation", download_mb=2000), "api", remote=True)
KNOWN = Experience(runs=9, worked=8, seconds=10.0, slowest=60.0, largest=1000)


def test_where_too_little_is_known_the_backend_decides() -> None:
    assert deadline(HERE, None, size=10) is None
    assert deadline(HERE, Experience(runs=9, worked=0), size=10) is None
    assert deadline(HERE, replace(KNOWN, worked=2), size=10) is None
    assert deadline(HERE, replace(KNOWN, largest=0), size=10) is None


def test_it_is_some_times_the_slowest_run_and_more_for_larger_work() -> None:
    assert deadline(HERE, KNOWN, size=10) == 240
    assert deadline(HERE, KNOWN, size=2000) == 480
    assert deadline(HERE, replace(KNOWN, largest=0), size=0) == 240


def test_what_is_quick_gets_time_for_loading_its_weights() -> None:
    quick = replace(KNOWN, slowest=0.5)
    assert deadline(HERE, quick, size=10) == MIN_DEADLINE_S + 100
    assert deadline(AFAR, quick, size=10) == MIN_DEADLINE_S


def test_what_ran_out_of_time_gets_more_the_next_time() -> None:
    assert deadline(HERE, KNOWN, size=10, timeouts=1) == 960
