"""Everyday requests in German and Chinese, without a language model."""

from __future__ import annotations

import gettext

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.foreign_requests import LANGUAGES, in_english, table_of
from jarvis_desktop.assistant.planning.planner import LayeredPlanner
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY
from jarvis_desktop.ui.welcome import EXAMPLES
from tests.assistant.planning.planned import ask, file, show


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Wie spät ist es?", "what time is it"),
        ("Stelle bitte einen Timer auf fünf Minuten", "set a timer for 5 minutes"),
        ("Stell einen Wecker auf 7 Uhr", "set an alarm for 7:00"),
        ("weck mich um 6:45 Uhr", "set an alarm for 6:45"),
        ("Kannst du diesen Text zusammenfassen?", "summarise the text"),
        ("Fass brief.txt in drei Sätzen zusammen", "summarise brief.txt in 3 sentences"),
        ("Lies mir das vor", "read it aloud"),
        ("Fasse das zusammen und lies es mir vor", "summarise it and read it aloud"),
        ("übersetze „guten Morgen“ ins Französische", "translate „guten Morgen“ into french"),
        ("Transkribiere diese Aufnahme", "transcribe the recording"),
        ("mach mal das Bild heller", "make the picture brighter"),
        (
            "Wecke mich in einer Viertelstunde und rechne aus, was 18 % von 245 sind",
            "set a timer for 15 minutes and what is 18 percent of 245",
        ),
        ("Rechne 12 mal 12 aus", "what is 12 times 12"),
        ("dreh das Foto um 90 Grad", "rotate the picture by 90 degrees"),
        ("was ist 7 mal 8", "what is 7 times 8"),
        ("Wie viele Kilometer sind 2,5 Meilen?", "convert 2.5 miles to kilometres"),
        ("sag Hallo Welt", "say Hallo Welt"),
        (
            "Lies den Text in diesem Bild, fasse ihn zusammen und speichere ihn als a.txt",
            "extract the text from the picture and summarise it and save it as a.txt",
        ),
        (
            "Wie viele Tage sind es noch bis Weihnachten und wie viel sind 5 Meilen in Kilometern?",
            "how many days until christmas and convert 5 miles to kilometres",
        ),
        ("离圣诞节还有多少天？", "how many days until christmas"),
        ("现在几点了？", "what time is it"),
        ("请设一个五分钟的计时器", "set a timer for 5 minutes"),
        ("总结这份报告，然后翻译成英语", "summarise the report and translate it into english"),
        ("把 a.png 变成黑白", "make a.png black and white"),
        ("把图片旋转90度", "rotate the picture by 90 degrees"),
        ("5英里是多少公里", "convert 5 miles to kilometres"),
        ("朗读“早上好”", "read “早上好” aloud"),
        ("Welcher Wochentag war der 4. Juli 1976?", "what day was 4 july 1976"),
        ("Auf welchen Tag fällt der 3.5.2027?", "what day is 2027-5-3"),
        ("1976年7月4日星期几", "what day is 1976-7-4"),
        (
            "Wie spät ist es in Tokio, wenn es hier 15 Uhr ist?",
            "when it is 15:00 here what time is it in Tokio",
        ),
        ("Wie viele Tage hat der Februar 2028?", "how many days does february 2028 have"),
        ("Welches Datum ist in drei Wochen?", "what day is it in 3 weeks"),
        ("Setz Milch und Eier auf meine Einkaufsliste", "add Milch und Eier to my shopping list"),
        ("把牛奶加到我的购物清单", "add 牛奶 to my shopping list"),
        ("Übersetze guten Morgen ins Französische", "translate “guten Morgen” into french"),
        ("Merke dir, dass ich Tee mag", "remember that ich Tee mag"),
    ],
)
def test_the_same_in_english(text: str, english: str) -> None:
    assert in_english(text) == english


@pytest.mark.parametrize(
    "text",
    [
        "", "What time is it?", "summarise this", "Wann endet der Vertrag?",
        "Fasse das zusammen und schicke es an Anna", "Mach das Bild heller, aber nicht zu sehr",
        "Lies das vor\nEs war einmal", "wie spät ist es" * 40, "把它发给王先生",
    ],
)  # fmt: skip
def test_what_is_not_known_as_a_whole_is_not_taken(text: str) -> None:
    assert in_english(text) is None


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Fasse das zusammen und schicke es an Anna", "summarise it and schicke es an Anna"),
        ("Schicke es an Anna und fasse das zusammen", "Schicke es an Anna and summarise it"),
        ("Ruf Anna an, schicke es ab und mach das Bild heller, dann lies es vor",
         "Ruf Anna an and schicke es ab and make the picture brighter and read it aloud"),
        ("Schicke es ab und ruf Anna an", None),
        ("Schicke es ab", None),
    ],
)  # fmt: skip
def test_known_parts_are_taken_beside_others(text: str, english: str | None) -> None:
    assert in_english(text, whole=False) == english


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_examples_of_the_window_do_what_they_do_in_english(language: str) -> None:
    with shipped("resources", "translations", f"{language}.mo").open("rb") as file_of:
        catalogue = gettext.GNUTranslations(file_of)
    for example in EXAMPLES:
        names = ("letter.png",) if example.sample else ()
        ours = await ask(catalogue.gettext(example.text), *names)
        theirs = await ask(example.text, *names)
        assert isinstance(ours, Plan), example
        assert isinstance(theirs, Plan)
        assert [task.type for task in ours] == [task.type for task in theirs]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_all_that_they_mean_is_planned(language: str) -> None:
    """Each English request of a table, with one value for each slot."""
    values = {
        "{number}": "3", "{number2}": "5", "{long}": "5 minutes", "{time}": "7:30",
        "{unit}": "miles", "{unit2}": "kilometres", "{language}": "french", "{words}": "a castle",
        "{thing}": "it", "{thing2}": "“b”", "{date}": "4 july 1976", "{month}": "march",
    }  # fmt: skip
    kinds = ("png", "wav", "mp4", "txt")
    lost = []
    for english in table_of(language).meanings:
        said = english
        for slot, value in values.items():
            said = said.replace(slot, value)
        planned = [await ask(said.replace("are it", "are “a”"), f"x.{kind}") for kind in kinds]
        plans = [show(plan)[-1] for plan in planned if isinstance(plan, Plan)]
        if all(task.startswith("question-answering(") for task in plans):
            lost.append(said)
    assert not lost


async def test_no_language_model_is_asked_for_them() -> None:
    planner = LayeredPlanner(EmbeddedPlanner(), EmbeddedPlanner())
    planned = await planner.plan(
        "Fasse brief.txt zusammen", INVENTORY, Context((file("brief.txt"),))
    )
    assert isinstance(planned, Plan)
    assert show(planned)[-1] == "summarization(text=#0)"


async def test_german_words_ask_a_table() -> None:
    planner = LayeredPlanner(EmbeddedPlanner(), EmbeddedPlanner())
    planned = await planner.plan(
        "speichere die durchschnittliche Menge pro Stadt als mengen.csv", INVENTORY,
        Context((file("lager.csv"),)),
    )  # fmt: skip
    assert isinstance(planned, Plan)
    assert [task.type.name for task in planned] == ["table-question-answering", "save-file"]
