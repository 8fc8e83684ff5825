"""The user's own train function, which the entrypoint of a job names."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes, nearest
from trainwright_api.resource.job import Entrypoint

TrainFunction = Callable[..., Any]


def folders_of(file: Path) -> tuple[str, ...]:
    """The folders in which modules are looked for first: that of the job's file, then the working folder."""
    return tuple(dict.fromkeys((str(file.absolute().parent), str(Path.cwd()))))


def imported(entrypoint: Entrypoint, folders: Sequence[str]) -> TrainFunction:
    """Import the function. From then on, the folders are part of `sys.path`. Raises `Mistakes`."""
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(entrypoint.module)
    except ModuleNotFoundError as error:
        raise Mistakes.one("entrypoint.module", _absent(entrypoint.module, error.name, folders)) from error
    except SystemExit as error:
        found = (
            f"{entrypoint.module} ends the program when it is imported: put its calls below if __name__ == '__main__'"
        )
        raise Mistakes.one("entrypoint.module", found) from error
    except Exception as error:
        found = f"{entrypoint.module} cannot be imported: {type(error).__name__}: {error}"
        raise Mistakes.one("entrypoint.module", found.partition("\n")[0]) from error
    function = getattr(module, entrypoint.function, None)
    if not callable(function):
        raise Mistakes.one("entrypoint.function", _no_function(entrypoint, vars(module)))
    if len(required := _required(function)) > 1:
        words = f"{entrypoint.function} needs {', '.join(required)}; it gets one argument, entrypoint.config"
        raise Mistakes.one("entrypoint.function", words)
    typed: TrainFunction = function
    return typed


def call_with(function: TrainFunction, config: dict[str, Any]) -> None:
    """Call the function with its config, or without an argument if it has no parameter."""
    if inspect.signature(function).parameters:
        function(config)
    else:
        function()


def _absent(module: str, missing: str | None, folders: Sequence[str]) -> str:
    if missing is not None and not f"{module}.".startswith(f"{missing}."):
        return f"{module} imports {missing}, which is not installed here"
    return f"there is no module {module}: neither in {' or '.join(folders)}, nor installed"


def _no_function(entrypoint: Entrypoint, names: dict[str, Any]) -> str:
    known = [name for name, value in names.items() if callable(value) and not name.startswith("_")]
    near = nearest(entrypoint.function, known)
    hint = f": did you mean {near!r}?" if near else ""
    return f"{entrypoint.module} has no function {entrypoint.function!r}{hint}"


def _required(function: TrainFunction) -> list[str]:
    """The names of the parameters that have no default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.default is inspect.Parameter.empty and one.kind in kinds]
