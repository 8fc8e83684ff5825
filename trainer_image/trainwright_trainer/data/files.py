"""Find the files that the job's `dataset` names, in the order of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath

from trainwright_api.problems import Mistakes, nearest
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data.brace_expansion import expanded
from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats import COMPRESSIONS, FORMATS, SUFFIXES, format_of, refuse_idle_options
from trainwright_trainer.data.formats.reader import Reader
from trainwright_trainer.storage.base import Identity, Storage
from trainwright_trainer.storage.location import DataPlace, DataUri, Place, data_place_of
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.s3client.credentials import S3Credentials

EACH = "**/*"
"""Matches the files of a folder, without those whose names begin with a dot or an underscore: other programs write
them."""
_WILDCARDS = "*?["


@dataclass(frozen=True)
class Files:
    """The files of one data set. `names` are their names in `storage`; `dataset` is its name for messages."""

    dataset: str
    home: Place
    """The default place of the cache folder: beside a file or a folder, or the fixed folder of a glob; the working
    folder for a store that is only read."""
    storage: Storage
    names: tuple[str, ...]
    format: str
    is_single: bool
    options: DatasetOptions = field(default_factory=DatasetOptions)

    @property
    def each(self) -> list[DataFile]:
        return [DataFile(self.storage, name) for name in self.names]

    @cached_property
    def reader(self) -> Reader:
        """The reader of all files. It may read the head of the first file: raises OSError, `UnreadableFileError`."""
        return FORMATS[self.format].make(self.each[0], self.options)

    def look(self) -> Sequence[Identity]:
        """The current identities of the files."""
        return self.storage.identities(self.names)


def find(dataset: str, access: S3Credentials | None = None, options: DatasetOptions | None = None) -> Files:
    """The files of a path, a folder or a glob, on this machine or in a store. Raises `Mistakes` for `dataset`."""
    options = options or DatasetOptions()
    found = _find(dataset, access, options)
    refuse_idle_options(found.format, options)
    return found


def _find(dataset: str, access: S3Credentials | None, options: DatasetOptions) -> Files:
    place = data_place_of(dataset, "dataset")
    if isinstance(place, Path):
        is_folder, is_prefix = _is_folder(place), False
    else:
        is_folder, is_prefix = not place.key, dataset.endswith("/")
    if not is_folder:
        beside = storage_of(place.parent, access)
        if not is_prefix and beside.exists(place.name):
            word = options.format or _named_format(PurePath(place.name))
            return Files(place.name, _home(place.parent), beside, (place.name,), word, True, options)
        if (listed := expanded(str(place))) != [str(place)]:
            return _listed(dataset, [_find(name, access, options) for name in listed], access)
        if _has_wildcard(place):
            folder = _fixed_part(place)
            storage = storage_of(folder, access)
            return _many(dataset, _home(folder), storage, storage.match(_relative(place, folder)), options)
    storage = storage_of(place, access)
    names = storage.match(EACH)
    if not names and not is_folder:
        raise absent(str(place), place.name, [name.rstrip("/") for name in beside.list()])
    if isinstance(place, Path):
        return _many(place.name or str(place), place.resolve().parent, storage, names, options)
    return _many(place.name or place.bucket, _home(place.parent), storage, names, options)


def _home(folder: DataPlace) -> Place:
    return Path() if isinstance(folder, DataUri) else folder


def _listed(dataset: str, parts: Sequence[Files], access: S3Credentials | None) -> Files:
    """The files of all parts, in their order, with names below the innermost folder that contains all of them."""
    roots = [part.storage.root for part in parts]
    roots = [root.absolute() if isinstance(root, Path) else root for root in roots]
    folder = roots[0]
    while not all(_lies_in(root, folder) for root in roots):
        folder = folder.parent
    names = [_relative(root / name, folder) for root, part in zip(roots, parts, strict=True) for name in part.names]
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise Mistakes.one("dataset", f"{dataset!r} names {twice!r} twice.")
    _refuse_mixed(dataset, {part.format: part.names[0] for part in reversed(parts)})
    first = parts[0]
    return Files(dataset, _home(folder), storage_of(folder, access), tuple(names), first.format, False, first.options)


def _lies_in(place: DataPlace, folder: DataPlace) -> bool:
    while place not in (folder, place.parent):
        place = place.parent
    return place == folder


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # for example a name that is too long
        raise Mistakes.one("dataset", f"{str(path)!r} cannot be read ({error.strerror}).") from error


def _has_wildcard(place: DataPlace) -> bool:
    return any(sign in str(place) for sign in _WILDCARDS)


def _fixed_part(pattern: DataPlace) -> DataPlace:
    """The folder above the first part that contains a wildcard. The signs of one in the name of a folder are none."""
    folder: DataPlace = pattern.parent
    while _has_wildcard(folder) and not (isinstance(folder, Path) and _is_folder(folder)):
        folder = folder.parent
    return folder


def _relative(pattern: DataPlace, folder: DataPlace) -> str:
    if isinstance(pattern, Path):
        return pattern.relative_to(str(folder)).as_posix()
    return str(pattern).removeprefix(f"{folder}/")


def _many(dataset: str, home: Place, storage: Storage, names: Iterable[str], options: DatasetOptions) -> Files:
    names = tuple(sorted(names))
    if not names:
        raise Mistakes.one("dataset", f"{dataset!r} holds no file.")
    for name in names:
        _refuse_bytes(dataset, name)
    return Files(dataset, home, storage, names, options.format or _common_format(dataset, names), False, options)


def _refuse_bytes(dataset: str, name: str) -> None:
    """Raise `Mistakes` for a name that no text can hold: the cache and the records of a run name their files."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        line = f"{dataset!r} holds {name!r}, whose name is no text in UTF-8: rename it, or leave it out."
        raise Mistakes.one("dataset", line) from error


def _common_format(dataset: str, names: Sequence[str]) -> str:
    """The format of the files. Raises `Mistakes` if they differ."""
    formats = {_named_format(PurePath(name)): name for name in reversed(names)}
    _refuse_mixed(dataset, formats)
    return next(iter(formats))


def _refuse_mixed(dataset: str, formats: Mapping[str, str]) -> None:
    """Raise `Mistakes` if there is more than one format. `formats` has the name of a file for each."""
    if len(formats) > 1:
        shown = " and ".join(repr(name) for name in sorted(formats.values())[:2])
        raise Mistakes.one("dataset", f"{dataset!r} mixes formats: {shown}.")


def _named_format(path: PurePath) -> str:
    """The format that the name's suffix names. Raises `Mistakes` if this version lacks it."""
    found = format_of(path)
    if found is None:
        known = ", ".join([*SUFFIXES, *(f".csv{ending}" for ending in COMPRESSIONS)])
        line = f"{path.name!r} is of no format that this version reads ({known}). datasetOptions.format names one."
        raise Mistakes.one("dataset", line)
    return found


def absent(dataset: str, name: str, names: Iterable[str]) -> Mistakes:
    """The mistake of a data set that does not exist. `names` are the names in the folder in which `name` is missing."""
    near = nearest(name, names)
    hint = f" Nearest: {near!r}." if near else ""
    return Mistakes.one("dataset", f"{dataset!r} does not exist.{hint}")
