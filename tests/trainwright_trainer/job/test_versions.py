from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.environment import CONTRACT_VERSION
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.job.versions import refuse_skew


def installed(version):
    def found(name):
        assert name == "ray"
        if version is None:
            raise PackageNotFoundError(name)
        return version

    return found


@pytest.mark.parametrize(
    ("contract", "ray", "there"),
    [
        (None, None, None),
        (str(CONTRACT_VERSION), None, None),
        (str(CONTRACT_VERSION), "2.60.0", "2.60.0"),
        (None, "2.60.0", "2.60.1"),
    ],
)
def test_what_works_together(contract, ray, there):
    refuse_skew(Pod(1, "train", contract=contract, ray_version=ray), installed=installed(there))


@pytest.mark.parametrize(
    ("contract", "ray", "there", "line"),
    [
        ("2", None, None, "image: the image speaks contract 1, the operator 2: use an image of the operator's version"),
        (None, "2.60.0", None, "image: the image holds no Ray, which backend.type ray needs"),
        (None, "2.60.0", "2.56.1", "rayVersion: is 2.60.0, the image holds Ray 2.56.1: give rayVersion: 2.56.1"),
        (None, "2.60.0", "3.60.0", "rayVersion: is 2.60.0, the image holds Ray 3.60.0: give rayVersion: 3.60.0"),
    ],
)
def test_what_cannot(contract, ray, there, line):
    with pytest.raises(Mistakes) as mistakes:
        refuse_skew(Pod(1, "train", contract=contract, ray_version=ray), installed=installed(there))
    assert str(mistakes.value) == line
