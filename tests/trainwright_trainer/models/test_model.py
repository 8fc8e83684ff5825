from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.layers.linear_products import Lookup
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.model import PENALTY, Model
from trainwright_trainer.models.trainable import allocate

STATISTICS: dict[str, dict[str, Any]] = {
    "distance": {},
    "wide": {},
    "carrier": {"vocabulary": ["<UNK>", "UA", "AA"]},
    "origin": {"vocabulary": ["<UNK>", "JFK"]},
    "when": {},
    "weather": {"size": 3},
    "late": {"counts": [30, 10]},
    "delay": {"encoded": {"mean": 7.0, "std": 20.0}},
    "gate": {"vocabulary": ["A", "B", "C"], "counts": [5, 3, 0]},
    "path": {"size": 2, "mean": [1.0, -1.0], "std": [3.0, 4.0]},
}
INPUTS: list[dict[str, Any]] = [
    {"name": "distance", "type": "number"},
    {
        "name": "wide",
        "type": "binary",
        "encoder": {"type": "dense", "output_size": 4, "norm": "batch", "num_layers": 2},
    },
    {"name": "carrier", "type": "category"},
    {"name": "origin", "type": "category", "tied": "carrier"},
    {"name": "when", "type": "date", "encoder": {"type": "wave", "output_size": 3}},
    {"name": "weather", "type": "vector"},
]
OUTPUTS: list[dict[str, Any]] = [
    {
        "name": "late",
        "type": "binary",
        "dependencies": ["delay"],
        "loss": {"type": "binary_weighted_cross_entropy", "weight": 2.0},
    },
    {
        "name": "delay",
        "type": "number",
        "decoder": {"num_fc_layers": 1, "fc_output_size": 5},
        "loss": "root_mean_squared_error",
    },
    {"name": "gate", "type": "category", "loss": {"type": "softmax_cross_entropy", "class_weights": [1.0, 2.0, 3.0]}},
    {"name": "path", "type": "vector"},
]
NAMES = [
    "encoders.wide.stack.layers.0.linear.weight",
    "encoders.wide.stack.layers.0.linear.bias",
    "encoders.wide.stack.layers.0.norm.weight",
    "encoders.wide.stack.layers.0.norm.bias",
    "encoders.wide.stack.layers.0.norm.running_mean",
    "encoders.wide.stack.layers.0.norm.running_var",
    "encoders.wide.stack.layers.1.linear.weight",
    "encoders.wide.stack.layers.1.linear.bias",
    "encoders.wide.stack.layers.1.norm.weight",
    "encoders.wide.stack.layers.1.norm.bias",
    "encoders.wide.stack.layers.1.norm.running_mean",
    "encoders.wide.stack.layers.1.norm.running_var",
    "encoders.carrier.table.weight",
    "encoders.when.year.weight",
    "encoders.when.year.bias",
    "encoders.when.stack.layers.0.linear.weight",
    "encoders.when.stack.layers.0.linear.bias",
    "encoders.weather.stack.layers.0.linear.weight",
    "encoders.weather.stack.layers.0.linear.bias",
    "combiner.stack.layers.0.linear.weight",
    "combiner.stack.layers.0.linear.bias",
    "decoders.delay.stack.layers.0.linear.weight",
    "decoders.delay.stack.layers.0.linear.bias",
    "decoders.delay.head.weight",
    "decoders.delay.head.bias",
    "decoders.delay.start.scale",
    "decoders.delay.start.shift",
    "decoders.gate.head.weight",
    "decoders.gate.head.bias",
    "decoders.gate.start.shift",
    "decoders.path.head.weight",
    "decoders.path.head.bias",
    "decoders.path.start.scale",
    "decoders.path.start.shift",
    "decoders.late.head.weight",
    "decoders.late.head.bias",
    "decoders.late.start.shift",
]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Uses one thread: when tests run in parallel, two threads of a small model mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def config(precision: str = "float32", **combiner: Any) -> ModelConfig:
    given = {
        "input_features": INPUTS,
        "output_features": OUTPUTS,
        "combiner": {"type": "concat", "num_fc_layers": 1, "output_size": 16, **combiner},
        "trainer": {"precision": precision},
    }
    return resolve(ModelConfig.model_validate(given))


def model(seed: int = 1, precision: str = "float32", **combiner: Any) -> Model:
    made = config(precision, **combiner)
    found = Model(made, STATISTICS, layout_of(made, STATISTICS), seed)
    allocate(found, torch.device("cpu"))
    return found


def batch(rows: int = 32, dtype: torch.dtype = torch.float32) -> Batch:
    generator = torch.Generator().manual_seed(0)
    floats = torch.randn(rows, 9, generator=generator, dtype=torch.float64).to(dtype)
    floats[:, 5] = (floats[:, 5] > 0).to(dtype)
    carrier = torch.randint(0, 3, (rows, 1), generator=generator)
    origin, gate = (torch.randint(0, n, (rows, 1), generator=generator) for n in (2, 3))
    date = torch.tensor([[2013, 7, 31, 2, 212, 17, 5, 0, 61500]]).repeat(rows, 1)
    return Batch(floats, torch.cat([carrier, origin, date, gate], 1), np.arange(rows))


def total(made: Model, rows: Batch) -> torch.Tensor:
    losses = made.losses(made(rows), rows)
    return made.total({name: loss.sum() / len(rows.floats) for name, loss in losses.items()})


def test_the_names_of_the_state_are_the_checkpoints_format() -> None:
    assert sorted(model().state_dict()) == sorted(NAMES)


def test_the_same_seed_gives_the_same_weights_to_the_bit() -> None:
    torch.manual_seed(99)
    first = model().state_dict()
    torch.manual_seed(100)
    second, other = model().state_dict(), model(seed=2).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["encoders.carrier.table.weight"], other["encoders.carrier.table.weight"])


def test_a_new_model_has_no_memory_and_draws_nothing() -> None:
    before = torch.get_rng_state()
    made = config()
    new = Model(made, STATISTICS, layout_of(made, STATISTICS), 1)
    assert all(one.is_meta for name, one in new.named_parameters() if ".norm." not in name)
    assert not any(buffer.is_meta for buffer in new.buffers())
    allocate(new, torch.device("cpu"))
    assert not any(one.is_meta for one in new.parameters())
    assert torch.equal(torch.get_rng_state(), before)


def test_a_parameter_depends_on_its_own_name_and_shape_alone() -> None:
    both, without = model(), model(num_fc_layers=2)
    name = "combiner.stack.layers.0.linear.weight"
    assert torch.equal(both.get_parameter(name), without.get_parameter(name))
    other = without.get_parameter("combiner.stack.layers.1.linear.weight")
    assert not torch.equal(without.get_parameter(name)[:, : other.shape[1]], other)


def test_the_initial_values_of_a_name_never_change() -> None:
    """The definition in docs/row-order.md, computed here again."""
    name = "encoders.carrier.table.weight"
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    generator = torch.Generator().manual_seed(key(1, Purpose.INITIALISATION, word))
    expected = torch.empty(model().get_parameter(name).shape).uniform_(-1, 1, generator=generator)
    assert torch.equal(model().get_parameter(name), expected)


def test_weights_of_both_precisions_begin_equal() -> None:
    single, double = model().state_dict(), model(precision="float64").state_dict()
    assert all(torch.equal(single[name].double(), double[name]) for name in single)


def test_float64_goes_all_the_way() -> None:
    made, rows = model(precision="float64"), batch(dtype=torch.float64)
    logits = made(rows)
    losses = made.losses(logits, rows)
    assert {value.dtype for value in (*logits.values(), *losses.values())} == {torch.float64}
    total(made, rows).backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is not None and parameter.grad.dtype == torch.float64 for parameter in made.parameters())


def test_losses_are_one_a_row_and_full_precision_though_logits_are_not() -> None:
    made, rows = model(), batch()
    losses = made.losses({name: values.bfloat16() for name, values in made(rows).items()}, rows)
    assert {name: tuple(loss.shape) for name, loss in losses.items()} == dict.fromkeys(losses, (32,))
    assert {loss.dtype for loss in losses.values()} == {torch.float32}


def test_the_total_weighs_finished_means() -> None:
    means = {name: torch.tensor(value) for name, value in (("late", 1.0), ("delay", 9.0), ("gate", 2.0), ("path", 0.5))}
    assert model().total(means).item() == pytest.approx((2 * 1 + 3 + 2 + 0.5) / UNIT)


def test_the_penalty_of_the_combiner_is_added_as_it_is() -> None:
    means = {name: torch.tensor(1.0) for name in ("late", "delay", "gate", "path")}
    plain = model().total(means)
    torch.testing.assert_close(model().total({**means, PENALTY: torch.tensor(0.25)}), plain + 0.25)


def test_the_penalty_of_each_row_is_a_loss_in_training_alone() -> None:
    given = {"input_features": INPUTS, "output_features": OUTPUTS, "combiner": {"type": "tabnet", "sparsity": 0.5}}
    made = resolve(ModelConfig.model_validate(given))
    found = Model(made, STATISTICS, layout_of(made, STATISTICS), 1)
    allocate(found, torch.device("cpu"))
    rows = batch()
    losses = found.losses(found(rows), rows)
    assert list(losses) == ["late", "delay", "gate", "path", PENALTY]
    assert losses[PENALTY].shape == (32,)
    assert (losses[PENALTY] > 0).all()
    assert PENALTY not in found.eval()(rows)


# The weighted mean of the losses' units: 1 for classes, delay's standard deviation for its root, squares for path.
UNIT = (2 * 1 + 20 + 1 + (3**2 + 4**2) / 2) / 5


def test_the_gradient_knows_no_unit_of_the_target() -> None:
    def gradients(factor: float) -> list[torch.Tensor]:
        output = {"name": "delay", "type": "number"}
        made = resolve(ModelConfig.model_validate({"input_features": INPUTS, "output_features": [output]}))
        statistics = {**STATISTICS, "delay": {"encoded": {"mean": 7.0 * factor, "std": 20.0 * factor}}}
        built = Model(made, statistics, layout_of(made, statistics), seed=1)
        allocate(built, torch.device("cpu"))
        rows = batch()
        rows.floats[:, layout_of(made, statistics).columns["delay"].start] *= factor
        total(built, rows).backward()  # type: ignore[no-untyped-call]
        return [parameter.grad for parameter in built.parameters() if parameter.grad is not None]

    for small, large in zip(gradients(1.0), gradients(1e6), strict=True):
        torch.testing.assert_close(small, large)


def test_the_targets_are_views_of_the_batch() -> None:
    made, rows = model(), batch()
    targets = {name: made.targets(rows, name) for name in ("late", "delay", "gate", "path")}
    assert {name: tuple(target.shape) for name, target in targets.items()} == {
        "late": (32,),
        "delay": (32,),
        "gate": (32,),
        "path": (32, 2),
    }
    assert targets["late"].data_ptr() == rows.floats[:, 5].data_ptr()
    assert targets["gate"].dtype == torch.int64


def test_regularization() -> None:
    made = model()
    named = made.named_parameters()
    weights = torch.cat([one.detach().flatten() for name, one in named if not name.endswith(".bias")])
    for kind, expected in (("l1", weights.abs().sum()), ("l2", weights.square().sum())):
        torch.testing.assert_close(made.regularization(kind, 0.5), 0.5 * expected)  # type: ignore[arg-type]
    both = made.regularization("l1", 0.5) + made.regularization("l2", 0.5)
    torch.testing.assert_close(made.regularization("l1_l2", 0.5), both)


def test_what_is_frozen_is_not_regularized() -> None:
    made = model()
    for parameter in made.parameters():
        parameter.requires_grad_(parameter is made.get_parameter("decoders.gate.head.weight"))
    expected = made.get_parameter("decoders.gate.head.weight").square().sum()
    torch.testing.assert_close(made.regularization("l2", 1.0), expected)


def test_gradients_are_sums_over_rows_however_a_batch_is_cut() -> None:
    made, rows = model(precision="float64").eval(), batch(dtype=torch.float64)
    whole = torch.autograd.grad(made.losses(made(rows), rows)["gate"].sum(), list(made.combiner.parameters()))
    parts = []
    for part in (slice(0, 5), slice(5, 32)):
        cut = Batch(rows.floats[part], rows.ints[part], rows.rows[part])
        parts.append(torch.autograd.grad(made.losses(made(cut), cut)["gate"].sum(), list(made.combiner.parameters())))
    for one, first, second in zip(whole, *parts, strict=True):
        torch.testing.assert_close(one, first + second)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_it_learns_thirty_two_rows_by_heart(precision: str) -> None:
    made = model(precision=precision, output_size=64)
    rows = batch(dtype=torch.float32 if precision == "float32" else torch.float64)
    before = total(made, rows).item()
    for _ in range(300):
        gradients = torch.autograd.grad(total(made, rows), list(made.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(made.parameters(), gradients, strict=True):
                parameter -= 0.03 * gradient
    assert total(made, rows).item() < 0.5 * before


def test_a_batch_of_one_row_is_trained() -> None:
    made = model()
    total(made, batch(1)).backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in made.parameters())


@pytest.mark.parametrize("layers", [0, 1])
def test_a_row_has_the_same_logits_whether_tables_or_rows_are_multiplied(layers: int) -> None:
    """A batch with fewer rows than labels has no lookups."""
    made, many = model(precision="float64", num_fc_layers=layers).eval(), batch(dtype=torch.float64)
    one = Batch(many.floats[:1], many.ints[:1], np.arange(1))
    assert [any(isinstance(part, Lookup) for part in made.encoders(rows)) for rows in (many, one)] == [True, False]
    for name, logits in made(many).items():
        assert torch.allclose(logits[:1], made(one)[name], rtol=0, atol=1e-12)


def test_lookups_spare_multiplications() -> None:
    """`carrier` and `origin` share a table of 3 rows and 3 columns, before a layer of 16 units."""
    assert model().spared_multiplications(32) == 2 * (32 - 3) * 3 * 16
    assert model().spared_multiplications(2) == 0
    assert model(num_fc_layers=0).spared_multiplications(32) == 0
