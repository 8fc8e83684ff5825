"""Multipart uploads: regroup chunks of any size into parts, and write several parts at a time.

`s3transfer` is not used: it takes files or streams, and does not recognise an upload whose last answer was lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from trainwright_trainer.storage.s3client import failures

Chunk = bytes | bytearray | memoryview

PART_BYTES = 32 << 20
PARTS_AT_ONCE = 4
# S3 takes at most 10,000 parts. Parts after the first 8,000 (250 GiB) are larger, so that 430 GiB fit.
_PARTS_OF_A_SIZE = 8_000
_GROWTH = 1_000


def size_of(number: int) -> int:
    """The size of part `number` in bytes; numbers start at 1."""
    return PART_BYTES << max(0, -(-(number - _PARTS_OF_A_SIZE) // _GROWTH))


def parts(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """The joined chunks, cut into parts of `size_of`. Only the last part may be smaller; without chunks it is empty."""
    number, held = 1, bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) > size_of(number):
            size = size_of(number)
            yield bytes(held[:size])
            del held[:size]
            number += 1
    yield bytes(held)


class MultipartUpload:
    """The upload of one object. `ask` retries a request; `exists` returns whether the object exists."""

    def __init__(
        self,
        client: Any,
        bucket: str,
        key: str,
        *,
        ask: Callable[[Callable[[], Any]], Any],
        exists: Callable[[], bool],
    ) -> None:
        self._client, self._ask, self._exists = client, ask, exists
        self._object = {"Bucket": bucket, "Key": key}

    def write(self, pieces: Iterable[bytes]) -> None:
        """Write the object. No reader sees it before it is complete."""
        self._object["UploadId"] = self._ask(lambda: self._client.create_multipart_upload(**self._object))["UploadId"]
        try:
            self._complete(self._send(pieces))
        except BaseException:
            self._abort()
            raise

    def _send(self, pieces: Iterable[bytes]) -> list[dict[str, Any]]:
        """Upload `PARTS_AT_ONCE` parts at a time; no more are held in memory."""
        sent: list[dict[str, Any]] = []
        waiting: deque[Future[dict[str, Any]]] = deque()
        with ThreadPoolExecutor(PARTS_AT_ONCE, thread_name_prefix="upload") as pool:
            for number, piece in enumerate(pieces, start=1):
                if len(waiting) == PARTS_AT_ONCE:
                    sent.append(waiting.popleft().result())
                waiting.append(pool.submit(self._send_part, number, piece))
            return [*sent, *(each.result() for each in waiting)]

    def _send_part(self, number: int, piece: bytes) -> dict[str, Any]:
        answer = self._ask(lambda: self._client.upload_part(**self._object, PartNumber=number, Body=piece))
        return {"PartNumber": number, "ETag": answer["ETag"]}

    def _complete(self, sent: list[dict[str, Any]]) -> None:
        tries = 0

        def complete() -> None:
            nonlocal tries
            tries += 1
            try:
                self._client.complete_multipart_upload(**self._object, MultipartUpload={"Parts": sent})
            except failures.ERRORS as error:
                # A try whose answer was lost may have completed the upload. Stores report that with various errors.
                if tries == 1 or failures.is_passing(error) or not self._exists():
                    raise

        self._ask(complete)

    def _abort(self) -> None:
        """Delete the parts. On failure they stay, invisible, and use space until the bucket's lifecycle rules apply."""
        try:
            self._client.abort_multipart_upload(**self._object)
        except failures.ERRORS:
            return
