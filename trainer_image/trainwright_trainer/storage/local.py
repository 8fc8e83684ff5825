"""Storage in a folder of this machine. A write is: temporary file, fsync, rename, fsync of the folder."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Chunk, Storage

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than the limit for files",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.ENOTDIR: "a file stands where a folder is needed",
    errno.EEXIST: "a file stands where a folder is needed",
    errno.EISDIR: "a folder stands where a file is needed",
    errno.ENOENT: "it was taken away while it was written",
    errno.EIO: "the disk reports an input/output error",
}
_ABSENT = (FileNotFoundError, NotADirectoryError)
# These errors mean that the file system does not support hard links.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class FolderStorage(Storage):
    """Storage in the folder `root`. The first write makes the folder if it does not exist."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.location = str(root)

    def path(self, name: str) -> Path:
        """The local path of `name`, for libraries that need one (TensorBoard's writer)."""
        return self.root / name

    def read(self, name: str) -> bytes:
        path = self.path(name)
        try:
            return path.read_bytes()
        except _ABSENT as error:
            raise FileNotFoundError(str(path)) from error
        except OSError as error:
            raise _failure(path, error) from error

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:
        path = self.path(name)
        with _one_line(path), _temporary(path, chunks, durable=durable) as temporary:
            os.replace(temporary, path)
            if durable:
                _sync_folder(path.parent)

    def create(self, name: str, data: bytes) -> bool:
        path = self.path(name)
        with _one_line(path), _temporary(path, [data], durable=True) as temporary:
            created = _link(temporary, path, data)
            _sync_folder(path.parent)
        return created

    def list(self, prefix: str = "") -> list[str]:
        folder = self.path(prefix)
        with _one_line(folder):
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except _ABSENT:
                return []
            return [f"{e.name}/" if e.is_dir() else e.name for e in entries if not e.name.startswith(".")]

    def exists(self, name: str) -> bool:
        path = self.path(name)
        with _one_line(path):
            return path.exists()

    def delete(self, name: str) -> None:
        path = self.path(name)
        with _one_line(path), contextlib.suppress(*_ABSENT):
            path.unlink()

    def delete_tree(self, prefix: str) -> None:
        folder = self.path(prefix)
        with _one_line(folder), contextlib.suppress(*_ABSENT):
            shutil.rmtree(folder)

    def check_writable(self) -> None:
        # The probe goes into the nearest folder that exists. A run that ends with a mistake must leave nothing behind,
        # and a folder made only for the probe cannot be deleted safely: another process may start a run in it.
        with _one_line(self.root):
            nearest = next(f for f in (self.root, *self.root.parents) if f.exists() or f.is_symlink())
            with _temporary(nearest / "probe", [b"."], durable=False):
                pass


def _failure(path: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(f"{path}: {_REASONS.get(error.errno or 0) or error.strerror or error}")


@contextlib.contextmanager
def _one_line(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failure(path, error) from error


@contextlib.contextmanager
def _temporary(path: Path, chunks: Iterable[Chunk], *, durable: bool) -> Iterator[Path]:
    """A complete temporary file beside `path`. It is deleted afterwards, unless the caller renamed it."""
    _make_folder(path.parent, durable=durable)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        _write_new(temporary, chunks, durable=durable)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _write_new(path: Path, chunks: Iterable[Chunk], *, durable: bool) -> None:
    """Write a new file. Raises FileExistsError if `path` exists."""
    with path.open("xb") as file:
        for chunk in chunks:
            file.write(chunk)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def _link(temporary: Path, path: Path, data: bytes) -> bool:
    """Link the file to its name by a hard link. Returns False if the name is taken."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _create_in_place(path, data)
    return True


def _create_in_place(path: Path, data: bytes) -> bool:
    """For file systems without hard links: the creation is still exclusive, but a kill may leave an incomplete file."""
    try:
        _write_new(path, [data], durable=True)
    except FileExistsError:
        return False
    return True


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
