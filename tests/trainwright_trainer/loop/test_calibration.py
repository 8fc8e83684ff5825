from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from tests.laws.parity_job import STATISTICS, Case, config_of, rows_of
from tests.ranks import on_ranks

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loop.calibration import LARGEST, calibrate, check_calibration, temperature_of
from trainwright_trainer.models.model import Model
from trainwright_trainer.models.trainable import allocate


def drawn(classes: int, rows: int = 20_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits, and classes drawn with their probabilities."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(rows, classes, generator=generator)
    return logits, torch.multinomial(torch.softmax(logits, 1), 1, generator=generator).squeeze(1)


@pytest.mark.parametrize("factor", [0.4, 1.0, 5.0])
def test_the_temperature_undoes_a_factor(factor: float) -> None:
    logits, targets = drawn(3)
    assert temperature_of(factor * logits, targets) == pytest.approx(factor, rel=0.05)
    logits, targets = drawn(2)
    log_odds = logits[:, 1] - logits[:, 0]
    assert temperature_of(factor * log_odds, targets.float()) == pytest.approx(factor, rel=0.05)


def test_no_other_temperature_has_a_smaller_cross_entropy() -> None:
    logits, targets = drawn(3, rows=300)
    found = temperature_of(3 * logits, targets)

    def loss(temperature: float) -> float:
        """That of the rows, and of one row with the mean of their logits and each class in equal shares."""
        scores = 3 * logits.double() / temperature
        unsure = -torch.log_softmax(scores, 1).mean()
        return float(F.cross_entropy(scores, targets, reduction="sum") + unsure)

    for other in (0.99, 1.01):
        assert loss(other * found) > loss(found)


def test_rows_without_a_signal_have_the_largest_temperature() -> None:
    logits = torch.tensor([3.0, -2.0])
    assert temperature_of(logits, torch.tensor([0.0, 1.0])) == pytest.approx(LARGEST)


@pytest.mark.parametrize("rows", [20, 200, 2000])
def test_rows_without_a_mistake_make_no_prediction_certain(rows: int) -> None:
    """The probability of a mistake is that of half a mistake in all rows."""
    log_odds = torch.tensor([3.0, -3.0]).repeat(rows // 2)
    found = temperature_of(log_odds, (log_odds > 0).float())
    assert float(torch.sigmoid(torch.tensor(-3 / found))) == pytest.approx(1 / (2 * rows), rel=0.05)


def config() -> ModelConfig:
    """The job of the parity law with two calibrated outputs."""
    given = config_of(Case()).model_dump()
    outputs: list[dict[str, Any]] = given["output_features"]
    calibrated = [{**one, "calibration": True} if one["type"] != "number" else one for one in outputs]
    return resolve(ModelConfig.model_validate({**given, "output_features": calibrated}))


def calibrated_model() -> tuple[Model, Materialised, dict[str, float]]:
    """A model with large random weights, calibrated on the validation rows of the parity law."""
    made = config()
    ranks = ProcessGroup("cpu") if dist.is_initialized() else OneRank("cpu")
    model = Model(made, STATISTICS, layout_of(made, STATISTICS), 7)
    allocate(model, torch.device("cpu"))
    with torch.no_grad():
        model.get_parameter("decoders.why.head.weight").mul_(10)
    rows = Materialised(rows_of(Case(), "validation"), EpochOrder(7, True), torch.device("cpu"))
    return model, rows, calibrate(model, rows, 10, ranks)


def temperatures() -> dict[str, float]:
    return calibrated_model()[2]


def test_logits_are_divided_by_the_temperature_and_keep_their_order() -> None:
    model, rows, found = calibrated_model()
    batch = next(rows.sequential(100))
    after = model(batch)
    model.decoders.set_temperatures(dict.fromkeys(found, 1.0))
    before = model(batch)
    assert set(found) == {"late", "why"}
    for name, temperature in found.items():
        torch.testing.assert_close(after[name] * temperature, before[name])
    assert torch.equal(after["delay"], before["delay"])
    targets = model.targets(batch, "why")
    assert F.cross_entropy(after["why"], targets) < F.cross_entropy(before["why"], targets)
    assert torch.equal(after["why"].argmax(1), before["why"].argmax(1))


def test_the_temperature_is_a_part_of_the_saved_model() -> None:
    model, _, found = calibrated_model()
    assert model.state_dict()["decoders.late.temperature"].tolist() == [pytest.approx(found["late"])]


def test_a_model_that_begins_with_its_weights_finds_the_same() -> None:
    """Its training begins with raw logits, so its temperature is that of raw logits too."""
    model, rows, found = calibrated_model()
    made = config()
    again = Model(made, STATISTICS, layout_of(made, STATISTICS), 8)
    taken = again.begin_with(model.whole_weights(), ())
    assert not any("temperature" in name for name in (*taken.taken, *taken.others))
    allocate(again, torch.device("cpu"))
    assert again.state_dict()["decoders.why.temperature"].tolist() == [1.0]
    assert calibrate(again, rows, 10, OneRank("cpu")) == pytest.approx(found, rel=1e-6)


def test_any_number_of_workers_finds_the_same() -> None:
    alone = temperatures()
    for found in on_ranks(2, temperatures):
        assert found == pytest.approx(alone, rel=1e-9)


def test_without_the_option_nothing_is_fitted() -> None:
    made = config_of(Case())
    model = Model(made, STATISTICS, layout_of(made, STATISTICS), 7)
    assert calibrate(model, Materialised(rows_of(Case(), "test"), EpochOrder(7, True)), 10, OneRank()) == {}
    assert not any("temperature" in name for name in model.state_dict())


def test_it_needs_validation_rows() -> None:
    check_calibration(config(), 1)
    with pytest.raises(Mistakes, match=r"output_features\[0\].calibration: is true, and there are no validation rows"):
        check_calibration(config(), 0)
