"""Builds lines.parquet: the words of lines of Python code, without any mark, and the role of each word.

The lines are those of the libraries of examples/docstrings. A role follows from the marks beside a word, which no model
sees: `open` is a call in `open(path)`, an attribute in `file.open` and a name in `open = 3`.

    python examples/tagger/make_data.py [--most N] [--output FILE]
"""

from __future__ import annotations

import argparse
import keyword
import math
import tokenize
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "tagger" / "lines.parquet"
MOST = 500
"""Lines of each library."""
FEWEST, LONGEST = 4, 20
"""Words of a line."""
LIBRARIES = ("aiohttp", "boto3", "numpy", "pandas", "pyarrow", "ray", "sklearn", "torch")
MOST_FILES = 60


def sources(library: str) -> list[Path]:
    """At most `MOST_FILES` Python files of an installed library, spread evenly. Nothing is imported."""
    spec = find_spec(library)
    assert spec is not None, f"{library} is not installed: make setup"
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    found = sorted(path for folder in folders for path in folder.rglob("*.py") if "tests" not in path.parts)
    return found[:: math.ceil(len(found) / MOST_FILES)]


def lines(path: Path) -> Iterator[list[tokenize.TokenInfo]]:
    """The tokens of each line of a file, without comments and line ends."""
    left_out = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    try:
        with path.open("rb") as file:
            found = [token for token in tokenize.tokenize(file.readline) if token.type not in left_out]
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError):
        return
    for _, line in groupby(found, key=lambda token: token.start[0]):
        yield list(line)


def role(line: list[tokenize.TokenInfo], at: int) -> str:
    """The role of the word at this place of a line."""
    before = line[at - 1].string if at else ""
    after = line[at + 1].string if at + 1 < len(line) else ""
    if keyword.iskeyword(line[at].string):
        return "keyword"
    if before in ("def", "class"):
        return "definition"
    if after == "(":
        return "call"
    if before == ".":
        return "attribute"
    return "target" if after == "=" else "name"


def rows(library: str, most: int) -> list[dict[str, str]]:
    """At most `most` different lines of a library, spread evenly over its files."""
    found: dict[str, str] = {}
    for path in sources(library):
        for line in lines(path):
            places = [at for at, token in enumerate(line) if token.type == tokenize.NAME]
            if FEWEST <= len(places) <= LONGEST:
                found.setdefault(" ".join(line[at].string for at in places), " ".join(role(line, at) for at in places))
    pairs = list(found.items())
    step = max(1.0, len(pairs) / most)
    chosen = (pairs[int(at * step)] for at in range(min(most, len(pairs))))
    return [{"words": words, "roles": roles} for words, roles in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=MOST, help="the most lines of a library (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write (default: build/tagger/…)")
    given = parser.parse_args()
    given.output.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame([row for library in LIBRARIES for row in rows(library, given.most)])
    table.drop_duplicates("words").to_parquet(given.output)


if __name__ == "__main__":
    main()
