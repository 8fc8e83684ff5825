"""Find the files that the job's `dataset` names, in the order of their rows."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from trainwright_api.problems import Mistakes, nearest
from trainwright_trainer.data.datafile import DataFile, Identity, LocalFile, identity_of
from trainwright_trainer.data.formats import COMPRESSIONS, READERS, format_of
from trainwright_trainer.data.formats.reader import Reader
from trainwright_trainer.errors import not_built
from trainwright_trainer.storage.s3client import uri
from trainwright_trainer.storage.s3client.credentials import S3Credentials
from trainwright_trainer.storage.s3client.uri import Place

SIGNS = "*?["
"""The characters that make a path a glob pattern."""


@dataclass(frozen=True)
class Files:
    """The files of one data set. `names` are their paths below its folder; `dataset` is its name for messages."""

    dataset: str
    home: Place
    """The default place of the cache folder: beside a file or a folder, or the fixed folder of a glob."""
    names: tuple[str, ...]
    each: tuple[DataFile, ...]
    suffix: str
    is_single: bool
    look: Callable[[], Sequence[Identity]]
    """Returns the current identities of the files."""

    @property
    def reader(self) -> Reader:
        return READERS[self.suffix]


def find(dataset: str, access: S3Credentials | None = None) -> Files:
    """The files of a path, a folder or a glob, on this machine or in a store. Raises `Mistakes` for `dataset`."""
    if uri.is_s3(dataset):
        from trainwright_trainer.data.s3 import find_in_store  # boto3 takes a while to import

        return find_in_store(dataset, access)
    if "://" in dataset and not dataset.startswith("file://"):
        raise not_built("dataset", f"{dataset.split('://')[0]}://", "files of this machine and s3://")
    return _find_here(dataset.removeprefix("file://"))


def _find_here(dataset: str) -> Files:
    path = Path(dataset).expanduser()
    if path.is_dir():
        found = [file for file in path.rglob("*") if file.is_file() and counts(file.relative_to(path))]
        return _many(path.name or str(path), path.resolve().parent, path, found)
    if path.exists():
        return _files(path.name, path.parent, path.parent, [path.name], suffix_of(path), is_single=True)
    if any(sign in dataset for sign in SIGNS):
        folder = Path(fixed_part(path))
        paths = [Path(name) for name in glob.glob(str(path), recursive=True)]
        return _many(dataset, folder, folder, [file for file in paths if file.is_file()])
    raise absent(str(path), path.name, [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else [])


def counts(path: PurePath) -> bool:
    """False if a part of the path begins with a dot or an underscore: such files of other programs are not data."""
    return not any(part.startswith((".", "_")) for part in path.parts)


def fixed_part(pattern: PurePath) -> PurePath:
    """The folder above the first part that contains a wildcard."""
    fixed = type(pattern)(pattern.anchor)
    for part in pattern.parts[len(fixed.parts) : -1]:
        if any(sign in part for sign in SIGNS):
            break
        fixed /= part
    return fixed


def _many(dataset: str, home: Path, folder: Path, found: Iterable[Path]) -> Files:
    names = sorted(path.relative_to(folder).as_posix() for path in found)
    return _files(dataset, home, folder, names, one_of(dataset, names), is_single=False)


def _files(dataset: str, home: Path, folder: Path, names: Sequence[str], suffix: str, *, is_single: bool) -> Files:
    paths = [folder / name for name in names]
    files = tuple(LocalFile(path) for path in paths)
    return Files(dataset, home, tuple(names), files, suffix, is_single, lambda: [identity_of(path) for path in paths])


def one_of(dataset: str, names: Sequence[str]) -> str:
    """A suffix of the files, which all have one format. Raises `Mistakes` if formats differ or if there is no file."""
    if not names:
        raise Mistakes.one("dataset", f"{dataset!r} holds no file.")
    suffixes = {suffix_of(PurePath(name)): name for name in reversed(names)}
    if (
        len({type(READERS[suffix]) for suffix in suffixes}) > 1
        or len({READERS[suffix].name for suffix in suffixes}) > 1
    ):
        shown = " and ".join(repr(name) for name in sorted(suffixes.values())[:2])
        raise Mistakes.one("dataset", f"{dataset!r} mixes formats: {shown}.")
    return next(iter(suffixes))


def suffix_of(path: PurePath) -> str:
    found = format_of(path)
    if found is None:
        known = ", ".join([*READERS, *(f".csv{ending}" for ending in COMPRESSIONS)])
        raise Mistakes.one("dataset", f"{path.name!r} is of no format that this version reads ({known}).")
    return found


def absent(dataset: str, name: str, names: Iterable[str]) -> Mistakes:
    """The mistake of a data set that does not exist. `names` are the names in the folder in which `name` is missing."""
    near = nearest(name, names)
    hint = f" Nearest: {near!r}." if near else ""
    return Mistakes.one("dataset", f"{dataset!r} does not exist.{hint}")
