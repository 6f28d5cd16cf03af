from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio
import httpx
from typing_extensions import TypedDict

from .._request import RequestOptions, pause_before_retry, require_known
from .._sse import Message, MessageReader
from ..errors import APIConnectionError, APITimeoutError, ErrandError, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .api_client import AsyncApiClient

EventT = TypeVar("EventT")

DEFAULT_SILENCE = 60.0
DEFAULT_MAX_RECONNECTS = 10


class StreamOptions(TypedDict, total=False):
    """Options of live events."""

    silence: float
    """How many seconds the connection may be silent before it counts as lost. The server sends a sign of life every 15
    seconds. Default: 60."""
    max_reconnects: int
    """How often in a row the stream is opened again in vain before the error is raised. With the default of 10, the stream
    survives an absence of the server of about a minute."""
    max_wait: float
    """How many seconds the stream may take in all. Then `APITimeoutError` is raised. Default: no limit."""
    extra_headers: Mapping[str, str | None]
    """Further headers."""


class AsyncEventReader(Generic[EventT]):
    """Reads the events of a stream, each once and in order. If the connection breaks, the stream is opened again behind
    the last event that arrived."""

    def __init__(
        self,
        client: AsyncApiClient,
        path: str,
        query: Mapping[str, object],
        options: StreamOptions,
        parse: Callable[[str], EventT],
        is_complete: Callable[[EventT], bool | None],
        ask_if_over: Callable[[], Awaitable[bool]],
    ) -> None:
        """Creates a reader.

        Args:
            client: The client that sends the requests.
            path: The path of the stream.
            query: The query of the stream.
            options: The options of the caller.
            parse: Creates an event from its JSON.
            is_complete: Says whether the stream is complete after this event. None: as before the event.
            ask_if_over: Asks the server whether no further event can come. Called when a connection ended and the stream
                is not complete.
        """
        require_known(options, StreamOptions.__optional_keys__)
        self._client = client
        self._path = path
        self._query = query
        self._options = options
        self._parse = parse
        self._is_complete = is_complete
        self._ask_if_over = ask_if_over

    async def events(self) -> AsyncIterator[EventT]:
        last_id: str | None = None
        max_wait = self._options.get("max_wait", math.inf)
        deadline = monotonic() + max_wait
        failures = 0
        was_complete = False
        # Once the server has said so, the next connection that ends without an error has delivered everything.
        is_over = False
        while True:
            try:
                async for message in self._connect(last_id, deadline):
                    failures = 0
                    last_id = message.id or last_id
                    if not message.data:
                        continue
                    event = parsed(self._parse, message.data, f"GET {self._path}")
                    complete = self._is_complete(event)
                    was_complete = was_complete if complete is None else complete
                    yield event
                if was_complete or is_over:
                    return
                is_over = await self._ask_if_over()
                if not is_over:
                    raise APIConnectionError("The server ended the event stream early.")
            except ErrandError as error:
                pause = pause_before_retry(error, failures)
                if pause is None or failures >= self._options.get("max_reconnects", DEFAULT_MAX_RECONNECTS):
                    raise
                if monotonic() + pause >= deadline:
                    raise APITimeoutError(f"The stream has not ended within {max_wait:g} seconds.") from error
                await anyio.sleep(pause)
            failures += 1

    async def _connect(self, last_id: str | None, deadline: float) -> AsyncIterator[Message]:
        """Reads one connection until its end or the deadline."""
        silence = self._options.get("silence", DEFAULT_SILENCE)
        headers: dict[str, str | None] = {"accept": "text/event-stream", "last-event-id": last_id}
        options: RequestOptions = {
            "extra_headers": {**headers, **self._options.get("extra_headers", {})},
            "extra_query": self._query,
            "timeout": httpx.Timeout(min(silence, max(0, deadline - monotonic()))),
        }
        reader = MessageReader()
        async with self._client._open(self._path, options=options) as response:
            async for chunk in response.aiter_bytes():
                if monotonic() >= deadline:
                    raise APITimeoutError("The stream takes too long.")
                for message in reader.messages(chunk):
                    yield message


async def never() -> bool:
    """For streams that the server never ends."""
    return False
