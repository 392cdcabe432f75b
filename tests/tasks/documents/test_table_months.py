# ruff: noqa: E501
"""Tables of months, and columns asked against each other."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.documents.table_qa import TABLE_QUESTION_ANSWERING, reply
from tests.tasks.calls import call_of, quiet

TABLES = {
    "budget.csv": """Category,Jan,Feb,Mar,Apr
Rent,850,850,850,880
Fuel,96,88,902,110
Clothes,0,45,30,0
""",
    "years.csv": """Country,2021,2022,2023
Malta,10,20,30
Chile,40,50,70
""",
    "accounts.csv": """Month,Earned,Spent
January,"2,850.00 €","2,410.50 €"
February,"2,850.00 €","3,020.00 €"
March,"2,910.00 €","2,688.40 €"
April,"2,910.00 €","2,940.75 €"
""",
    "power.csv": """Month,Electricity,Gas,Bill
Jan 2023,412,1980,$318.40
Jun 2023,341,190,$121.05
Jan 2024,431,2040,$331.25
""",
    "league.csv": """Team,Won,Lost,Goals for,Goals against,Points
Foxes,9,2,31,14,30
Herons,5,5,24,24,18
Owls,3,9,13,24,11
""",
    "pupils.csv": """Pupil,Maths,English,Days absent,Fee paid
Amir,88,74,2,yes
Bella,65,82,0,no
Chloe,,71,4,yes
""",
    "stall.csv": """Day,Item,Sold,Takings
2024-06-01,Loaf,42,189.00 €
2024-06-01,Roll,160,128.00 €
2024-06-02,Loaf,51,229.50 €
""",
    "tins.csv": """Tin,Quantity,Shelf
Tuna,14,top
Peas,5,top
Corn,9,low
""",
    "pulse.csv": """Date,Pulse
2024-10-01,72
2024-10-01,78
2024-10-02,66
2024-10-02,90
2024-10-03,70
""",
    "marks.csv": """name,test 1,test 2,test 3
Ann,55,72,90
Bob,61,64,50
Cem,80,58,81
Dora,90,95,97
""",
    "energy.csv": """month,electricity kWh,gas kWh,electricity cost,gas cost
Jan 2026,310,1450,102.30,145.00
May 2026,240,160,79.20,16.00
""",
    "stock.csv": """item,stock,minimum,sold last year,sold this year
Screws,120,200,1000,1400
Hinges,80,50,300,290
Handles,15,30,80,160
""",
    "lands.csv": """country,population,area
Malta,600,3
Iceland,400,100
""",
    "garten.csv": """Gemüse;Ertrag (kg)
Möhren;11,2
Erbsen;
""",
}  # fmt: skip


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[str, str], str]:
    """Asks a question of one of the tables."""

    def asked(name: str, question: str) -> str:
        (tmp_path / name).write_text(TABLES[name])
        call = call_of(
            TABLE_QUESTION_ANSWERING.type,
            tmp_path / "work",
            table=[tmp_path / name],
            question=question,
        )
        return next(iter(reply(call, quiet))).text or ""

    return asked


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        ("budget.csv", "How much did we spend on fuel in March?", "The sum of Amount, where Month is in March and Category is Fuel is 902."),
        ("budget.csv", "Which month was the most expensive?", "March has the highest sum of Amount: 1,782."),
        ("budget.csv", "In which month did we spend the most on fuel?", "March has the highest sum of Amount, where Category is Fuel: 902."),
        ("budget.csv", "In which months did we buy no clothes?", "The Month, where Category is not Clothes:\n- January\n- April"),
        ("budget.csv", "in which months did we spend more on fuel than on rent?", "The Month, where Fuel > Rent is March."),
        ("budget.csv", "average fuel per month", "The average of Amount, where Category is Fuel is 299."),
        ("budget.csv", "total spending from January to March", "The sum of Amount, where Month is between January and March is 3,711."),
        ("budget.csv", "spending per quarter", "The sum of Amount for each quarter:\n- Q1: 3,711\n- Q2: 990"),
        ("years.csv", "total for Chile in 2022", "The sum of Amount, where Year is in 2022 and Country is Chile is 50."),
        ("years.csv", "sum per country", "The sum of Amount for each Country:\n- Chile: 160\n- Malta: 60"),
        ("accounts.csv", "In which months did we spend more than we earned?", "The Month, where Spent > Earned:\n- February\n- April"),
        ("accounts.csv", "in how many months did we earn more than we spent?", "There are 2 rows, where Earned > Spent."),
        ("accounts.csv", "how much more did we earn than spend in March", "The difference between sum of Earned and sum of Spent, where Month is in March is 221.60 €."),
        ("accounts.csv", "did we spend more in February than in March?", "Yes: the sum of Spent is 3,020 € for February and 2,688.40 € for March."),
        ("accounts.csv", "How much did we save in all?", "The sum of Earned − Spent is 460.35 €."),
        ("accounts.csv", "how much did we spend in January and February", "The sum of Spent, where Month is in January or February is 5,430.50 €."),
        ("accounts.csv", "In which month was the difference between earned and spent biggest?", "January has the highest sum of Earned − Spent: 439.50 €."),
        ("power.csv", "average monthly bill", "The average of Bill is $256.90."),
        ("power.csv", "In which months was more electricity used than gas?", "The Month, where Electricity > Gas is June 2023."),
        ("power.csv", "how many months cost over $250", "There are 2 rows, where Bill > 250."),
        ("power.csv", "how much did the bill go up from January 2023 to January 2024?", "The difference in the sum of Bill between January 2024 and January 2023 is $12.85."),
        ("power.csv", "by what percentage did electricity rise from January 2023 to January 2024?", "The difference in the sum of Electricity between January 2024 and January 2023 is 4.61 %."),
        ("power.csv", "by how much percent did gas fall from January 2023 to June 2023?", "The difference in the sum of Gas between June 2023 and January 2023 is 90.40 %."),
        ("league.csv", "Which teams lost more than they won?", "The Team, where Lost > Won is Owls."),
        ("league.csv", "Which teams scored more goals than they conceded?", "The Team, where Goals for > Goals against is Foxes."),
        ("league.csv", "Who came first?", "Foxes has the highest Points: 30."),
        ("league.csv", "who came last?", "Owls has the lowest Points: 11."),
        ("league.csv", "How many points are the Herons behind the Foxes?", "The difference in the sum of Points between Herons and Foxes is 12."),
        ("league.csv", "how many games did the Owls win", "The sum of Won, where Team is Owls is 3."),
        ("pupils.csv", "Which pupils are better in maths than in English?", "The Pupil, where Maths > English is Amir."),
        ("pupils.csv", "How many pupils have no maths mark?", "There is 1 row, where Maths is empty or 0."),
        ("pupils.csv", "whose maths is missing?", "The Pupil, where Maths is empty is Chloe."),
        ("pupils.csv", "Who was never absent?", "The Pupil, where Days absent = 0 is Bella."),
        ("pupils.csv", "who hasn't paid the fee yet?", "The Pupil, where Fee paid is no is Bella."),
        ("pupils.csv", "who forgot to pay the fee?", "The Pupil, where Fee paid is no is Bella."),
        ("stall.csv", "How many rolls did we sell?", "The sum of Sold, where Item is Roll is 160."),
        ("stall.csv", "How much did we take in all?", "The sum of Takings is 546.50 €."),
        ("stall.csv", "which item made the most money?", "Loaf has the highest sum of Takings: 418.50 €."),
        ("stall.csv", "which items made less than 130 euros", "The Item: sum of Takings < 130:\n- Roll: 128 €"),
        ("stall.csv", "which items took more than 300 euros?", "The Item: sum of Takings > 300:\n- Loaf: 418.50 €"),
        ("stall.csv", "on which days did we sell no rolls?", "The Day, where Item is not Roll is 2024-06-02."),
        ("tins.csv", "how many tins in all", "The sum of Quantity is 28."),
        ("tins.csv", "how many tins of tuna are there?", "The sum of Quantity, where Tin is Tuna is 14."),
        ("pulse.csv", "When was my pulse lowest?", "2024-10-02 has the lowest Pulse: 66."),
        ("accounts.csv", "compare spent in January and March", "The sum of Spent for each month, where Month is in January or March:\n- January: 2,410.50 €\n- March: 2,688.40 €"),
        ("pupils.csv", "which pupils are above average in english?", "The Pupil, where English > average is Bella."),
        ("league.csv", "who has fewer points than average?", "The Team, where Points < average:\n- Herons\n- Owls"),
        ("budget.csv", "what do we spend the least on?", "Clothes has the lowest sum of Amount: 75."),
        ("tins.csv", "what is on the low shelf?", "The Tin, where Shelf is low is Corn."),
        ("pulse.csv", "was my pulse ever above 80?", "Yes: 1 row."),
        ("marks.csv", "who has more than 60 in test 1 and test 2", "The name, where test 1 > 60 and test 2 > 60:\n- Bob\n- Dora"),
        ("marks.csv", "who has at least 80 in all tests", "The name, where test 1 >= 80, test 2 >= 80 and test 3 >= 80 is Dora."),
        ("marks.csv", "who improved the most from test 1 to test 3", "Ann has the highest test 3 − test 1: 35."),
        ("marks.csv", "who dropped the most between test 1 and test 2", "Cem has the highest test 1 − test 2: 22."),
        ("marks.csv", "who got better from test 1 to test 2", "The name, where test 2 > test 1:\n- Ann\n- Bob\n- Dora"),
        ("stock.csv", "which items are below the minimum", "The item, where stock < minimum:\n- Handles\n- Screws"),
        ("stock.csv", "which items have less stock than the minimum", "The item, where stock < minimum:\n- Handles\n- Screws"),
        ("stock.csv", "which items sold more this year than last year", "The item, where sold this year > sold last year:\n- Handles\n- Screws"),
        ("stock.csv", "which item grew the most from last year to this year", "Screws has the highest sold this year − sold last year: 400."),
        ("stock.csv", "which item declined the most", "Hinges has the highest sold last year − sold this year: 10."),
        ("energy.csv", "in which months did gas cost more than electricity", "The month, where gas cost > electricity cost is January 2026."),
        ("energy.csv", "in which months was gas cheaper than electricity", "The month, where gas cost < electricity cost is May 2026."),
        ("energy.csv", "did we use more gas than electricity", "Yes: the sum is 1,610 for gas kWh and 550 for electricity kWh."),
        ("energy.csv", "what was the total cost in January", "The sum of electricity cost + gas cost, where month is in January is 247.30."),
        ("energy.csv", "what is the total electricity cost", "The sum of electricity cost is 181.50."),
        ("lands.csv", "which country has the highest density", "Malta has the highest population / area: 200."),
        ("garten.csv", "Bei welchem Gemüse fehlt der Ertrag?", "The Gemüse, where Ertrag (kg) is empty is Erbsen."),
    ],
)  # fmt: skip
def test_answers(ask: Callable[[str, str], str], table: str, question: str, answer: str):
    assert ask(table, question).partition("\n\nI am not sure of this. Not understood")[0] == answer


@pytest.mark.parametrize(
    ("table", "question", "doubt"),
    [
        ("tins.csv", "how many tins are there?", "By the sum of Quantity it is 28."),
        ("stall.csv", "what was our best day", "“best” is read as Takings."),
    ],
)
def test_tells_a_doubt(ask: Callable[[str, str], str], table: str, question: str, doubt: str):
    assert doubt in ask(table, question).partition("I am not sure of this.")[2]


@pytest.mark.parametrize(
    ("table", "question"),
    [
        ("budget.csv", "how much did we spend on the dentist?"),
        ("stall.csv", "on which days did we sell more loaves than rolls?"),
        ("stall.csv", "who bought nothing?"),
    ],
)
def test_declines_rather_than_guesses(ask: Callable[[str, str], str], table: str, question: str):
    with pytest.raises(ExpertError, match="did not understand"):
        ask(table, question)
