"""Names of Ludwig that the contract does not have are not built; other unknown names are mistakes, or ignored."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job
from trainwright_api.checks.validate import Inspected, Options, inspect
from trainwright_api.problems import Mistakes

INPUT = {"name": "a", "type": "number"}
OUTPUT = {"name": "b", "type": "category"}


def checked(lenient: bool = False, image: str | None = None, **config: Any) -> Inspected:
    spec = {"dataset": "d", "config": {"input_features": [INPUT], "output_features": [OUTPUT], **config}}
    return inspect({**spec, "image": image}, "job.yaml", options=Options(lenient=lenient))


LEFT_OUT: dict[str, tuple[dict[str, Any], str]] = {
    "a key": (
        {"trainer": {"contrastive_pretrain_epochs": 5}},
        "config.trainer.contrastive_pretrain_epochs: not built yet",
    ),
    "a key of the config": ({"adapters": {}}, "config.adapters: not built yet"),
    "a combiner": ({"combiner": {"type": "ft_transformer"}}, "config.combiner.type: not built yet: ft_transformer"),
    "a combiner as a word": ({"combiner": "perceiver"}, "config.combiner: not built yet: perceiver"),
    "an encoder": (
        {"input_features": [{**INPUT, "encoder": {"type": "ple"}}]},
        "config.input_features[0].encoder.type: not built yet: ple",
    ),
    "a loss": (
        {"output_features": [{**OUTPUT, "loss": "focal"}]},
        "config.output_features[0].loss: not built yet: focal",
    ),
    "an optimizer": ({"trainer": {"optimizer": "muon"}}, "config.trainer.optimizer: not built yet: muon"),
    "an output": (
        {"output_features": [{**OUTPUT, "type": "anomaly"}]},
        "config.output_features[0].type: not built yet: anomaly",
    ),
    "a key for large language models": (
        {"output_features": [{**OUTPUT, "preprocessing": {"fallback_label": "x"}}]},
        "config.output_features[0].preprocessing.fallback_label: not built yet",
    ),
}


@pytest.mark.parametrize(("config", "line"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_a_name_of_ludwig_is_not_built(config: dict[str, Any], line: str) -> None:
    found = checked(**config)
    assert (found.mistakes, [str(problem) for problem in found.unbuilt]) == ((), [line])
    with pytest.raises(Mistakes, match="not built yet"):
        found.accepted()


def test_a_name_that_no_version_has_is_a_mistake_beside_it() -> None:
    found = checked(trainer={"epoch": 3, "contrastive_pretrain_epochs": 5}, combiner={"type": "tabnut"})
    assert [problem.path for problem in found.mistakes] == ["config.trainer.epoch", "config.combiner.type"]
    assert [problem.path for problem in found.unbuilt] == ["config.trainer.contrastive_pretrain_epochs"]


def test_a_key_of_ludwig_in_another_section_is_a_mistake() -> None:
    assert [problem.path for problem in checked(combiner={"optimizer": "adam"}).mistakes] == [
        "config.combiner.optimizer"
    ]


def test_a_job_with_its_own_image_gets_a_warning() -> None:
    loaded = checked(image="mine:2", trainer={"contrastive_pretrain_epochs": 5}).accepted_elsewhere()
    assert loaded.notices == ("config.trainer.contrastive_pretrain_epochs: not built yet; image mine:2 must have it",)
    with pytest.raises(Mistakes, match="not built yet: perceiver"):
        checked(image="mine:2", combiner="perceiver").accepted_elsewhere()


def test_the_webhook_refuses_it_in_the_same_words() -> None:
    config = {"input_features": [INPUT], "output_features": [OUTPUT], "combiner": "perceiver"}
    head = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "a"}}
    result = validate_job({**head, "spec": {"dataset": "s3://b/d", "output": "s3://b/o", "config": config}})
    assert result.message == "a: config.combiner: not built yet: perceiver"


def test_lenient_ignores_unknown_keys_with_one_line_each() -> None:
    trainer = {"epoch": 3, "epochs": 2, "contrastive_pretrain_epochs": 5}
    loaded = checked(
        lenient=True, trainer=trainer, nonsense={"deep": 1}, combiner={"type": "concat", "fc_layer": 1}
    ).accepted()
    assert loaded.notices[0] == "config.combiner.fc_layer is ignored: did you mean 'fc_layers'?"
    assert [notice.partition(" ")[0] for notice in loaded.notices] == [
        "config.combiner.fc_layer",
        "config.trainer.epoch",
        "config.trainer.contrastive_pretrain_epochs",
        "config.nonsense",
    ]
    assert loaded.notices[-1] == "config.nonsense is ignored: unknown"
    assert loaded.upgraded
    assert loaded.job == checked(trainer={"epochs": 2}, combiner={"type": "concat"}).accepted().job


def test_lenient_ignores_no_wrong_value() -> None:
    found = checked(lenient=True, trainer={"epochs": "many", "whatever": 1})
    assert [problem.path for problem in found.mistakes] == ["config.trainer.epochs"]
