from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, TypeAdapter
from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions
from ..events import AsyncEventReader, StreamOptions, never

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncEventsWithRawResponse
    from ..streaming import AsyncEventsWithStreamingResponse

STREAMED: TypeAdapter[models.RunEvent | models.StreamReset] = TypeAdapter(
    Annotated[models.StreamReset | models.RunEvent, Field(union_mode="left_to_right")]
)


class AsyncEvents:
    """The events of all runs that you can see."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncEventsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncEventsWithRawResponse

        return AsyncEventsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncEventsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncEventsWithStreamingResponse

        return AsyncEventsWithStreamingResponse(self)

    async def list(
        self, *, after: str | Omit = OMIT, limit: int | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.LoggedEventPage:
        """Gets a page of the stored events behind `after`.

        Args:
            after: The id of the last event that you received, or `start`. Default: only new events.
            limit: The maximum number of events that a page reads. A page is shorter if its events are long (1
                MiB). Events of runs that you cannot see are left out. A stream has no limit.
        """
        return await self._client._request(
            models.LoggedEventPage,
            "GET",
            "/agent/events",
            query={"after": after, "limit": limit},
            options=options,
        )

    def stream(
        self, *, after: str | Omit = OMIT, **options: Unpack[StreamOptions]
    ) -> AsyncIterator[models.RunEvent | models.StreamReset]:
        """Yields the events of all runs live. The stream ends only when you leave the loop. A broken connection is opened
        again.

        Args:
            after: The position behind which to begin: the `cursor` of an event. Default: from now on. If the server does
                not know the position any more, an event with the `kind` `reset` is yielded: then read again what you
                store.
        """
        reader = AsyncEventReader(
            self._client, "/agent/events", {"after": after}, options, STREAMED.validate_json, lambda event: False, never
        )
        return reader.events()
