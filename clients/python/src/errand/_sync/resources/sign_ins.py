# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import SignInsWithRawResponse
    from ..streaming import SignInsWithStreamingResponse


class SignIns:
    """Sign-ins of browsers to the pages."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> SignInsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import SignInsWithRawResponse

        return SignInsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> SignInsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import SignInsWithStreamingResponse

        return SignInsWithStreamingResponse(self)

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.SignIn, models.ListSignInsResponse]:
        """Lists your sign-ins; administrators get those of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListSignInsResponse,
            "sign_ins",
            "/agent/sign-ins",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def end(self, sign_in_id: str, **options: Unpack[RequestOptions]) -> None:
        """Signs a browser out."""
        self._client._request(None, "DELETE", path("/agent/sign-ins/{}", sign_in_id), options=options)

    def end_all(self, principal_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Signs a principal out everywhere."""
        self._client._request(None, "DELETE", path("/agent/principals/{}/sign-ins", principal_uid), options=options)
