"""Build the documentation site from the Markdown files of the repository, with every link checked.

The pages keep their places, so that the links between them, and to the files that they name, stay as they are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "build/site/pages"
HERE = PurePosixPath("docs/site")
_OWN = tuple(str(HERE / name) for name in ("extra.css", "tables.js"))
_LINK = re.compile(r"\]\(([^)#\s]+)")
_FENCE = re.compile(r"^\s*(```|~~~)")
_BLOCK = re.compile(r"^(\* |- |\d+\. |\|)")
"""The first characters of a list or of a table."""


def tracked(root: Path = ROOT) -> list[str]:
    """The files of the repository, by their paths."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def linked(page: str, text: str) -> Iterator[str]:
    """The paths in the repository that a page links to."""
    for target in _LINK.findall(text):
        if "://" not in target and not target.startswith("mailto:"):
            yield normpath(PurePosixPath(page).parent / target)


def with_blank_lines(text: str) -> str:
    """The same text with a blank line before each list, table and fence, which Python-Markdown requires."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        opens = _FENCE.match(line) is not None
        begins = not fenced and (opens or (_BLOCK.match(line) is not None))
        before = lines[-1] if lines else ""
        if begins and before and not _BLOCK.match(before) and not before.startswith(" "):
            lines.append("")
        fenced = fenced != opens
        lines.append(line)
    return "\n".join(lines) + "\n"


def stage(root: Path = ROOT, pages: Path = PAGES) -> list[str]:
    """Copy all pages, and the files that they link to, into the empty folder `pages`. Returns their paths."""
    shutil.rmtree(pages, ignore_errors=True)
    names = tracked(root)
    texts = {name: (root / name).read_text(encoding="utf-8") for name in names if name.endswith(".md")}
    wanted = {target for page, text in texts.items() for target in linked(page, text)}
    files = sorted({*texts, *_OWN, *(wanted & set(names))})
    for name in files:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        if name in texts:
            (pages / name).write_text(with_blank_lines(texts[name]), encoding="utf-8")
        else:
            shutil.copyfile(root / name, pages / name)
    return files


def main(arguments: Sequence[str]) -> int:
    """`arguments` go to mkdocs."""
    stage()
    command = [sys.executable, "-m", "mkdocs", *(arguments or ["build"]), "--strict"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # a notice about other versions of mkdocs
    whole = [*command, "-f", str(ROOT / HERE / "mkdocs.yml")]
    return subprocess.run(whole, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
