"""The upgrade of old Ludwig configs (0.3 to 0.10): each old form is read as its successor, with a notice.

Pure functions edit a `Draft`. Every rule leaves data without its old form unchanged, so an upgraded job stays as it is.
"""

from __future__ import annotations

from trainwright_api.upgrade.backend import upgrade_backend
from trainwright_api.upgrade.combiner import upgrade_combiner
from trainwright_api.upgrade.draft import Draft
from trainwright_api.upgrade.features import upgrade_features
from trainwright_api.upgrade.hyperopt import upgrade_hyperopt
from trainwright_api.upgrade.preprocessing import upgrade_preprocessing
from trainwright_api.upgrade.trainer import upgrade_trainer

__all__ = ["OLD_SECTIONS", "RULES", "upgrade"]

OLD_SECTIONS = frozenset({"training"})
"""The old keys of a config. They also show that a file is a Ludwig config."""

RULES = (
    upgrade_backend,
    upgrade_trainer,
    upgrade_preprocessing,
    upgrade_features,
    upgrade_combiner,
    upgrade_hyperopt,
)
"""The groups of rules. `upgrade_combiner` reads the batch size that `upgrade_trainer` has moved."""


def upgrade(draft: Draft) -> None:
    """Apply all rules to a full resource."""
    for rule in RULES:
        rule(draft)
