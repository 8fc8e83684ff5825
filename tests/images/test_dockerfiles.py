"""The text of the Dockerfiles. The built images are tested in e2e/full_cluster."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainwright_operator.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILES = ("Dockerfile.operator", "Dockerfile.gpu")
FIRST_OF_ITS_OWN = "FROM tools AS lock"
EVERY = pytest.mark.parametrize("name", DOCKERFILES)


def instructions(name: str) -> list[str]:
    """One a line, without comments."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if line.strip() and not line.startswith("#")]
    return re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()


def last_stage(name: str) -> list[str]:
    found = instructions(name)
    start = max(number for number, line in enumerate(found) if line.startswith("FROM "))
    return found[start:]


def labels(name: str) -> Mapping[str, str]:
    [line] = [line for line in last_stage(name) if line.startswith("LABEL ")]
    return dict(word.split("=", 1) for word in shlex.split(line.removeprefix("LABEL ")))


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text())


def locked(package: str) -> str:
    [version] = [found["version"] for found in toml("uv.lock")["package"] if found["name"] == package]
    return str(version)


@EVERY
def test_every_stage_stands_on_debian_or_on_another_stage(name: str) -> None:
    stages = [line.split() for line in instructions(name) if line.startswith("FROM ")]
    own = {words[-1] for words in stages if "AS" in words}
    assert {words[1] for words in stages} - own == {"debian:trixie-slim"}


def test_the_first_stages_are_the_same_so_that_their_layers_are_shared() -> None:
    first, second = (instructions(name) for name in DOCKERFILES)
    assert first[: first.index(FIRST_OF_ITS_OWN)] == second[: second.index(FIRST_OF_ITS_OWN)]


@EVERY
def test_our_wheel_is_the_last_layer(name: str) -> None:
    assert last_stage(name)[-1] == "COPY --from=wheel /opt/trainwright /opt/trainwright"


@EVERY
def test_it_runs_as_a_user_that_has_a_number(name: str) -> None:
    """Kubernetes can check runAsNonRoot only where the user is a number."""
    users = [line for line in last_stage(name) if line.startswith("USER ")]
    assert users == ["USER 1000:1000"]


@EVERY
def test_every_library_comes_from_the_lock_file_with_its_hash(name: str) -> None:
    installs = [line for line in instructions(name) if "uv pip install" in line and "/wheel/" not in line]
    assert installs
    for line in installs:
        assert "--require-hashes" in line
        # DeepSpeed alone is built: PyPI has its source archive only, and the lock file has the hash of that.
        assert "--no-build " in line or "requirements-sdist.txt" in line
    [export] = [line for line in instructions(name) if "uv export" in line]
    assert "--frozen" in export


def test_the_operators_image_takes_no_extra_but_its_own() -> None:
    extras = {name: re.findall(r"--extra (\S+)", " ".join(instructions(name))) for name in DOCKERFILES}
    assert extras == {
        "Dockerfile.operator": ["operator"],
        "Dockerfile.gpu": [
            *("trainer", "text", "image", "hyperopt", "deepspeed", "excel", "gcs", "mlflow", "horovod", "report"),
            "modin",
        ],
    }


def test_modin_is_installed_for_its_build_argument_alone() -> None:
    lines = instructions("Dockerfile.gpu")
    modin = [line for line in lines if "/requirements-modin.txt" in line and "uv pip install" in line]
    [line] = modin
    assert line in last_stage("Dockerfile.gpu")
    assert 'if [ -n "$MODIN" ]; then ' in line
    assert 'ARG MODIN=""' in last_stage("Dockerfile.gpu")
    assert "$(if $(MODIN),--build-arg MODIN=1)" in (ROOT / "Makefile").read_text()


def test_torch_without_cuda_is_installed_for_its_build_argument_alone() -> None:
    lines = instructions("Dockerfile.gpu")
    assert "ARG TORCH=cuda" in lines
    [line] = [line for line in lines if "requirements-$TORCH.txt" in line]
    assert 'cuda) from="--require-hashes" ;; cpu) from="--default-index=$CPU_INDEX" ;;' in line
    [found] = [line for line in lines if "> /requirements-cpu.txt" in line]
    assert "awk '/^torch(vision)?==/ { print $1 }' /all.txt > /requirements-cpu.txt" in found
    assert "--build-arg TORCH=cpu" in (ROOT / "Makefile").read_text()


def test_the_trainers_image_can_compile() -> None:
    [install] = [line for line in instructions("Dockerfile.gpu") if "python3-dev" in line]
    assert {"g++", "gcc", "python3-dev"} <= set(install.split())


@EVERY
def test_the_labels_say_the_versions_that_are_in_it(name: str) -> None:
    version = toml("pyproject.toml")["project"]["version"]
    found = labels(name)
    assert found["org.opencontainers.image.version"] == version
    assert found["dev.trainwright.trainer-version"] == version
    assert found["dev.trainwright.ray-version"] == locked("ray")
    assert found["org.opencontainers.image.licenses"] == toml("pyproject.toml")["project"]["license"]
    assert found["org.opencontainers.image.source"] == "$SOURCE"


def test_the_operator_starts_by_default_what_is_built() -> None:
    settings, found = Settings(), labels("Dockerfile.gpu")
    assert settings.image == f"trainwright:{found['org.opencontainers.image.version']}"
    assert settings.ray_version == found["dev.trainwright.ray-version"]


def test_nothing_is_sent_to_the_builder_that_is_not_named() -> None:
    """Else a result, a key or a cache of this folder could get into an image, and any change would cost a build."""
    first, *others = [line for line in (ROOT / ".dockerignore").read_text().split("\n") if line and line[0] != "#"]
    assert first == "*"
    packages = toml("pyproject.toml")["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    named = {line.removeprefix("!") for line in others if line.startswith("!")}
    assert named == {*packages, "pyproject.toml", "uv.lock", "README.md", "LICENSE", "trainer_image/build_horovod.py"}
