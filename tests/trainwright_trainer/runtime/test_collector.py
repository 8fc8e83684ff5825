from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from trainwright_trainer.runtime.collector import without_collections

IMPORT = "from trainwright_trainer.runtime.collector import collect_nothing_at_exit\n"
IN_A_CYCLE = """
class Node:
    def __init__(self): self.own = self
    def __del__(self): print("collected")
kept = Node()
"""


def test_nothing_is_collected_in_a_block() -> None:
    with without_collections():
        assert not gc.isenabled()
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_the_block_too() -> None:
    with pytest.raises(ImportError), without_collections():
        raise ImportError
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("begin", "printed"),
    [("", "collected\n"), ("collect_nothing_at_exit()", ""), ("import onnx; collect_nothing_at_exit()", "collected\n")],
    ids=["always", "ours", "a library that reports leaks"],
)
def test_a_process_ends_without_a_last_collection(begin: str, printed: str) -> None:
    command = [sys.executable, "-c", f"{IMPORT}{begin}\n{IN_A_CYCLE}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == (printed, "")
