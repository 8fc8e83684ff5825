"""Write vectors.json, using only docs/row-order.md and plain integers. It imports no module of the trainer."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 % WORD
    z ^= z >> 27
    z = z * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def key(seed: int, *words: int) -> int:
    k = mix((seed + GOLDEN) % WORD)
    for w in words:
        k = mix(((k ^ w) + GOLDEN) % WORD)
    return k


def row_hash(k: int, row: int) -> int:
    return mix((k + (row + 1) * GOLDEN) % WORD)


def part(point: int, probabilities: list[float]) -> int:
    total = 0.0
    for i, probability in enumerate(probabilities):
        total += probability
        if point < int(total * 2**32) or not any(p > 0 for p in probabilities[i + 1 :]):
            return i
    raise AssertionError


def split(seed: int, rows: list[int], probabilities: list[float]) -> list[int]:
    return [part(row_hash(key(seed, 1), row) >> 32, probabilities) for row in rows]


def hash_split(texts: list[str | None], probabilities: list[float]) -> list[int]:
    return [part(zlib.crc32((text or "").encode()), probabilities) for text in texts]


def permute(k: int, n: int, i: int) -> int:
    b = next(b for b in range(1, 33) if 4**b >= n)
    while True:
        left, right = i >> b, i % 2**b
        for r in range(10):
            left, right = right, left ^ row_hash(k, r * 2**32 + right) % 2**b
        i = left * 2**b + right
        if i < n:
            return i


def ends(n: int, probabilities: list[float], u: int) -> tuple[int, int]:
    first, second = (
        (2**32 if not any(p > 0 for p in probabilities[i + 1 :]) else int(sum(probabilities[: i + 1]) * 2**32)) * n + u
        for i in (0, 1)
    )
    return max(1, first // 2**32), max(1, first // 2**32, second // 2**32)


def stratify_split(seed: int, texts: list[str | None], probabilities: list[float]) -> list[int]:
    classes = [text or "" for text in texts]
    parts = []
    for row, one in enumerate(classes):
        k = key(seed, 1, int.from_bytes(hashlib.sha256(one.encode()).digest()[:8], "big"))
        n, i = classes.count(one), classes[:row].count(one)
        place = permute(k, n, i)
        parts.append(sum(place >= end for end in ends(n, probabilities, row_hash(k, 10 * 2**32) >> 32)))
    return parts


def datetime_split(seconds: list[int], probabilities: list[float]) -> list[int]:
    order = sorted(range(len(seconds)), key=lambda row: (seconds[row], row))
    bounds = ends(len(seconds), probabilities, 2**31)
    return [sum(order.index(row) >= end for end in bounds) for row in range(len(seconds))]


def sample(seed: int, rows: int, ratio: float, size: int | None) -> list[int]:
    k = key(seed, 2)
    kept = [row for row in range(rows) if ratio >= 1 or row_hash(k, row) < int(ratio * WORD)]
    return sorted(sorted(kept, key=lambda row: (row_hash(k, row), row))[:size])


def balance(seed: int, truths: list[bool], over: float | None, under: float | None) -> list[int]:
    minority = sum(truths) <= len(truths) / 2
    m, larger = truths.count(minority), truths.count(not minority)
    s = int(over * larger + 0.5) if over is not None else max(1, int(m / (under or 1)))
    sampled, n = (minority, m) if over is not None else (not minority, larger)
    copies = []
    for row, truth in enumerate(truths):
        i = truths[:row].count(truth)
        more = permute(key(seed, 6), n, i) < s % n if truth == sampled else False
        copies.append(s // n + more if truth == sampled else 1)
    return copies


def epoch(seed: int, number: int, rows: list[int], window_rows: int | None = None) -> list[int]:
    def point(at: int) -> tuple[int, int, int, int]:
        copy = rows[:at].count(rows[at])
        window = row_hash(key(seed, 7, number), rows[at] // window_rows) if window_rows else 0
        return window, row_hash(key(seed, 3, number, *([copy] if copy else [])), rows[at]), rows[at], copy

    return [rows[at] for at in sorted(range(len(rows)), key=point)]


def buckets(seed: int, number: int, lengths: list[int], size: int, window_rows: int | None = None) -> list[int]:
    """The order of the rows 0, 1, … in batches of `size`."""
    order = epoch(seed, number, list(range(len(lengths))), window_rows)
    places = list(range(len(order)))
    windows = [order[p] // window_rows if window_rows else 0 for p in places]
    for part in sorted({(p // size // 64, windows[p]) for p in places}):
        own = [p for p in places if (p // size // 64, windows[p]) == part]
        rows = sorted((order[p] for p in own), key=lambda row: lengths[row])
        for p, row in zip(own, rows, strict=True):
            order[p] = row
    batches = [places[start : start + size] for start in range(0, len(places), size)]
    whole = [b for b, own in enumerate(batches) if len(own) == size and len({windows[p] for p in own}) == 1]
    before = list(order)
    for part in {(b // 64, windows[batches[b][0]]) for b in whole}:
        own = [b for b in whole if (b // 64, windows[batches[b][0]]) == part]
        for b, source in zip(own, sorted(own, key=lambda b: row_hash(key(seed, 10, number), b)), strict=True):
            for p, q in zip(batches[b], batches[source], strict=True):
                order[p] = before[q]
    return order


def hexadecimal(number: int) -> str:
    return f"0x{number:016x}"


SEEDS = [0, 42, -1, 2**63]
TEXTS = ["", "a", "flight 7", "Zürich", "東京", None, "a"]
USUAL = [0.7, 0.1, 0.2]
CLASSES = [*"aabacabbaacabaaaabcaaab", "Zürich", None, None, "", "東京", "a", None]
TRUTHS = [letter == "x" for letter in "..x...x.x....x.......x..x"]
LENGTHS = [row_hash(0, row) % 7 for row in range(140)]
SECONDS = [50, 3, 7, 7, 0, -5, 9, 7, 50, 7, 10**10, 7, 1, 2, 7, 20, 8, 7, 50, -(10**9)]


def vectors() -> dict[str, object]:
    return {
        "mix": [{"z": hexadecimal(z), "mix": hexadecimal(mix(z))} for z in (0, 1, GOLDEN, WORD - 1)],
        "key": [
            {"seed": seed, "words": words, "key": hexadecimal(key(seed, *words))}
            for seed in SEEDS
            for words in ([], [1], [3, 0], [3, 7])
        ],
        "hash": [
            {"key": hexadecimal(k), "row": row, "hash": hexadecimal(row_hash(k, row))}
            for k in (0, key(42, 1))
            for row in (0, 1, 65_535, 65_536, 10**12)
        ],
        "random_split": [
            {"seed": seed, "probabilities": p, "rows": rows, "parts": split(seed, rows, p)}
            for seed in SEEDS
            for p, rows in ((USUAL, [*range(30), 10**9]), ([0.5, 0.5, 0.0], list(range(20))))
        ],
        "hash_split": [
            {"probabilities": p, "texts": TEXTS, "parts": hash_split(TEXTS, p)} for p in (USUAL, [0.3, 0.3, 0.4])
        ],
        "permute": [
            {"key": hexadecimal(k), "size": n, "places": [permute(k, n, i) for i in range(min(n, 20))]}
            for k in (0, key(42, 1))
            for n in (1, 2, 3, 4, 5, 16, 17, 1000, 10**12)
        ],
        "stratify_split": [
            {"seed": seed, "probabilities": p, "texts": CLASSES, "parts": stratify_split(seed, CLASSES, p)}
            for seed in SEEDS
            for p in (USUAL, [0.5, 0.5, 0.0], [0.2, 0.3, 0.5])
        ],
        "datetime_split": [
            {"probabilities": p, "seconds": SECONDS, "parts": datetime_split(SECONDS, p)}
            for p in (USUAL, [0.5, 0.5, 0.0], [0.2, 0.3, 0.5])
        ],
        "sample": [
            {"seed": 42, "rows": 40, "ratio": ratio, "size": size, "kept": sample(42, 40, ratio, size)}
            for ratio, size in ((0.25, None), (1.0, 7), (0.5, 5), (0.1, 100))
        ],
        "balance": [
            {"seed": seed, "truths": truths, "over": over, "under": under, "copies": balance(seed, truths, over, under)}
            for seed in (0, 42)
            for truths in (TRUTHS, [not truth for truth in TRUTHS], TRUTHS[:3] + [False] * 3)
            for over, under in ((1.0, None), (1.9, None), (None, 1.0), (None, 1.25))
        ],
        "epoch_order": [
            {"seed": seed, "epoch": number, "rows": rows, "order": epoch(seed, number, rows)}
            for seed in (0, 42)
            for number in (0, 1)
            for rows in (list(range(16)), [3, 5, 8, 13, 70_000], [0, 1, 1, 1, 4, 5, 5, 9, 9, 9, 9, 9])
        ],
        "window_order": [
            {"seed": seed, "epoch": number, "window_rows": size, "rows": rows, "order": epoch(seed, number, rows, size)}
            for seed in (0, 42)
            for number in (0, 1)
            for size in (1, 4, 100)
            for rows in (list(range(16)), [3, 5, 8, 13, 70_000], [0, 1, 1, 1, 4, 5, 5, 9, 9, 9, 9, 9])
        ],
        "bucket_order": [
            {
                "seed": 42,
                "epoch": number,
                "lengths": LENGTHS,
                "batch_rows": size,
                "window_rows": window,
                "order": buckets(42, number, LENGTHS, size, window),
            }
            for number, size, window in ((0, 1, None), (1, 2, None), (0, 3, None), (0, 2, 30), (1, 3, 50), (0, 200, 50))
        ],
    }


if __name__ == "__main__":
    lines = [
        f'  "{name}": [\n' + ",\n".join(f"    {json.dumps(case, ensure_ascii=False)}" for case in cases) + "\n  ]"
        for name, cases in vectors().items()
    ]
    Path(__file__).with_name("vectors.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
