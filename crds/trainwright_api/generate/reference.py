"""docs/reference.md: every field with its path, type, default and effect."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from trainwright_api.generate.built import NOT_BUILT, built_sections, lack_of
from trainwright_api.generate.schema import first_line
from trainwright_api.generate.words import by_class, cell, default_of, type_of
from trainwright_api.resource.backend import BACKENDS
from trainwright_api.resource.job import TrainingJob
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import FieldSchema, description_of, schema_of, schemas_in
from trainwright_api.schema.section import Section

_INTRODUCTION = """\
# Reference

`make generate` writes this page from the models.

A job is one YAML file. It is a full resource, as Kubernetes takes it; or the fields of its `spec` alone; or a bare
Ludwig config, whose `backend`, `dataset` and `random_seed` are read as the fields beside `config`. YAML is read as
YAML 1.2, and every key is checked. Paths in messages begin below `spec`.

What stands under **config** and **backend** is spelt as in Ludwig, all else as in Kubernetes.

What this version lacks is marked as not built yet. It is refused in those words by `trainwright validate`, by
`kubectl apply` and by `trainwright train`; of a job with an `image` of its own, the first two only warn.
"""

_OLD_SPELLINGS = """\
Old forms of Ludwig (0.3 to 0.10) are read as their successors, with a notice for each: in `backend`, a word is its
`type`, `engine` is `processor`, `trainer.type` is `trainer.strategy`, and `data_format` is not needed, as the cache is
always Parquet; in `config`, `training` is `trainer`, `numerical` is `number`, and so on.
"""


@dataclass(frozen=True)
class _Part:
    """A part of the page: the sections whose titles start with one of these words."""

    heading: str
    beginnings: tuple[str, ...]
    text: str


_FEATURE = "config.input_features[…]"
_OUTPUT = "config.output_features[…]"
_PARTS = (
    _Part(
        "The resource",
        (
            "spec",
            "resource",
            "metadata",
            "checkpoint",
            "cache",
            "entrypoint",
            "credentials",
            "podTemplate",
            "childMetadata",
        ),
        "What Kubernetes users expect of a job.",
    ),
    _Part("The backend", ("backend",), "How to run it."),
    _Part("The config", ("config",), "What to learn: a Ludwig model config."),
    _Part("Features", ("input feature", "output feature"), f"`{_FEATURE}` and `{_OUTPUT}`, by their `type`."),
    _Part("Preprocessing", ("preprocessing",), "`preprocessing` of a feature, or of `config.defaults` for its type."),
    _Part("Encoders", ("encoder",), f"`{_FEATURE}.encoder`, a word or an object, or in `config.defaults`."),
    _Part("Combiners", ("combiner",), "`config.combiner`, a word or an object."),
    _Part("Decoders", ("decoder",), f"`{_OUTPUT}.decoder`, a word or an object, or in `config.defaults`."),
    _Part("Losses", ("loss",), f"`{_OUTPUT}.loss`, a word or an object, or in `config.defaults`."),
    _Part("Optimizers", ("optimizer",), "`config.trainer.optimizer`, a word or an object."),
    _Part("Splits", ("split",), "`config.preprocessing.split`, a word or an object."),
    _Part("All else in a config", ("",), "What the tables above lead to."),
    _Part("The status", ("status",), "What the operator writes and `kubectl get` shows."),
)


@dataclass
class _Page:
    """The sections with their titles, in the order of discovery. Each section is on the page once."""

    titles: dict[type[Section], str] = field(default_factory=dict)
    waiting: deque[type[Section]] = field(default_factory=deque)
    built: set[type[Section]] = field(default_factory=lambda: built_sections(TrainingJob))

    def gather(self, root: type[Section], title: str) -> None:
        """Add all sections that are reachable from a root."""
        self.meet(root, title)
        while self.waiting:
            section = self.waiting.popleft()
            for name, info in section.model_fields.items():
                for schema in schemas_in(schema_of(info)):
                    self._meet_schema(schema, _below(self.titles[section], info.alias or name))

    def meet(self, section: type[Section], title: str) -> None:
        """Add a section under its first title."""
        if section not in self.titles:
            self.titles[section] = title
            self.waiting.append(section)

    def _meet_schema(self, schema: FieldSchema, title: str) -> None:
        if schema.kind == "section":
            self.meet(schema.section, title)
        elif schema.choice:
            for section, words in by_class(schema.choice):
                short = f"{schema.choice.noun.partition(' of ')[0].removesuffix(' type')}: {', '.join(words)}"
                self.meet(section, short if short not in self.titles.values() else _title(schema.choice, words))

    def part(self, part: _Part) -> str:
        """Return a part's heading, the list of its sections, and their tables."""
        sections = [section for section, title in self.titles.items() if _part_of(title) is part]
        contents = " · ".join(self.link(section, self.titles[section]) for section in sections)
        tables = "\n".join(self._table(section) for section in sections)
        return f"## {part.heading}\n\n{part.text}\n\n{contents}\n\n{tables}"

    def link(self, section: type[Section], text: str) -> str:
        """Return a link to a section's table."""
        return f"[{text}](#{_anchor(self.titles[section])})"

    def _table(self, section: type[Section]) -> str:
        title = self.titles[section]
        about = first_line(section) if section in self.built else f"{first_line(section)} **{NOT_BUILT}**"
        heading = f'<a id="{_anchor(title)}"></a>\n\n### {title}\n\n{about}\n'
        rows = "".join(self._row(section, name) for name in section.model_fields)
        head = "| field | type | default | what it does |\n|---|---|---|---|\n"
        return f"{heading}\n{head}{rows}" if rows else heading

    def _row(self, section: type[Section], name: str) -> str:
        info = section.model_fields[name]
        schema = schema_of(info)
        about = description_of(info)
        if section in self.built and (missing := lack_of(section, name)):
            about = f"{about} **{missing}**"
        cells = (f"`{info.alias or name}`", type_of(schema, self.link), default_of(info, schema), about)
        return f"| {' | '.join(map(cell, cells))} |\n"


def reference() -> str:
    """Return the page as Markdown."""
    page = _Page()
    job = TrainingJob.model_fields
    spec = schema_of(job["spec"]).section
    for name in ("config", "backend"):
        page.gather(schema_of(spec.model_fields[name]).section, name)
    page.gather(spec, "spec")
    page.gather(schema_of(job["status"]).section, "status")
    page.gather(TrainingJob, "resource")
    contents = " · ".join(f"[{part.heading}](#{_anchor(part.heading)})" for part in _PARTS)
    parts = "\n".join(page.part(part) for part in _PARTS)
    table = f"{_backends()}\n{_OLD_SPELLINGS}"
    return f"{_INTRODUCTION}\n{contents}\n\n**What acts with which backend**\n\n{table}\n{parts}".rstrip() + "\n"


def _backends() -> str:
    rows = []
    for name, acts in BACKENDS.items():
        rows.append(f"| `{name}` | {', '.join(acts.sections)} | {', '.join(acts.strategies)} |")
    return "| backend | sections that act | strategies |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _part_of(title: str) -> _Part:
    return max(
        _PARTS, key=lambda part: max((len(word) + 1 for word in part.beginnings if title.startswith(word)), default=0)
    )


def _title(choice: Choice, words: list[str]) -> str:
    noun = re.sub(r"\ba (?=[aeiou])", "an ", choice.noun).replace("feature type", "feature")
    return f"{noun}: {', '.join(words)}"


def _below(title: str, name: str) -> str:
    if ":" in title:
        return f"{name} of {title}"
    return f"{title}.{name}" if title not in ("spec", "resource") else name


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
