"""A checkpoint's manifest: position, score, state, the shards, and the blocks of each tensor in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainwright_trainer.rundir import json_text
from trainwright_trainer.rundir.layout import FORMAT, CheckpointName
from trainwright_trainer.rundir.snapshot import Position, Snapshot


class Damaged(Exception):
    """A checkpoint cannot be read bit for bit. The message is one line with the reason, without the name."""


@dataclass(frozen=True)
class Shard:
    """`size` in bytes and `sha256` of the whole file."""

    file: str
    size: int
    sha256: str


@dataclass(frozen=True)
class ShardBlock:
    """The tensor `key` of `file` has `elements` elements in row-major order, from the index `begin` on."""

    file: str
    key: str
    begin: int
    elements: int


@dataclass(frozen=True)
class Entry:
    """One tensor: dtype in safetensors' spelling, global shape, and the blocks that make it up."""

    dtype: str
    shape: list[int]
    parts: list[ShardBlock]


@dataclass(frozen=True)
class BestWeights:
    """The weights of the best step so far. `checkpoint` is the one that holds them; None: this one."""

    step: int
    checkpoint: CheckpointName | None


@dataclass(frozen=True)
class Manifest:
    name: CheckpointName
    position: Position
    score: float | None
    best: BestWeights | None
    state: Mapping[str, Any]
    shards: Sequence[Shard]
    tensors: Mapping[str, Entry]

    def to_bytes(self) -> bytes:
        """The bytes of manifest.json. Raises TypeError if the state is not plain JSON."""
        best = self.best and {"step": self.best.step, "checkpoint": self.best.checkpoint and str(self.best.checkpoint)}
        return json_text.seal(
            {
                "format": FORMAT,
                "checkpoint": str(self.name),
                "attempt": self.name.attempt,
                "position": asdict(self.position),
                "score": self.score,
                "best": best,
                "state": self.state,
                "shards": [asdict(shard) for shard in self.shards],
                "tensors": {name: asdict(entry) for name, entry in self.tensors.items()},
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes, name: CheckpointName) -> Manifest:
        """The manifest from the bytes of manifest.json. Raises Damaged, also if the blocks do not make up a tensor."""
        try:
            found = _parsed(json_text.unseal(data), name)
            for key, entry in found.tensors.items():
                if not _is_made_up(entry):
                    raise Damaged(f"its parts do not make up {key}")
        except json_text.BrokenSeal as error:
            raise Damaged(f"manifest.json: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(f"manifest.json is not as the protocol says ({error!r})") from error
        return found


def score_of(snapshot: Snapshot) -> float | None:
    """The snapshot's score; None if it is missing or NaN."""
    return None if snapshot.score is None or math.isnan(snapshot.score) else snapshot.score


def _parsed(body: Mapping[str, Any], name: CheckpointName) -> Manifest:
    if body["format"] != FORMAT:
        raise Damaged(f"it has format {body['format']}, this version reads {FORMAT}")
    if body["checkpoint"] != str(name):
        raise Damaged(f"its manifest is that of {body['checkpoint']}")
    tensors = {
        key: Entry(e["dtype"], e["shape"], [_block(p) for p in e["parts"]]) for key, e in body["tensors"].items()
    }
    position = Position(**{field: body["position"][field] for field in ("step", "epoch", "rows")})
    shards = [Shard(shard["file"], shard["size"], shard["sha256"]) for shard in body["shards"]]
    return Manifest(name, position, body["score"], _best(body["best"]), body["state"], shards, tensors)


def _best(body: Mapping[str, Any] | None) -> BestWeights | None:
    if body is None:
        return None
    holder = body["checkpoint"]
    return BestWeights(body["step"], None if holder is None else CheckpointName.parse(holder))


def _block(part: Mapping[str, Any]) -> ShardBlock:
    return ShardBlock(part["file"], part["key"], part["begin"], part["elements"])


def _is_made_up(entry: Entry) -> bool:
    """True if the blocks cover every element once."""
    end = 0
    for part in sorted(entry.parts, key=lambda part: part.begin):
        if part.begin != end:
            return False
        end += part.elements
    return end == math.prod(entry.shape)
