"""A recording of one job as a template for others: placeholders stand for its name, uid and resourceVersion."""

from __future__ import annotations

import json
from typing import Any

NAME, UID, SHORT_UID, VERSION = "@name@", "@uid@", "@uid8@", "@version@"


def template(recorded: Any, name: str, uid: str) -> str:
    """Return the template as JSON text. Names that contain the first eight characters of the uid are replaced too."""
    text = json.dumps(recorded, ensure_ascii=False)
    return text.replace(uid, UID).replace(uid[:8], SHORT_UID).replace(name, NAME)


def filled(text: str, name: str, uid: str, version: str = "") -> Any:
    """Return the template filled in for another job."""
    for word, value in ((UID, uid), (SHORT_UID, uid[:8]), (NAME, name), (VERSION, version)):
        text = text.replace(word, value)
    return json.loads(text)
