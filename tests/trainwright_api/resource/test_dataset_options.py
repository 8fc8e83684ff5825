"""The section `datasetOptions` in the forms of a file, and its mistakes in one line."""

from __future__ import annotations

from typing import get_args

import pytest

from trainwright_api.checks.load import loads
from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import Encoding

CONFIG = """
input_features: [{name: age, type: number}]
output_features: [{name: left, type: binary}]
"""
OPTIONS = 'datasetOptions: {format: csv, delimiter: "\\t", encoding: latin-1, naValues: ["?"], header: false}\n'


def test_all_options_in_a_bare_config():
    options = loads(f"dataset: a.csv\n{OPTIONS}{CONFIG}", "job.yaml").job.spec.dataset_options
    assert options is not None
    assert (options.format, options.delimiter, options.encoding) == ("csv", "\t", "latin-1")
    assert (options.na_values, options.header) == (["?"], False)


@pytest.mark.parametrize("name", get_args(Encoding))
def test_every_encoding_is_one_of_python(name):
    assert "ab".encode(name).decode(name) == "ab"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("{delimiter: ;;}", "datasetOptions.delimiter: expected at most 1 character, found the text ';;'"),
        ("{delimiter: '\"'}", "datasetOptions.delimiter: expected one ASCII character that is no quote (as in ;)"),
        ("{encoding: utf8}", "datasetOptions.encoding: expected utf-8, utf-16"),
        ("{formt: csv}", "datasetOptions.formt: unknown: did you mean 'format'?"),
        (
            "{format: cvs}",
            "datasetOptions.format: expected csv, tsv, json, parquet, feather or excel, found the text",
        ),
        ("{header: 'no'}", "datasetOptions.header: expected true or false, found the text 'no': write false"),
    ],
)
def test_mistakes(given, line):
    with pytest.raises(Mistakes) as mistakes:
        loads(f"dataset: a.csv\ndatasetOptions: {given}\n{CONFIG}", "job.yaml")
    assert str(mistakes.value).startswith(line)
