"""From the word `dataset` to the files that it means, in the order of their rows."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path

from trainwright_api.problems import Mistakes, nearest
from trainwright_trainer.data.formats import COMPRESSIONS, READERS, format_of
from trainwright_trainer.data.formats.reader import Reader
from trainwright_trainer.errors import not_built


@dataclass(frozen=True)
class Files:
    """The files of one data set. `names` are their paths below `folder`; `dataset` is what people call the whole."""

    dataset: str
    folder: Path
    names: tuple[str, ...]
    suffix: str
    is_single: bool

    @property
    def reader(self) -> Reader:
        return READERS[self.suffix]

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(self.folder / name for name in self.names)


def find(dataset: str) -> Files:
    """The files that a path, a folder or a glob means. Raises `Mistakes` with the path `dataset`."""
    if "://" in dataset:
        raise not_built("dataset", f"{dataset.split('://')[0]}://", "files of this machine")
    path = Path(dataset).expanduser()
    if path.is_dir():
        return _many(path.name or str(path), path, [found for found in path.rglob("*") if _counts(found, path)])
    if path.exists():
        return Files(path.name, path.parent, (path.name,), _suffix(path), True)
    if any(sign in dataset for sign in "*?["):
        folder = _fixed_part(path)
        found = [Path(name) for name in glob.glob(str(path), recursive=True)]
        return _many(dataset, folder, [file for file in found if file.is_file()])
    raise _absent(path)


def _counts(path: Path, folder: Path) -> bool:
    """Names that begin with a point or an underscore are other programs' notes, not data."""
    return path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _fixed_part(pattern: Path) -> Path:
    """The folder above the first part with a sign in it."""
    fixed = Path(pattern.anchor)
    for part in pattern.parts[len(Path(pattern.anchor).parts) : -1]:
        if any(sign in part for sign in "*?["):
            break
        fixed /= part
    return fixed


def _many(dataset: str, folder: Path, found: list[Path]) -> Files:
    if not found:
        raise Mistakes.one("dataset", f"{dataset!r} holds no file.")
    names = sorted(path.relative_to(folder).as_posix() for path in found)
    suffixes = {_suffix(folder / name): name for name in reversed(names)}
    if (
        len({type(READERS[suffix]) for suffix in suffixes}) > 1
        or len({READERS[suffix].name for suffix in suffixes}) > 1
    ):
        shown = " and ".join(repr(name) for name in sorted(suffixes.values())[:2])
        raise Mistakes.one("dataset", f"{dataset!r} mixes formats: {shown}.")
    return Files(dataset, folder, tuple(names), next(iter(suffixes)), False)


def _suffix(path: Path) -> str:
    found = format_of(path)
    if found is None:
        known = ", ".join([*READERS, *(f".csv{ending}" for ending in COMPRESSIONS)])
        raise Mistakes.one("dataset", f"{path.name!r} is of no format that this version reads ({known}).")
    return found


def _absent(path: Path) -> Mistakes:
    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    near = nearest(path.name, names)
    hint = f" Nearest: {near!r}." if near else ""
    return Mistakes.one("dataset", f"{str(path)!r} does not exist.{hint}")
