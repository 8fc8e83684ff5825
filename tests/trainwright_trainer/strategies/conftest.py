from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from trainwright_api.config.trainer import TrainerConfig


@pytest.fixture
def trainer() -> Callable[[Mapping[str, Any]], TrainerConfig]:
    return TrainerConfig.model_validate
