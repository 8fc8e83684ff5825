"""The notice of an encoder that is neither pretrained nor trained."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.validate import validate_document

LINE = "config.input_features[0].encoder: use_pretrained and trainable are false, so the encoder keeps random weights"


def notices(encoder: dict[str, Any], **spec: Any) -> tuple[str, ...]:
    config = {
        "input_features": [{"name": "review", "type": "text", "encoder": encoder}],
        "output_features": [{"name": "late", "type": "binary"}],
        **spec.pop("config", {}),
    }
    return validate_document({"dataset": "rows.csv", "config": config, **spec}, "job.yaml").notices


@pytest.mark.parametrize(
    ("encoder", "spec", "found"),
    [
        ({"use_pretrained": False}, {}, (LINE,)),
        ({"use_pretrained": False, "trainable": True}, {}, ()),
        ({"use_pretrained": False, "adapter": "lora"}, {}, ()),
        ({"use_pretrained": True}, {}, ()),
        ({"use_pretrained": False}, {"resumeFrom": "out/before"}, ()),
        ({}, {"config": {"defaults": {"text": {"encoder": {"type": "bert", "use_pretrained": False}}}}}, (LINE,)),
    ],
)
def test_weights_that_stay_random_are_a_notice(
    encoder: dict[str, Any], spec: dict[str, Any], found: tuple[str, ...]
) -> None:
    assert notices({"type": "bert", **encoder}, **spec) == found


def test_other_encoders_have_none() -> None:
    assert notices({"type": "parallel_cnn"}) == ()
