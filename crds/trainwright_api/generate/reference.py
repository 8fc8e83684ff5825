"""docs/reference.md: every field with its path, its type, its default, and what it does."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainwright_api.backend import BACKENDS
from trainwright_api.config.choice import Choice
from trainwright_api.generate.schema import first_line
from trainwright_api.generate.words import by_class, cell, default_of, type_of
from trainwright_api.job import TrainingJob
from trainwright_api.section import Section
from trainwright_api.shape import Shape, description_of, shape_of

_INTRODUCTION = """\
# Reference

Made from the models by `make generate`; change those, not this.

A job is one YAML file. It is a full resource, as Kubernetes takes it; or the fields of its `spec` alone; or a bare
Ludwig config, whose `backend`, `dataset` and `random_seed` are read as the fields beside `config`. YAML is read as
YAML 1.2, and every key is checked. Paths in messages begin below `spec`.

What stands under **config** and **backend** is spelt as in Ludwig, all else as in Kubernetes.
"""

_OLD_SPELLINGS = """\
Old spellings are read with a notice: `engine` as `processor`, `trainer.type` as `trainer.strategy`; `data_format` is
not needed, as the cache is always Parquet.
"""


@dataclass
class _Part:
    """A heading and the sections below it."""

    title: str
    root: type[Section]
    path: str
    text: str = ""


@dataclass
class _Page:
    """Sections in the order in which they are met; each stands on the page once."""

    anchors: dict[type[Section], str] = field(default_factory=dict)
    waiting: deque[tuple[type[Section], str]] = field(default_factory=deque)

    def link(self, section: type[Section], text: str) -> str:
        """A link to a section's table."""
        return f"[{text}](#{self.anchors[section]})" if section in self.anchors else text

    def meet(self, section: type[Section], title: str) -> None:
        """Notes a section for the page, under its first title."""
        if section not in self.anchors:
            taken = set(self.anchors.values())
            slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
            self.anchors[section] = slug if slug not in taken else f"{slug}-{len(taken)}"
            self.waiting.append((section, title))

    def tables(self, part: _Part) -> Iterator[str]:
        """The tables of all sections that hang on a part's root and are not on the page yet."""
        self.meet(part.root, part.path)
        while self.waiting:
            section, title = self.waiting.popleft()
            self._meet_below(section, title)
            yield self._table(section, title)

    def _meet_below(self, section: type[Section], title: str) -> None:
        for name, info in section.model_fields.items():
            for shape in _parts(shape_of(info)):
                if shape.kind == "section":
                    self.meet(shape.section, _below(title, info.alias or name))
                elif shape.choice:
                    self._meet_choice(shape.choice)

    def _meet_choice(self, choice: Choice) -> None:
        for section, words in by_class(choice):
            self.meet(section, f"{choice.noun}: {', '.join(words)}")

    def _table(self, section: type[Section], title: str) -> str:
        heading = f'<a id="{self.anchors[section]}"></a>\n### {title}\n\n{first_line(section)}\n'
        rows = [self._row(section, name) for name in section.model_fields]
        if not rows:
            return f"{heading}\nIt has no fields.\n"
        head = "| field | type | default | what it does |\n|---|---|---|---|\n"
        return f"{heading}\n{head}{''.join(rows)}"

    def _row(self, section: type[Section], name: str) -> str:
        info = section.model_fields[name]
        shape = shape_of(info)
        cells = (f"`{info.alias or name}`", type_of(shape, self.link), default_of(info, shape), description_of(info))
        return f"| {' | '.join(map(cell, cells))} |\n"


def reference() -> str:
    """The page as Markdown."""
    job = TrainingJob.model_fields
    spec = shape_of(job["spec"]).section
    backend, config = (shape_of(spec.model_fields[name]).section for name in ("backend", "config"))
    parts = [
        _Part("How to run it: backend", backend, "backend", f"{_backends()}\n{_OLD_SPELLINGS}"),
        _Part("What to learn: config", config, "config"),
        _Part("What Kubernetes needs: the resource", TrainingJob, "the resource"),
    ]
    page = _Page()
    body = "\n".join(_body(page, part) for part in parts)
    return f"{_INTRODUCTION}\n{body}".rstrip() + "\n"


def _body(page: _Page, part: _Part) -> str:
    tables = "\n".join(page.tables(part))
    return f"## {part.title}\n\n{part.text}\n{tables}"


def _backends() -> str:
    rows = "".join(
        f"| `{name}` | {', '.join(acts.sections)} | {', '.join(acts.strategies)} |\n" for name, acts in BACKENDS.items()
    )
    return f"| backend | sections that act | strategies |\n|---|---|---|\n{rows}"


def _below(title: str, name: str) -> str:
    return f"{name} of {title}" if ":" in title else f"{title}.{name}"


def _parts(shape: Shape) -> Iterator[Shape]:
    yield shape
    for part in (*shape.branches, *([shape.item] if shape.item else [])):
        yield from _parts(part)
