"""What letters hold, as bytes that the desk hands on unopened.

To open them it would import what they are made of, and with it torch: for seconds, in which every worker waits for it.
"""

from __future__ import annotations

import pickle
from typing import Any


def sealed(content: Any) -> bytes:
    return pickle.dumps(content)


def opened(content: bytes) -> Any:
    return pickle.loads(content)
