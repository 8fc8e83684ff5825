"""The model folder is complete or refused, with a clear message for every other folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tests.checkpoints import write

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import TRAINED
from trainwright_trainer.rundir import json_text, model_folder
from trainwright_trainer.rundir.attempt import begin
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.record import write_outcome
from trainwright_trainer.storage.local import FolderStorage

WEIGHTS = {"a.weight": torch.randn(3, 4), "a.steps": torch.tensor(7), "b": torch.randn(2).bfloat16()}
CONFIG = {"input_features": [{"name": "hour", "type": "number"}]}
STATISTICS = {"hour": {"mean": 0.1 + 0.2, "min": float("-inf"), "counts": [1, 2]}}


def save(storage: FolderStorage, weights: dict[str, torch.Tensor] = WEIGHTS) -> None:
    model_folder.save(storage, weights, CONFIG, STATISTICS, attempt=1, versions={"torch": "2"}, extra={"seed": 42})


@pytest.mark.parametrize("place", ["", "model"])
def test_a_model_comes_back_from_its_run_and_from_its_own_folder(storage: FolderStorage, place: str) -> None:
    save(storage)
    found = model_folder.load(str(storage.root / place))
    assert found.location == str(storage.root / "model")
    assert (found.config, found.statistics) == (CONFIG, STATISTICS)
    assert (found.versions, found.extra) == ({"torch": "2"}, {"seed": 42})
    assert found.weights.keys() == WEIGHTS.keys()
    for name, tensor in WEIGHTS.items():
        assert found.weights[name].dtype == tensor.dtype
        assert torch.equal(found.weights[name], tensor)


def test_it_may_be_moved_away(storage: FolderStorage, tmp_path: Path) -> None:
    save(storage)
    (storage.root / "model").rename(tmp_path / "elsewhere")
    assert model_folder.load(str(tmp_path / "elsewhere")).config == CONFIG


def test_a_newer_model_replaces_the_older_one_whole(storage: FolderStorage) -> None:
    save(storage)
    storage.write("model/.weights.safetensors.0011223344556677.tmp", [b"torn"])
    save(storage, {"other": torch.zeros(1)})
    assert list(model_folder.load(str(storage.root)).weights) == ["other"]
    names = sorted(path.name for path in (storage.root / "model").iterdir())
    assert names == ["config.json", "model.json", "statistics.json", "weights.safetensors"]


@pytest.mark.parametrize("file", ["config.json", "model.json", "statistics.json", "weights.safetensors"])
@pytest.mark.parametrize("harm", ["cut", "flipped", "emptied", "removed"])
def test_every_harm_is_found_and_named(storage: FolderStorage, file: str, harm: str) -> None:
    save(storage)
    path = storage.root / "model" / file
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {"cut": data[:-1], "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]}.get(harm, b"")
    )
    if harm == "removed":
        path.unlink()
    with pytest.raises(Mistakes) as caught:
        model_folder.load(str(storage.root / "model"))
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_kill_before_the_last_file_leaves_no_model(storage: FolderStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    save(storage)
    original = FolderStorage.write

    def killed(self: FolderStorage, name: str, chunks: Any, *, durable: bool = True) -> None:
        if name.endswith("weights.safetensors"):
            raise KeyboardInterrupt
        original(self, name, chunks, durable=durable)

    monkeypatch.setattr(FolderStorage, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        save(storage)
    with pytest.raises(Mistakes, match=r"is no model: it holds no model\.json"):
        model_folder.load(str(storage.root))


def test_a_model_of_another_format_is_refused(storage: FolderStorage) -> None:
    save(storage)
    about = json_text.unseal(storage.read("model/model.json"))
    storage.write("model/model.json", [json_text.seal({**about, "format": 1})])
    with pytest.raises(Mistakes, match=r"^model: .*model has format 1, this version reads 4\. .* anew\.$"):
        model_folder.load(str(storage.root))


def test_what_is_no_model_is_distinguished(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match=r"^model: there is no model folder .*nowhere\. A model is what a run leaves"):
        model_folder.load(str(tmp_path / "nowhere"))
    near = f"Nearest: {tmp_path}/runs. A model is what a run leaves"
    (tmp_path / "runs").mkdir()
    with pytest.raises(Mistakes, match=near):
        model_folder.load(str(tmp_path / "runz"))
    begin(storage, {"spec": {}}, ExistingRun.NEW, name="flights")
    write(storage, snapshot(5))
    with pytest.raises(Mistakes, match=r"is a run without a model yet \(flights, 1 checkpoint, ended: no"):
        model_folder.load(str(storage.root))
    write_outcome(storage, 1, TRAINED)
    with pytest.raises(Mistakes, match=r"is a run that is done .*, but it holds no model\. A model is what"):
        model_folder.load(str(storage.root))
    (tmp_path / "data.csv").write_bytes(b"a,b")
    with pytest.raises(Mistakes, match="is no model: it holds no"):
        model_folder.load(str(tmp_path))
    with pytest.raises(Mistakes, match=r"data\.csv is a file\. A model is what a run leaves"):
        model_folder.load(str(tmp_path / "data.csv"))
    save(FolderStorage(tmp_path / "runs/flights"))
    with pytest.raises(Mistakes, match=r"is no model, but a folder of runs: name one of them, as in .*runs/flights"):
        model_folder.load(str(tmp_path / "runs"))
