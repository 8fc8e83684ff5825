"""Builds docstrings.parquet: the first paragraphs of the docstrings of eight installed libraries.

One row is one function or class: its text and its library. A word that contains the name of a library is left out of
the text, so that no model can read the answer. Every machine with this project's environment has these libraries; their
versions decide the exact rows.

    python examples/docstrings/make_data.py [--most N] [--output FILE]
"""

from __future__ import annotations

import argparse
import ast
import math
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "docstrings" / "docstrings.parquet"
LIBRARIES = ("aiohttp", "boto3", "numpy", "pandas", "pyarrow", "ray", "sklearn", "torch")
MOST = 1_000
MOST_FILES = 150
SHORTEST = 5
NAMES = re.compile(
    r"\S*(aiohttp|boto|numpy|np\.|pandas|pd\.|arrow|\bpa\.|\bray|sklearn|scikit|torch)\S*", re.IGNORECASE
)
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def sources(library: str) -> Iterator[Path]:
    """At most `MOST_FILES` Python files of an installed library, spread evenly. Nothing is imported."""
    spec = find_spec(library)
    assert spec is not None, f"{library} is not installed: make setup"
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    found = sorted(path for folder in folders for path in folder.rglob("*.py") if "tests" not in path.parts)
    yield from found[:: math.ceil(len(found) / MOST_FILES)]


def texts(library: str) -> Iterator[str]:
    """The first paragraph of each docstring, in one line, without the names of libraries."""
    for path in sources(library):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            docstring = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            text = " ".join(NAMES.sub(" ", (docstring or "").split("\n\n")[0]).split())
            if len(text.split()) >= SHORTEST:
                yield text


def table(most: int) -> pd.DataFrame:
    """At most `most` different texts of each library, spread evenly over its files."""
    rows = []
    for library in LIBRARIES:
        found = list(dict.fromkeys(texts(library)))
        step = max(1.0, len(found) / most)
        chosen = [found[int(at * step)] for at in range(min(most, len(found)))]
        rows += [{"docstring": text, "library": library} for text in chosen]
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=MOST, help="the most texts of a library (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write (default: build/docstrings/…)")
    given = parser.parse_args()
    given.output.parent.mkdir(parents=True, exist_ok=True)
    table(given.most).to_parquet(given.output)


if __name__ == "__main__":
    main()
