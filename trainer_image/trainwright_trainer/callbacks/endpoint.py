"""The operator's progress endpoint over HTTPS: each report opens a connection and reads the token again."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from trainwright_api.resource.messages import Reply, Report, encoded

ANSWER_BYTES = 64 * 1024
REFUSED = frozenset({400, 403, 404, 413})
"""Statuses that the endpoint would answer again to the same report."""


class NotTaken(Exception):
    """A report did not arrive, or was not accepted. The text is one line. `refused`: a retry changes nothing."""

    def __init__(self, line: str, *, refused: bool = False) -> None:
        super().__init__(line)
        self.refused = refused


@dataclass(frozen=True)
class Endpoint:
    """`timeout` applies to each wait on the network, in seconds."""

    url: str
    token_file: Path
    ca: Path | None = None
    timeout: float = 5.0

    def post(self, report: Report) -> Reply:
        """Send the report. Raises `NotTaken` for every failure."""
        try:
            status, body = self._exchange(encoded(report).encode())
        except (OSError, HTTPException, ValueError) as error:
            raise NotTaken(str(error) or type(error).__name__) from error
        if status != 200:
            raise NotTaken(f"it answers {status}{_reason(body)}", refused=status in REFUSED)
        return _reply(body)

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        address = urlsplit(self.url)
        if address.scheme != "https" or not address.hostname:
            raise ValueError(f"{self.url} is no https address")
        trust = ssl.create_default_context(cafile=self.ca)
        # Python 3.13 verifies certificates more strictly than the API server does: CAs in use fail its check.
        trust.verify_flags &= ~ssl.VERIFY_X509_STRICT
        headers = {
            "Authorization": f"Bearer {self.token_file.read_text().strip()}",
            "Content-Type": "application/json",
        }
        connection = HTTPSConnection(address.hostname, address.port, timeout=self.timeout, context=trust)
        try:
            connection.request("POST", address.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(ANSWER_BYTES)
        finally:
            connection.close()


def _reply(body: bytes) -> Reply:
    """Parse the reply. Fields that a newer operator adds are ignored."""
    fields = _object(body)
    return Reply(stop=fields.get("stop") is True, reason=str(fields.get("reason") or "")[:256])


def _reason(body: bytes) -> str:
    words = str(_object(body).get("message") or "").partition("\n")[0][:256]
    return f": {words}" if words else ""


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
