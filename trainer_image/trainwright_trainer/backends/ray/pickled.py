"""The content of a message, pickled to bytes that the mailbox does not unpickle.

To unpickle them, the mailbox would import their classes and with them torch. That takes seconds, in which every worker
would wait.
"""

from __future__ import annotations

import pickle
from typing import Any


def sealed(content: Any) -> bytes:
    return pickle.dumps(content)


def opened(content: bytes) -> Any:
    return pickle.loads(content)
