# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar, cast

import httpx
from typing_extensions import ParamSpec

from .._model import Model
from .._request import ResponseMode, response_mode
from ..errors import connection_errors
from .pages import Paginator

P = ParamSpec("P")
T = TypeVar("T")
PageT = TypeVar("PageT", bound=Model)


class APIResponse(Generic[T]):
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

    def read(self) -> bytes:
        """Reads the whole body."""
        with connection_errors():
            return self.http_response.read()

    def text(self) -> str:
        """Reads the whole body as text."""
        self.read()
        return self.http_response.text

    def parse(self) -> T:
        """Reads the body as the method of the client returns it."""
        return self._parse(self.read())

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yields the body while it arrives."""
        with connection_errors():
            for chunk in self.http_response.iter_bytes(chunk_size):
                yield chunk

    def iter_lines(self) -> Iterator[str]:
        """Yields the lines of the body while they arrive."""
        with connection_errors():
            for line in self.http_response.iter_lines():
                yield line

    def close(self) -> None:
        self.http_response.close()


#: A response for `with`.
Streamed = AbstractContextManager[APIResponse[T]]


def raw(method: Callable[P, T]) -> Callable[P, APIResponse[T]]:
    """The same method with a response as its result."""

    def call(*args: P.args, **kwargs: P.kwargs) -> APIResponse[T]:
        return _in_mode("raw", method, *args, **kwargs)

    return call


def streaming(method: Callable[P, T]) -> Callable[P, Streamed[T]]:
    """The same method with a response whose body has not been read, for `with`."""

    @contextmanager
    def call(*args: P.args, **kwargs: P.kwargs) -> Iterator[APIResponse[T]]:
        response = _in_mode("streaming", method, *args, **kwargs)
        try:
            yield response
        finally:
            response.close()

    return call


def raw_page(method: Callable[P, Paginator[Any, PageT]]) -> Callable[P, APIResponse[PageT]]:
    """The same list with the response of its first page as its result."""

    def first_page(*args: P.args, **kwargs: P.kwargs) -> PageT:
        return method(*args, **kwargs).first_page()

    return raw(first_page)


def streaming_page(method: Callable[P, Paginator[Any, PageT]]) -> Callable[P, Streamed[PageT]]:
    """The same list with the response of its first page, whose body has not been read."""

    def first_page(*args: P.args, **kwargs: P.kwargs) -> PageT:
        return method(*args, **kwargs).first_page()

    return streaming(first_page)


def _in_mode(mode: ResponseMode, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> APIResponse[T]:
    token = response_mode.set(mode)
    try:
        # In this mode, the request returns a response instead of what the method promises.
        return cast("APIResponse[T]", method(*args, **kwargs))
    finally:
        response_mode.reset(token)
