from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = ("torch", "trainwright_trainer.loop.train")


def test_training_is_imported_in_the_background():
    code = f"import sys; from trainwright_trainer.warm import warm_imports; warm_imports().join(); \
print(all(name in sys.modules for name in {MODULES!r}), 'torch._dynamo' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("state", ["at once", "while it imports"])
def test_a_program_that_ends_meanwhile_ends_as_it_wants(state):
    wait = "" if state == "at once" else "\nwhile 'torch' not in sys.modules: pass"
    code = f"import sys\nfrom trainwright_trainer.warm import warm_imports\nwarm_imports(){wait}\nsys.exit(2)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 2
