"""The words between numbers or dates that have to be missing. `datasetOptions.naValues` has them for all columns."""

from __future__ import annotations

from collections.abc import Mapping

from trainwright_trainer.suggest.column_type import TypeChoice, share_of_words, words_of
from trainwright_trainer.suggest.profile import TableProfile

Choices = Mapping[str, TypeChoice]


def without_conflicts(profile: TableProfile, choices: Choices, target: TypeChoice) -> dict[str, TypeChoice]:
    """The choices without those whose words are one of two values of an input, or a class of the target."""
    found = dict(choices)
    of_classes = [name for name, choice in choices.items() if choice.type == "binary"]
    if target.type in ("binary", "category"):
        of_classes.append(profile.target)
    for name in choices:
        column = profile.columns[name]
        others = [other for word in words_of(column, choices[name]) for other in _with(word, profile, of_classes)]
        if others:
            words = share_of_words(column, choices[name])
            reason = f"{words}, which {others[0]!r} has too: naValues would remove it from both"
            found[name] = TypeChoice(None, reason)
    return found


def na_values(profile: TableProfile, used: Choices) -> dict[str, list[str]]:
    """The words in the order of the alphabet, each with the other inputs that have it as a value."""
    own = {name: words_of(profile.columns[name], choice) for name, choice in used.items()}
    return {
        word: _with(word, profile, [name for name in used if word not in own[name]])
        for word in sorted({word for words in own.values() for word in words})
    }


def _with(word: str, profile: TableProfile, names: list[str]) -> list[str]:
    return [name for name in names if word in (profile.columns[name].distinct.counts or {})]
