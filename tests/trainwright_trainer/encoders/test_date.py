from __future__ import annotations

import math

import pytest
import torch

from trainwright_api.config.encoders import DateEmbedEncoder, DateWaveEncoder
from trainwright_trainer.encoders import EncoderInput
from trainwright_trainer.encoders.date import DateEmbedded, DateWave

DATE = EncoderInput({}, 9, "config.input_features[0].encoder")
NEW_YEARS_EVE = [2013, 12, 31, 1, 365, 23, 59, 58, 86398]


def test_embed_looks_up_every_part() -> None:
    encoder = DateEmbedded(DateEmbedEncoder(), DATE)
    assert encoder.output_size == 1 + 6 * 10 + 7 + 1
    (row,) = encoder(torch.tensor([NEW_YEARS_EVE]))
    tables = encoder.tables
    expected = [encoder.year(torch.tensor([0.13]))]
    places = {"month": 11, "day": 30, "weekday": 1, "yearday": 364, "hour": 23, "minute": 59, "second": 58}
    expected += [tables[part].weight[place] for part, place in places.items()]
    expected += [torch.tensor([math.sin(2 * math.pi * 86398 / 86400)])]
    torch.testing.assert_close(row, torch.cat(expected))


def test_embed_bears_what_no_calendar_has() -> None:
    encoder = DateEmbedded(DateEmbedEncoder(), DATE)
    assert encoder(torch.tensor([[0] * 9, [9999, 13, 32, 7, 367, 24, 60, 61, 86401]])).isfinite().all()


def test_wave_has_a_sine_for_every_part() -> None:
    encoder = DateWave(DateWaveEncoder(num_fc_layers=1, output_size=4, activation=None), DATE)
    layer = encoder.stack.layers[0].linear
    periods = [12, 31, 7, 366, 24, 60, 60, 86400]
    waves = [math.sin(2 * math.pi * value / period) for value, period in zip(NEW_YEARS_EVE[1:], periods, strict=True)]
    inputs = torch.cat([encoder.year(torch.tensor([0.13])), torch.tensor(waves)])
    torch.testing.assert_close(encoder(torch.tensor([NEW_YEARS_EVE]))[0], layer(inputs))


@pytest.mark.parametrize(
    "encoder", [DateEmbedded(DateEmbedEncoder(num_fc_layers=1), DATE), DateWave(DateWaveEncoder(), DATE)]
)
def test_layers_end_it_and_float64_goes_through(encoder: DateEmbedded | DateWave) -> None:
    found = encoder.double()(torch.tensor([NEW_YEARS_EVE]))
    assert found.shape == (1, 10)
    assert found.dtype == torch.float64


def test_dropout_acts_on_the_parts() -> None:
    encoder = DateEmbedded(DateEmbedEncoder(dropout=0.9), DATE)
    torch.manual_seed(0)
    assert (encoder(torch.tensor([NEW_YEARS_EVE])) == 0).sum() > 30
