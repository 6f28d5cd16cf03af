# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import IdentityLinksWithRawResponse
    from ..streaming import IdentityLinksWithStreamingResponse


class IdentityLinks:
    """Identity links: which Slack and GitHub accounts belong to which principal."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> IdentityLinksWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import IdentityLinksWithRawResponse

        return IdentityLinksWithRawResponse(self)

    @property
    def with_streaming_response(self) -> IdentityLinksWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import IdentityLinksWithStreamingResponse

        return IdentityLinksWithStreamingResponse(self)

    def create(self, *, subject: str, principal_uid: str, **options: Unpack[RequestOptions]) -> models.IdentityLink:
        """Links an account to a principal. Existing runs keep their owner.

        Args:
            subject: The external account, as its adapter names it. It may be an account that has not been seen
                yet.
            principal_uid: The uid of the principal that will own the account.
        """
        return self._client._request(
            models.IdentityLink,
            "POST",
            "/agent/identity-links",
            body={"subject": subject, "principal_uid": principal_uid},
            options=options,
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.IdentityLink, models.ListIdentityLinksResponse]:
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

    def delete(self, link_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Removes a link. The next message of the account creates a new principal."""
        return self._client._request(
            models.Success, "DELETE", path("/agent/identity-links/{}", link_id), options=options
        )
