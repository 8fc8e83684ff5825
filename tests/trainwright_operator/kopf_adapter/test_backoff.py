from __future__ import annotations

import itertools

from trainwright_operator.kopf_adapter.backoff import Pauses


def test_they_double_up_to_a_limit_and_never_end() -> None:
    pauses = Pauses(0.5, 3)
    assert list(itertools.islice(pauses, 5)) == list(itertools.islice(pauses, 5)) == [0.5, 1, 2, 3, 3]
    assert list(itertools.islice(pauses, 5_000))[-1] == 3


def test_next_goes_on_until_reset() -> None:
    pauses = Pauses(1, 8)
    assert [pauses.next(), pauses.next(), pauses.next()] == [1, 2, 4]
    pauses.reset()
    assert pauses.next() == 1
