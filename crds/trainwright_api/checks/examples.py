"""An example of a section, for the line about a value in its place."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks import support
from trainwright_api.schema.section import Section

_PLAIN = re.compile(r"[A-Za-z0-9][\w./-]{0,59}")
"""Texts that stand in YAML without quotes, and are short enough for a line."""


def example(section: type[Section], value: Any, selecting: str | None = None) -> str:
    """Return the section in YAML with a number or a text at the first key that accepts it. Else the value is left open.

    If the section has required keys, it is the first of those. The key whose word selects the section comes last. The
    text is empty if the value is no number or text.
    """
    keys = _required(section) or support.built_keys(section)
    if not isinstance(value, str | int | float) or not keys:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    fitting = [key for key in keys if _accepts(section, key, value)] if _PLAIN.fullmatch(text) else []
    shown = f"{fitting[0]}: {text}" if fitting else f"{keys[0]}: …"
    return f"{{{shown}{f', {selecting}: …' if selecting else ''}}}"


def _required(section: type[Section]) -> list[str]:
    return [field.alias or name for name, field in section.model_fields.items() if field.is_required()]


def _accepts(section: type[Section], key: str, value: Any) -> bool:
    """Return True if the value is valid at a key, whatever else the section needs."""
    try:
        section.model_validate({key: value})
    except ValidationError as error:
        return all(line["loc"][:1] != (key,) for line in error.errors(include_url=False))
    return True
