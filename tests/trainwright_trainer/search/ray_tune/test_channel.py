"""The channel of a search, as an object without Ray."""

from __future__ import annotations

from trainwright_trainer.search.ray_tune.channel import LEAVES, Channel


def test_a_trial_is_told_how_many_of_its_rounds_are_known() -> None:
    channel = Channel()
    channel.saw("0001", 2)
    channel.saw("0001", 1)  # a trial that starts again repeats its rounds
    assert (channel.rounds("0001"), channel.rounds("0002")) == (2, 0)


def test_the_trials_of_a_node_are_told_that_it_goes_and_all_are_told_of_a_stop() -> None:
    channel = Channel()
    assert channel.news("a") is None
    channel.leave(["a"])
    assert (channel.news("a"), channel.news("b")) == (LEAVES, None)
    channel.stop("SIGTERM")
    channel.stop("the time budget")
    assert (channel.news("a"), channel.news("b")) == ("SIGTERM", "SIGTERM")
