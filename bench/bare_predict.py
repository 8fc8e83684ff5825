"""The shortest program with Ray Data that predicts a file with a saved model: read, map_batches, write.

python bench/bare_predict.py MODEL DATA FOLDER
"""

from __future__ import annotations

import os
import sys

import pyarrow as pa
import ray
import ray.data

import trainwright


class Predictor:
    def __init__(self, place: str) -> None:
        self.model = trainwright.load(place)

    def __call__(self, batch: pa.Table) -> pa.Table:
        return self.model.predict(batch)


if __name__ == "__main__":
    model, data, folder = sys.argv[1:]
    ray.init(include_dashboard=False, object_store_memory=512 << 20)
    actors = os.cpu_count() or 1
    # Half a CPU each, so that tasks that read find room.
    ray.data.read_parquet(data, num_cpus=0.5).map_batches(
        Predictor,
        fn_constructor_args=(model,),
        compute=ray.data.ActorPoolStrategy(size=actors),
        num_cpus=0.5,
        batch_size=65_536,
        batch_format="pyarrow",
    ).write_parquet(folder)
