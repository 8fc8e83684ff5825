"""Command lines made from the parser itself: its commands, their options, and good and bad values for each of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from trainwright_trainer import cli

# Files of `lay_out`, and what is no file. A good one stands first, and is taken more often.
FILES = (
    *("job.yaml", "gone.yaml", "empty.yaml", "broken.yaml", "list.yaml", "binary.yaml", "data.csv", "folder", "."),
    *("JOB.YAML", "folder/", "dangling.yaml", "ring.yaml", "Ж \n💥.yaml", "\udcff.yaml", "x" * 300 + ".yaml"),
    *("model.yaml", "wrong.yaml", "deep/er.yaml", "data.csv/x.yaml", "/proc/self/mem", "/dev/null", "-", "~", "*.yaml"),
)
DATA = (
    *("data.csv", "gone.csv", "other.csv", "empty.csv", "header.csv", "binary.csv", "fake.parquet", "folder", "*.csv"),
    *("job.yaml", "data.xlsx", "dangling.yaml", "Ж \n💥.yaml", "\udcff.csv", "[", "**", "/dev/null", "x" * 5000),
    *("s3://", "s3://B@d/x", "s3:/x", "http://x/y", "file://data.csv", "file://", "://", "data.csv\n", " ", ""),
)
PLACES = (
    *(
        "out",
        "out",
        "other",
        "gone/deep/er",
        ".",
        "folder",
        "data.csv",
        "job.yaml",
        "data.csv/out",
        "out/model",
        "e.csv",
    ),
    *("e.CSV", "e.parquet", "e.xlsx", "e.csv/", "folder.v2/", "Ж \n💥", "\udcff", "x" * 300, "/dev/null", "/proc/x"),
    *("s3://", "s3://B@d/x", "gs://x/y", "file://f", "file://", "-", "--json", " ", ""),
)
BACKENDS = (
    "local",
    "local",
    "LOCAL",
    "Local",
    "ray",
    "loacl",
    "deepspeed",
    "horovod",
    "x",
    "Ж💥",
    "\udcff",
    "",
    "null",
)
NUMBERS = ("3", "0", "-1", "1.5", "abc", "9" * 15, "9" * 30, "9" * 5000, "٣", "1_000", "0x10", "NaN", " 3", "", "true")
VALUES: dict[str, Sequence[str]] = {
    "JOB.yaml": FILES,
    "FILE": FILES,
    "PATH": DATA,
    "DIR": PLACES,
    "[DIR]": PLACES,
    "NAME": BACKENDS,
    "N": NUMBERS,
    "COLUMN": ("late", "late", "size", "nope", "Ж💥", "\udcff", "x" * 5000, " ", ""),
    "tj/NAME": (
        "tj/flights",
        "flights",
        "tj/",
        "/x",
        "pod/x",
        "tj/-n",
        "tj/Ж💥",
        "tj/\udcff",
        "tj/" + "x" * 5000,
        " ",
        "",
    ),
    "NAMESPACE": ("default", "-n", "Ж💥", "\udcff", "a b", "x" * 5000, ""),
    "NAMES": ("all", "size, kind", '"a,b", size', "nope", ",", "size,size", "late", "Ж💥", "\udcff", "x" * 5000, ""),
    "[CACHE]": (".trainwright_cache", *PLACES),
    "MODEL": ("out/model", *PLACES),
    "RUN...": ("out", *PLACES),
    "PAGE": ("page.html", *PLACES),
    "YAML": (
        "{format: csv}",
        "{delimiter: ';', header: false}",
        "{naValues: [1, x]}",
        "{formt: csv}",
        "{format: csv",
        "[a]",
        "3",
        "null",
        "&a [*a]",
        "Ж💥",
        "\udcff",
        "{x: " * 3000,
        " ",
        "",
    ),
    "FORMAT": ("safetensors", "onnx", "torchscript", "ONNX", "pt2", "Ж💥", "\udcff", ""),
    "TIME": ("30d", "1h", "0s", "9" * 30 + "d", *NUMBERS),
    "SIZE": ("20GB", "1Gi", "0", "9" * 30, *NUMBERS),
}
"""By what the help calls a value. A new kind of option has to be given values here: `pieces_of` fails until it is."""
STRAY = ("--", "--help", "--version", "--nope", "-x", "-", "extra.yaml", "\udcff", "Ж💥", "--=", "--=x", "---", "")


def command_lines(seed: int, count: int) -> Iterator[list[str]]:
    """`count` of them, the same for the same seed."""
    draw = random.Random(seed)
    commands = dict(_commands(typer.main.get_command(cli.app), ()))
    for _ in range(count):
        names = draw.choice(sorted(commands))
        pieces = pieces_of(commands[names], draw)
        named = [word for name in names for word in _command(name, draw)]
        yield [*_before(draw), *named, *(word for piece in pieces for word in piece)]


def _commands(group: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands with the words that call them."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*above, name))
        else:
            yield (*above, name), command


def pieces_of(command: Any, draw: random.Random) -> list[list[str]]:
    """The file in most cases, and a few options in any order, some of them twice."""
    file, *options = sorted(command.params, key=lambda param: param.param_type_name != "argument")
    pieces = [_value(file, draw)] if draw.random() < 0.9 else []
    chosen = draw.choices(options, k=draw.choice((0, 1, 1, 2, 2, 3, 5)))
    pieces += [_option(option, draw) for option in chosen]
    if draw.random() < 0.1:
        pieces.append([draw.choice(STRAY)])
    draw.shuffle(pieces)
    return pieces


def _before(draw: random.Random) -> list[str]:
    return [draw.choice(STRAY)] if draw.random() < 0.02 else []


def _command(name: str, draw: random.Random) -> list[str]:
    """Mostly as it is; else in another case, cut short, or not at all."""
    return draw.choice([[name]] * 40 + [[name.upper()], [name[:-1]], [name, name], []])


def _option(option: Any, draw: random.Random) -> list[str]:
    flag = _spelled(draw.choice(option.opts), draw)
    if option.is_flag:
        return [flag] if draw.random() < 0.95 else [f"{flag}=x"]
    if draw.random() < 0.05:
        return [flag]
    (value,) = _value(option, draw)
    return [f"{flag}={value}"] if draw.random() < 0.3 else [flag, value]


def _spelled(flag: str, draw: random.Random) -> str:
    return draw.choice([flag] * 30 + [flag.upper(), flag[:-1], flag + "s", flag.replace("--", "-")])


def _value(param: Any, draw: random.Random) -> list[str]:
    """The first of the values, which is a good one, in most cases: a command line with one mistake goes deeper."""
    values = VALUES[param.metavar]
    return [values[0] if draw.random() < 0.75 else draw.choice(values)]
