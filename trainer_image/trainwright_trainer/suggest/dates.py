"""The form of a column's dates: the automatic reading, or a form that has to be named in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.times import CLOCKS, pattern_of, read_times

Seconds = npt.NDArray[np.int64]
_DAYS = ("%m/%d/%y", "%d/%m/%Y", "%d/%m/%y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d-%b-%y")
FORMS = tuple(f"{day}{clock}" for day in _DAYS for clock in CLOCKS)
"""The forms that only `datetime_format` reads. Of two that fit equally well, the first one is suggested."""
_LIKE_A_FORM = r"^\d\d?[-/.](?:\d\d?|[A-Za-z]{3})[-/.]\d"
_ENOUGH = 0.95


def readings_of(texts: pa.Array) -> dict[str | None, Seconds]:
    """The seconds since 1970 of the texts that are dates, by form. None: the automatic reading."""
    found: dict[str | None, Seconds] = {None: _automatic(texts)}
    found.update((form, seconds_of(read_times(texts, form))) for form in _possible(texts))
    return {form: seconds for form, seconds in found.items() if len(seconds)}


def _automatic(texts: pa.Array) -> Seconds:
    try:
        return seconds_of(read_times(texts, None))
    except (WrongTypeError, pa.ArrowInvalid):
        return np.zeros(0, np.int64)


def are_no_dates(texts: pa.Array, form: str | None) -> npt.NDArray[np.bool_]:
    """bool [texts]: true for each text that is not of the form."""
    try:
        found: npt.NDArray[np.bool_] = read_times(texts, form).is_null().to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return np.ones(len(texts), np.bool_)
    return found


def _possible(texts: pa.Array) -> list[str]:
    alike = texts.filter(pc.match_substring_regex(texts, _LIKE_A_FORM))
    return [form for form in FORMS if len(alike) and pc.any(pc.match_substring_regex(alike, pattern_of(form))).as_py()]


def seconds_of(times: pa.Array) -> Seconds:
    """Times that are not null, in seconds since 1970."""
    seconds: Seconds = pc.cast(times, pa.int64()).drop_null().to_numpy()
    return seconds


@dataclass
class _Reading:
    rows: int = 0
    falls: int = 0
    """The dates that are earlier than the one before."""
    last: int | None = None

    def add(self, seconds: Seconds) -> None:
        for second in seconds.tolist():
            self.falls += self.last is not None and second < self.last
            self.last = second
        self.rows += len(seconds)


@dataclass
class Dates:
    """The sampled values of a column, read as dates in each of the forms, in the order of the rows."""

    sampled: int = 0
    _readings: dict[str | None, _Reading] = field(default_factory=dict)
    _undated: dict[str | None, Counter[str]] = field(default_factory=dict)

    def add(
        self, sampled: int, readings: Mapping[str | None, Seconds], undated: Mapping[str | None, Counter[str]]
    ) -> None:
        """Add a block with so many sampled values."""
        self.sampled += sampled
        for form, words in undated.items():
            self._undated.setdefault(form, Counter()).update(words)
        for form, seconds in readings.items():
            self._readings.setdefault(form, _Reading()).add(seconds)

    @property
    def forms(self) -> list[str | None]:
        """The forms that read the most values, if these are nearly all, in the order of preference."""
        most = max((reading.rows for reading in self._readings.values()), default=0)
        if not most or most < _ENOUGH * self.sampled:
            return []
        return [form for form in (None, *FORMS) if form in self._readings and self._readings[form].rows == most]

    @property
    def named(self) -> dict[str, str]:
        """The option that names the form; empty if the automatic reading needs none."""
        form = next(iter(self.forms), None)
        return {} if form is None else {"datetime_format": form}

    @property
    def words(self) -> Counter[str]:
        """The texts that are no dates of the first form, with their rows."""
        return self._undated.get(next(iter(self.forms), None), Counter())

    @property
    def are_sorted(self) -> bool:
        """True if all values are dates, and of the sampled ones none is earlier than the one before."""
        if not self.forms or self.words:
            return False
        reading = self._readings[self.forms[0]]
        return reading.rows == self.sampled and reading.falls == 0
