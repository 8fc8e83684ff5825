"""Date features: nine integers each, in the local time of the value. Python's datetime gives the expected values."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import date as feature_module
from trainwright_trainer.features.date import vectors_of
from trainwright_trainer.features.times import _FORMS, times_of


def parts(time: datetime) -> list[int]:
    of_day = time.hour * 3600 + time.minute * 60 + time.second
    yearday = time.timetuple().tm_yday
    return [time.year, time.month, time.day, time.weekday(), yearday, time.hour, time.minute, time.second, of_day]


TIME = datetime(2024, 2, 29, 23, 5, 59)
DAY = datetime(2024, 2, 29)


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_the_nine_parts_are_pythons(time):
    time = time.replace(microsecond=0)
    assert vectors_of(pa.array([time], pa.timestamp("s"))).tolist() == [parts(time)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["2024-02-29 23:05:59"], TIME),
        (["2024-02-29T23:05:59"], TIME),
        (["2024-02-29T23:05:59.75"], TIME),
        (["2024-02-29T23:05:59Z"], TIME),
        (["2024-02-29T23:05:59.750+02:00"], TIME),
        ([" 2024-02-29 "], DAY),
        (["2024/02/29"], DAY),
        (["20240229"], DAY),
        (["29 Feb 2024"], DAY),
        (["29-Feb-2024"], DAY),
        (["29.02.2024"], DAY),
        (["29.2.2024 23:05:59"], TIME),
        (["02/29/2024"], DAY),
        (["2/29/2024 11:05:59 PM"], TIME),
        (["02/29/2024 23:05:59.75 GMT"], TIME),
        (["2024/02/29 23:05:59"], TIME),
        (["2024-02-29 11:05:59 PM"], TIME),
        (["2024-2-29 23:05:59"], TIME),
        (["Thu, 29 Feb 2024 23:05:59 GMT"], TIME),
        (["Thu Feb 29 23:05:59 2024"], TIME),
        (["20240229230559"], TIME),
        (["20240229T230559"], TIME),
        (["1709247959"], TIME),
        (["1709247959750"], TIME),
        ([1709247959], TIME),
        ([20240229], DAY),
        ([1709247959.0], TIME),
        ([20240229.0], DAY),
        ([Decimal("20240229.00")], DAY),
        (["February 29, 2024"], DAY),
        ([date(2024, 2, 29)], DAY),
        ([TIME], TIME),
        (pa.array([TIME.replace(microsecond=999_999)], pa.timestamp("us")), TIME),
        (pa.array([TIME], pa.timestamp("ns")), TIME),
        (pa.array([TIME.replace(tzinfo=UTC)], pa.timestamp("us", "UTC")), TIME),
        (pa.array([TIME.replace(tzinfo=timezone(timedelta(hours=2)))], pa.timestamp("s", "+02:00")), TIME),
        (
            pa.array([datetime(1969, 12, 31, 23, 59, 59, 500_000)], pa.timestamp("ms")),
            datetime(1969, 12, 31, 23, 59, 59),
        ),
    ],
)
def test_usual_forms(run, values, expected):
    found = run("date", values)
    assert found.values == [parts(expected)]
    assert found.type == pa.list_(pa.int32(), 9)


@pytest.mark.parametrize(
    ("values", "form", "expected"),
    [
        (["29.02.2024 23h05:59"], "%d.%m.%Y %Hh%M:%S", TIME),
        (["2/29/24"], "%m/%d/%y", DAY),
        (["23:05:59.25 2024-060"], "%H:%M:%S.%f %Y-%j", TIME),
        ([20240229], "%Y%m%d", DAY),
        ([20240229.0], "%Y%m%d", DAY),
    ],
)
def test_a_format_of_ones_own(run, values, form, expected):
    assert run("date", values, datetime_format=form).values == [parts(expected)]


@given(st.lists(st.text("0123456789-/ ", max_size=10), max_size=20))
def test_a_format_reads_what_python_reads(texts):
    found = times_of(pa.array(texts, pa.string()), "%Y-%m-%d").to_pylist()
    for text, time in zip(texts, found, strict=True):
        try:
            assert time == datetime.strptime(text.strip(), "%Y-%m-%d")
        except ValueError:
            assert time is None


VALUES = ["2020-01-01", None, "2021-06-15", None]
FIRST, SECOND = parts(datetime(2020, 1, 1)), parts(datetime(2021, 6, 15))


@pytest.mark.parametrize("block", [1, 2, 100])
@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ({}, [parts(datetime(1970, 1, 1))] * 2),
        ({"fill_value": "2000-02-03"}, [parts(datetime(2000, 2, 3))] * 2),
        ({"missing_value_strategy": "ffill"}, [FIRST, SECOND]),
        ({"missing_value_strategy": "bfill"}, [SECOND, SECOND]),
        ({"missing_value_strategy": "drop_row"}, [None, None]),
    ],
)
def test_missing_values(run, options, filled, block):
    assert run("date", VALUES, block=block, **options).values == [FIRST, filled[0], SECOND, filled[1]]


@pytest.mark.parametrize("value", ["2024-02-30", "yesterday", "1/2/24", "13:00", "12345", "202402291"])
def test_what_is_no_date_is_named_with_its_row(run, value):
    with pytest.raises(Mistakes, match=f"'x' holds '{value}' in row 2, which is no date. Set .*datetime_format"):
        run("date", ["2024-01-01", value])


def test_a_wrong_format_is_named(run):
    with pytest.raises(Mistakes, match=r"holds '2024-01-01' in row 1, which is no date of the form %d.%m.%Y"):
        run("date", ["2024-01-01"], datetime_format="%d.%m.%Y")


def test_a_format_with_braces_does_no_harm(run):
    with pytest.raises(Mistakes, match=r"no date of the form \{%Y\}"):
        run("date", ["2024"], datetime_format="{%Y}")


FAR = pa.array([0, 2**38, 253_402_300_799, 253_402_300_800], pa.timestamp("s"))


def test_a_year_that_python_has_not_is_named_with_its_row(run):
    line = r"'10680-07-14 06:09:04' in row 2, which is no date of the years 1 to 9999\."
    with pytest.raises(Mistakes, match=line):
        run("date", FAR)
    with pytest.raises(Mistakes, match="'-0208-05-13 16:27:44' in row 1"):
        run("date", pa.array([-(2**36)], pa.timestamp("s")))


def test_with_drop_row_a_year_that_python_has_not_is_missing(run):
    found = run("date", FAR, missing_value_strategy="drop_row")
    assert [value is None for value in found.values] == [False, True, False, True]
    assert found.statistics["max"] == "9999-12-31 23:59:59"
    assert "values that are no date: 2" in found.notices[0]


def test_a_gap_in_dates_as_floats_is_missing(run):
    found = run("date", [20240229.0, float("nan"), None], missing_value_strategy="drop_row")
    assert found.values == [parts(DAY), None, None]
    assert found.statistics["missing"] == 2
    assert not any("no date" in notice for notice in found.notices)


def test_with_drop_row_what_is_no_date_is_missing(run):
    found = run("date", ["2024-01-01", "never"], missing_value_strategy="drop_row")
    assert found.values[1] is None
    assert "values that are no date: 1" in found.notices[0]


@pytest.mark.parametrize(
    ("values", "options", "line"),
    [
        ([1.5, 2.5], {}, "holds numbers, which are no dates"),
        ([20240229.0, 1.5], {"missing_value_strategy": "drop_row"}, "holds numbers, which are no dates"),
        (pa.array([20240229.0], pa.float32()), {}, "holds numbers, which are no dates"),
        ([-5], {}, "holds -5 in row 1, which is no date"),
        ([20240229.0, -5.0], {}, "holds -5.0 in row 2, which is no date"),
        (pa.nulls(2), {}, "has no date in any training row"),
        (["2024-01-01"], {"fill_value": "soon"}, "cannot be filled with 'soon'"),
    ],
)
def test_what_cannot_be_read_is_reported(run, values, options, line):
    with pytest.raises(Mistakes, match=f"column 'x' {line}"):
        run("date", values, **options)


def test_the_report_reads_facts(run):
    found = run("date", VALUES, training=[True, True, True, False]).statistics
    assert feature_module.facts(found) == {
        "first": "2020-01-01 00:00:00",
        "last": "2021-06-15 00:00:00",
        "missing": "33.3 %",
    }
    assert feature_module.distribution(found) is None


def test_dates_with_slashes_are_month_day_year_and_say_so(run):
    found = run("date", ["01/02/2024", "12/31/2024 10:00", "2024-01-01", None], block=2)
    assert found.values[:2] == [parts(datetime(2024, 1, 2)), parts(datetime(2024, 12, 31, 10))]
    assert found.notices == (
        "column 'x': dates that are read as month/day/year (preprocessing.datetime_format names another form): 2",
    )
    assert run("date", ["01/02/2024"], datetime_format="%d/%m/%Y").notices == ()


def test_a_day_before_the_month_is_named_with_its_row(run):
    with pytest.raises(Mistakes, match="'x' holds '31/01/2024' in row 2, which is no date of the form month/day/year"):
        run("date", ["01/02/2024", "31/01/2024"])


@pytest.mark.parametrize("options", [{}, {"datetime_format": "%Y-%m-%d"}])
def test_words_for_a_missing_value_count_as_missing(run, options):
    found = run("date", ["2020-01-01", "?", " - ", "NA", None, "2021-06-15"], **options)
    assert found.values[1:5] == [parts(datetime(1970, 1, 1))] * 4
    assert found.statistics["missing"] == 4


def test_a_mix_of_forms_is_read_text_by_text(run):
    found = run("date", ["2024-01-31", "31.01.2024", "20240131", "Jan 31, 2024", "1706659200"], block=100)
    assert found.values == [parts(datetime(2024, 1, 31))] * 5


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)), min_size=1), st.sampled_from(_FORMS))
def test_every_form_reads_what_it_writes(times, form):
    texts = [time.strftime(form) for time in times]
    expected = [datetime.strptime(text, form) for text in texts]
    assert times_of(pa.array(texts), None).to_pylist() == expected
