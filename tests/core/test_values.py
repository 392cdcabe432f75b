"""Artifacts, calls, errors, policy and results."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.errors import ExpertError, InputError, InsertionError, JarvisError
from jarvis_desktop.core.expert import Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Call, report_part
from jarvis_desktop.core.turn import Conversation


def test_an_artifact_is_a_text_or_a_file() -> None:
    for text, path in ((None, None), ("a", Path("b"))):
        with pytest.raises(ValueError, match="either a text or a path"):
            Artifact(Kind.TEXT, text=text, path=path)


def test_titles() -> None:
    assert Artifact(Kind.IMAGE, path=Path("/x/ab12.png"), name="cat.png").title == "cat.png"
    assert Artifact(Kind.IMAGE, path=Path("/x/ab12.png")).title == "ab12.png"
    assert text_artifact("two\n  words").title == "two words"
    assert text_artifact("word " * 20).title == ("word " * 20)[:39] + "…"


def test_errors_cross_process_borders() -> None:
    error = ExpertError("It failed.", hint="Try again.", retryable=True)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.message, copy.hint, copy.retryable) == (
        ExpertError,
        "It failed.",
        "Try again.",
        True,
    )
    assert str(copy) == "It failed. Try again."
    assert str(JarvisError("Alone.")) == "Alone."
    assert pickle.loads(pickle.dumps(InsertionError("Half of it.", rest="more"))).rest == "more"


def test_what_a_call_gives_its_expert(tmp_path: Path) -> None:
    file = Artifact(Kind.IMAGE, path=tmp_path / "a.png", name="cat.png")
    call = Call(
        "task",
        {"text": (text_artifact("one"), text_artifact("two")), "image": (file,)},
        {"amount": 3, "edit": "blur"},
        tmp_path,
    )
    assert call.text("text") == "one\n\ntwo"
    assert call.text("nothing") == ""
    assert call.texts("text") == ("one", "two")
    assert call.file("image") == tmp_path / "a.png"
    assert call.title("image") == "cat.png"
    assert call.title("nothing") == "nothing"
    assert call.number("amount") == 3.0
    assert call.words("edit") == "blur"
    assert call.size == 6, "what is not there counts nothing"
    (tmp_path / "a.png").write_bytes(bytes(100))
    assert call.size == 106
    with pytest.raises(InputError, match="needs a file as its text"):
        call.file("text")


@pytest.mark.parametrize(
    ("mode", "allowed", "downloads"),
    [
        (Mode.OFFLINE, {"builtin", "skill", "local"}, False),
        (Mode.LOCAL, {"builtin", "skill", "local"}, True),
        (Mode.HYBRID, {"builtin", "skill", "local", "hf_api"}, True),
        (Mode.LITE, {"builtin", "skill", "hf_api"}, True),
    ],
)
def test_what_a_mode_allows(mode: Mode, allowed: set[str], downloads: bool) -> None:
    policy = Policy(mode)
    expert = Expert("x", "task")
    candidates = (
        Candidate(expert, "builtin"),
        Candidate(expert, "skill"),
        Candidate(expert, "local", heavy=True),
        Candidate(expert, "hf_api", remote=True),
    )
    assert {item.backend for item in candidates if policy.allows(item)} == allowed
    own = Candidate(expert, "machine", remote=True, provider="box")
    assert policy.allows(own) is (mode in (Mode.HYBRID, Mode.LITE))
    assert Policy(mode, own_machines=True).allows(own) is (mode is not Mode.OFFLINE)
    assert policy.allows_downloads is downloads
    assert Candidate(expert, "local").label == "x (local)"
    assert Candidate(Expert("builtin/clock", "clock"), "builtin").label == "built in"
    far = Candidate(expert, "api", remote=True, provider="fal-ai")
    assert (far.label, far.kept_as, far.endpoint) == ("x (api, fal-ai)", "x@fal-ai", "api:fal-ai")
    assert not expert.only_served
    assert Expert("y", "clock", providers=("fal-ai",)).only_served


def test_a_result_gives_one_kind() -> None:
    picture = Artifact(Kind.IMAGE, path=Path("a.png"))
    result = TaskResult(0, Status.DONE, (text_artifact("1"), picture, text_artifact("2")))
    assert result.of_kind((Kind.IMAGE, Kind.TEXT)) == (text_artifact("1"), text_artifact("2"))
    assert result.of_kind((Kind.IMAGE,)) == (picture,)
    assert result.of_kind((Kind.AUDIO,)) == ()


def test_the_last_turn_of_an_empty_conversation() -> None:
    assert Conversation("x").last is None


def test_what_needs_a_service_names_it() -> None:
    expert = Expert("bart", "summarization")
    assert Candidate(expert, "local").endpoint == ""
    assert Candidate(expert, "llm", remote=True).endpoint == "llm"
    assert Candidate(expert, "api", remote=True, provider="groq").endpoint == "api:groq"


def test_outside_of_a_turn_nobody_listens() -> None:
    current_note.get()("It was put out of memory.")


def test_progress_counts_the_parts_from_one() -> None:
    told: list[tuple[float | None, str]] = []
    for at in range(2):
        report_part(lambda share, words: told.append((share, words)), at, 2)
    assert told == [(0.0, "Part 1 of 2"), (0.5, "Part 2 of 2")]
