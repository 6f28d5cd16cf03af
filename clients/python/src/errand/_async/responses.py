from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, TypeVar, cast

import httpx
from typing_extensions import ParamSpec

from .._model import Model
from .._request import ResponseMode, response_mode
from ..errors import connection_errors
from .pages import AsyncPaginator

P = ParamSpec("P")
T = TypeVar("T")
PageT = TypeVar("PageT", bound=Model)


class AsyncAPIResponse(Generic[T]):
    """A response with its status and headers."""

    def __init__(self, response: httpx.Response, parse: Callable[[bytes], T]) -> None:
        #: The response as httpx has it.
        self.http_response = response
        self._parse = parse

    @property
    def status_code(self) -> int:
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        return self.http_response.headers

    @property
    def request_id(self) -> str | None:
        """The id of the request in the logs of the server."""
        request_id: str | None = self.http_response.headers.get("x-request-id")
        return request_id

    async def read(self) -> bytes:
        """Reads the whole body."""
        with connection_errors():
            return await self.http_response.aread()

    async def text(self) -> str:
        """Reads the whole body as text."""
        await self.read()
        return self.http_response.text

    async def parse(self) -> T:
        """Reads the body as the method of the client returns it."""
        return self._parse(await self.read())

    async def iter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Yields the body while it arrives."""
        with connection_errors():
            async for chunk in self.http_response.aiter_bytes(chunk_size):
                yield chunk

    async def iter_lines(self) -> AsyncIterator[str]:
        """Yields the lines of the body while they arrive."""
        with connection_errors():
            async for line in self.http_response.aiter_lines():
                yield line

    async def close(self) -> None:
        await self.http_response.aclose()


#: A response for `async with`.
Streamed = AbstractAsyncContextManager[AsyncAPIResponse[T]]


def raw(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[AsyncAPIResponse[T]]]:
    """The same method with a response as its result."""

    async def call(*args: P.args, **kwargs: P.kwargs) -> AsyncAPIResponse[T]:
        return await _in_mode("raw", method, *args, **kwargs)

    return call


def streaming(method: Callable[P, Awaitable[T]]) -> Callable[P, Streamed[T]]:
    """The same method with a response whose body has not been read, for `async with`."""

    @asynccontextmanager
    async def call(*args: P.args, **kwargs: P.kwargs) -> AsyncIterator[AsyncAPIResponse[T]]:
        response = await _in_mode("streaming", method, *args, **kwargs)
        try:
            yield response
        finally:
            await response.close()

    return call


def raw_page(method: Callable[P, AsyncPaginator[Any, PageT]]) -> Callable[P, Awaitable[AsyncAPIResponse[PageT]]]:
    """The same list with the response of its first page as its result."""

    async def first_page(*args: P.args, **kwargs: P.kwargs) -> PageT:
        return await method(*args, **kwargs).first_page()

    return raw(first_page)


def streaming_page(method: Callable[P, AsyncPaginator[Any, PageT]]) -> Callable[P, Streamed[PageT]]:
    """The same list with the response of its first page, whose body has not been read."""

    async def first_page(*args: P.args, **kwargs: P.kwargs) -> PageT:
        return await method(*args, **kwargs).first_page()

    return streaming(first_page)


async def _in_mode(
    mode: ResponseMode, method: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> AsyncAPIResponse[T]:
    token = response_mode.set(mode)
    try:
        # In this mode, the request returns a response instead of what the method promises.
        return cast("AsyncAPIResponse[T]", await method(*args, **kwargs))
    finally:
        response_mode.reset(token)
