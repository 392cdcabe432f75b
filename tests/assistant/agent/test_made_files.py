"""What the checks of goals read from files."""

from __future__ import annotations

import csv
from pathlib import Path

from jarvis_desktop.assistant.agent.made_files import csv_rows, data_words
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from tests.assistant.agent.workplace import file


def test_words_by_which_results_differ(tmp_path: Path) -> None:
    table = file(tmp_path, "towns.csv", "Town,Who\nUlm,Berta Brot\n")
    text = file(tmp_path, "weekend.txt", "Then met Anna in room B12.\n")
    gone = Artifact(Kind.TEXT, path=tmp_path / "gone.txt", name="gone.txt")
    files = {"towns.csv": table, "weekend.txt": text, "gone.txt": gone}
    files["photo.png"] = file(tmp_path, "photo.png")
    files["text"] = text_artifact("From Zoe")
    words = data_words(files)
    assert {"towns", "ulm", "berta", "brot", "weekend", "anna", "b12", "zoe", "photo"} <= {*words}
    assert not {"town", "who", "met", "room"} & {*words}
    assert words["ulm"] == {"Ulm"}


def test_long_words_are_read_at_once(tmp_path: Path) -> None:
    text = file(tmp_path, "long.txt", f"{'y' * 200_000} 7b _x9 {'Z' * 9}")
    assert {*data_words({"long.txt": text})} == {"long", "7b", "_x9", "z" * 9}


def test_a_table_that_is_broken_has_no_rows(tmp_path: Path) -> None:
    assert csv_rows(file(tmp_path, "a.csv", "a,b\n1,2\n\n")) == [("a", "b"), ("1", "2")]
    usual = csv.field_size_limit(131_072)  # reading other tables may have raised it
    try:
        assert csv_rows(file(tmp_path, "a.csv", "a\n" + "x" * 200_000)) is None
    finally:
        csv.field_size_limit(usual)
    assert csv_rows(file(tmp_path, "a.txt")) is None
