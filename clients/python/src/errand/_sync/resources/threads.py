# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import ThreadsWithRawResponse
    from ..streaming import ThreadsWithStreamingResponse


class Threads:
    """Threads: the Slack threads, issues and pull requests that runs are bound to."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> ThreadsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import ThreadsWithRawResponse

        return ThreadsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> ThreadsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import ThreadsWithStreamingResponse

        return ThreadsWithStreamingResponse(self)

    def list(
        self,
        *,
        run_id: str,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> Paginator[models.Thread, models.ListThreadsResponse]:
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

    def retrieve(self, thread_id: str, **options: Unpack[RequestOptions]) -> models.Thread:
        """Gets a thread."""
        return self._client._request(models.Thread, "GET", path("/agent/threads/{}", thread_id), options=options)

    def update(
        self, thread_id: str, *, verbosity: Literal["normal", "quiet"], **options: Unpack[RequestOptions]
    ) -> models.Thread:
        """Changes how much a thread is told.

        Args:
            verbosity: `quiet`: the status card changes only for a question and at the end. Messages are posted in
                both modes.
        """
        return self._client._request(
            models.Thread,
            "PATCH",
            path("/agent/threads/{}", thread_id),
            body={"verbosity": verbosity},
            options=options,
        )
