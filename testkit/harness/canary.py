"""Searches for a secret in stored objects, output and logs."""

from __future__ import annotations

import base64
import json
import secrets
from functools import cache


def canary() -> str:
    return f"canary-{secrets.token_hex(12)}"


def holds(content: bytes, secret: str) -> bool:
    """True if the content holds the secret, in plain text or in base64 at any of its three alignments."""
    return any(form in content for form in _forms(secret))


def of_others(job: bytes) -> bytes:
    """A stored TrainingJob without what its user wrote: the spec, and kubectl's last-applied annotation."""
    whole = json.loads(job)
    del whole["spec"]
    whole["metadata"].get("annotations", {}).pop("kubectl.kubernetes.io/last-applied-configuration", None)
    return json.dumps(whole).encode()


@cache
def _forms(secret: str) -> tuple[bytes, ...]:
    return (secret.encode(), *(_in_base64(secret, shift) for shift in range(3)))


def _in_base64(secret: str, shift: int) -> bytes:
    """Encode without the characters that depend on the neighbouring bytes."""
    coded = base64.b64encode(b"\0" * shift + secret.encode()).rstrip(b"=")
    return coded[4 if shift else 0 : -1]
