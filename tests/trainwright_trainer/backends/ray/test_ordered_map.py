"""Items that tasks read and actors map, on a real Ray: their order, their exceptions, and processes that are killed."""

from __future__ import annotations

import os
import signal

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.ray.ordered_map import ordered_map
from trainwright_trainer.backends.ray.resources import Pool
from trainwright_trainer.errors import EnvironmentFailure

pytestmark = pytest.mark.usefixtures("ray_here")
PARTS = [range(start, start + 3) for start in range(0, 12, 3)]


def pool(actors: int = 2, retries: int = 3) -> Pool:
    return Pool(actors, actors, False, {"CPU": 1.0}, retries)


def read():
    """A function that tasks unpickle by its value, as they cannot import this module."""

    def items(shared, part):
        for item in part:
            yield shared + item

    return items


def doubled():
    return lambda: lambda item: 2 * item


def test_results_have_the_order_of_the_items():
    assert list(ordered_map(pool(), 100, PARTS, read(), doubled())) == [2 * (100 + item) for item in range(12)]


def test_an_empty_part_has_no_result():
    assert list(ordered_map(pool(), 0, [range(2), range(0), range(2, 3)], read(), doubled())) == [0, 2, 4]


def failing(at: int, place: str):
    """Functions of which one raises a mistake: the task at this item, the actor at it, or each actor at its start."""

    def items(_, part):
        for item in part:
            if place == "read" and item >= at:
                raise Mistakes.one("dataset", f"{item} is bad")
            yield item

    def make():
        if place == "make":
            raise Mistakes.one("model", "it is damaged")

        def function(item):
            if place == "map" and item >= at:
                raise Mistakes.one("dataset", f"{item} is bad")
            return item

        return function

    return items, make


@pytest.mark.parametrize(
    ("place", "line"), [("read", "dataset: 4 is bad"), ("map", "dataset: 4 is bad"), ("make", "model: it is damaged")]
)
def test_the_exception_of_the_first_item_that_fails_is_raised(place, line):
    items, make = failing(4, place)
    found = []
    with pytest.raises(Mistakes, match=line):
        found.extend(ordered_map(pool(), None, PARTS, items, make))
    assert found == ([] if place == "make" else list(range(4)))


def killed(marker: str, place: str):
    """Functions of which one kills its process with SIGKILL, as long as the marker does not exist."""

    def once(item):
        if item == 4 and not os.path.exists(marker):
            if not marker.endswith("never"):
                os.close(os.open(marker, os.O_CREAT))
            os.kill(os.getpid(), signal.SIGKILL)

    def items(_, part):
        for item in part:
            if place == "read":
                once(item)
            yield item

    def make():
        def function(item):
            if place == "map":
                once(item)
            return item

        return function

    return items, make


@pytest.mark.parametrize("place", [pytest.param("read", marks=pytest.mark.slow), "map"])
def test_after_a_kill_each_item_is_there_once(tmp_path, place):
    marker = tmp_path / "killed"
    assert list(ordered_map(pool(), None, PARTS, *killed(str(marker), place))) == list(range(12))
    assert marker.exists()


@pytest.mark.slow
def test_an_actor_that_is_killed_again_and_again_is_one_line(tmp_path):
    items, make = killed(str(tmp_path / "never"), "map")
    with pytest.raises(EnvironmentFailure, match="no retry is left"):
        list(ordered_map(pool(retries=1), None, PARTS, items, make))
