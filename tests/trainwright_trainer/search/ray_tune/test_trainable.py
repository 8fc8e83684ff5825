from __future__ import annotations

import os

from trainwright_trainer.backends.launchers import launch_of
from trainwright_trainer.search.ray_tune.trainable import Process


def test_a_trial_is_no_process_of_the_launcher_that_has_started_the_driver(tmp_path, monkeypatch):
    """Ray's processes inherit the variables, and a search may run below torchrun, or in a shell that has them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {**os.environ, "RANK": "0", "WORLD_SIZE": "2"})
    Process(str(tmp_path), has_gpu=False).prepare(1)
    assert launch_of(os.environ) is None
