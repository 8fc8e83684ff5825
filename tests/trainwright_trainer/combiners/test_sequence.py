"""The combiners of sequences: the alignment of sequences and vectors, and the encoder behind it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.combiners import COMBINERS, CombinerInput, check_forms
from trainwright_trainer.layers.steps import Steps

LENGTHS = {"path": 3, "note": 4}
PATH = Steps(torch.arange(1.0, 7.0).reshape(2, 3, 1), torch.tensor([3, 1])).with_values(
    torch.arange(1.0, 7.0).reshape(2, 3, 1)
)
NOTE = Steps(torch.tensor([[[10.0], [0]], [[20.0], [30]]]), torch.tensor([1, 2]))
SIZE = torch.tensor([[7.0], [8.0]])


def made(settings: dict[str, Any], *names: str) -> Any:
    (section,) = (one for one in COMBINERS if one.model_fields["type"].default == settings["type"])
    inputs = [CombinerInput(name, "text" if name in LENGTHS else "number", 1, LENGTHS.get(name)) for name in names]
    return COMBINERS[section](section.model_validate(settings), inputs, "config.combiner")


def test_a_row_has_the_steps_of_its_longest_sequence_and_vectors_are_repeated() -> None:
    combiner = made({"type": "sequence_concat"}, "path", "size", "note")
    values, _, lengths = combiner([PATH, SIZE, NOTE])
    assert lengths.tolist() == [3, 2]
    assert values.tolist() == [[[1, 7, 10], [2, 7, 0], [3, 7, 0]], [[4, 8, 20], [0, 8, 30], [0, 0, 0]]]
    assert (combiner.output_size, combiner.output_length) == (3, 4)


def test_the_main_sequence_decides_the_steps() -> None:
    combiner = made({"type": "sequence_concat", "main_sequence_feature": "note"}, "path", "note")
    values, _, lengths = combiner([PATH, NOTE])
    assert lengths.tolist() == [1, 2]
    assert values.tolist() == [[[1, 10], [0, 0]], [[4, 20], [0, 30]]]


@pytest.mark.parametrize(("word", "width"), [("sum", 2), ("concat", 8)])
def test_a_reduction_gives_one_vector(word: str, width: int) -> None:
    combiner = made({"type": "sequence_concat", "reduce_output": word}, "path", "note")
    values, _, lengths = combiner([PATH, NOTE])
    assert (values.shape, combiner.output_size, combiner.output_length, lengths) == ((2, width), width, None, None)


@pytest.mark.parametrize("section", [{"reduce_output": "mean"}, {"encoder": {"type": "rnn", "reduce_output": "mean"}}])
def test_the_combiner_or_its_encoder_reduces(section: dict[str, Any]) -> None:
    encoder = {"type": "rnn", "state_size": 5, **section.get("encoder", {})}
    combiner = made({"type": "sequence", **section, "encoder": encoder}, "path", "note")
    values, _, lengths = combiner([PATH, NOTE])
    assert (values.shape, lengths) == ((2, 5), None)
    steps = Steps(*made({"type": "sequence_concat"}, "path", "note")([PATH, NOTE])[::2])
    encoded = combiner.encoder.layers[0](steps)
    torch.testing.assert_close(values[1], encoded.values[1, :2].mean(0))


def test_the_encoder_may_keep_the_sequence() -> None:
    encoder = {"type": "rnn", "state_size": 5, "reduce_output": None}
    combiner = made({"type": "sequence", "encoder": encoder}, "path", "size")
    values, _, lengths = combiner([PATH, SIZE])
    assert (values.shape, lengths.tolist(), combiner.output_length) == ((2, 3, 5), [3, 1], 3)


def test_concat_flattens_sequences() -> None:
    combiner = made({"type": "concat", "flatten_inputs": True}, "note", "size")
    assert combiner([NOTE, SIZE]).values.tolist() == [[10, 0, 0, 0, 7], [20, 30, 0, 0, 8]]
    with pytest.raises(Mistakes, match=r"input_features\[0\].encoder.reduce_output: is null, and combiner 'concat'"):
        made({"type": "concat"}, "note", "size")


def test_inputs_of_the_wrong_form_are_a_mistake() -> None:
    with pytest.raises(
        Mistakes, match="combines sequences, and each encoder gives one vector: set reduce_output to null"
    ):
        made({"type": "sequence_concat"}, "size")
    with pytest.raises(Mistakes, match="main_sequence_feature: 'size' is one vector a row"):
        made({"type": "sequence_concat", "main_sequence_feature": "size"}, "size", "note")
    (kind,) = (one for section, one in COMBINERS.items() if section.model_fields["type"].default == "tabnet")
    with pytest.raises(Mistakes, match="combiner 'tabnet' takes one vector for each input: name a reduction"):
        check_forms(kind, "tabnet", [CombinerInput("note", "text", 1, 4)])
