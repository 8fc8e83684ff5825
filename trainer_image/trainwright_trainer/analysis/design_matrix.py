"""The encoded inputs as the matrices of scikit-learn: sparse for a linear model, dense for trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.loader.batch import Batch, ColumnRange, Ragged
from trainwright_trainer.loader.layout import layout_of

MOST_TOKENS, MOST_TREE_TOKENS = 1000, 50
"""Tokens of a set, a sequence or a text that are columns: the most frequent ones."""
MOST_CATEGORIES = 250
"""scikit-learn's trees know 255 categories at most; larger vocabularies are ordered numbers for them."""

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Matrices:
    """Some rows. `sparse`: scipy's CSR, numbers scaled, categories and tokens as flags. `dense`: float64."""

    sparse: Any
    dense: Array


@dataclass(frozen=True)
class Design:
    """Makes the matrices of rows. Means and tokens are those of the training rows."""

    subject: Subject
    columns: Mapping[str, ColumnRange]
    means: Mapping[str, tuple[Array, Array]]  # of the dense columns: mean and spread
    tokens: Mapping[str, Array]  # of the ragged columns: the tokens that are columns

    def of(self, rows: Rows) -> Matrices:
        """The matrices of the rows with these numbers, which ascend."""
        from scipy import sparse

        batch = self.subject.dense(rows)
        pairs = [self._of_feature(name, place, batch) for name, place in self.columns.items()]
        whole = sparse.hstack([one for one, _ in pairs], format="csr")
        return Matrices(whole, np.concatenate([dense for _, dense in pairs], 1))

    def categories(self) -> Array:
        """bool [dense columns]: those whose values are categories."""
        flags: list[bool] = []
        for name, place in self.columns.items():
            known = self._classes(name)
            width = len(self.tokens[name][:MOST_TREE_TOKENS]) if name in self.tokens else place.stop - place.start
            flags += [known is not None and known <= MOST_CATEGORIES] * width
        return np.array(flags)

    def _of_feature(self, name: str, place: ColumnRange, batch: Batch) -> tuple[Any, Array]:
        from scipy import sparse

        found = batch.of(place)
        if isinstance(found, Ragged):
            counts = _counts(found, self.tokens[name])
            return counts, counts[:, :MOST_TREE_TOKENS].toarray().astype(np.float64)
        dense = found.double().cpu().numpy()
        classes = self._classes(name)
        if classes is not None:
            codes = dense[:, 0].astype(np.int64)
            flags = sparse.csr_matrix(
                (np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), classes)
            )
            return flags, dense
        mean, spread = self.means[name]
        return sparse.csr_matrix((dense - mean) / spread), dense

    def _classes(self, name: str) -> int | None:
        """The number of categories of an input; None if it is not a category."""
        types = {feature.name: feature.type for feature in self.subject.config.input_features}
        if types[name] != "category" or self.columns[name].kind != "ints":
            return None
        return len(self.subject.data.statistics[name]["vocabulary"])


def design_of(subject: Subject, rows: Rows) -> Design:
    """The design of the training rows with these numbers, which ascend."""
    layout = layout_of(subject.config, subject.data.statistics)
    columns = {feature.name: layout.columns[feature.name] for feature in subject.config.input_features}
    columns = {name: place for name, place in columns.items() if place.kind in ("floats", "ints", "ragged")}
    batch = subject.dense(rows)
    means, tokens = {}, {}
    for name, place in columns.items():
        found = batch.of(place)
        if isinstance(found, Ragged):
            tokens[name] = _frequent(found)
        else:
            values = found.double().cpu().numpy()
            spread = values.std(0)
            means[name] = values.mean(0), np.where(spread > 0, spread, 1.0)
    return Design(subject, columns, means, tokens)


def _frequent(column: Ragged) -> Array:
    values, counts = np.unique(column.values.cpu().numpy(), return_counts=True)
    return values[np.argsort(-counts, kind="stable")[:MOST_TOKENS]]


def _counts(column: Ragged, tokens: Sequence[int] | Array) -> Any:
    """CSR [rows, tokens]: how often each token stands in each row."""
    from scipy import sparse

    values = column.values.cpu().numpy()
    owners = np.repeat(np.arange(len(column)), np.diff(column.bounds))
    order = np.argsort(tokens)
    ascending = np.asarray(tokens)[order]
    place = np.searchsorted(ascending, values).clip(max=max(len(ascending) - 1, 0))
    known = ascending[place] == values if len(ascending) else np.zeros(len(values), dtype=np.bool_)
    cells = (np.ones(int(known.sum())), (owners[known], order[place[known]]))
    return sparse.csr_matrix(cells, shape=(len(column), len(ascending)))
