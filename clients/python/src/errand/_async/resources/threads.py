from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncThreadsWithRawResponse
    from ..streaming import AsyncThreadsWithStreamingResponse


class AsyncThreads:
    """Threads: the Slack threads, issues and pull requests that runs are bound to."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncThreadsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncThreadsWithRawResponse

        return AsyncThreadsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncThreadsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncThreadsWithStreamingResponse

        return AsyncThreadsWithStreamingResponse(self)

    def list(
        self,
        *,
        run_id: str,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.Thread, models.ListThreadsResponse]:
        """Lists the threads of a run.

        Args:
            run_id: The run whose threads are listed.
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListThreadsResponse,
            "threads",
            "/agent/threads",
            query={"limit": limit, "cursor": cursor, "run_id": run_id},
            options=options,
        )

    async def retrieve(self, thread_id: str, **options: Unpack[RequestOptions]) -> models.Thread:
        """Gets a thread."""
        return await self._client._request(models.Thread, "GET", path("/agent/threads/{}", thread_id), options=options)

    async def update(
        self, thread_id: str, *, verbosity: Literal["normal", "quiet"], **options: Unpack[RequestOptions]
    ) -> models.Thread:
        """Changes how much a thread is told.

        Args:
            verbosity: `quiet`: the status card changes only for a question and at the end. Messages are posted in
                both modes.
        """
        return await self._client._request(
            models.Thread,
            "PATCH",
            path("/agent/threads/{}", thread_id),
            body={"verbosity": verbosity},
            options=options,
        )
