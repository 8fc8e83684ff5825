"""Pretrains small models on data of this machine, in the layouts of the Hugging Face cache and of TORCH_HOME.

    python -m testkit.tiny_models build/tiny-models [--only bert] [--steps N]

`HF_HOME=build/tiny-models/huggingface` and `TORCH_HOME=build/tiny-models/torch` make them findable by name: the texts'
models `trainwright/tiny-bert` and `trainwright/tiny-llama`, and torchvision's resnet 18. The texts are those of
examples/docstrings, of its training part alone; the images are scikit-learn's digits. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import torch
import torch.nn.functional as F

from trainwright_trainer.data.prepared import TRAIN
from trainwright_trainer.data.split import hash_parts

TEXTS = Path(__file__).parents[1] / "build" / "docstrings" / "docstrings.parquet"
NAMES = ("bert", "llama", "resnet")
_MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_PAD, _MASK = 0, 4
_TOKENS, _LENGTH, _BATCH = 4_000, 48, 64
_SIZES: Mapping[str, Any] = {
    "vocab_size": _TOKENS,
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "max_position_embeddings": 64,
    "pad_token_id": _PAD,
}


def training_texts(path: Path) -> list[str]:
    """The texts that examples/docstrings trains on."""
    texts = pd.read_parquet(path)["docstring"].astype(object)
    return list(texts[hash_parts(pa.array(texts), (0.7, 0.1, 0.2)) == TRAIN])


def tokenizer_of(texts: list[str]) -> Any:
    """A WordPiece tokenizer whose words are those of the texts."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    library: Any = import_module("transformers")

    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=_TOKENS, special_tokens=_MARKS, show_progress=False)
    )
    ends = [(mark, made.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return library.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]", model_max_length=64
    )


def batches(tokenizer: Any, texts: list[str], steps: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """`steps` times the tokens [rows, length] of random texts, and their mask."""
    found = tokenizer(texts, truncation=True, max_length=_LENGTH, padding="max_length", return_tensors="pt")
    index, mask = found["input_ids"], found["attention_mask"]
    for _ in range(steps):
        rows = torch.randint(len(index), (_BATCH,))
        length = int(mask[rows].sum(1).max())
        yield index[rows, :length], mask[rows, :length]


def masked_loss(model: Any, index: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The loss of BERT's masked tokens: 15 %, all of them hidden."""
    hidden = (torch.rand(index.shape) < 0.15) & mask.bool() & (index >= len(_MARKS))
    states = model.bert(input_ids=index.masked_fill(hidden, _MASK), attention_mask=mask).last_hidden_state
    return F.cross_entropy(model.cls(states[hidden]), index[hidden])


def next_loss(model: Any, index: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The loss of each next token."""
    logits = model(input_ids=index, attention_mask=mask).logits[:, :-1]
    return F.cross_entropy(logits[mask[:, 1:].bool()], index[:, 1:][mask[:, 1:].bool()])


def pretrain(model: torch.nn.Module, losses: Iterator[Callable[[], torch.Tensor]], steps: int, rate: float) -> float:
    """Train `model` with AdamW. Returns the mean loss of the last tenth of the steps.

    The rate rises in the first tenth of the steps, without which BERT learns little more than the words' frequencies,
    and falls in all others.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=steps, pct_start=0.1, anneal_strategy="linear", cycle_momentum=False
    )
    model.train()
    seen = []
    for loss_of in losses:
        loss = loss_of()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        seen.append(loss.item())
    last = seen[-max(1, steps // 10) :]
    return sum(last) / len(last)


def text_model(word: str, texts: list[str], tokenizer: Any, steps: int, home: Path) -> float:
    """Pretrain a BERT or a Llama architecture, and write its snapshot into the cache of the Hugging Face hub."""
    library: Any = import_module("transformers")
    config = library.AutoConfig.for_model(word, **_SIZES)
    masked = library.AutoModelForMaskedLM, masked_loss
    kind, loss = masked if word == "bert" else (library.AutoModelForCausalLM, next_loss)
    model = kind.from_config(config)
    passes = ((lambda i=index, m=mask: loss(model, i, m)) for index, mask in batches(tokenizer, texts, steps))
    last = pretrain(model, passes, steps, 1e-3)
    revision = hashlib.sha1(b"".join(one.detach().numpy().tobytes() for one in model.parameters())).hexdigest()
    folder = home / "hub" / f"models--trainwright--tiny-{word}"
    snapshot = folder / "snapshots" / revision
    for owner in (model, tokenizer):
        owner.save_pretrained(snapshot)
    (folder / "refs").mkdir(parents=True, exist_ok=True)
    (folder / "refs" / "main").write_text(revision)
    return last


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """scikit-learn's digits as float32 [rows, 3, 32, 32] in the scale of ImageNet, and int64 [rows], which they are."""
    from sklearn.datasets import load_digits

    found = load_digits()
    pixels = F.interpolate(torch.tensor(found.images, dtype=torch.float32)[:, None] / 16, 32).repeat(1, 3, 1, 1)
    mean, deviation = (torch.tensor(each).reshape(3, 1, 1) for each in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return (pixels - mean) / deviation, torch.tensor(found.target)


def resnet(steps: int, home: Path) -> float:
    """Train torchvision's resnet 18 on the first half of the digits, and write its file where torchvision looks for it.

    The other half is for tests.
    """
    models: Any = import_module("torchvision.models")
    images, labels = digits()
    model = models.resnet18()
    rows = (torch.randint(len(images) // 2, (_BATCH,)) for _ in range(steps))
    passes = ((lambda chosen=chosen: F.cross_entropy(model(images[chosen]), labels[chosen])) for chosen in rows)
    last = pretrain(model, passes, steps, 1e-3)
    folder = home / "hub" / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), folder / models.ResNet18_Weights.DEFAULT.url.rpartition("/")[2])
    return last


def make(output: Path, texts: Path, steps: int, names: tuple[str, ...] = NAMES) -> Iterator[str]:
    """Make the models, in `output`, from the table of docstrings. Yields a line on each."""
    torch.manual_seed(0)
    known = training_texts(texts)
    tokenizer = tokenizer_of(known)
    for name in names:
        begin = time.monotonic()
        if name == "resnet":
            last = resnet(max(1, steps // 5), output / "torch")
        else:
            last = text_model(name, known, tokenizer, steps, output / "huggingface")
        yield f"{name}: loss {last:.3f} after {time.monotonic() - begin:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", choices=NAMES, help="make this model alone")
    parser.add_argument("--steps", type=int, default=2_000, help="steps of each model (default: %(default)s)")
    parser.add_argument("--texts", type=Path, default=TEXTS)
    given = parser.parse_args()
    for line in make(given.output, given.texts, given.steps, (given.only,) if given.only else NAMES):
        print(line, flush=True)


if __name__ == "__main__":
    main()
