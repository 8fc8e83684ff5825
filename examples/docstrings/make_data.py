"""Builds docstrings.parquet: the first paragraphs of the docstrings of eight installed libraries, and the code below.

One row is one function or class: its text and its library, its size, a picture of the layout of its code, in which no
word can be read, and the kinds of its statements. A word that contains the name of a library is left out of
the text, so that no model can read the answer. Every machine with this project's environment has these libraries; their
versions decide the exact rows.

    python examples/docstrings/make_data.py [--most N] [--output FILE]
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "docstrings" / "docstrings.parquet"
LIBRARIES = ("aiohttp", "boto3", "numpy", "pandas", "pyarrow", "ray", "sklearn", "torch")
MOST = 1_000
MOST_FILES = 150
SHORTEST = 5
NAMES = re.compile(
    r"\S*(aiohttp|boto|numpy|np\.|pandas|pd\.|arrow|\bpa\.|\bray|sklearn|scikit|torch)\S*", re.IGNORECASE
)
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
STATEMENTS = {
    ast.If: "if",
    ast.For: "for",
    ast.While: "while",
    ast.With: "with",
    ast.Try: "try",
    ast.Raise: "raise",
    ast.Return: "return",
    ast.Assert: "assert",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Lambda: "lambda",
    ast.ListComp: "comprehension",
    ast.DictComp: "comprehension",
    ast.Yield: "yield",
}
LINES, COLUMNS = 32, 80
"""The size of a picture: one pixel for each character."""


def sources(library: str) -> Iterator[Path]:
    """At most `MOST_FILES` Python files of an installed library, spread evenly. Nothing is imported."""
    spec = find_spec(library)
    assert spec is not None, f"{library} is not installed: make setup"
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    found = sorted(path for folder in folders for path in folder.rglob("*.py") if "tests" not in path.parts)
    yield from found[:: math.ceil(len(found) / MOST_FILES)]


def functions(library: str) -> Iterator[dict[str, Any]]:
    """The functions and classes whose docstring has a first paragraph: the columns of each, without its library."""
    for path in sources(library):
        try:
            source = path.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = source.splitlines()
        for node in ast.walk(tree):
            docstring = ast.get_docstring(node) if isinstance(node, Documented) else None
            # In one line, without the names of libraries.
            text = " ".join(NAMES.sub(" ", (docstring or "").split("\n\n")[0]).split())
            if isinstance(node, Documented) and len(text.split()) >= SHORTEST:
                yield {"docstring": text, **described(node, code_of(node, lines))}


def code_of(node: Documented, lines: list[str]) -> list[str]:
    """The lines of a function or a class without its docstring, which is the first statement of its body."""
    text = node.body[0]
    assert text.end_lineno is not None
    kept = lines[node.lineno - 1 : text.lineno - 1] + lines[text.end_lineno : node.end_lineno]
    return [line[node.col_offset :] for line in kept]


def described(node: Documented, code: list[str]) -> dict[str, Any]:
    arguments = None if isinstance(node, ast.ClassDef) else node.args
    named = [] if arguments is None else [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {
        "kind": "class" if arguments is None else "function",
        "is_private": node.name.startswith("_"),
        "lines": len(code),
        "arguments": len(named),
        "annotated": sum(one.annotation is not None for one in named),
        "decorators": len(node.decorator_list),
        "statements": sorted({STATEMENTS[type(one)] for one in ast.walk(node) if type(one) in STATEMENTS}),
        "code": picture(code),
    }


def picture(code: list[str]) -> bytes:
    """A PNG of the layout of the code: white space is white, letters and digits are grey, all else is black."""
    pixels = np.full((LINES, COLUMNS), 255, np.uint8)
    for row, line in enumerate(code[:LINES]):
        for column, character in enumerate(line[:COLUMNS]):
            if not character.isspace():
                pixels[row, column] = 128 if character.isalnum() else 0
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def table(most: int) -> pd.DataFrame:
    """At most `most` rows of each library, with different texts, spread evenly over its files."""
    rows = []
    for library in LIBRARIES:
        by_text: dict[str, dict[str, Any]] = {}
        for one in functions(library):
            by_text.setdefault(one["docstring"], one)
        found = list(by_text.values())
        step = max(1.0, len(found) / most)
        chosen = [found[int(at * step)] for at in range(min(most, len(found)))]
        rows += [{"library": library, **one} for one in chosen]
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
