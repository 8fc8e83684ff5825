"""Looking for a secret in what was stored, printed or written."""

from __future__ import annotations

import base64
import json
import secrets
from functools import cache


def canary() -> str:
    return f"canary-{secrets.token_hex(12)}"


def holds(content: bytes, secret: str) -> bool:
    """As it is, or in base64 at any of its three places."""
    return any(form in content for form in _forms(secret))


def of_others(job: bytes) -> bytes:
    """A TrainingJob as it is stored, without what its user wrote: the spec, and kubectl's copy of it."""
    whole = json.loads(job)
    del whole["spec"]
    whole["metadata"].get("annotations", {}).pop("kubectl.kubernetes.io/last-applied-configuration", None)
    return json.dumps(whole).encode()


@cache
def _forms(secret: str) -> tuple[bytes, ...]:
    return (secret.encode(), *(_in_base64(secret, shift) for shift in range(3)))


def _in_base64(secret: str, shift: int) -> bytes:
    """Without the letters that depend on what stands beside it."""
    coded = base64.b64encode(b"\0" * shift + secret.encode()).rstrip(b"=")
    return coded[4 if shift else 0 : -1]
