import io
import json
import zipfile
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.documents.to_text import DOCUMENT_TO_TEXT, read
from tests.tasks.calls import call_of, quiet, text_of

WORD = "http://schemas.openxmlformats.org/drawingml/2006/main"


def text_in(path: Path) -> str:
    return text_of(read(call_of(DOCUMENT_TO_TEXT.type, path.parent / "work", document=path), quiet))


def pdf_with(text: str, *, pages: int = 1) -> bytes:
    """A PDF made by hand, each page with one line of text."""
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number in range(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out = io.BytesIO(b"")
    out.write(b"%PDF-1.4\n")
    places = []
    for at, content in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (at, content))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(
        b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    )
    return out.getvalue()


def test_plain_text_of_any_encoding(tmp_path: Path):
    for encoding in ("utf-8", "utf-16", "cp1252"):
        file = tmp_path / f"{encoding}.txt"
        file.write_bytes("Grüße aus dem schönen Zürich, mit Käse für alle Gäste.".encode(encoding))
        assert text_in(file) == "Grüße aus dem schönen Zürich, mit Käse für alle Gäste."


def test_pdf(tmp_path: Path):
    file = tmp_path / "letter.pdf"
    file.write_bytes(pdf_with("Dear reader", pages=2))
    assert text_in(file) == "Dear reader\n\nDear reader"


def test_pdf_is_known_without_its_ending(tmp_path: Path):
    file = tmp_path / "letter.txt"
    file.write_bytes(pdf_with("Dear reader"))
    assert text_in(file) == "Dear reader"


def test_encrypted_pdf_asks_for_a_copy_without_password(tmp_path: Path):
    writer = PdfWriter(PdfReader(io.BytesIO(pdf_with("secret"))))
    writer.encrypt("word", algorithm="AES-256")
    file = tmp_path / "secret.pdf"
    writer.write(file)
    with pytest.raises(InputError, match=r"secret\.pdf needs a password"):
        text_in(file)


def test_scanned_pdf_is_read_by_ocr(tmp_path: Path):
    page = Image.new("RGB", (1000, 300), "white")
    ImageDraw.Draw(page).text((60, 100), "MEETING AT NOON", "black", ImageFont.load_default(80))
    file = tmp_path / "scan.pdf"
    page.save(file, "PDF")
    assert "NOON" in text_in(file).upper()


def test_pdf_with_a_circle_in_its_pages(tmp_path: Path):
    data = pdf_with("x").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")
    file = tmp_path / "circle.pdf"
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"circle\.pdf"):
        text_in(file)


def test_docx_with_a_table(tmp_path: Path):
    document = docx.Document()
    document.add_paragraph("Before the table.")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    document.add_paragraph("After it.")
    document.save(str(tmp_path / "a.docx"))
    text = text_in(tmp_path / "a.docx")
    assert text.index("Before") < text.index("left\tright") < text.index("After")


def test_pptx_in_the_order_of_its_slides(tmp_path: Path):
    file = tmp_path / "talk.pptx"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ppt/presentation.xml", "<p/>")
        for number in (10, 2, 1):
            runs = f"<a:r><a:t>Slide </a:t></a:r><a:r><a:t>{number}</a:t></a:r>"
            slide = f'<s xmlns:a="{WORD}"><a:p>{runs}</a:p></s>'
            archive.writestr(f"ppt/slides/slide{number}.xml", slide)
    assert text_in(file) == "Slide 1\n\nSlide 2\n\nSlide 10"


def test_xlsx_csv_and_json_give_the_same_lines(tmp_path: Path):
    rows = [{"city": "Bern", "people": 134000}, {"city": "Lyon", "people": 522000}]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.csv").write_text("city;people\nBern;134000\nLyon;522000\n")
    book = openpyxl.Workbook()
    assert book.active
    for row in (["city", "people"], *([row["city"], row["people"]] for row in rows)):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    book.close()
    for name in ("a.json", "a.csv", "a.xlsx"):
        assert text_in(tmp_path / name) == "city: Bern; people: 134000\ncity: Lyon; people: 522000"


def test_an_object_is_read_with_all_that_it_says(tmp_path: Path):
    said = {"shop": "north", "orders": [{"total": 20}]}
    (tmp_path / "a.json").write_text(json.dumps(said))
    assert json.loads(text_in(tmp_path / "a.json")) == said


def test_html_without_its_scripts(tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text(
        "<html><head><title>Title</title><style>p {}</style></head><body><p>One&nbsp;&amp; two"
        "<script>alert('x')</script></p><ul><li>three<li>four</ul><!-- five --></body>"
    )
    assert text_in(file).split() == ["Title", "One", "&", "two", "three", "four"]


def test_mail(tmp_path: Path):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@a.example", "bob@b.example", "Lünch"
    mail.set_content("Noon?\n")
    mail.add_attachment(b"data", maintype="image", subtype="png", filename="menu.png")
    file = tmp_path / "mail.eml"
    file.write_bytes(bytes(mail))
    text = text_in(file)
    assert "From: ann@a.example" in text
    assert "Subject: Lünch" in text
    assert "Noon?" in text
    assert text.endswith("Attached: menu.png")


def test_rtf(tmp_path: Path):
    file = tmp_path / "a.rtf"
    file.write_bytes(rb"{\rtf1\ansi\ansicpg1252 Hello \b W\'f6rld\b0 .\par Second.}")
    assert text_in(file) == "Hello Wörld.\nSecond."


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.txt", b"", "empty"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n\x00\x00\x00", "binary"),
        ("no.pdf", b"this is no pdf", "damaged"),
        ("cut.pdf", pdf_with("x")[:200], "damaged"),
        ("cut.docx", b"PK\x03\x04 and then nothing", "damaged"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "old Office format"),
        ("deep.json", b"[" * 100_000, "damaged"),
        ("no.json", b"{nothing}", "damaged"),
        ("a.json", b'[{"a": ' + b'[{"b": ' * 480 + b"1" + b"}]" * 480 + b"}]", "damaged"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, name: str, content: bytes, reason: str):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}.*{reason}"):
        text_in(file)


def test_archive_bombs_are_not_opened(tmp_path: Path):
    file = tmp_path / "bomb.docx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(60_000_000))
    with pytest.raises(InputError, match=r"bomb\.docx would unpack"):
        text_in(file)


def test_entities_in_xml_are_not_expanded(tmp_path: Path):
    file = tmp_path / "laughs.pptx"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ppt/presentation.xml", "<p/>")
        archive.writestr("ppt/slides/slide1.xml", '<!DOCTYPE x [<!ENTITY a "ha">]><x>&a;</x>')
    with pytest.raises(InputError, match=r"laughs\.pptx is damaged"):
        text_in(file)


def test_a_plain_archive_is_no_document(tmp_path: Path):
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(InputError, match="archive, not a document"):
        text_in(file)


def test_long_texts_are_cut_with_a_note(tmp_path: Path):
    file = tmp_path / "long.txt"
    file.write_text("word " * 500_000)
    text = text_in(file)
    assert len(text) < 2_000_200
    assert "2,000,000" in text[-100:]
