"""Build a wheel of Horovod for the torch of this environment: `python trainer_image/build_horovod.py FOLDER`.

Horovod's last release (0.28.1, 2023) does not build against today's torch and compilers without the changes below. The
environment needs torch and setuptools < 81, the machine g++, make and cmake. It takes about four minutes on two cores.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from urllib.request import urlopen

RELEASE = "horovod-0.28.1"
URL = (
    "https://files.pythonhosted.org/packages/e4/86/da559fcc1620ac7831a16ccb2ad3acb477a8da8a631f75a83b6410507210/"
    f"{RELEASE}.tar.gz"
)
SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"
# File → the text that is replaced in it, and the new text.
CHANGES = {
    # The headers of torch 2.15 are C++20.
    "CMakeLists.txt": ("set(CMAKE_CXX_STANDARD 14)", "set(CMAKE_CXX_STANDARD 20)"),
    "horovod/torch/CMakeLists.txt": ("set(CMAKE_CXX_STANDARD 14)", "set(CMAKE_CXX_STANDARD 20)"),
    # Built without CUDA, Horovod copies the gradients of a GPU to the CPU, and its thread copies the sums back. It does
    # not wait for the first copy, and its thread refuses to select the GPU. torch selects it in each copy by itself.
    "horovod/torch/mpi_ops_v2.cc": ("/*non_blocking=*/true", "/*non_blocking=*/false"),
    "horovod/torch/cuda_util.cc": (
        'throw std::logic_error("Internal error. Requested device context manager "\n'
        '                           "with GPU device but not compiled with CUDA.");',
        "restore_device_ = CPU_DEVICE_ID;",
    ),
    # gcc 14 rejects the assignment to a constant member.
    "third_party/flatbuffers/include/flatbuffers/stl_emulation.h": ("count_ = other.count_;", ""),
}
OPTIONS = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_TENSORFLOW": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "CXXFLAGS": "-include string -include cstdint",  # headers that Horovod's files do not include themselves
}


def main(folder: Path) -> None:
    """Write the wheel to `folder`."""
    with tempfile.TemporaryDirectory() as work:
        source = _unpacked(Path(work))
        for name, (found, instead) in CHANGES.items():
            _replace(source / name, found, instead)
        command = [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", str(folder.resolve())]
        environment = {**os.environ, "MAKEFLAGS": f"-j{os.cpu_count()}", **OPTIONS}
        with tempfile.TemporaryFile() as log:
            ended = subprocess.run(command, cwd=source, env=environment, stdout=log, stderr=subprocess.STDOUT)
            if ended.returncode:
                log.seek(0)
                raise SystemExit(log.read().decode(errors="replace") + f"{RELEASE} does not build here")


def _unpacked(work: Path) -> Path:
    with urlopen(URL, timeout=300) as answer:
        packed = answer.read()
    if hashlib.sha256(packed).hexdigest() != SHA256:
        raise SystemExit(f"{URL}: expected SHA-256 {SHA256}")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(work, filter="data")
    return work / RELEASE


def _replace(path: Path, found: str, instead: str) -> None:
    text = path.read_text()
    if found not in text:
        raise SystemExit(f"{path} does not contain {found!r}")
    path.write_text(text.replace(found, instead))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
