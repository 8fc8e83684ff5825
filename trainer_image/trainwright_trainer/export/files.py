"""The files of an export, written by the libraries of their formats."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import torch
from torch.export import ExportedProgram

from trainwright_api.problems import Mistakes
from trainwright_trainer.export.transform import GraphInput, GraphOutput

ONNX, PT2 = "model.onnx", "model.pt2"


def check_library(format_: str) -> None:
    """Raise `Mistakes` if the libraries of a format are missing."""
    if format_ == "onnx" and (find_spec("onnx") is None or find_spec("onnxscript") is None):
        raise Mistakes.one(
            "--format", "onnx needs the libraries onnx and onnxscript: pip install 'trainwright[export]'"
        )


def write_onnx(
    program: ExportedProgram, inputs: Sequence[GraphInput], outputs: Sequence[GraphOutput], path: Path
) -> None:
    """Write the graph, and beside it the weights if the model has more than 2 GB."""
    from onnx.checker import check_model
    from onnx_ir.passes.common import NameFixPass

    converted = torch.onnx.export(
        program,
        dynamo=True,
        verbose=False,
        input_names=[one.name for one in inputs],
        output_names=[one.name for one in outputs],
    )
    assert converted is not None, "torch.onnx.export returns a program if dynamo is set"
    NameFixPass()(converted.model)  # torch leaves inner values with the name of an input or output
    converted.save(path)
    check_model(path)


def write_pt2(program: ExportedProgram, path: Path) -> None:
    """Write the program. No part of trainwright reads such a file: torch loads it through pickle."""
    torch.export.save(program, path)


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of torch and onnxscript about their own internals."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
