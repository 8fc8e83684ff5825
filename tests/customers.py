"""A table with the columns of the README's example: customers who leave the more often the older they are."""

from __future__ import annotations

import random

import pandas as pd


def customers(rows: int, seed: int = 1) -> pd.DataFrame:
    draws = random.Random(seed)
    ages = [draws.randrange(18, 80) for _ in range(rows)]
    return pd.DataFrame(
        {
            "name": [f"customer {row}" for row in range(rows)],
            "age": ages,
            "plan": [draws.choice(["basic", "plus", "team"]) for _ in ages],
            "joined": [f"2024-{draws.randrange(1, 13):02d}-{draws.randrange(1, 28):02d}" for _ in ages],
            "left": ["yes" if draws.random() < (age - 18) / 62 else "no" for age in ages],
        }
    )
