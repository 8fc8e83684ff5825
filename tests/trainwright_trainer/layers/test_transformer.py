from __future__ import annotations

import torch
from torch import nn

from trainwright_trainer.layers.transformer import TransformerBlock

VALUES = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(0))


def block(dropout: float = 0.0) -> TransformerBlock:
    torch.manual_seed(0)
    return TransformerBlock(8, heads=2, inner=6, dropout=dropout)


def test_it_is_the_encoder_layer_of_torch() -> None:
    ours = block()
    torchs = nn.TransformerEncoderLayer(8, 2, 6, dropout=0.0, layer_norm_eps=1e-6, batch_first=True)
    parts = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        torchs.self_attn.in_proj_weight.copy_(torch.cat([one.weight for one in parts]))
        torchs.self_attn.in_proj_bias.zero_()
    for theirs, own in (
        (torchs.self_attn.out_proj, ours.joined),
        (torchs.linear1, ours.first),
        (torchs.linear2, ours.second),
    ):
        theirs.load_state_dict(own.state_dict())
    torch.testing.assert_close(ours(VALUES), torchs(VALUES))


def test_steps_outside_the_mask_are_not_seen() -> None:
    mask = torch.tensor([True, True, True, False, False]).repeat(3, 1)
    found = block()(VALUES, mask)
    torch.testing.assert_close(found[:, :3], block()(VALUES[:, :3]))
    other = torch.cat([VALUES[:, :3], 100 * VALUES[:, 3:]], 1)
    torch.testing.assert_close(block()(other, mask)[:, :3], found[:, :3])


def test_positions_make_no_difference() -> None:
    found = block()(VALUES)
    torch.testing.assert_close(block()(VALUES.flip(1)), found.flip(1))


def test_dropout_acts_in_training() -> None:
    layer = block(dropout=0.5)
    assert not torch.equal(layer(VALUES), layer(VALUES))
    assert torch.equal(layer.eval()(VALUES), layer(VALUES))


def test_no_rows_stay_no_rows() -> None:
    assert block()(VALUES[:0]).shape == (0, 5, 8)
