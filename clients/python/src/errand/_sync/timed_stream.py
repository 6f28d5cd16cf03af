# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import httpx

from .._deadline import Deadline


class TimedStream(httpx.SyncByteStream):
    """The body of a response. The timeout of httpx begins again with each part, so a slow server could take for ever."""

    def __init__(self, response: httpx.Response, deadline: Deadline) -> None:
        self._stream = cast("httpx.SyncByteStream", response.stream)
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._deadline.require_time()
            yield chunk

    def close(self) -> None:
        self._stream.close()
