from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncIdentityLinksWithRawResponse
    from ..streaming import AsyncIdentityLinksWithStreamingResponse


class AsyncIdentityLinks:
    """Identity links: which Slack and GitHub accounts belong to which principal."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncIdentityLinksWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncIdentityLinksWithRawResponse

        return AsyncIdentityLinksWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncIdentityLinksWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncIdentityLinksWithStreamingResponse

        return AsyncIdentityLinksWithStreamingResponse(self)

    async def create(
        self, *, subject: str, principal_uid: str, **options: Unpack[RequestOptions]
    ) -> models.IdentityLink:
        """Links an account to a principal. Existing runs keep their owner.

        Args:
            subject: The external account, as its adapter names it. It may be an account that has not been seen
                yet.
            principal_uid: The uid of the principal that will own the account.
        """
        return await self._client._request(
            models.IdentityLink,
            "POST",
            "/agent/identity-links",
            body={"subject": subject, "principal_uid": principal_uid},
            options=options,
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.IdentityLink, models.ListIdentityLinksResponse]:
        """Lists the linked accounts.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListIdentityLinksResponse,
            "links",
            "/agent/identity-links",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def delete(self, link_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Removes a link. The next message of the account creates a new principal."""
        return await self._client._request(
            models.Success, "DELETE", path("/agent/identity-links/{}", link_id), options=options
        )
