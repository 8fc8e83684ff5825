"""Old forms of the combiner."""

from __future__ import annotations

from trainwright_api.upgrade.draft import Draft
from trainwright_api.upgrade.layers import RENAMED, upgrade_layers
from trainwright_api.upgrade.trainer import CONFIG, TRAINER

COMBINER = (*CONFIG, "combiner")


def upgrade_combiner(draft: Draft) -> None:
    """Names of its layers, and the virtual batches of TabNet."""
    if draft.section(COMBINER).get("type") != "tabnet":
        upgrade_layers(draft, COMBINER)
        return
    for name in ("fc_size", "num_fc_layers"):
        draft.drop((*COMBINER, name), " is dropped: tabnet has no fully connected layers")
    upgrade_layers(draft, COMBINER, {old: new for old, new in RENAMED.items() if old != "fc_size"})
    _upgrade_virtual_batch(draft)


def _upgrade_virtual_batch(draft: Draft) -> None:
    """Replace the number of virtual batches in a batch by the rows of one of them."""
    at = (*COMBINER, "bn_virtual_divider")
    divider, batch_size = draft.get(at), draft.get((*TRAINER, "batch_size"))
    if divider is None:
        draft.drop(at, " is dropped: null is the default")
        return
    rows = batch_size // divider if _is_count(batch_size) and _is_count(divider) else None
    if divider == 1:
        rows = None
    elif rows is None:
        draft.refuse(at, "needs a number as config.trainer.batch_size: give bn_virtual_bs, the rows of a virtual batch")
        return
    origin, given = draft.origin(at), draft.section(COMBINER)
    if "bn_virtual_bs" not in given:
        draft.drop(at, f" is read as bn_virtual_bs: {rows or 'null'}")
        draft.put((*COMBINER, "bn_virtual_bs"), rows, origin)
    elif given["bn_virtual_bs"] in (rows, batch_size):
        draft.drop(at, " is dropped: bn_virtual_bs is given")
    else:
        draft.refuse(at, "the old spelling of bn_virtual_bs, which is given too: keep bn_virtual_bs")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
