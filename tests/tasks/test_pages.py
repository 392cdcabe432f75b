"""The scanned pages of a PDF as pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.documents.pdf import is_pdf, page_pictures
from tests.tasks.documents.test_to_text import pdf_with


def scan(path: Path, *colours: str) -> Path:
    first, *others = [Image.new("RGB", (300, 400), colour) for colour in colours]
    first.save(path, save_all=True, append_images=others)
    return path


def test_scanned_pages_come_in_their_order(tmp_path: Path) -> None:
    path = scan(tmp_path / "a.pdf", "red", "blue", "green")
    assert is_pdf(path)
    pages = page_pictures(path, name="a.pdf", most=2)
    assert [page.size for page in pages] == [(625, 834)] * 2  # 72 dots an inch become 150
    tops = [int(np.asarray(page)[9, 9].argmax()) for page in pages]
    assert tops == [0, 2]


def test_written_pages_are_drawn_unless_there_are_more(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_with("This page says so in words.", pages=2))
    pages = page_pictures(path, name="a.pdf", most=2)
    assert len(pages) == 2
    assert all(np.asarray(page).min() < 100 < np.asarray(page).mean() for page in pages)
    assert page_pictures(path, name="a.pdf", most=1) == []


def test_a_password_is_told(tmp_path: Path) -> None:
    import pypdf

    writer = pypdf.PdfWriter(scan(tmp_path / "a.pdf", "red"))
    writer.encrypt("secret", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    with pytest.raises(InputError, match=r"locked\.pdf.*password"):
        page_pictures(tmp_path / "locked.pdf", name="locked.pdf", most=2)


def test_what_is_damaged_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "torn.pdf"
    path.write_bytes(scan(tmp_path / "a.pdf", "red").read_bytes()[:200])
    with pytest.raises(InputError, match=r"torn\.pdf"):
        page_pictures(path, name="torn.pdf", most=2)
    (tmp_path / "note.txt").write_text("no PDF")
    assert not is_pdf(tmp_path / "note.txt")
