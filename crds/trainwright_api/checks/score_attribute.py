"""`checkpoint.scoreAttribute`: a split, and a metric of all outputs or of one, such as `validation.late.roc_auc`.

The spellings of Ray and Lightning are also accepted: `val_loss`, `train_loss`, `test_accuracy`, `val_late_roc_auc`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainwright_api.config.metric_names import METRICS, Direction
from trainwright_api.problems import nearest

SPLITS = ("training", "validation", "test")
_SPELLED = {"train": "training", "training": "training", "val": "validation", "valid": "validation"}
_SPELLED |= {split: split for split in SPLITS}
_FORM = re.compile(rf"({'|'.join(_SPELLED)})[._/](.+)")
_COMBINED = "combined"

Outputs = Mapping[str, str]
"""The types of the output features, by name. Empty if they are unknown: then any metric is accepted."""


class UnknownScoreError(ValueError):
    """The score attribute is unknown. The message is a complete sentence for the user."""


def canonical_score(attribute: str, outputs: Outputs) -> str:
    """Return the attribute as `split.metric` or `split.output.metric`. Raises `UnknownScoreError`."""
    found = _FORM.fullmatch(attribute)
    known = _metrics(outputs)
    if found is None or (outputs and found[2] not in known):
        raise UnknownScoreError(_unknown(attribute, known))
    return f"{_SPELLED[found[1]]}.{known.get(found[2], found[2])}"


def direction_of(canonical: str, outputs: Outputs) -> Direction | None:
    """Return the direction of the metric, or None for an unknown metric."""
    _, _, name = canonical.partition(".")
    output, _, metric = name.rpartition(".")
    return METRICS.get(outputs.get(output, _COMBINED), {}).get(metric)


def _metrics(outputs: Outputs) -> dict[str, str]:
    """Return the metrics' names by spelling. A bare metric is that of all outputs, else of the first output with it."""
    found: dict[str, str] = {}
    for output, kind in {_COMBINED: _COMBINED, **outputs}.items():
        for metric in METRICS.get(kind, {}):
            name = metric if output == _COMBINED else f"{output}.{metric}"
            for spelled in (metric, f"{output}_{metric}", f"{output}.{metric}"):
                found.setdefault(spelled, name)
    return found


def _unknown(attribute: str, known: Mapping[str, str]) -> str:
    spelled = {f"{word}_{name}": f"{_SPELLED[word]}.{known[name]}" for word in _SPELLED for name in known}
    near = nearest(attribute, spelled)
    hint = f": did you mean {spelled[near]!r}?" if near else ""
    return (
        "expected a split (training, validation or test), a dot and a metric, as in validation.loss, "
        f"found {attribute!r}{hint}"
    )
