"""Storage in a folder of this machine. A write is: temporary file, fsync, rename, fsync of the folder."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Chunk, Fill, Identity, ObjectFacts, OpenObject, Storage, matches

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than the limit for files",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.ENOTDIR: "a file is where a folder is needed",
    errno.EEXIST: "a file is where a folder is needed",
    errno.EISDIR: "a folder is where a file is needed",
    errno.ENOENT: "it was deleted while it was written",
    errno.EIO: "the disk reports an input/output error",
}
_ABSENT = (FileNotFoundError, NotADirectoryError)
_TEMPORARY = ".tmp"
_DAY = 86_400.0
"""No running write takes longer."""
# These errors mean that the file system does not support hard links.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class FolderStorage(Storage):
    """Storage in the folder `root`. The first write makes the folder if it does not exist.

    With `private`, only the owner may read the files.
    """

    is_remote = False

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self.root: Path = root
        self._mode = 0o600 if private else 0o666  # the process's umask applies

    def path(self, name: str) -> Path:
        """The local path of `name`, for libraries that need one (TensorBoard's writer)."""
        return self.root / name

    def read(self, name: str) -> bytes:
        path = self.path(name)
        try:
            return path.read_bytes()
        except OSError as error:
            if _is_absent(error):
                raise FileNotFoundError(str(path)) from error
            raise _failure(path, error) from error

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(str(self.path(name)))

    def arrow(self, prefix: str) -> tuple[fs.FileSystem, str]:
        from pyarrow import fs

        return fs.LocalFileSystem(), str(self.path(prefix).absolute())

    def stream(self, name: str) -> IO[bytes]:
        return self.path(name).open("rb")

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:
        self._replace(name, lambda file: file.writelines(chunks), durable=durable)

    def write_by(self, name: str, fill: Fill) -> None:
        self._replace(name, fill, durable=True)

    def begin(self, name: str) -> OpenObject:
        return _NewFile(self, self.path(name))

    def _replace(self, name: str, fill: Fill, *, durable: bool) -> None:
        path = self.path(name)
        with _raising_failure(path), self._temporary(path, fill, durable=durable) as temporary:
            os.replace(temporary, path)
            if durable:
                _sync_folder(path.parent)

    def create(self, name: str, data: bytes) -> bool:
        path = self.path(name)
        with (
            _raising_failure(path),
            self._temporary(path, lambda file: file.writelines([data]), durable=True) as temporary,
        ):
            created = self._link(temporary, path, data)
            _sync_folder(path.parent)
        return created

    def list(self, prefix: str = "") -> list[str]:
        folder = self.path(prefix)
        with _raising_failure(folder):
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except _ABSENT:
                return []
            return [f"{e.name}/" if e.is_dir() else e.name for e in entries if not e.name.startswith(".")]

    def list_facts(self, prefix: str = "") -> Sequence[ObjectFacts]:
        with _raising_failure(self.root):
            folders = os.walk(self.path(prefix), onerror=_raise_unless_gone)
            paths = (Path(folder, name) for folder, _, names in folders for name in names)
            return [found for path in paths if (found := self._facts(path)) is not None]

    def _facts(self, path: Path) -> ObjectFacts | None:
        """None for what is no file, and for a file that is deleted at this moment."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        is_file = stat.S_ISREG(found.st_mode)
        name = path.relative_to(self.root).as_posix()
        return ObjectFacts(name, found.st_size, found.st_mtime) if is_file else None

    def match(self, pattern: str) -> Sequence[str]:
        with _raising_failure(self.root):
            if "**" in pattern.split("/"):
                files = (path.relative_to(self.root).as_posix() for path in _linked_files(self.root))
                return [name for name in files if matches(name, pattern)]
            names = (Path(name).as_posix() for name in glob.glob(pattern, root_dir=self.root))
            return [name for name in names if matches(name, pattern) and self.path(name).is_file()]

    def identities(self, names: Sequence[str]) -> Sequence[Identity]:
        return [_identity(self.path(name)) for name in names]

    def exists(self, name: str) -> bool:
        path = self.path(name)
        with _raising_failure(path):
            return path.exists()

    def delete(self, name: str) -> None:
        path = self.path(name)
        with _raising_failure(path), contextlib.suppress(*_ABSENT):
            path.unlink()

    def delete_tree(self, prefix: str) -> None:
        folder = self.path(prefix)
        with _raising_failure(folder), contextlib.suppress(*_ABSENT):
            if folder.is_symlink():  # to a folder on another disk, which `rmtree` refuses
                folder.unlink()
            else:
                shutil.rmtree(folder)

    def delete_leftovers(self) -> None:
        with _raising_failure(self.root):
            for path in self.root.glob(f"*/.*{_TEMPORARY}"):
                with contextlib.suppress(FileNotFoundError):  # its writer may rename it at this moment
                    if time.time() - path.stat().st_mtime > _DAY:
                        path.unlink()

    def check_writable(self, *, exclusive: bool = True) -> None:  # noqa: ARG002 (a file system always is)
        # The probe goes into the nearest folder that exists. A run that ends with a mistake must leave nothing behind,
        # and a folder made only for the probe cannot be deleted safely: another process may start a run in it.
        with _raising_failure(self.root):
            nearest = next(f for f in (self.root, *self.root.parents) if f.exists() or f.is_symlink())
            with self._temporary(nearest / "probe", lambda file: file.writelines([b"."]), durable=False):
                pass

    @contextlib.contextmanager
    def _temporary(self, path: Path, fill: Fill, *, durable: bool) -> Iterator[Path]:
        """A complete temporary file beside `path`. It is deleted afterwards, unless the caller renamed it."""
        _make_folder(path.parent, durable=durable)
        temporary = _temporary_name(path)
        try:
            self._write_new(temporary, fill, durable=durable)
            yield temporary
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def _write_new(self, path: Path, fill: Fill, *, durable: bool) -> None:
        """Write a new file. Raises FileExistsError if `path` exists."""
        with self.open_new(path) as file:
            fill(file)
            file.flush()
            if durable:
                os.fsync(file.fileno())

    def open_new(self, path: Path) -> IO[bytes]:
        return open(path, "xb", opener=lambda name, flags: os.open(name, flags, self._mode))

    def _link(self, temporary: Path, path: Path, data: bytes) -> bool:
        """Link the file to its name by a hard link. Returns False if the name is taken."""
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._create_in_place(path, data)
        return True

    def _create_in_place(self, path: Path, data: bytes) -> bool:
        """For file systems without hard links: creation is still exclusive, but a kill may leave an incomplete file."""
        try:
            self._write_new(path, lambda file: file.writelines([data]), durable=True)
        except FileExistsError:
            return False
        return True


class _NewFile:
    """An `OpenObject`: a temporary file that `commit` renames."""

    def __init__(self, storage: FolderStorage, path: Path) -> None:
        self._path, self._temporary = path, _temporary_name(path)
        with _raising_failure(path):
            _make_folder(path.parent, durable=True)
            self.file = storage.open_new(self._temporary)

    def commit(self) -> None:
        with _raising_failure(self._path), self.file:
            self.file.flush()
            os.fsync(self.file.fileno())
            os.replace(self._temporary, self._path)
            _sync_folder(self._path.parent)

    def discard(self) -> None:
        with contextlib.suppress(OSError):  # a full disk refuses the rest of the file, which is not needed
            self.file.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()


def _temporary_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{_TEMPORARY}")


def _failure(path: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(f"{path}: {_REASONS.get(error.errno or 0) or error.strerror or error}")


def _is_absent(error: OSError) -> bool:
    """True if there is no file of the name: also for one that is too long to be a name."""
    return isinstance(error, _ABSENT) or error.errno == errno.ENAMETOOLONG


def _raise_unless_gone(error: OSError) -> None:
    """Another process may delete a folder while it is listed. A file holds no names."""
    if not isinstance(error, _ABSENT):
        raise error


def _linked_files(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """The files below a folder, also through links to folders. A link to one of `above` would not end."""
    place = os.path.realpath(folder)
    if place in above:
        return
    try:
        entries = list(os.scandir(folder))
    except _ABSENT:
        return
    for entry in entries:
        if entry.is_dir():
            yield from _linked_files(Path(entry), (*above, place))
        elif entry.is_file():
            yield Path(entry)


@contextlib.contextmanager
def _raising_failure(path: Path) -> Iterator[None]:
    """Convert an OSError into an `EnvironmentFailure` of one line."""
    try:
        yield
    except OSError as error:
        raise _failure(path, error) from error


def _identity(path: Path) -> Identity:
    try:
        found = path.stat()
    except OSError as error:
        if _is_absent(error):
            return {}
        raise _failure(path, error) from error
    return {
        "path": str(path.resolve()),
        "inode": found.st_ino,
        "size": found.st_size,
        "mtime_ns": found.st_mtime_ns,
    }


def _make_folder(folder: Path, *, durable: bool) -> None:
    made = _missing(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if durable:
        for new in made:
            _sync_folder(new.parent)


def _missing(folder: Path) -> list[Path]:
    """`folder` and its parents that do not exist, the deepest first."""
    return [above for above in (folder, *folder.parents) if not above.exists()]


def _sync_folder(folder: Path) -> None:
    """Sync `folder`, so that its names survive a power loss. File systems that do not support this are ignored."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
