"""The use of kubectl: client-side and server-side apply, diff, edit, replace, create."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster
from testkit.cluster.kubectl import Kubectl
from testkit.contract import jobs

from trainwright_api.resource.job import TrainingJob


@dataclass(frozen=True)
class Editing(Kubectl):
    """kubectl with its own editor."""

    editor: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return {**super().environment, "KUBE_EDITOR": str(self.editor)}


TRAINER = {"epochs": 3, "regularization_lambda": 0.0, "learning_rate": 1e-4}
CONFIG = {**jobs.RICH_CONFIG, "trainer": TRAINER}
TEMPLATE: dict[str, Any] = {
    "env": [{"name": "A", "value": "1"}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "imagePullSecrets": [{"name": "one"}],
    "tolerations": [{"key": "one", "operator": "Exists"}],
}
OTHERS: dict[str, Any] = {
    "env": [{"name": "B", "value": "2"}],
    "volumes": [{"name": "cache", "emptyDir": {}}],
    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    "imagePullSecrets": [{"name": "two"}],
}


@dataclass(frozen=True)
class Shell:
    """kubectl in one namespace."""

    kubectl: Kubectl
    namespace: str

    def run(self, *arguments: str, made: Any = None) -> CompletedProcess[str]:
        text = None if made is None else json.dumps(made)
        return self.kubectl.run(*arguments, f"-n={self.namespace}", stdin=text)

    def does(self, *arguments: str, made: Any = None) -> str:
        """Return the output; fail on any error or warning."""
        ended = self.run(*arguments, made=made)
        assert (ended.returncode, ended.stderr) == (0, ""), ended
        return ended.stdout.strip()

    def job(self, name: str = "job") -> Any:
        return json.loads(self.does("get", "tj", name, "-o=json"))

    def start(self) -> None:
        patch = '-p={"status": {"startTime": "2026-05-01T12:00:00Z"}}'
        self.does("patch", "tj", "job", "--subresource=status", "--type=merge", patch)


@pytest.fixture
def shell(cluster: Cluster, namespace: str) -> Shell:
    return Shell(cluster.kubectl, namespace)


@pytest.fixture
def editing(shell: Shell, tmp_path: Path) -> Callable[[str, str], Shell]:
    """A shell whose editor replaces one text with another."""

    def made(old: str, new: str) -> Shell:
        program = tmp_path / "editor"
        program.write_text(f"#!/bin/sh\nexec sed -i 's|{old}|{new}|' \"$1\"\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        plain = shell.kubectl
        return replace(shell, kubectl=Editing(plain.program, plain.kubeconfig, plain.memory, program))

    return made


def applied(**spec: Any) -> Any:
    return jobs.plain(**{"config": CONFIG, "backend": jobs.RICH_BACKEND, "podTemplate": TEMPLATE, **spec})


@pytest.mark.parametrize("flags", [(), ("--server-side",)], ids=["by the client", "by the server"])
def test_a_file_is_applied_again_and_changed(shell: Shell, flags: tuple[str, ...]) -> None:
    apply = ("apply", "-f=-", *flags)
    shell.does(*apply, made=applied())
    first = shell.job()
    shell.does(*apply, made=applied())
    assert shell.job()["metadata"]["generation"] == first["metadata"]["generation"]
    shell.does(*apply, made=applied(seed=7, podTemplate={**TEMPLATE, "env": OTHERS["env"]}))
    found = shell.job()["spec"]
    assert (found["seed"], found["podTemplate"]["env"]) == (7, OTHERS["env"])
    shell.does(*apply, made=jobs.plain(config=CONFIG))
    assert not shell.job()["spec"].keys() & {"seed", "podTemplate", "backend"}


@pytest.mark.parametrize("flags", [(), ("--server-side",)], ids=["by the client", "by the server"])
def test_a_started_job_is_applied_again_as_it_is(shell: Shell, flags: tuple[str, ...]) -> None:
    """Includes floats that are whole numbers, which the API server stores as integers."""
    shell.does("apply", "-f=-", *flags, made=applied())
    shell.start()
    shell.does("apply", "-f=-", *flags, made=applied())
    shell.does("apply", "-f=-", *flags, made=applied(suspend=True))
    ended = shell.run("apply", "-f=-", *flags, made=applied(config={**CONFIG, "trainer": {**TRAINER, "epochs": 4}}))
    assert ended.returncode == 1
    assert "config is fixed once the job has started: delete the job and create it anew" in ended.stderr


def test_nulls_of_a_config_reach_the_server_but_not_by_apply_of_the_client(shell: Shell) -> None:
    """A client-side apply of kubectl drops them itself."""
    made = jobs.plain(config={**CONFIG, "combiner": None, "trainer": {**TRAINER, "regularization_type": None}})
    for verb in (("create",), ("apply", "--server-side", "--force-conflicts"), ("replace",)):
        shell.does(*verb, "-f=-", made=made)
        assert shell.job()["spec"]["config"] == made["spec"]["config"]
    shell.does("delete", "tj", "job")
    shell.does("apply", "-f=-", made=made)
    assert "regularization_type" not in shell.job()["spec"]["config"]["trainer"]


def test_two_managers_each_have_their_items_of_keyed_lists(shell: Shell) -> None:
    whole = applied()
    shell.does("apply", "-f=-", "--server-side", "--field-manager=one", made=whole)
    part = {**whole, "spec": {"podTemplate": OTHERS}}
    shell.does("apply", "-f=-", "--server-side", "--field-manager=two", made=part)
    both = shell.job()["spec"]["podTemplate"]
    for key, items in OTHERS.items():
        assert both[key] == [*TEMPLATE[key], *items], key
    shell.does("apply", "-f=-", "--server-side", "--field-manager=one", made=applied(podTemplate={}))
    assert shell.job()["spec"]["podTemplate"] == OTHERS


EMPTIED: tuple[dict[str, Any], ...] = (
    {"podTemplate": {}},
    {"podTemplate": {**TEMPLATE, "labels": {}}},
    {"podTemplate": {**TEMPLATE, "resources": {"limits": {}}}},
    {"podTemplate": {key: [] for key in TEMPLATE}},
    {"checkpoint": {}},
    {"backend": {}},
)


@pytest.mark.parametrize("emptied", EMPTIED)
def test_what_is_emptied_by_apply_of_the_server_is_as_if_it_were_absent(shell: Shell, emptied: dict[str, Any]) -> None:
    """The API server stores null for a mapping that loses its last key."""
    full = {**TEMPLATE, "labels": {"a": "b"}, "resources": {"limits": {"cpu": 1}}}
    shell.does("apply", "-f=-", "--server-side", made=applied(podTemplate=full, checkpoint={"numToKeep": 5}))
    made = applied(**{"podTemplate": full, "checkpoint": {"numToKeep": 5}, **emptied})
    shell.does("apply", "-f=-", "--server-side", made=made)
    stored, meant = TrainingJob.model_validate(shell.job()).spec, TrainingJob.model_validate(made).spec
    assert _full(stored.model_dump()) == _full(meant.model_dump())


def _full(value: Any) -> Any:
    """The value without its empty parts."""
    if not isinstance(value, dict):
        return value
    return {key: kept for key, item in value.items() if (kept := _full(item)) not in (None, {}, [])}


def test_two_managers_may_not_both_own_what_has_no_key(shell: Shell) -> None:
    shell.does("apply", "-f=-", "--server-side", "--field-manager=one", made=applied())
    tolerations = {**applied(), "spec": {"podTemplate": {"tolerations": [{"key": "two"}]}}}
    ended = shell.run("apply", "-f=-", "--server-side", "--field-manager=two", made=tolerations)
    assert ended.returncode == 1
    assert 'conflict with "one": .spec.podTemplate.tolerations' in ended.stderr


def test_two_managers_may_own_different_settings_of_a_section(shell: Shell) -> None:
    shell.does("apply", "-f=-", "--server-side", "--field-manager=one", made=applied())
    patience = {**applied(), "spec": {"config": {"trainer": {"early_stop": 7, "unknown": {"a": 1}}}}}
    shell.does("apply", "-f=-", "--server-side", "--field-manager=two", made=patience)
    assert shell.job()["spec"]["config"]["trainer"] == {**TRAINER, "early_stop": 7, "unknown": {"a": 1}}
    features = {**applied(), "spec": {"config": {"input_features": []}}}
    ended = shell.run("apply", "-f=-", "--server-side", "--field-manager=two", made=features)
    assert 'conflict with "one": .spec.config.input_features' in ended.stderr


def test_a_list_with_two_items_of_a_key_is_refused(shell: Shell) -> None:
    twice = applied(podTemplate={"env": [*TEMPLATE["env"], *TEMPLATE["env"]]})
    ended = shell.run("create", "-f=-", made=twice)
    assert ended.returncode == 1
    assert 'spec.podTemplate.env[1]: Duplicate value: {"name":"A"}' in ended.stderr


@pytest.mark.parametrize("flags", [(), ("--server-side",)], ids=["by the client", "by the server"])
def test_a_diff_shows_what_would_change(shell: Shell, flags: tuple[str, ...]) -> None:
    shell.does("apply", "-f=-", *flags, made=applied())
    assert shell.run("diff", "-f=-", *flags, made=applied()).returncode == 0
    ended = shell.run("diff", "-f=-", *flags, made=applied(config={**CONFIG, "trainer": {**TRAINER, "epochs": 4}}))
    assert ended.returncode == 1
    assert "-      epochs: 3\n+      epochs: 4\n" in ended.stdout


def test_a_job_is_edited(shell: Shell, editing: Callable[[str, str], Shell]) -> None:
    shell.does("apply", "-f=-", made=applied())
    assert "edited" in editing("epochs: 3", "epochs: 4").does("edit", "tj", "job")
    assert shell.job()["spec"]["config"]["trainer"]["epochs"] == 4
    refused(editing("backoffLimit: 3", "backoffLimit: three").run("edit", "tj", "job"), "backoffLimit")


def test_a_started_job_is_not_edited_in_what_is_fixed(shell: Shell, editing: Callable[[str, str], Shell]) -> None:
    shell.does("apply", "-f=-", made=applied())
    shell.start()
    ended = editing("dataset: s3", "dataset: gs").run("edit", "tj", "job")
    refused(ended, "dataset is fixed once the job has started")
    assert "edited" in editing("suspend: false", "suspend: true").does("edit", "tj", "job")


def test_a_job_is_replaced_and_created_under_a_name_of_the_server(shell: Shell) -> None:
    shell.does("create", "-f=-", made=applied())
    shell.does("replace", "-f=-", made=jobs.plain(seed=9))
    found = shell.job()["spec"]
    assert (found["seed"], "podTemplate" in found) == (9, False)
    nameless = {**jobs.plain(), "metadata": {"generateName": "nightly-"}}
    names = {shell.does("create", "-f=-", "-o=jsonpath={.metadata.name}", made=nameless) for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("nightly-") and len(name) == len("nightly-") + 5 for name in names)


def refused(ended: CompletedProcess[str], why: str) -> None:
    """kubectl opens the editor again with the reason at the top, and saves the text if nothing changes."""
    assert ended.returncode == 1
    kept = re.search(r'stored to "(.*)"', ended.stderr)
    assert kept is not None, ended
    path = Path(kept[1])
    comment = " ".join(line.removeprefix("# ") for line in path.read_text().splitlines() if line.startswith("#"))
    path.unlink()
    assert why in comment


@pytest.mark.parametrize("key", ["backofflimit", "backoff_limit", "podTemplates"])
def test_an_unknown_key_is_refused_by_default(shell: Shell, key: str) -> None:
    ended = shell.run("apply", "-f=-", made=jobs.plain(**{key: 3}))
    assert ended.returncode == 1
    assert f'unknown field "spec.{key}"' in ended.stderr
