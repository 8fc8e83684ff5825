"""This machine as a user's laptop: `trainwright` runs in a folder with the small examples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from testkit.cluster.images.ours import ROOT


@dataclass(frozen=True)
class Laptop:
    folder: Path
    s3: Mapping[str, str]
    """The environment variables of S3, as in the pods."""

    @classmethod
    def make(cls, folder: Path, s3: Mapping[str, str]) -> Self:
        shutil.copytree(ROOT / "examples" / "small", folder / "examples" / "small")
        return cls(folder, s3)

    def preprocess(self, job: Mapping[str, Any], cache_dir: str) -> None:
        """Fill the cache with the data of a job of the cluster, in one process."""
        here = {name: job["spec"][name] for name in ("dataset", "config")}
        backend = {"type": "local", "cache_dir": cache_dir}
        (self.folder / "here.yaml").write_text(json.dumps({**here, "backend": backend}))
        self.trainwright("preprocess", "here.yaml")

    def trainwright(self, *words: str) -> str:
        """Return the output."""
        command = [sys.executable, "-m", "trainwright_trainer", *words]
        environment = {**os.environ, **self.s3}
        ended = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout
