"""The command export: a trained model as a graph with its transform, or as its plain weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from trainwright_api.problems import Mistakes, nearest
from trainwright_trainer.export import files
from trainwright_trainer.export.graph import graph_inputs, graph_outputs, refuse_equal_names, traced
from trainwright_trainer.export.refusals import refuse, refused_by_torch
from trainwright_trainer.export.transform import FILE, Transform
from trainwright_trainer.rundir import layout, model_folder
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import Place, located, place_of
from trainwright_trainer.storage.registry import storage_at, storage_of
from trainwright_trainer.tasks.saved_model import load_model

Writer = Callable[[Place, Path], None]
"""Writes the export of the model at a place into an empty folder."""
_LAST = (FILE, model_folder.ABOUT)
_MODEL_FILES = (model_folder.WEIGHTS, model_folder.CONFIG, model_folder.STATISTICS, model_folder.ABOUT)


def export(model: str, format_: str, output: str | None = None, *, overwrite: bool = False) -> str:
    """Write the export of a model to a folder or a store, and return the line to print.

    `model`: a model folder, or the folder of its run. `output` is by default `export/FORMAT` in the run's folder.
    Raises `Mistakes` for a format or a model that cannot be exported, `EnvironmentFailure` if a write fails.
    """
    check_format(format_)
    files.check_library(format_)
    place = place_of(model, "model")
    model_folder.check(str(place))
    there = place_of(output, "--output") if output else _beside(place) / layout.EXPORT.rstrip("/") / format_
    _refuse_model(there, place)
    target = storage_of(there)
    _check_target(target, overwrite=overwrite)
    target.check_writable(exclusive=False)
    with TemporaryDirectory(prefix="trainwright-export-") as folder:
        _FORMATS[format_](place, Path(folder))
        names = _publish(Path(folder), target)
    return f"{model}: exported as {format_}: {target.location} ({', '.join(names)})"


def _refuse_model(there: Place, source: Place) -> None:
    """Raise `Mistakes` if an export to `there` would replace the model of a run, or the exported model itself."""
    if not storage_of(there).exists(model_folder.ABOUT):
        return
    if located(there) == located(source) or (there.name == "model" and read_run(storage_of(there.parent)) is not None):
        line = f"{there} is a trained model, which an export does not replace: name another folder"
        raise Mistakes.one("--output", line)


def _check_target(target: Storage, *, overwrite: bool) -> None:
    """Raise `Mistakes` if the folder has files, with `overwrite` if it has others than those of an export."""
    found = target.list()
    if found and not overwrite:
        raise Mistakes.one("--output", f"{target.location} has {found[0]!r} in it: name another folder, or --overwrite")
    other = next((name for name in found if name not in layout.EXPORT_FILES), None)
    if other is not None:
        line = f"{target.location} has {other!r} in it, which is no file of an export: name another folder"
        raise Mistakes.one("--output", line)


def check_format(word: str) -> None:
    """Raise `Mistakes` for a word that is no format."""
    if word in _FORMATS:
        return
    if word == "torchscript":
        line = "torchscript: torch has deprecated it. Use torch_export for torch, or onnx for other runtimes."
        raise Mistakes.one("--format", line)
    near = nearest(word, _FORMATS)
    meant = f": did you mean {near!r}?" if near else f". The formats are {', '.join(_FORMATS)}."
    raise Mistakes.one("--format", f"{word!r} is no format{meant}")


def _beside(place: Place) -> Place:
    """The folder of the run for its model folder; any other place itself, also a run with the name "model"."""
    is_model = place.name == "model" and storage_of(place).exists(model_folder.ABOUT)
    return place.parent if is_model else place


def _graph(format_: str, file: str, place: Place, folder: Path) -> None:
    saved = load_model(place)
    refuse(saved.config, saved.model, format_)
    inputs = graph_inputs(saved.config, saved.statistics, saved.layout)
    outputs = graph_outputs(saved.config, saved.statistics, saved.model.combiner.output_length)
    refuse_equal_names(saved.config, inputs, outputs)
    with refused_by_torch(format_), files.quiet():
        program = traced(saved.model, saved.layout, inputs, outputs)
        if format_ == "onnx":
            files.write_onnx(program, inputs, outputs, folder / file)
        else:
            files.write_pt2(program, folder / file)
    na_values = saved.about.get("na_values", ())
    transform = Transform(saved.config, saved.statistics, inputs, outputs, file, version("trainwright"), na_values)
    (folder / FILE).write_bytes(transform.to_json())


def _model_files(place: Place, folder: Path) -> None:
    """The files of the model folder, which has safetensors and JSON only, and which `predict --model` reads."""
    source = storage_at(model_folder.load(str(place)).location)
    for name in _MODEL_FILES:
        (folder / name).write_bytes(source.read(name))


_FORMATS: Mapping[str, Writer] = {
    "onnx": partial(_graph, "onnx", files.ONNX),
    "torch_export": partial(_graph, "torch_export", files.PT2),
    "safetensors": _model_files,
}


def _publish(folder: Path, target: Storage) -> list[str]:
    """Replace the files of the place by those of the folder. The one that a reader opens first is written last."""
    for name in target.list():
        target.delete(name)
    names = sorted((path.name for path in folder.iterdir()), key=lambda name: (name in _LAST, name))
    for name in names:
        target.write_file(name, folder / name)
    return names
