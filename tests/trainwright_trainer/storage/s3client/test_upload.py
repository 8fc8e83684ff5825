"""The parts of a multipart upload."""

from __future__ import annotations

import pytest

from trainwright_trainer.storage.s3client import upload


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], [0]),
        ([10], [10]),
        ([4, 6], [10]),
        ([11], [10, 1]),
        ([25], [10, 10, 5]),
        ([3] * 10, [10, 10, 10]),
        ([0, 0], [0]),
    ],
)
def test_parts_are_of_one_size(monkeypatch: pytest.MonkeyPatch, chunks: list[int], expected: list[int]) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", 10)
    whole = bytes(range(sum(chunks)))
    position, pieces = 0, []
    for size in chunks:
        pieces.append(memoryview(whole)[position : position + size])
        position += size
    found = list(upload.parts(pieces))
    assert [len(part) for part in found] == expected
    assert b"".join(found) == whole


def test_an_object_of_400_gib_fits_into_what_s3_takes() -> None:
    sizes = [upload.size_of(number) for number in range(1, 10_001)]
    assert sum(sizes) > 400 << 30
    assert sizes == sorted(sizes)
    assert (sizes[0], max(sizes)) == (32 << 20, 128 << 20)
