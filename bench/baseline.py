"""The baseline: the shortest hand-written PyTorch program with the arithmetic of bench/tabular.yaml.

Reads one Parquet file (n0-n9 numbers, c0-c4 categories, b0 binary; target y), splits 0.7/0.1/0.2, z-scores, embeds each
category in min(50, number of its words) dimensions, one hidden layer of 256, Adam 1e-3, global-norm clipping 0.5, 2
epochs at batch 1,024, validation after each, test at the end. It may become faster, never slower.

python bench/baseline.py make DIR [ROWS]     writes DIR/t<ROWS>.parquet
python bench/baseline.py DIR/t1000000.parquet
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import torch

T0 = time.time()


def frame(rows: int, seed: int = 0) -> pd.DataFrame:
    """`rows` rows of the benchmark's data: a linear function of n0-n4, c0 and b0, with noise."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    d = {f"n{i}": rng.normal(size=rows).astype("float32") for i in range(10)}
    for i in range(5):
        d[f"c{i}"] = np.array([f"cat_{j}" for j in range(20 * (i + 1))])[rng.integers(0, 20 * (i + 1), rows)]
    d["b0"] = rng.random(rows) < 0.5
    c0 = pd.Series(d["c0"]).str[4:].astype(int).values % 3
    d["y"] = sum(d[f"n{i}"] for i in range(5)) + c0 + d["b0"] + rng.normal(size=rows) > 1.5
    return pd.DataFrame(d)


def make(folder: str, rows: int) -> None:
    frame(rows).to_parquet(f"{folder}/t{rows}.parquet")


def auc(score: torch.Tensor, y: torch.Tensor) -> float:
    import torch

    order = torch.argsort(score)
    rank = torch.empty(len(score), dtype=torch.float64)
    rank[order] = torch.arange(1, len(score) + 1, dtype=torch.float64)
    pos = y.double().sum()
    return float(((rank * y).sum() - pos * (pos + 1) / 2) / (pos * (len(y) - pos)))


def main(path: str) -> None:
    import numpy as np
    import pyarrow.parquet as pq
    import torch
    from torch import nn

    t1 = time.time()
    table = pq.read_table(path)
    num = np.stack([table[f"n{i}"].to_numpy() for i in range(10)], 1)
    cats, sizes = [], []
    for i in range(5):
        d = table[f"c{i}"].combine_chunks().dictionary_encode()
        cats.append(d.indices.to_numpy())
        sizes.append(len(d.dictionary))
    cat = np.stack(cats, 1)
    b, y = (table[c].to_numpy().astype("float32") for c in ("b0", "y"))
    n = len(y)
    order = np.random.default_rng(0).permutation(n)
    tr, va, te = (torch.from_numpy(p) for p in np.split(order, [int(0.7 * n), int(0.8 * n)]))
    num = (num - num[tr].mean(0)) / num[tr].std(0)
    x_all = torch.from_numpy(np.concatenate([num, b[:, None]], 1).astype("float32"))
    c_all, y_all = torch.from_numpy(cat), torch.from_numpy(y)
    t2 = time.time()

    torch.manual_seed(0)
    embs = [nn.Embedding(size, min(50, size)) for size in sizes]
    width = 11 + sum(emb.embedding_dim for emb in embs)
    mlp = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 1))
    params = [*(emb.weight for emb in embs), *mlp.parameters()]
    opt = torch.optim.Adam(params, 1e-3, fused=True)
    loss_of = nn.functional.binary_cross_entropy_with_logits

    def forward(x: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = mlp(torch.cat([x, *(emb(c[:, i]) for i, emb in enumerate(embs))], 1)).squeeze(1)
        return logits

    def scores(rows: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return torch.cat([forward(x_all[r], c_all[r]) for r in torch.split(rows, 1024)])

    steps = 0.0
    for epoch in range(2):
        t = time.time()
        p = tr[torch.randperm(len(tr))]
        xs, cs, ys = x_all[p], c_all[p], y_all[p]
        for i in range(0, len(p), 1024):
            loss = loss_of(forward(xs[i : i + 1024], cs[i : i + 1024]), ys[i : i + 1024])
            opt.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(params, 0.5)
            opt.step()
        steps += time.time() - t
        s = scores(va)
        print(f"epoch {epoch}: validation loss {loss_of(s, y_all[va]):.4f} auc {auc(s, y_all[va]):.4f}")
    print(f"test auc {auc(scores(te), y_all[te]):.4f}")
    whole, speed = time.time() - T0, 2 * len(tr) / steps
    print(f"import {t1 - T0:.2f} s, read + encode {t2 - t1:.2f} s, steps {steps:.2f} s ({speed:,.0f} rows/s)", end="")
    print(f", whole {whole:.2f} s")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000)
    else:
        main(sys.argv[1])
