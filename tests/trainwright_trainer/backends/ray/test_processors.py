"""The processors on a real Ray: the same columns, each option observed, and a process that is killed in its work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Processor as ProcessorSection
from trainwright_trainer.backends.ray import one_node, processors
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.pandas import PandasProcessor

SECONDS = 240

# Prepares data with pandas here, and with each section of a processor on Ray. Prints what it found.
PROGRAM = """
import json, os, signal, sys
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from trainwright_trainer.backends.ray.environment import settle
settle(os.environ)
import ray
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Processor as Section
from trainwright_trainer.backends.ray.processors import processor_of
from trainwright_trainer.backends.ray.one_node import on_one_node
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.errors import EnvironmentFailure

folder = Path(sys.argv[1])
config = resolve(ModelConfig.model_validate_json(sys.argv[2]))


@dataclass
class Watched:
    "A processor that logs each block that is cleaned, and the process; the process that cleans `dies` is killed once."
    processor: Any
    log: Path
    dies: int | None = None

    def stage(self, source, clean):
        return self.processor.stage(source, Logging(clean, self.log, self.dies))


@dataclass
class Logging:
    clean: Any
    log: Path
    dies: int | None

    def __call__(self, block):
        with self.log.open("a") as file:
            file.write(f"{block.first_row} {os.getpid()}\\n")
        if block.first_row == self.dies and not self.log.with_suffix(".killed").exists():
            self.log.with_suffix(".killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.clean(block)


def found(name, section, dies=None):
    log = folder / f"{name}.log"
    processor = Watched(processor_of(Section.model_validate(section)), log, dies)
    data = prepare(config, "data.parquet", seed=0, cache_dir=str(folder / name), processor=processor)
    data.finish()
    cleaned = [[int(word) for word in line.split()] for line in log.read_text().splitlines()]
    columns = {key: [repr(value) for value in column.to_pylist()] for key, column in data.columns.items()}
    return {"columns": columns, "statistics": json.dumps(data.statistics), "key": data.cache_key,
            "notices": data.notices, "blocks": cleaned, "driver": os.getpid()}

def killed_once(marker):
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def refused():
    raise Mistakes.one("dataset", "is not there")


def raised(work, retries):
    try:
        return on_one_node(work, retries)
    except (Mistakes, EnvironmentFailure) as error:
        return f"{type(error).__name__}: {error}"


os.chdir(folder)
for attempt in range(3):
    try:
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 27)
        break
    except Exception:
        ray.shutdown()
answers = {
    "pandas": found("pandas", {"type": "pandas"}),
    "dask": found("dask", {"type": "dask"}),
    "persist": found("persist", {"type": "dask", "persist": False}),
    "killed": found("killed", {"type": "dask", "parallelism": 4}, dies=2 * 65_536),
    **({
        "modin": found("modin", {"type": "modin"}),
        "modin, killed": found("modin, killed", {"type": "modin"}, dies=2 * 65_536),
    } if find_spec("modin") else {}),
    "one node": {"killed": raised(partial(killed_once, folder / "first"), 1), "driver": os.getpid(),
                 "lost": raised(partial(killed_once, folder / "second"), 0), "refused": raised(refused, 1)},
}
ray.shutdown()
(folder / "answers.json").write_text(json.dumps(answers))
"""
ROWS = 4 * 65_536 - 11
MODIN = pytest.mark.skipif(not find_spec("modin"), reason="processor modin has its own environment: make test-modin")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("processors")
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=ROWS)
    numbers[::17] = np.nan
    table = {
        "n": numbers,
        "c": pa.array([None if code > 20 else f"Ä{code}" for code in rng.integers(0, 23, ROWS)]),
        "y": rng.random(ROWS) < 0.3,
    }
    pq.write_table(pa.table(table), folder / "data.parquet", row_group_size=50_000)
    options = {"missing_value_strategy": "bfill", "outlier_strategy": "fill_with_mean"}
    config = {
        "input_features": [
            {"name": "n", "type": "number", "preprocessing": options},
            {"name": "c", "type": "category"},
        ],
        "output_features": [{"name": "y", "type": "binary"}],
    }
    environment = {**os.environ, "RAY_ADDRESS": "local"}
    environment.pop("OMP_NUM_THREADS", None)
    command = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(config)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(Path(folder, "answers.json").read_text())


@pytest.mark.parametrize(
    "name", ["dask", "persist", "killed", *(pytest.param(name, marks=MODIN) for name in ("modin", "modin, killed"))]
)
def test_columns_and_statistics_are_those_of_pandas(answers, name):
    for part in ("columns", "statistics", "key", "notices"):
        assert answers[name][part] == answers["pandas"][part], part


@pytest.mark.parametrize("name", ["dask", pytest.param("modin", marks=MODIN)])
def test_the_blocks_are_read_in_other_processes(answers, name):
    assert {process for _, process in answers["pandas"]["blocks"]} == {answers["pandas"]["driver"]}
    assert answers[name]["driver"] not in {process for _, process in answers[name]["blocks"]}


@pytest.mark.parametrize(("name", "passes"), [("dask", 1), ("persist", 3), pytest.param("modin", 1, marks=MODIN)])
def test_clean_blocks_are_kept_unless_they_are_not_persisted(answers, name, passes):
    firsts = sorted(first for first, _ in answers[name]["blocks"])
    assert firsts == sorted([*range(0, ROWS, 65_536)] * passes)


@pytest.mark.parametrize("name", ["killed", pytest.param("modin, killed", marks=MODIN)])
def test_a_killed_process_is_replaced(answers, name):
    by_block = {first: [] for first, _ in answers[name]["blocks"]}
    for first, process in answers[name]["blocks"]:
        by_block[first].append(process)
    assert len(set(by_block[2 * 65_536])) == 2
    assert sorted(by_block) == list(range(0, ROWS, 65_536))


def test_a_function_on_one_node_is_called_again_after_its_process_was_killed(answers):
    found = answers["one node"]
    assert isinstance(found["killed"], int)
    assert found["killed"] != found["driver"]
    assert found["lost"].startswith("EnvironmentFailure: a process on the cluster was lost, and no retry is left: ")
    assert found["refused"] == "Mistakes: dataset: is not there"


NODES = [
    {"NodeID": "head", "Alive": True, "Resources": {"memory": 1e9}},
    {"NodeID": "lost", "Alive": False, "Resources": {"CPU": 8.0}},
    {"NodeID": "1" * 56, "Alive": True, "Resources": {"CPU": 4.0}},
    {"NodeID": "2" * 56, "Alive": True, "Resources": {"CPU": 3.5, "GPU": 1.0}},
]


def test_the_section_chooses_the_processor_and_its_options(monkeypatch):
    monkeypatch.setattr(one_node.ray, "nodes", lambda: NODES)
    default = processors.processor_of(ProcessorSection())
    assert (default.tasks, default.parallelism, default.persist) == (7, None, True)
    places = [default.start_options(number)["ray_remote_args"]["scheduling_strategy"].node_id for number in range(3)]
    assert places == ["1" * 56, "2" * 56, "1" * 56]
    given = processors.processor_of(ProcessorSection(type="dask", parallelism=100, persist=False))
    assert (given.parallelism, given.persist) == (100, False)
    assert isinstance(processors.processor_of(ProcessorSection(type="pandas")), PandasProcessor)


@MODIN
def test_modin_computes_a_partition_on_each_cpu(monkeypatch):
    monkeypatch.setattr(one_node.ray, "nodes", lambda: NODES)
    assert processors.processor_of(ProcessorSection(type="modin")).tasks == 7


def test_modin_needs_a_node_with_cpus(monkeypatch):
    monkeypatch.setattr(one_node.ray, "nodes", lambda: NODES[:2])
    with pytest.raises(EnvironmentFailure, match="no node of the Ray cluster has one"):
        processors.processor_of(ProcessorSection(type="modin"))


@pytest.mark.parametrize("word", ["pandas", "dask"])
def test_a_worker_has_the_processor_of_its_section(monkeypatch, word):
    monkeypatch.setattr(one_node.ray, "nodes", lambda: NODES)
    section = ProcessorSection(type=word)
    assert type(processors.processor_of_worker(section)) is type(processors.processor_of(section))
    assert not processors.prepares_before_workers(section)


def test_a_worker_never_prepares_data_with_modin():
    """Its tasks would wait for the CPUs that the workers hold."""
    section = ProcessorSection(type="modin")
    assert processors.prepares_before_workers(section)
    with pytest.raises(Mistakes, match=r"^backend\.cache_dir: modin prepares the data before the workers start, but"):
        processors.processor_of_worker(section).stage(None, None)


@pytest.mark.parametrize(("word", "extras"), [("dask", "trainer"), ("modin", "trainer,modin")])
def test_a_library_that_is_not_installed_is_one_line(monkeypatch, word, extras):
    monkeypatch.setattr(processors, "find_spec", lambda _: None)
    processors.check_processor(ProcessorSection(type="pandas"))
    with pytest.raises(Mistakes) as caught:
        processors.check_processor(ProcessorSection(type=word))
    line = f"{word} is not installed here. Install it with: pip install 'trainwright[{extras}]'"
    assert str(caught.value) == f"backend.processor.type: {line}"
