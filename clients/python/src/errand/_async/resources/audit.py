from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncAuditWithRawResponse
    from ..streaming import AsyncAuditWithStreamingResponse


class AsyncAudit:
    """The audit log: who changed which setting, key or person."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncAuditWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncAuditWithRawResponse

        return AsyncAuditWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncAuditWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncAuditWithStreamingResponse

        return AsyncAuditWithStreamingResponse(self)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        actor: str | Omit = OMIT,
        action: str | Omit = OMIT,
        target_type: str | Omit = OMIT,
        target_id: str | Omit = OMIT,
        created_after: str | datetime | Omit = OMIT,
        created_before: str | datetime | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.AuditEntry, models.ListAuditResponse]:
        """Lists audit entries, the newest first.

        Args:
            limit: The maximum number of entries per page.
            cursor: `next_cursor` of the previous page. Requires the same filters.
            actor: The uid of the actor.
            action: The action, for example `key.revoked`.
            target_type: The type of the target, for example `policy`.
            target_id: The id of the target.
            created_after: Only entries after this time (RFC 3339).
            created_before: Only entries before this time (RFC 3339).
        """
        return self._client._list(
            models.ListAuditResponse,
            "entries",
            "/agent/audit",
            query={
                "limit": limit,
                "cursor": cursor,
                "actor": actor,
                "action": action,
                "target_type": target_type,
                "target_id": target_id,
                "created_after": created_after,
                "created_before": created_before,
            },
            options=options,
        )
