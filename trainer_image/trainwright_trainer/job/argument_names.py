"""Messages for callers from Python: they name arguments where those of the command line name options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.errors import AlreadyDone

_OPTION = re.compile(r"--(resume|overwrite|output|keep|top-k|dataset|backend|threads|model)\b")
_ARGUMENTS = {"resume": "resume=True", "overwrite": "overwrite=True", "top-k": "top_k"}


@contextmanager
def naming_arguments() -> Iterator[None]:
    """Raise the `Mistakes` and the `AlreadyDone` of the block with the names of arguments."""
    try:
        yield
    except Mistakes as error:
        found = [Problem(_named(one.path), _named(one.message)) for one in error.problems]
        raise Mistakes(found) from error.__cause__
    except AlreadyDone as error:
        raise AlreadyDone(_named(str(error))) from error.__cause__


def _named(text: str) -> str:
    return _OPTION.sub(lambda found: _ARGUMENTS.get(found[1], found[1]), text)
