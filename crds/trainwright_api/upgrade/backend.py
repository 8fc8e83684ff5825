"""Old forms of the backend section."""

from __future__ import annotations

from trainwright_api.paths import Location
from trainwright_api.resource.strategy import OPTIONS
from trainwright_api.upgrade.draft import Draft

BACKEND = ("spec", "backend")
_TRAINER = (*BACKEND, "trainer")
_STRATEGY = (*_TRAINER, "strategy")
DEEPSPEED = tuple(name for name, strategy in OPTIONS.items() if strategy == "deepspeed")


def upgrade_backend(draft: Draft) -> None:
    """A word as the section; the spellings of Ludwig's documentation; options of DeepSpeed beside the type."""
    if isinstance(draft.get(BACKEND), str):
        draft.note(BACKEND, " is read as backend.type")
        draft.as_section(BACKEND)
    draft.drop((*BACKEND, "data_format"), " is not needed: the cache is always Parquet")
    draft.rename(BACKEND, "engine", "processor")
    draft.rename(_TRAINER, "type", "strategy")
    if draft.section(BACKEND).get("type") == "deepspeed":
        _nest_options(draft, BACKEND)
    if draft.get(_STRATEGY) == "deepspeed":
        _nest_options(draft, _TRAINER)


def _nest_options(draft: Draft, at: Location) -> None:
    """Move options of DeepSpeed into the object form of the strategy."""
    for name in DEEPSPEED:
        if name not in draft.section(at):
            continue
        draft.as_section(_STRATEGY)
        origin = draft.origin((*at, name))
        draft.move((*at, name), (*_STRATEGY, name))
        if "type" not in draft.section(_STRATEGY):
            draft.put((*_STRATEGY, "type"), "deepspeed", origin)
