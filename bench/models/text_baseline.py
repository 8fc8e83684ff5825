"""The shortest loop of the transformers library with dynamic padding: the arithmetic of the job in text.py.

Reads one Parquet file (text, label), splits 0.7/0.1/0.2, tokenizes all rows at once, trains one epoch of batches of 32
that are padded to their longest row, and evaluates on the validation rows and the test rows.

python bench/models/text_baseline.py DATA.parquet MODEL_FOLDER
"""

from __future__ import annotations

import sys
import time
from typing import Any

LENGTH, ROWS, RATE, CLIP = 64, 32, 0.0001, 0.5


def main(path: str, folder: str) -> None:
    began = time.time()
    import numpy as np
    import pyarrow.parquet as pq
    import torch
    from torch import nn
    from transformers import AutoModel, AutoTokenizer

    table = pq.read_table(path)
    texts, labels = table["text"].to_pylist(), table["label"].to_numpy(zero_copy_only=False)
    words, codes = np.unique(labels, return_inverse=True)
    targets = torch.from_numpy(codes)
    order = np.random.default_rng(0).permutation(len(texts))
    train, validation, test = np.split(order, [int(0.7 * len(texts)), int(0.8 * len(texts))])
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    index = tokenizer(texts, truncation=True, max_length=LENGTH)["input_ids"]
    model: Any = AutoModel.from_pretrained(folder)
    head = nn.Linear(model.config.hidden_size, len(words))
    parameters = [*model.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, fused=True)

    def logits(rows: Any) -> torch.Tensor:
        batch = tokenizer.pad({"input_ids": [index[row] for row in rows]}, return_tensors="pt")
        found: torch.Tensor = head(model(**batch).pooler_output)
        return found

    def accuracy(rows: Any) -> float:
        model.eval()
        with torch.inference_mode():
            right = sum(
                int((logits(part).argmax(1) == targets[part]).sum())
                for part in np.split(rows, range(ROWS, len(rows), ROWS))
            )
        model.train()
        return right / len(rows)

    model.train()
    steps = time.time()
    for part in np.split(train, range(ROWS, len(train), ROWS)):
        loss = nn.functional.cross_entropy(logits(part), targets[part])
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(parameters, CLIP)
        optimizer.step()
        optimizer.zero_grad()
    print(f"steps {time.time() - steps:.2f} s ({len(train) / (time.time() - steps):,.0f} rows/s)")
    print(f"validation accuracy {accuracy(validation):.4f}")
    print(f"test accuracy {accuracy(test):.4f}, whole {time.time() - began:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
