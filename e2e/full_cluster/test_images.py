"""The content of our images. Their programs start under the limits of a restricted pod."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from testkit.cluster import images
from testkit.cluster.errors import ClusterError
from testkit.cluster.images import buildah
from testkit.cluster.images.layout import Layout
from testkit.cluster.images.ours import OPERATOR, ROOT, TRAINER, Ours, version
from testkit.cluster.images.unpacked import Unpacked

MEGABYTE = 1_000_000
BOTH = pytest.mark.parametrize("image", [OPERATOR, TRAINER], ids=lambda image: image.repository)
# Ends with 0 where torch turns a function into machine code, by the compiler of the image.
COMPILE = """
import torch
doubled = torch.compile(lambda values: values * 2 + 1)
assert doubled(torch.ones(3)).tolist() == [3, 3, 3]
"""


@pytest.fixture(scope="module")
def layout() -> Layout:
    try:
        images.build()
    except ClusterError as problem:
        pytest.fail(str(problem), pytrace=False)
    return buildah.layout()


@pytest.fixture(scope="module")
def operator(layout: Layout) -> Iterator[Unpacked]:
    with Unpacked(OPERATOR.name, layout, buildah.buildah()) as image:
        yield image


@pytest.fixture(scope="module")
def trainer(layout: Layout) -> Iterator[Unpacked]:
    with Unpacked(TRAINER.name, layout, buildah.buildah()) as image:
        yield image


def layers(layout: Layout, image: Ours) -> list[Path]:
    """Return the files of its layers, from the base up. They are not compressed."""
    _, _, *found = layout.blobs(image.name)
    return [layout.path(layer) for layer in found]


def output_of(image: Unpacked, *command: str) -> str:
    ended = image.run(*command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_operators_image_is_small(layout: Layout) -> None:
    _base, *above = layers(layout, OPERATOR)
    assert sum(layer.stat().st_size for layer in above) <= 150 * MEGABYTE


@BOTH
def test_a_change_of_our_code_is_a_small_layer(layout: Layout, image: Ours) -> None:
    """As a registry sends it: compressed."""
    code = layers(layout, image)[-1].read_bytes()
    assert len(gzip.compress(code)) <= 4 * MEGABYTE


@BOTH
def test_it_runs_as_nobody_special(layout: Layout, image: Ours) -> None:
    assert layout.config(image.name)["User"] == "1000:1000"


@BOTH
def test_its_labels_say_what_it_is(layout: Layout, image: Ours) -> None:
    labels = layout.config(image.name)["Labels"]
    assert labels["org.opencontainers.image.version"] == version()
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert labels["org.opencontainers.image.source"].startswith("https://")


def test_the_trainers_labels_say_the_versions_that_are_in_it(layout: Layout, trainer: Unpacked) -> None:
    found = "import importlib.metadata as m, json; print(json.dumps([m.version('trainwright'), m.version('ray')]))"
    labels = layout.config(TRAINER.name)["Labels"]
    named = [labels["dev.trainwright.trainer-version"], labels["dev.trainwright.ray-version"]]
    assert json.loads(output_of(trainer, "python", "-c", found)) == named


def test_ray_shows_nobody_about_the_users_runs(layout: Layout) -> None:
    assert "RAY_USAGE_STATS_ENABLED=0" in layout.config(TRAINER.name)["Env"]


@pytest.mark.parametrize("module", ["torch", "ray", "pandas", "nvidia"])
def test_the_operators_image_holds_no_library_of_the_trainers(operator: Unpacked, module: str) -> None:
    ended = operator.run("python", "-c", f"import {module}")
    assert f"No module named '{module}'" in ended.stderr


def test_the_operator_starts_and_says_in_one_line_what_it_misses(operator: Unpacked) -> None:
    """Run the operator as the Deployment does, but outside of a cluster."""
    ended = operator.run("python", "-m", "trainwright_operator")
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert ended.stderr.strip()


@pytest.mark.parametrize("shell", ["-c", "-lc"])
def test_the_trainer_is_found_in_a_shell_as_kuberay_starts_it(trainer: Unpacked, shell: str) -> None:
    assert "trainwright" in output_of(trainer, "/bin/bash", shell, "--", "ray --version && trainwright --help")


def test_the_trainer_judges_a_file(trainer: Unpacked) -> None:
    job = (ROOT / "examples" / "kubernetes" / "local.yaml").read_text()
    script = "cat > /tmp/job.yaml <<'END'\n" + job + "\nEND\ntrainwright validate /tmp/job.yaml"
    assert "valid" in output_of(trainer, "bash", "-c", script)


@pytest.mark.parametrize(
    "module",
    [
        *(
            "ray.train",
            "ray.dashboard",
            "torch",
            "boto3",
            "pyarrow.fs",
            "safetensors.torch",
            "deepspeed",
            "horovod.torch",
        ),
        *("transformers", "peft", "torchvision", "timm", "optuna"),
    ],
)
def test_the_trainer_has_its_libraries(trainer: Unpacked, module: str) -> None:
    output_of(trainer, "python", "-c", f"import {module}")


def test_torch_is_built_for_cuda(trainer: Unpacked) -> None:
    assert output_of(trainer, "python", "-c", "import torch; print(torch.version.cuda)").strip() != "None"


@pytest.mark.slow
def test_torch_can_compile(trainer: Unpacked) -> None:
    output_of(trainer, "python", "-c", COMPILE)


def test_an_extension_can_be_compiled(trainer: Unpacked) -> None:
    output_of(
        trainer, "sh", "-c", "echo '#include <Python.h>' | g++ -xc++ -fsyntax-only $(python3-config --includes) -"
    )


@BOTH
def test_nothing_can_be_written_but_tmp(image: Ours, operator: Unpacked, trainer: Unpacked) -> None:
    """Check that the limits are effective. Otherwise the tests above would prove nothing."""
    unpacked = operator if image is OPERATOR else trainer
    assert unpacked.run("touch", "/opt/trainwright/x").returncode != 0
    assert output_of(unpacked, "sh", "-c", "touch /tmp/x && id -u").strip() == "1000"
