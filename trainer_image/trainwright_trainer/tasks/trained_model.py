"""A trained model in Python: it predicts and evaluates tables in memory, without a job, a cache or a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from trainwright_trainer.job.argument_names import naming_arguments
from trainwright_trainer.tasks.given_data import Data, Frame, as_given, given_data, names_to_keep

if TYPE_CHECKING:
    import pyarrow as pa

    from trainwright_api.config import ModelConfig
    from trainwright_trainer.data.new_data import NewData
    from trainwright_trainer.tasks.result import Evaluation
    from trainwright_trainer.tasks.saved_model import SavedModel


@dataclass(frozen=True)
class TrainedModel:
    """A model that `load` has read.

    >>> model = load("out/churn")
    >>> model.predict(customers.head(2), keep=["name"]).columns.tolist()
    ['name', 'left', 'left_predictions', 'left_probability', 'left_probabilities_no', 'left_probabilities_yes']
    >>> model.evaluate(customers)["left"]["roc_auc"] > 0.6
    True
    """

    saved: SavedModel
    place: str

    @property
    def config(self) -> ModelConfig:
        """The config that it was trained with, with all defaults."""
        return self.saved.config

    @overload
    def predict(self, data: str | os.PathLike[str], keep: Sequence[str] = (), top_k: int | None = None) -> pa.Table: ...

    @overload
    def predict(self, data: Frame, keep: Sequence[str] = (), top_k: int | None = None) -> Frame: ...

    def predict(self, data: Data, keep: Sequence[str] = (), top_k: int | None = None) -> Any:
        """One row for each row of `data`, in the same kind of table: of pandas, polars or Arrow.

        The columns are those that `keep` names (`["all"]`: all of them), the targets that the data have, and the
        predictions. With `top_k`, a category has two lists, not a column for each class. A row that an
        input drops has null predictions. One warning counts the missing cells and the categories that the model does
        not know. Raises `Mistakes` for data that do not fit.
        """
        from trainwright_trainer.data.table_schema import joined
        from trainwright_trainer.tasks.predict import predictions, refuse_top_k, rows_to_predict
        from trainwright_trainer.tasks.saved_model import computing

        given = given_data(data, self.saved.about.get("na_values", ()))
        with naming_arguments():
            refuse_top_k(self.config, top_k)
            rows = rows_to_predict(self.saved, given, names_to_keep(keep), top_k)
            with computing(self.saved):
                found = joined([table for table, _ in predictions(self.saved, rows, top_k)])
        _warn(rows)
        return as_given(data, found)

    def evaluate(self, data: Data) -> Evaluation:
        """The scores on data with targets, and the same warning. Raises `Mistakes` for data that do not fit."""
        from trainwright_trainer.tasks.evaluate import evaluation_of
        from trainwright_trainer.tasks.saved_model import computing

        given = given_data(data, self.saved.about.get("na_values", ()))
        with computing(self.saved):
            rows = self.saved.rows_of(given, targets=True)
            found = evaluation_of(self.saved, rows, "given", {"model": self.place, "dataset": given.name})
        _warn(rows)
        return found

    def __repr__(self) -> str:
        outputs = ", ".join(f"{feature.name} ({feature.type})" for feature in self.config.output_features)
        return f"<model {self.place}: {len(self.config.input_features)} inputs → {outputs}>"


def _warn(rows: NewData) -> None:
    """Warn of what was found in the data, in the name of the caller's caller."""
    for line in rows.notices():
        warnings.warn(f"{rows.name}: {line}", stacklevel=3)


def load_trained(model: str | os.PathLike[str]) -> TrainedModel:
    """Read a model from its folder, or from the folder of its run, on this machine or in a store. A GPU holds it, if
    there is one.

    Raises `Mistakes` if there is no model, or it is damaged, and `EnvironmentFailure` if it cannot be read.
    """
    from trainwright_trainer.backends.local import local
    from trainwright_trainer.storage.location import place_of
    from trainwright_trainer.tasks.saved_model import load_model

    place = os.fspath(model)
    return TrainedModel(load_model(place_of(place, "model"), device=local().device), place)
