# ruff: noqa: E501
"""Charts of tables, and a few words that ask a table without a question."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.planner import asks_for_agent
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.core.task import Ref
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import PLANNER, ask, conversation, file, show

ASKING = "table-question-answering"


@pytest.mark.parametrize(
    "text",
    [
        "average price by city", "top 5 products", "revenue per month 2024", "orders per country",
        "Durchschnittspreis je Stadt", "Umsatz pro Monat 2024", "summe der umsätze nach kunde",
        "the ten cheapest products", "median salary by department", "sum of revenue in 2023",
        "total sales per region, highest first", "die fünf teuersten Produkte",
    ],
)  # fmt: skip
async def test_a_few_words_ask_the_table_that_is_given(text: str) -> None:
    (task,) = show(await ask(text, "sales.csv"))
    assert task.startswith(f"{ASKING}(table=sales.csv, question=")


@pytest.mark.parametrize(
    ("text", "names", "tasks"),
    [
        ("sort orders.csv by price", "orders.csv", ["edit-table"]),
        ("sort it by date, newest first", "o.csv", ["edit-table"]),
        ("Sortiere die Tabelle nach Betrag, höchster zuerst", "o.csv", ["edit-table"]),
        ("how many people in the IT team earn more than 5000?", "o.csv", [ASKING]),
        ("how many days had more than 10 mm of rain?", "o.csv", [ASKING]),
        ("entferne doppelte Zeilen und sortiere nach Preis", "o.csv", ["edit-table"]),
        ("delete all rows where status is returned", "o.csv", ["edit-table"]),
        ("keep only the rows where city is Berlin and save as b.csv", "o.csv", ["edit-table", "save-file"]),
        ("join a.csv and b.csv by customer id", "a.csv b.csv", ["edit-table"]),
        ("merge these two tables", "a.csv b.csv", ["edit-table"]),
        ("combine these into one pdf", "a.csv b.csv", ["join-files"]),
        ("sort it by price and give me the three cheapest", "o.csv", ["edit-table", ASKING]),
        ("remove duplicates and chart price by month", "o.csv", ["edit-table", "chart"]),
        ("sort by price, remove duplicates and convert it to xlsx", "o.csv", ["edit-table", "convert-file"]),
        ("the ten cheapest as a new CSV", "o.csv", ["edit-table"]),
        ("make a copy without the phone column", "o.csv", ["edit-table"]),
        ("which city has the highest turnover and which has the lowest?", "o.csv", [ASKING]),
    ],
)  # fmt: skip
async def test_tables_are_changed(text: str, names: str, tasks: list[str]) -> None:
    planned = await ask(text, *names.split())
    assert isinstance(planned, Plan)
    assert not planned.undone
    assert [task.type.name for task in planned] == tasks
    for step in list(planned)[1:]:
        assert {type(item) for _, item in step.items()} & {Ref}
    assert all(step.wanted for step in list(planned)[:-1] if tasks[-1] in (ASKING, "chart"))


@pytest.mark.parametrize(
    ("text", "question", "name"),
    [
        ("save the average price by town as a.csv", "the average price by town", "a.csv"),
        ("Export the ten cheapest products to a.xlsx", "the ten cheapest products", "a.xlsx"),
        ("Make a table sums.csv with the total amount of each region",
         "the total amount of each region", "sums.csv"),
        ("Save the dearest product of each category in a file called b.csv",
         "the dearest product of each category", "b.csv"),
        ("speichere den mittleren Preis pro Stadt in x.csv", "den mittleren Preis pro Stadt",
         "x.csv"),
    ],
)  # fmt: skip
async def test_an_answer_is_saved_and_not_its_table(text: str, question: str, name: str) -> None:
    asked, saved = show(await ask(text, "sales.csv"))
    assert asked.startswith(f"{ASKING}(table=sales.csv, question={question}, as a table)")
    assert saved == f"save-file(content=#0, name={name})"


async def test_a_category_of_a_table_sorts_no_texts() -> None:
    (asked,) = show(await ask("What is the dearest product of each category?", "sales.csv"))
    assert asked.startswith(ASKING)


async def test_the_wording_of_tables_is_not_compared() -> None:
    text = "Compare the receipts with the plan: in which categories did we spend too much?"
    found = await ask(text, "plan.csv", "receipts.csv")
    assert isinstance(found, PlanRejected) or {task.type.name for task in found} == {ASKING}


async def test_what_is_not_a_table_is_not_changed_as_one() -> None:
    for text in ("sort it by price", "remove duplicates", "keep only the first page"):
        planned = await ask(text, "notes.pdf")
        found = [task.type.name for task in planned] if isinstance(planned, Plan) else []
        assert "edit-table" not in found


async def test_a_second_wish_about_a_change_is_not_lost() -> None:
    planned = await ask("sort the orders by price and email them to Anna", "o.csv")
    assert isinstance(planned, Plan)
    assert planned.undone == ("email them to anna",)


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("who was Alan Turing?", []),
        ("and what is France", []),
        ("where is Berlin", [ASKING]),
        ("which city was the best", [ASKING]),
    ],
)
async def test_a_name_that_was_not_heard_before_is_not_asked_of_the_last_table(
    text: str, tasks: list[str]
) -> None:
    earlier = conversation(given=(file("sales.csv"),), reply="Berlin has the most.")
    planned = await PLANNER.plan(text, INVENTORY, Context(conversation=earlier))
    shown = [] if isinstance(planned, PlanRejected) else show(planned)
    assert [line.partition("(")[0] for line in shown] == tasks


async def test_they_ask_the_table_of_the_last_turn() -> None:
    earlier = conversation(text_artifact("12"), given=(file("sales.csv"),))
    assert show(await ask("average price by city", earlier=earlier)) == [
        f"{ASKING}(table=sales.csv, question=average price by city)"
    ]
    assert show(await ask("and as a bar chart", earlier=earlier)) == [
        "chart(table=sales.csv, question=and as a bar chart)"
    ]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("write a poem about average prices", "text-generation"),
        ("what is 5 percent of 20", "calculator"),
        ("set a timer for 5 minutes", "timer"),
        ("translate this to german", "translation"),
        ("summarise this in 5 sentences", "summarization"),
        ("book a table for two", ""), ("top news today", ""), ("order a pizza", ""),
        ("send an email by tomorrow", ""), ("play some music", ""),
        ("average 3 and 5", "calculator"), ("turn on the lights in every room", ""),
        ("Übersetze nach Englisch", "translation"), ("the weather by tomorrow", ""),
    ],
)  # fmt: skip
async def test_other_words_are_not_taken_for_that(text: str, task: str) -> None:
    planned = await ask(text, "sales.csv")
    types = [each.type.name for each in planned] if isinstance(planned, Plan) else [""]
    assert types[-1] == task


@pytest.mark.no_cover
async def test_without_a_table_they_mean_nothing() -> None:
    for given in ((), ("notes.txt",)):
        assert isinstance(await ask("average price by city", *given), PlanRejected)
    others = [item for item in INVENTORY if item.name != ASKING]
    assert isinstance(
        await PLANNER.plan("average price by city", others, Context((file("a.csv"),))), PlanRejected
    )


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("plot the price over time", ""),
        ("bar chart of revenue by city", ""),
        ("draw a chart of sales per month as svg", "format=svg, "),
        ("visualize the sales by month", ""),
        ("Zeichne ein Balkendiagramm des Umsatzes je Stadt", ""),
        ("Zeichne den Preis im Zeitverlauf", ""),
    ],
)
async def test_charts(text: str, options: str) -> None:
    assert show(await ask(text, "a.csv")) == [
        f"chart(table=a.csv, {options}question={text.lower()})"
    ]
    assert not asks_for_agent(text, INVENTORY, Context((file("a.csv"),)))


@pytest.mark.parametrize(("name", "question"), [("a.csv", ", as a table"), ("a.txt", "?")])
async def test_an_answer_is_saved_as_a_table_in_a_file_of_tables(name: str, question: str) -> None:
    wish = f"Who started before 2015? Save them as {name}"
    asked = f"question=Who started before 2015{question})"
    assert show(await ask(wish, "staff.csv")) == [
        f"table-question-answering(table=staff.csv, {asked}{'*' * (name == 'a.csv')}",
        f"save-file(content=#0, name={name})",
    ]


async def test_a_chart_is_saved_in_the_format_of_its_name() -> None:
    assert show(await ask("plot the price over time and save it as price.svg", "a.csv")) == [
        "chart(table=a.csv, format=svg, question=plot the price over time)",
        "save-file(content=#0, name=price.svg)",
    ]


async def test_a_chart_needs_a_table() -> None:
    planned = await ask("plot the price over time")
    assert isinstance(planned, PlanRejected)
    assert planned.reason.startswith("For “Draw chart” I need a table")
    assert not planned.final


@pytest.mark.parametrize(
    ("text", "name", "task"),
    [
        ("draw a picture of a bar chart", None, "text-to-image"),
        ("describe this graph", "c.png", "visual-question-answering"),
        ("summarise the plot of this story", "story.txt", "summarization"),
        ("what does this chart show", "c.png", "document-question-answering"),
    ],
)
async def test_charts_that_are_spoken_of(text: str, name: str | None, task: str) -> None:
    planned = await ask(text, *([name] if name else []))
    assert isinstance(planned, Plan)
    assert [each.type.name for each in planned][-1] == task


@pytest.mark.parametrize(
    "text",
    ["show me the customers from Berlin", "show all rows where city is Paris", "orders in february",
     "list the products that cost more than 50", "find the customers in Paris"],
)  # fmt: skip
async def test_what_is_listed_of_a_table_asks_it(text: str) -> None:
    (task,) = show(await ask(text, "sales.csv"))
    assert task.startswith("table-question-answering(table=sales.csv, ")


async def test_lists_are_left_to_a_language_model_if_there_is_one() -> None:
    planner = EmbeddedPlanner(PLANNER.scorer, guesses=False)
    planned = await planner.plan("orders in february", INVENTORY, Context((file("sales.csv"),)))
    assert isinstance(planned, PlanRejected)


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        # Neither people in the picture of the chart are counted, nor is the answer saved.
        ("Draw a histogram of the ages as ages.png and tell me how many people are over 60",
         ("people.csv",),
         ["chart(table=people.csv, format=png, question=draw a histogram of the ages)",
          f"{ASKING}(table=people.csv, question=tell me how many people are over 60)",
          "save-file(content=#0, name=ages.png)"]),
        ("Draw a scatter plot of price and mileage as cars.png, and tell me the cheapest offer",
         ("cars.csv",),
         ["chart(table=cars.csv, format=png, question=draw a scatter plot of price and mileage)",
          f"{ASKING}(table=cars.csv, question=tell me the cheapest offer)",
          "save-file(content=#0, name=cars.png)"]),
        ("Which line has the most delays, and how large is this number?", ("trains.csv",),
         [f"{ASKING}(table=trains.csv, question=Which line has the most delays, and how large is this number?)"]),
        ("Sort it by price. Which is the cheapest? Save it as sorted.csv", ("a.csv",),
         ["edit-table(table=a.csv, question=Sort it by price.)*",
          f"{ASKING}(table=#0, question=Which is the cheapest?)",
          "save-file(content=#0, name=sorted.csv)"]),
        ("Put these files together in one table year.csv, then tell me the total amount",
         ("a.csv", "b.csv"),
         ["edit-table(table=a.csv+b.csv, question=Put these files together in one table)*",
          f"{ASKING}(table=#0, question=tell me the total amount)",
          "save-file(content=#0, name=year.csv)"]),
        ("Draw a chart of the amount per customer and tell me which customers have no orders",
         ("customers.csv", "orders.csv"),
         ["chart(table=customers.csv+orders.csv, question=draw a chart of the amount per customer)",
          f"{ASKING}(table=customers.csv+orders.csv, question=tell me which customers have no orders)"]),
        ("draw me a pie of what I spent per category", ("a.csv",),
         ["chart(table=a.csv, question=draw me a pie of what i spent per category)"]),
    ],
)  # fmt: skip
async def test_what_is_asked_beside_a_chart_or_a_change(
    text: str, names: tuple[str, ...], plan: list[str]
) -> None:
    assert show(await ask(text, *names)) == plan


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Sort it by price, list the result in dearer.csv",
         ["edit-table(table=prices.csv, question=Sort it by price)",
          "save-file(content=#0, name=dearer.csv)"]),
        ("Sort the rows of dearer.csv by price", None),
        ("Write me the lines of /tmp/dearer.csv to /tmp/dearer.csv", None),
    ],
)  # fmt: skip
async def test_a_name_that_no_given_file_has_is_a_new_one_only_where_it_is_written_to(
    text: str, plan: list[str] | None
) -> None:
    found = await PLANNER.plan(text, INVENTORY, Context((file("prices.csv"),)))
    if plan is None:
        assert isinstance(found, PlanRejected)
        assert "cannot find" in found.reason
    else:
        assert show(found) == plan
