from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from trainwright_trainer.runtime import preload
from trainwright_trainer.runtime.preload import _MODULES, BUSY_SPINS, is_busy, others_running

MODULES = ("torch", "trainwright_trainer.loop.trainer")


def test_training_is_imported_in_the_background():
    code = f"import sys; from trainwright_trainer.runtime.preload import preload_imports; preload_imports().join(); \
print(all(name in sys.modules for name in {MODULES!r}), 'torch._dynamo' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("state", ["at once", "while it imports"])
def test_a_program_that_ends_meanwhile_ends_as_it_wants(state):
    wait = "" if state == "at once" else "\nwhile 'torch' not in sys.modules: pass"
    start = "import sys\nfrom trainwright_trainer.runtime.preload import preload_imports\npreload_imports()"
    code = f"{start}{wait}\nsys.exit(2)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 2


@pytest.mark.parametrize("error", [ImportError("torch"), RuntimeError("can't register atexit after shutdown")])
def test_no_error_of_an_early_import_is_printed(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise error

    monkeypatch.setattr(preload.importlib, "import_module", fail)
    preload._import_all()


@pytest.mark.parametrize(
    ("running", "usable", "cpus", "busy"),
    [(0, 2, 2, False), (1, 2, 2, True), (0, 64, 64, False), (100, 4, 128, False), (125, 4, 128, True)],
)
def test_a_machine_is_busy_if_it_has_no_cpu_for_each_of_our_threads(
    running: int, usable: int, cpus: int, busy: bool
) -> None:
    assert is_busy(running, usable, cpus) is busy


def test_others_are_counted_without_this_thread(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  1 2 3\nprocs_running 4\nprocs_blocked 9\n")
    assert others_running(stat) == 3


@pytest.mark.parametrize("content", [None, "cpu  1 2 3\n"])
def test_an_unknown_machine_counts_as_busy(content: str | None, tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    if content is not None:
        stat.write_text(content)
    assert is_busy(others_running(stat), 1, os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("others", "given", "expected"),
    [
        (1_000_000, {}, BUSY_SPINS),
        (0, {}, "None"),
        (1_000_000, {"GOMP_SPINCOUNT": "7"}, "7"),
        (1_000_000, {"OMP_WAIT_POLICY": "ACTIVE"}, "None"),
    ],
)
def test_idle_threads_sleep_soon_on_a_busy_machine_unless_the_user_says_otherwise(
    others: int, given: dict[str, str], expected: str
) -> None:
    code = (
        "import os; from trainwright_trainer.runtime import preload"
        f"; preload.others_running = lambda: {others}; preload.usable_cpus = lambda: 1"
        "; preload.preload_imports().join(); print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    around = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=around | given)
    assert found.stdout.split() == [expected]


@pytest.mark.parametrize("module", [name for name in _MODULES if "." in name])
def test_the_package_of_a_module_imports_none_of_its_own(module: str) -> None:
    """Else another thread that imports a module of the package may get half a module."""
    package = module.rpartition(".")[0]
    found = find_spec(package)
    assert found is not None
    assert f"from {package}." not in Path(str(found.origin)).read_text()
