"""The return values of the tasks. In a notebook, a result shows the figures of its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainwright_trainer.callbacks.events import Evaluated, Scores
from trainwright_trainer.errors import Outcome
from trainwright_trainer.report.notebook import embedded
from trainwright_trainer.storage.location import Place
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Result:
    """Of a training. `test` is empty if the split has no test rows. `keys`: those of the run folder in a store."""

    output: Place
    model: Place
    report: Place
    test: Scores
    history: Sequence[Evaluated]
    best_epoch: int
    outcome: Outcome
    seconds: float
    keys: S3Credentials | None = field(default=None, repr=False)

    @property
    def reason(self) -> str:
        """The reason for which training ended: epochs, train_steps, early stopping or time limit."""
        return self.outcome.reason

    def _repr_html_(self) -> str:
        """The report, for a notebook. Raises the errors of a read if it has been deleted."""
        page = storage_at(str(self.report.parent), self.keys).read(self.report.name)
        return embedded(page.decode())


@dataclass(frozen=True)
class Evaluation(Mapping[str, Mapping[str, float]]):
    """The scores of a model, by output feature and metric. `part`: "given", or the "test" rows of the training data.

    `page`: the report as HTML.
    """

    scores: Scores
    rows: int
    part: str
    page: str = field(repr=False)

    def __getitem__(self, name: str) -> Mapping[str, float]:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def _repr_html_(self) -> str:
        return embedded(self.page)


@dataclass(frozen=True)
class TaskSummary:
    """Of a task that trains no run of its own: one line, and the evaluation, the predictions or the model.

    `test`: the scores of the model on the test split.
    """

    line: str
    evaluation: Evaluation | None = None
    predictions: pa.Table | None = None
    model: Place | None = None
    test: Scores = field(default_factory=dict)
