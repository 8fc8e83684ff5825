"""A file without a trainer section gets the recipe. A file with one keeps Ludwig's defaults."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.job.recipe import FEW_ROWS, FEW_ROWS_OF_RECIPE, Recipe, recipe, settled

INPUTS = [{"name": "a", "type": "number"}]


def config_of(given: dict[str, Any], **output: Any) -> ModelConfig:
    outputs = [{"name": "y", "type": "binary", **output}]
    return ModelConfig.model_validate({"input_features": INPUTS, "output_features": outputs, **given})


def settle(given: dict[str, Any], validation: int = 50, **output: Any) -> tuple[TrainerConfig, Recipe | None]:
    config = config_of(given, **output)
    trained, found = settled(config, resolve(config), 500, validation, 1)
    return trained.trainer, found


@pytest.mark.parametrize("rows", [1, 15, 105, 1_000, 14_000, 236_000, 10_000_000])
@pytest.mark.parametrize("width", [1, 20, 500])
@pytest.mark.parametrize("outputs", [["number"], ["binary"], ["category", "number"]])
def test_it_makes_a_section_that_the_contract_takes(rows: int, width: int, outputs: list[str]) -> None:
    found = recipe(rows, rows // 7, width, outputs)
    section = TrainerConfig.model_validate(found.trainer)
    assert 1 <= section.epochs <= 100
    assert section.early_stop >= 5
    assert isinstance(section.learning_rate, float)
    assert 1e-5 < section.learning_rate <= 0.1
    assert (section.regularization_lambda > 0) == (len(outputs) == 1)


def test_it_fixes_the_global_batch_so_that_any_number_of_workers_learns_the_same() -> None:
    assert isinstance(recipe(10_000, 1_000, 5, ["binary"]).trainer["effective_batch_size"], int)


def test_a_step_moves_a_number_by_half_its_spread_and_log_odds_by_one_however_wide_the_inputs_are() -> None:
    assert recipe(10_000, 1_000, 200, ["number"]).trainer["learning_rate"] == 0.0025
    assert recipe(10_000, 1_000, 200, ["binary"]).trainer["learning_rate"] == 0.005
    assert recipe(10_000, 1_000, 5, ["binary"]).trainer["learning_rate"] == pytest.approx(80 / 4_000, rel=0.02)


def test_the_clipping_of_squared_errors_falls_as_the_noise_of_a_batch() -> None:
    limits = {
        rows: recipe(rows, 0, 5, ["number"]).trainer["gradient_clipping"]["clipglobalnorm"] for rows in (200, 65_536)
    }
    assert limits == {200: 4.24, 65_536: 1.06}
    assert recipe(65_536, 0, 5, ["category"]).trainer["gradient_clipping"] == {"clipglobalnorm": 0.5}


def test_few_validation_rows_differ_only_by_more_than_chance() -> None:
    assert recipe(1_000, 100, 5, ["binary"]).tolerance == 0.1
    assert recipe(100_000, FEW_ROWS_OF_RECIPE, 5, ["binary"]).tolerance == 0.0
    assert recipe(1_000, 0, 5, ["binary"]).tolerance == 0.0


def test_a_file_without_the_section_has_the_recipe() -> None:
    section, found = settle({})
    assert found == recipe(500, 50, 1, ["binary"])
    assert {name: getattr(section, name) for name in ("epochs", "learning_rate")} == {
        name: found.trainer[name] for name in ("epochs", "learning_rate")
    }


@pytest.mark.parametrize("section", ["ludwig", {}, {"epochs": 3}])
def test_a_file_with_the_section_keeps_ludwigs_defaults(section: Any) -> None:
    trained, found = settle({"trainer": section}, validation=5_000)
    plain = TrainerConfig()
    assert found is None
    names = set(TrainerConfig.model_fields) - {"epochs"}
    assert {name: getattr(trained, name) for name in names} == {name: getattr(plain, name) for name in names}


@pytest.mark.parametrize(
    ("given", "output", "validation", "metric"),
    [
        ({}, {}, 50, "loss"),
        ({}, {}, FEW_ROWS, "loss"),
        ({}, {}, FEW_ROWS_OF_RECIPE, None),
        ({"trainer": {"epochs": 3}}, {}, 50, "loss"),
        ({"trainer": {"epochs": 3}}, {}, FEW_ROWS, None),
        ({"trainer": {"validation_metric": "accuracy"}}, {}, 50, "accuracy"),
        ({"trainer": {"epochs": 3}}, {"default_validation_metric": "accuracy"}, 50, None),
        ({}, {"default_validation_metric": "accuracy"}, 50, None),
        ({"trainer": "ludwig"}, {}, 50, None),
        ({}, {}, 0, None),
    ],
)
def test_the_loss_decides_where_rows_are_few_and_nobody_names_a_metric(
    given: dict[str, Any], output: dict[str, Any], validation: int, metric: str | None
) -> None:
    section, _ = settle(given, validation, **output)
    assert section.validation_metric == metric


def test_the_line_shows_what_will_happen() -> None:
    line = recipe(500, 50, 4, ["binary"]).line
    assert "100 epochs" in line
    assert "trainer: ludwig" in line


def test_the_penalty_is_about_that_of_scikit_learns_linear_models() -> None:
    assert recipe(1_000, 100, 5, ["number"]).trainer["regularization_lambda"] == 0.001
    assert recipe(1_000, 100, 5, ["category"]).trainer["regularization_lambda"] == 0.0005
    assert recipe(1_000, 100, 12, ["category"]).trainer["regularization_lambda"] == 0.0006
    assert recipe(1_000, 100, 900, ["category"]).trainer["regularization_lambda"] == 0.00075


def test_small_tables_of_classes_are_learned_to_the_end() -> None:
    classes, number = (recipe(105, 15, 4, [kind]).trainer for kind in ("category", "number"))
    assert (classes["effective_batch_size"], classes["epochs"]) == (32, 100)
    assert (number["effective_batch_size"], number["epochs"]) == (8, 60)
