from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import httpx

from .._deadline import Deadline


class AsyncTimedStream(httpx.AsyncByteStream):
    """The body of a response. The timeout of httpx begins again with each part, so a slow server could take for ever."""

    def __init__(self, response: httpx.Response, deadline: Deadline) -> None:
        self._stream = cast("httpx.AsyncByteStream", response.stream)
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._deadline.require_time()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
