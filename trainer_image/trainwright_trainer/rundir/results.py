"""What commands write beside a run with its model: evaluations, predictions and exports."""

from __future__ import annotations

from trainwright_trainer.rundir import layout
from trainwright_trainer.storage.base import Storage


def delete_results(storage: Storage) -> None:
    """Delete the results of a run that is overwritten, which are not those of the new model. Other files stay."""
    for name in layout.BESIDE:
        storage.delete(name)
    for format_ in layout.EXPORT_FORMATS:
        folder = f"{layout.EXPORT}{format_}/"
        for name in storage.list(folder):
            if name in layout.EXPORT_FILES:
                storage.delete(folder + name)
