# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import InboxWithRawResponse
    from ..streaming import InboxWithStreamingResponse


class Inbox:
    """The inbox: the events that Slack and GitHub delivered, and what became of them."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> InboxWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import InboxWithRawResponse

        return InboxWithRawResponse(self)

    @property
    def with_streaming_response(self) -> InboxWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import InboxWithStreamingResponse

        return InboxWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        disposition: Literal[
            "run_created",
            "follow_up",
            "changed",
            "withdrawn",
            "asked",
            "cancelled",
            "answered",
            "replied",
            "refused",
            "ignored",
            "duplicate",
            "failed",
            "open",
        ]
        | Omit = OMIT,
        integration: str | Omit = OMIT,
        run_id: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> Paginator[models.InboxEvent, models.ListInboxResponse]:
        """Lists incoming events, the newest first.

        Args:
            limit: The number of events per page.
            cursor: `next_cursor` of the previous page. Requires the same filters.
            disposition: The result of the event. `open`: not processed yet.
            integration: The integration that received the event.
            run_id: The run that the event created, continued or cancelled.
        """
        return self._client._list(
            models.ListInboxResponse,
            "events",
            "/agent/inbox",
            query={
                "limit": limit,
                "cursor": cursor,
                "disposition": disposition,
                "integration": integration,
                "run_id": run_id,
            },
            options=options,
        )

    def retry(self, event_id: str, **options: Unpack[RequestOptions]) -> models.InboxEvent:
        """Processes a failed event again, once."""
        return self._client._request(
            models.InboxEvent, "POST", path("/agent/inbox/{}/retry", event_id), options=options
        )
