"""Something recorded of one job, to be used again for others: its name, uid and version stand as words to replace."""

from __future__ import annotations

import json
from typing import Any

NAME, UID, SHORT_UID, VERSION = "@name@", "@uid@", "@uid8@", "@version@"


def template(recorded: Any, name: str, uid: str) -> str:
    """As JSON text. What the operator calls by eight letters of the uid is found, too."""
    text = json.dumps(recorded, ensure_ascii=False)
    return text.replace(uid, UID).replace(uid[:8], SHORT_UID).replace(name, NAME)


def filled(text: str, name: str, uid: str, version: str = "") -> Any:
    """The same of another job."""
    for word, value in ((UID, uid), (SHORT_UID, uid[:8]), (NAME, name), (VERSION, version)):
        text = text.replace(word, value)
    return json.loads(text)
