from __future__ import annotations

import io
import subprocess
import sys

import pytest

from trainwright_trainer.callbacks import listener_for
from trainwright_trainer.callbacks.json_lines import JsonLines
from trainwright_trainer.callbacks.plain_lines import PlainProgress
from trainwright_trainer.callbacks.terminal import TerminalProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_live_display() -> None:
    assert isinstance(listener_for(Terminal(), False, environment={"TERM": "xterm"}), TerminalProgress)


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": ""}, {}])
def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(environment: dict[str, str]) -> None:
    assert isinstance(listener_for(Terminal(), False, environment=environment), PlainProgress)


def test_a_pipe_gets_plain_lines() -> None:
    assert isinstance(listener_for(io.StringIO(), False, environment={"TERM": "xterm"}), PlainProgress)


def test_json_wins_over_the_terminal() -> None:
    assert isinstance(listener_for(Terminal(), True, environment={"TERM": "xterm"}), JsonLines)


def test_a_pipe_does_not_pay_for_rich_nor_for_tensorboard() -> None:
    code = (
        "import io, sys; from trainwright_trainer.callbacks import listener_for; listener_for(io.StringIO(), False);"
        "import trainwright_trainer.callbacks.tensorboard, trainwright_trainer.callbacks.history;"
        "print(sorted({'rich', 'tensorboard', 'torch', 'numpy', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
