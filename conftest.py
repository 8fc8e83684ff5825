"""For every test of the project: what collection makes is left out of garbage collection.

Seventeen thousand collected tests are so many objects that `gc.collect()`, which some of our code calls, takes seconds.
"""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()
