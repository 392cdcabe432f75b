import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.text.languages import tongue
from jarvis_desktop.text.speakable import read, speakable

ENGLISH = [
    # dates
    ("on 2026-11-22", "on November 22nd, 2026"),
    ("on 2026-02-30", "on 2026-02-30"),
    ("2026-01-01 to 2026-01-03", "January 1st, 2026 to January 3rd, 2026"),
    ("on 22/11/2026", "on November 22nd, 2026"),
    ("on 11/22/2026", "on November 22nd, 2026"),
    ("on 4/4/2026", "on April 4th, 2026"),
    ("on 05/06/2026", "on 5 6 2026"),
    ("on 31/31/2026", "on 31 31 2026"),
    ("Nov 22, 2026", "November 22, 2026"),
    ("22 Nov. 2026", "22 November 2026"),
    ("Sept 3 and May 4", "September 3 and May 4"),
    ("12th of March 2026", "12th of March 2026"),
    ("the 1980s", "the nineteen eighties"),
    ("from the 1900s to the 2010s", "from the nineteen hundreds to the twenty tens"),
    ("after 30s", "after 30 seconds"),
    ("on Tues. or Thurs. at noon", "on Tuesday or Thursday at noon"),
    ("They look at 1 Sun.", "They look at 1 Sun."),
    ("law dept.", "law department."),
    # times
    ("at 14:30", "at 14 30"),
    ("at 9:00 or 14:05", "at 9 o'clock or 14 oh 5"),
    ("at 9:00 am", "at 9 AM"),
    ("at 5:30 p.m. sharp", "at 5 30 PM sharp"),
    ("at 5:30 p.m.", "at 5 30 PM."),
    ("at 9am or 10 PM", "at 9 AM or 10 PM"),
    ("10:00–11:30", "10 o'clock to 11 30"),
    ("took 12:30:15", "took 12 30 and 15 seconds"),
    ("at 2026-11-22T14:30:00Z", "at November 22nd, 2026, 14 30 UTC"),
    ("the ratio 16:9", "the ratio 16 to 9"),
    ("a score of 30:75", "a score of 30 to 75"),
    # ranges
    ("pages 5–10", "pages 5 to 10"),
    ("pages 5-10", "pages 5 to 10"),
    ("2019–2026", "2019 to 2026"),
    ("10-5", "10-5"),
    ("1,000-2,000 people", "one thousand to two thousand people"),
    ("COVID-19 and F-16", "COVID-19 and F-16"),
    ("5–10 %", "5 to 10 percent"),
    # money
    ("€5", "5 euros"),
    ("5 €", "5 euros"),
    ("€1", "1 euro"),
    ("$3.50", "3 dollars 50"),
    ("$3.05", "3 dollars 5"),
    ("$5.00", "5 dollars"),
    ("$0.99 or $0.01", "99 cents or 1 cent"),
    ("£0.50", "0 pounds 50"),
    ("£2m", "2 million pounds"),
    ("$3.5 billion", "3.5 billion dollars"),
    ("$1,234.56", "one thousand two hundred and thirty four dollars 56"),
    ("£1,150", "one thousand one hundred and fifty pounds"),
    ("$0.125", "0.125 dollars"),
    ("20 EUR or USD 30", "20 euros or 30 dollars"),
    ("¥500", "500 yen"),
    ("US$5", "5 dollars"),
    ("$5-10", "5 to 10 dollars"),
    ("£5-£10", "5 to 10 pounds"),
    ("-$5", "minus 5 dollars"),
    # shares and units
    ("5% of it", "5 percent of it"),
    ("5 % of it", "5 percent of it"),
    ("2 ‰", "2 per thousand"),
    ("1 ‰", "1 per thousand"),
    ("3.5 GB", "3.5 gigabytes"),
    ("1 GB", "1 gigabyte"),
    ("20 km/h", "20 kilometers per hour"),
    ("1 km/h", "1 kilometer per hour"),
    ("5 °C", "5 degrees Celsius"),
    ("5°C", "5 degrees Celsius"),
    ("1 °F", "1 degree Fahrenheit"),
    ("-5 °C", "minus 5 degrees Celsius"),
    ("−3 °C", "minus 3 degrees Celsius"),
    ("an angle of 90°", "an angle of 90 degrees"),
    ("10 m²", "10 square meters"),
    ("1 m²", "1 square meter"),
    ("9.8 m/s²", "9.8 meters per second squared"),
    ("50 MB/s", "50 megabytes per second"),
    ("20 ms, 3 min, 2 h", "20 milliseconds, 3 minutes, 2 hours"),
    ("1 kWh", "1 kilowatt hour"),
    ("2.4 GHz", "2.4 gigahertz"),
    ("1 Hz", "1 hertz"),
    ("6 ft or 1 ft", "6 feet or 1 foot"),
    ("1 lx", "1 lux"),
    ("10k users", "10 thousand users"),
    ("3M rows", "3 million rows"),
    ("2.5bn years", "2.5 billion years"),
    ("a 4K film", "a 4K film"),
    # fractions and long numbers
    ("½ of it", "one half of it"),
    ("2½ cups", "2 and a half cups"),
    ("1 ¾ cups", "1 and 3 quarters cups"),
    ("1/2 and 3/4", "one half and 3 quarters"),
    ("1 1/2 cups", "1 and a half cups"),
    ("8/10 people", "8 out of 10 people"),
    ("97/100", "97 out of 100"),
    ("open 24/7", "open 24 7"),
    ("1,234,567 people", "1234567 people"),
    ("1,284 rows", "one thousand two hundred and eighty four rows"),
    ("15,000 rows", "15000 rows"),
    # abbreviations
    ("see fig. 4 and vol. 2, pp. 3-5", "see figure 4 and volume 2, pages 3 to 5"),
    ("the fig. on the table", "the fig. on the table"),
    ("Prof. Okafor of the dept. of law", "professor Okafor of the department of law"),
    ("1 234 567 people", "1234567 people"),
    ("the 1st, 2nd and 3rd", "the 1st, 2nd and 3rd"),
    ("No. 5, #7, № 8, § 9", "number 5, number 7, number 8, section 9"),
    ("0.5", "0.5"),
    # names for computers
    ("v1.2.3", "version 1 point 2 point 3"),
    ("v2 and v1.0-beta", "version 2 and version 1 point 0 beta"),
    ("version 1.2.3", "version 1 point 2 point 3"),
    ("at 192.168.0.1", "at 192 dot 168 dot 0 dot 1"),
    ("report_final.pdf", "report final pdf"),
    ("my-file.v2.tar.gz", "my file v2 tar gz"),
    ("/home/anna/notes.txt", "home anna notes txt"),
    ("~/notes/", "notes"),
    ("C:\\Users\\anna\\a.docx", "C Users anna a docx"),
    ("src/main/app.py", "src main app py"),
    ("snake_case_name", "snake case name"),
    ("anna.b@example.com", "anna dot b at example dot com"),
    ("anna_b+x@my-mail.de", "anna underscore b plus x at my dash mail dot de"),
    ("example.org", "example dot org"),
    ("commit 3f2a9c81d4e7b6", "commit a long code"),
    ("commit 3F2A9C81D4E7B6", "commit a long code"),
    ("550e8400-e29b-41d4-a716-446655440000", "a long code"),
    ("sha256:3f2a9c81d4e7b6aabbccdd", "a long code"),
    ("key aB3dE5fG7hI9jK1lM3nO5", "key a long code"),
    ("deadbeef", "deadbeef"),
    ("+49 30 1234567", "plus 4 9, 3 0, 1 2 3 4 5 6 7"),
    ("555-123-4567", "5 5 5, 1 2 3, 4 5 6 7"),
    ("(555) 123-4567", "5 5 5, 1 2 3, 4 5 6 7"),
    ("1234 5678 1234 5678", "1 2 3 4, 5 6 7 8, 1 2 3 4, 5 6 7 8"),
    ("4012888888881881", "4 0 1 2 8 8 8 8 8 8 8 8 1 8 8 1"),
    ("0049301234", "0 0 4 9 3 0 1 2 3 4"),
    ("C# and C++", "C sharp and C plus plus"),
    ("#topic by @anna", "hashtag topic by at anna"),
    # maths, signs, chemistry
    ("x² + y", "x squared plus y"),
    ("x³ and x⁴", "x cubed and x to the power of 4"),
    ("x^2 and 10^-3", "x squared and 10 to the power of -3"),
    ("3 < 4 and 5 > 2", "3 is less than 4 and 5 is more than 2"),
    ("it is <5 and >3", "it is less than 5 and more than 3"),
    ("about ~5 or ≈6", "about about 5 or about 6"),
    ("2 * 3 = 6", "2 times 3 equals 6"),
    ("2x3 and 4×5", "2 times 3 and 4 times 5"),
    ("8 / 2 = 4", "8 divided by 2 equals 4"),
    ("5 - 3 = 2", "5 minus 3 equals 2"),
    ("5 ÷ 2 ≠ 2", "5 divided by 2 is not 2"),
    ("√2 and ∞", "square root of 2 and infinity"),
    ("±2 or +3 or 5+", "plus or minus 2 or plus 3 or 5 or more"),
    ("a -> b → c", "a to b to c"),
    ("x >= 5 and y != 3", "x at least 5 and y is not 3"),
    ("salt & pepper", "salt and pepper"),
    ("H₂O and CO2", "H 2 O and C O 2"),
    ("C₆H₁₂O₆", "C 6 H 12 O 6"),
    ("x₁", "x 1"),
    ("the α value, π, ΔT", "the alpha value, pi, delta T"),
    ("and/or", "and or"),
    ("this — that", "this – that"),
    ("e.g. this, i.e. that", "for example this, that is that"),
    ("this vs. that, approx. 5", "this versus that, about 5"),
    ("w/o it", "without it"),
    ("it's a \"good\" one, isn't it?", "it's a \"good\" one, isn't it?"),
    ("A4, B12, MP3, iPhone 15", "A4, B12, MP3, iPhone 15"),
]  # fmt: skip

OTHERS = [
    "Das Treffen ist am 22.11.2026 um 14:30 Uhr.",
    "Es kostet 5 € & das ist 10 % mehr als 3,50 €.",
    "La réunion est à 14:30 & le prix est de 5 %.",
    "La reunión es el 2026-11-22 y cuesta 5 € por persona.",
    "Il prezzo è di 5 € per 3.5 GB.",
    "Встреча в 14:30, цена 5 €.",
    "会议在14:30，价格5€。",
    "Der Wert ist -5 °C, also ½ davon, 1.234.567 mal.",
]


@pytest.mark.parametrize(("written", "spoken"), ENGLISH)
def test_english(written, spoken):
    assert read(written, english=True) == spoken


@pytest.mark.parametrize("text", OTHERS)
def test_no_english_words_come_into_other_languages(text):
    assert speakable(text) == text


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Das steht in bericht_final.pdf.", "Das steht in bericht final pdf."),
        ("Der Commit ist 3f2a9c81d4e7b6aa.", "Der Commit ist 3 f 2 a…"),
        ("Das Kind heißt mein_kind.", "Das Kind heißt mein kind."),
        ("Das ist die +49 30 1234567.", "Das ist die +4 9, 3 0, 1 2 3 4 5 6 7."),
        ("C'est dans /home/anna/notes.txt.", "C'est dans home anna notes txt."),
        ("Es sind 1\u202f234\u202f567 für die Stadt.", "Es sind 1234567 für die Stadt."),
        ("Es sind 1 234 567 für die Stadt.", "Es sind 1234567 für die Stadt."),
    ],
)
def test_what_is_read_alike_in_every_language(written, spoken):
    assert speakable(written) == spoken


def test_what_does_not_tell_its_language_is_read_as_the_sentence_before():
    assert speakable("Das ist der Preis:\n5 €\nThis is the price:\n5 €").splitlines() == [
        "Das ist der Preis:",
        "5 €.",
        "This is the price:",
        "5 euros.",
    ]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The café is open.", "english"),
        ("It costs $5 in Zürich.", "english"),
        ("Das ist so.", "foreign"),
        ("Les enfants sont là.", "foreign"),
        ("El niño no está.", "foreign"),
        ("Привет, как дела?", "foreign"),
        ("你好，世界", "foreign"),
        ("Müller", "foreign"),
        ("x² + y = 10", "unclear"),
        ("the der", "unclear"),
        ("α = 5 GB", "unclear"),
        ("die_datei.pdf und/oder", "unclear"),
        ("36", "unclear"),
        ("", "unclear"),
    ],
)
def test_tongue(text, known):
    assert tongue(text) == known


CODE = st.text(
    st.sampled_from("0123456789.,:-–/\\_@#€$%°½²₂^+<>=~|()[]{} \u00a0abcdefvxZKMGBT'\"\nµα→"),
    max_size=300,
)


@settings(deadline=None)
@given(CODE, st.booleans())
def test_any_jumble_is_read_without_signs(text, english):
    spoken = read(text, english=english)
    if english:
        assert not set(spoken) & set("_@#€$%°½²₂^<>=~|{}\\→")


@settings(deadline=None)
@given(st.text(max_size=300), st.booleans())
def test_any_text_can_be_read(text, english):
    words = [word for word in text.split() if word.isascii() and word.isalpha() and word.islower()]
    spoken = read(text, english=english)
    assert all(word in spoken or word == "vs" for word in words)
