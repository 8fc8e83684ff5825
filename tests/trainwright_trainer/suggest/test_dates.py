"""The form of a column's dates."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from trainwright_trainer.features.times import read_times
from trainwright_trainer.suggest.column_type import input_choice
from trainwright_trainer.suggest.dates import FORMS, Dates, readings_of
from trainwright_trainer.suggest.suggestion import suggestion_of

BEGIN = datetime(2015, 1, 13, 13, 5, 9)
DAYS = [BEGIN + timedelta(days=day) for day in range(200)]
LOW_DAYS = [BEGIN.replace(day=1 + row % 12, month=1 + row % 7, year=2014 + row % 3) for row in range(200)]


def forms_of(texts: list[str], block: int = 70) -> list[str | None]:
    dates = Dates()
    for start in range(0, len(texts), block):
        part = texts[start : start + block]
        dates.add(len(part), readings_of(pa.array(part)), {})
    return dates.forms


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_which_the_days_are_known_is_found(form):
    texts = [day.strftime(form) for day in DAYS]
    assert forms_of(texts) == [form]
    assert read_times(pa.array(texts), form).null_count == 0


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%Y-%m-%d %I:%M %p", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%d.%m.%Y", "%d %b %Y"]
)
def test_a_form_that_is_read_without_a_name_needs_none(form):
    assert forms_of([day.strftime(form) for day in DAYS]) == [None]


@pytest.mark.parametrize(
    ("form", "fit"),
    [
        ("%d/%m/%Y", [None, "%d/%m/%Y"]),
        ("%d/%m/%Y %H:%M", [None, "%d/%m/%Y %H:%M"]),
        ("%d/%m/%y", ["%m/%d/%y", "%d/%m/%y"]),
        ("%m-%d-%Y", ["%d-%m-%Y", "%m-%d-%Y"]),
        ("%d.%m.%y", ["%d.%m.%y"]),
    ],
)
def test_days_up_to_twelve_fit_two_forms(form, fit):
    assert forms_of([day.strftime(form) for day in LOW_DAYS]) == fit


def test_one_day_above_twelve_decides():
    assert forms_of([*(day.strftime("%d/%m/%Y") for day in LOW_DAYS), "13/01/2015"]) == ["%d/%m/%Y"]


@pytest.mark.parametrize("texts", [["a"] * 9, ["1/2/3"] * 9, ["99/99/2015"] * 9, ["12/11/2015", "b"] * 9, []])
def test_other_texts_have_no_form(texts):
    assert forms_of(texts) == []


def test_the_suggestion_names_the_form(profile):
    form = "%d/%m/%Y %H:%M"
    found = suggestion_of(profile({"when": [day.strftime(form) for day in DAYS]}))
    assert found.inputs[0].value == {"name": "when", "type": "date", "preprocessing": {"datetime_format": form}}
    assert found.inputs[0].comment == f"dates of the form {form}"
    assert found.split is not None
    assert found.split.value == {"type": "datetime", "column": "when", "datetime_format": form}


def test_the_comment_says_that_the_day_or_the_month_may_be_first(column):
    choice = input_choice(column([day.strftime("%d/%m/%Y") for day in LOW_DAYS]))
    read = "dates with the day or the month first: read as month/day/year; %d/%m/%Y fits as well"
    assert (choice.type, choice.reason) == ("date", read)
    choice = input_choice(column([day.strftime("%d-%m-%Y") for day in LOW_DAYS]))
    read = "dates with the day or the month first: read as %d-%m-%Y; %m-%d-%Y fits as well"
    assert (choice.type, choice.reason) == ("date", read)


def test_repeated_days_are_dates_and_no_classes(column):
    assert input_choice(column([day.strftime("%d/%m/%Y") for day in DAYS[:50]] * 10)).type == "date"


def test_a_value_that_is_no_date_prevents_the_split_by_time(profile):
    texts = [day.strftime("%d/%m/%Y") for day in DAYS]
    texts[100] = "soon"
    split = suggestion_of(profile({"when": texts})).split
    assert split is not None
    assert split.value["type"] == "stratify"
