from __future__ import annotations

import os
import subprocess
import sys

import pytest

from trainwright_trainer.runtime.preload import SPINS

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


@pytest.mark.parametrize(
    ("given", "expected"), [({}, SPINS), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")]
)
def test_idle_threads_sleep_soon_unless_the_user_says_otherwise(given, expected):
    code = (
        "import os; from trainwright_trainer.runtime.preload import preload_imports; preload_imports().join()"
        "; print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    around = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=around | given)
    assert found.stdout.split() == [expected]
