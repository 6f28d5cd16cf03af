from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar, overload

import anyio
import httpx
from pydantic import TypeAdapter
from typing_extensions import Self, Unpack

from .._deadline import Deadline
from .._logging import log_failure, log_request, log_response
from .._model import Model, partly
from .._request import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT,
    OMIT,
    Method,
    Omit,
    Request,
    RequestOptions,
    Settings,
    pause_before_retry,
    request_from,
    response_mode,
    settings_from,
)
from ..errors import (
    APIConnectionError,
    ErrandError,
    connection_errors,
    error_of_response,
    is_truncated,
    parsed,
    request_of,
    require_own_address,
)
from .pages import AsyncPaginator
from .responses import AsyncAPIResponse
from .timed_stream import AsyncTimedStream

T = TypeVar("T")
ItemT = TypeVar("ItemT")
PageT = TypeVar("PageT", bound=Model)


class AsyncApiClient:
    """The part of the client that all resources share: it sends requests, with a timeout for each try and with retries."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | Omit | None = OMIT,
        timeout: float | httpx.Timeout | None = DEFAULT_TIMEOUT,
        total_timeout: float | None = None,
        max_retries: int = DEFAULT_MAX_RETRIES,
        default_headers: Mapping[str, str | None] | None = None,
        default_query: Mapping[str, object] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Creates a client.

        Args:
            base_url: The address of the server, for example `https://errand.example.com`. Default: the variable
                `ERRAND_URL`, otherwise `http://127.0.0.1:8787`.
            api_key: An API key. Default: the variable `ERRAND_API_KEY`. None: requests are sent without a key.
            timeout: How long the parts of one try of a request may take, in seconds. None: for ever. Default: 60.
            total_timeout: How long a call may take with all its retries and pauses, in seconds. Default: no limit. It does
                not count for live events and waits, which have `max_wait`.
            max_retries: How often a request is repeated if it fails in a way that may pass: without a response, with 408,
                409, 429 or a status from 500, or if the server says so. The pauses are 0.5 s, 1 s, 2 s up to 8 s, each up
                to a quarter shorter at random. A pause that the server names is used instead. Default: 2.
            default_headers: Headers of all requests. None as a value removes a header.
            default_query: Members of the query of all requests.
            http_client: Used instead of a client of its own, for example to go through a proxy. It is not closed.
        """
        self._settings: Settings = settings_from(
            base_url, api_key, timeout, total_timeout, max_retries, default_headers, default_query
        )
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient(follow_redirects=False)

    def with_options(
        self,
        *,
        base_url: str | Omit = OMIT,
        api_key: str | Omit | None = OMIT,
        timeout: float | httpx.Timeout | Omit | None = OMIT,
        total_timeout: float | Omit | None = OMIT,
        max_retries: int | Omit = OMIT,
        default_headers: Mapping[str, str | None] | Omit = OMIT,
        default_query: Mapping[str, object] | Omit = OMIT,
        http_client: httpx.AsyncClient | Omit = OMIT,
    ) -> Self:
        """Creates a client with other options. It shares the connections of this one."""
        settings = self._settings
        return type(self)(
            base_url=settings.base_url if isinstance(base_url, Omit) else base_url,
            api_key=settings.api_key if isinstance(api_key, Omit) else api_key,
            timeout=settings.timeout if isinstance(timeout, Omit) else timeout,
            total_timeout=settings.total_timeout if isinstance(total_timeout, Omit) else total_timeout,
            max_retries=settings.max_retries if isinstance(max_retries, Omit) else max_retries,
            default_headers=settings.default_headers if isinstance(default_headers, Omit) else default_headers,
            default_query=settings.default_query if isinstance(default_query, Omit) else default_query,
            http_client=self._http if isinstance(http_client, Omit) else http_client,
        )

    async def close(self) -> None:
        """Closes the connections, unless they belong to a client of your own."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @overload
    async def get(self, path: str, **options: Unpack[RequestOptions]) -> Any: ...

    @overload
    async def get(self, path: str, *, cast_to: type[T], **options: Unpack[RequestOptions]) -> T: ...

    async def get(self, path: str, *, cast_to: Any = object, **options: Unpack[RequestOptions]) -> Any:
        """Sends a GET to an endpoint below `/api/v1`. The result is JSON, unless `cast_to` names a model."""
        return await self._request(cast_to, "GET", path, options=options)

    @overload
    async def post(
        self, path: str, *, body: Mapping[str, object] | None = None, **options: Unpack[RequestOptions]
    ) -> Any: ...

    @overload
    async def post(
        self,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        cast_to: type[T],
        **options: Unpack[RequestOptions],
    ) -> T: ...

    async def post(
        self,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        cast_to: Any = object,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """Sends a POST to an endpoint below `/api/v1`. The result is JSON, unless `cast_to` names a model."""
        return await self._request(cast_to, "POST", path, body=body, options=options)

    @overload
    async def put(
        self, path: str, *, body: Mapping[str, object] | None = None, **options: Unpack[RequestOptions]
    ) -> Any: ...

    @overload
    async def put(
        self,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        cast_to: type[T],
        **options: Unpack[RequestOptions],
    ) -> T: ...

    async def put(
        self,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        cast_to: Any = object,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """Sends a PUT to an endpoint below `/api/v1`. The result is JSON, unless `cast_to` names a model."""
        return await self._request(cast_to, "PUT", path, body=body, options=options)

    @overload
    async def patch(
        self, path: str, *, body: Mapping[str, object] | None = None, **options: Unpack[RequestOptions]
    ) -> Any: ...

    @overload
    async def patch(
        self,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        cast_to: type[T],
        **options: Unpack[RequestOptions],
    ) -> T: ...

    async def patch(
        self,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        cast_to: Any = object,
        **options: Unpack[RequestOptions],
    ) -> Any:
        """Sends a PATCH to an endpoint below `/api/v1`. The result is JSON, unless `cast_to` names a model."""
        return await self._request(cast_to, "PATCH", path, body=body, options=options)

    @overload
    async def delete(self, path: str, **options: Unpack[RequestOptions]) -> Any: ...

    @overload
    async def delete(self, path: str, *, cast_to: type[T], **options: Unpack[RequestOptions]) -> T: ...

    async def delete(self, path: str, *, cast_to: Any = object, **options: Unpack[RequestOptions]) -> Any:
        """Sends a DELETE to an endpoint below `/api/v1`. The result is JSON, unless `cast_to` names a model."""
        return await self._request(cast_to, "DELETE", path, options=options)

    @overload
    async def _request(
        self,
        cast_to: type[T],
        method: Method,
        path: str,
        *,
        query: Mapping[str, object] = ...,
        body: Mapping[str, object] | None = ...,
        options: RequestOptions,
    ) -> T: ...

    @overload
    async def _request(
        self,
        cast_to: object,
        method: Method,
        path: str,
        *,
        query: Mapping[str, object] = ...,
        body: Mapping[str, object] | None = ...,
        options: RequestOptions,
    ) -> Any: ...

    async def _request(
        self,
        cast_to: Any,
        method: Method,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        options: RequestOptions,
    ) -> Any:
        """Sends a request and parses the response. `cast_to` is a model, another type, or None for no content."""
        request = request_from(self._settings, method, path, query or {}, body, options)
        mode = response_mode.get()
        # What happens while a response is read must be parsed again.
        token = response_mode.set("parsed")
        try:
            response = await self._send(request, stream=mode == "streaming")
        finally:
            response_mode.reset(token)
        answer: AsyncAPIResponse[Any] = AsyncAPIResponse(response, lambda content: _parsed(cast_to, content, response))
        return answer if mode != "parsed" else await answer.parse()

    def _list(
        self,
        cast_to: type[PageT],
        entries: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        options: RequestOptions,
    ) -> AsyncPaginator[Any, PageT]:
        """Lists by GET. `entries` is the member of a page that contains its entries."""

        async def read(cursor: str | None) -> PageT:
            more = {} if cursor is None else {"cursor": cursor}
            return await self._request(cast_to, "GET", path, query={**(query or {}), **more}, options=options)

        return AsyncPaginator(read, entries)

    async def _send(self, request: Request, *, stream: bool = False) -> httpx.Response:
        """Returns a successful response. Its body has been read, except with `stream`."""
        deadline = Deadline(request.total_timeout)
        retries = 0
        while True:
            log_request(request, retries)
            try:
                return await self._try(request, stream, deadline)
            except ErrandError as error:
                pause = pause_before_retry(error, retries) if retries < request.max_retries else None
                log_failure(request, error, pause)
                if pause is None or pause >= deadline.remaining:
                    raise
            await anyio.sleep(pause)
            retries += 1

    async def _try(self, request: Request, stream: bool, deadline: Deadline) -> httpx.Response:
        with connection_errors():
            built = self._http.build_request(
                request.method,
                request.url,
                params=list(request.params),
                headers=dict(request.headers),
                json=request.json,
                timeout=deadline.limited(request.timeout),
            )
            response = await self._http.send(built, stream=True, follow_redirects=True)
            log_response(request, response)
            response.stream = AsyncTimedStream(response, deadline)
            if response.is_success and stream:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
        require_own_address(response, request.method)
        if not response.is_success:
            raise error_of_response(response)
        if is_truncated(response):
            raise APIConnectionError("The response of the server is not complete.")
        return response

    @asynccontextmanager
    async def _open(self, path: str, *, options: RequestOptions) -> AsyncIterator[httpx.Response]:
        """Opens a response whose body is read while it arrives. The request is not repeated."""
        request = request_from(
            self._settings, "GET", path, {}, None, {**options, "max_retries": 0, "total_timeout": None}
        )
        response = await self._send(request, stream=True)
        try:
            with connection_errors():
                yield response
        finally:
            await response.aclose()


def _parsed(cast_to: Any, content: bytes, response: httpx.Response) -> Any:
    if cast_to is None or not content:
        return None
    # `fields` leaves out required members, too.
    if "fields" in response.request.url.params:
        return parsed(lambda body: partly(cast_to, TypeAdapter(Any).validate_json(body)), content, request_of(response))
    if isinstance(cast_to, type) and issubclass(cast_to, Model):
        return parsed(cast_to.model_validate_json, content, request_of(response))
    return parsed(TypeAdapter(cast_to).validate_json, content, request_of(response))
