"""Configs that mean nothing: each mistake with its path, what was found, what was expected, the nearest name."""

from __future__ import annotations

import pytest


def config(path, value):
    """A change of the job at a dotted path below `config`; whole numbers are places in lists."""

    def change(job):
        *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        place = job["config"]
        for part in above:
            place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda job: job.update(confg={}), "confg: unknown: did you mean 'config'?"),
        (
            config("input_features.0.preprocessing", {"normalisation": "zscore"}),
            "config.input_features[0].preprocessing.normalisation: unknown: did you mean 'normalization'?",
        ),
        (config("input_features.0.encoder", {"type": "dense", "droput": 0.1}), "did you mean 'dropout'?"),
        (config("trainer.optimizer", {"type": "adam", "beta": 1}), "config.trainer.optimizer.beta: unknown"),
        (lambda job: job.update(backend={"loader": {"windw": 1}}), "backend.loader.windw: unknown"),
        (
            config("input_features.0.type", "numbr"),
            "config.input_features[0].type: 'numbr' is no input feature type: did you mean 'number'?",
        ),
        (config("trainer.epochs", "many"), "config.trainer.epochs: expected a whole number, found the text 'many'"),
        (config("trainer.epochs", 0), "config.trainer.epochs: expected at least 1, found the number 0"),
        (config("trainer.epochs", 1.5), "config.trainer.epochs: expected a whole number, found the number 1.5"),
        (config("trainer", []), "config.trainer: expected keys and values, found a list"),
        (config("input_features", {}), "config.input_features: "),
        (config("output_features", []), "config.output_features: "),
        (
            config("output_features.0.name", "size"),
            "config.output_features[0].name: a target that is also an input: input_features[0] is column 'size' too",
        ),
        (
            config("output_features.0.column", "kind"),
            "output_features[0].column: a target that is also an input",
        ),
        (
            config("preprocessing.split", {"type": "random", "probabilities": [0.5, 0.1, 0.1]}),
            "config.preprocessing.split.probabilities: the three shares sum to 0.7, not to 1",
        ),
        (
            config("preprocessing.split", {"type": "random", "probabilities": [0, 0.5, 0.5]}),
            "config.preprocessing.split.probabilities: no row is left to train with",
        ),
        (
            config("trainer.learning_rate_scheduler", {"reduce_on_plateau": 1, "reduce_eval_metric": "r2"}),
            "config.trainer.learning_rate_scheduler.reduce_eval_metric: 'r2' is no metric of late: expected one of",
        ),
        (
            config("trainer.validation_metric", "r2"),
            "config.trainer.validation_metric: 'r2' is no metric of any output: expected one of loss, accuracy",
        ),
        (lambda job: job.update(backend={"type": "loca"}), "backend.type: "),
    ],
)
def test_one_line_a_mistake(workplace, change, line):
    message = workplace.refused("train", workplace.job(change), "--output", "out")
    assert message.startswith("job.yaml: ")
    assert line in message
    assert "\n" not in message


def test_all_mistakes_at_once(workplace):
    def change(job):
        config("trainer.epochs", -1)(job)
        config("input_features.1.type", "bool")(job)
        job["datset"] = "x"

    message = workplace.refused("train", workplace.job(change)).splitlines()
    assert message[0] == "job.yaml: 3 mistakes"
    assert sorted(line.split()[0] for line in message[1:]) == [
        "config.input_features[1].type",
        "config.trainer.epochs",
        "datset",
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--seed", "-1"), "job.yaml: seed: expected at least 0, found the number -1"),
        (("--backend", "loca"), "did you mean 'local'?"),
    ],
)
def test_a_mistake_on_the_command_line(workplace, arguments, line):
    assert line in workplace.refused("train", workplace.job(), "--output", "out", *arguments)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--sead", "1"), "No such option: --sead"),
        (("--seed", "one"), "Invalid value for '--seed'"),
        (("--resume", "--overwrite"), "--resume goes on with a run, --overwrite starts anew: give one of them"),
        (("--resume", "a", "--output", "b"), "--resume a goes on in that folder, --output names b: give one of them"),
    ],
)
def test_flags_that_mean_nothing(workplace, arguments, line):
    message = workplace.refused("train", workplace.job(), *arguments)
    assert line in message


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            config("trainer.layers_to_freeze_regex", "qq"),
            "job.yaml: config.trainer.layers_to_freeze_regex: 'qq' matches none of the parameters: encoders.kind",
        ),
        (
            lambda job: job["config"].update(
                input_features=[{"name": "open", "type": "binary"}],
                output_features=[{"name": "size", "type": "number", "loss": {"type": "root_mean_squared_error"}}],
                trainer={"batch_size": 32, "gradient_accumulation_steps": 2},
            ),
            "job.yaml: config.output_features[0].loss.type: root_mean_squared_error is the root of a mean",
        ),
        (
            lambda job: job["config"].update(
                input_features=[{"name": "open", "type": "binary"}],
                output_features=[{"name": "size", "type": "number", "decoder": {"type": "passthrough"}}],
            ),
            "job.yaml: config: the model has no parameters to train",
        ),
        (
            lambda job: job["config"].update(
                input_features=[{"name": "kind", "type": "category", "encoder": {"embeddings_trainable": False}}],
                trainer={"layers_to_freeze_regex": "decoders"},
            ),
            "job.yaml: config: all parameters of the model are frozen: encoders.kind.table.weight, decoders.late",
        ),
    ],
)
def test_what_only_the_model_can_show_is_reported_before_a_run_begins(workplace, change, line):
    assert workplace.refused("train", workplace.job(change), "--output", "out").startswith(line)
