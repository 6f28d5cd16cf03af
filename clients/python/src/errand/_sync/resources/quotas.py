# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models, params
from ..._request import RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import QuotasWithRawResponse
    from ..streaming import QuotasWithStreamingResponse


class Quotas:
    """Quotas: the most that a team may use."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> QuotasWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import QuotasWithRawResponse

        return QuotasWithRawResponse(self)

    @property
    def with_streaming_response(self) -> QuotasWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import QuotasWithStreamingResponse

        return QuotasWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> Paginator[models.Quota, models.ListQuotasResponse]:
        """Lists the quotas of your team with their use."""
        return self._client._list(models.ListQuotasResponse, "quotas", "/agent/quotas", options=options)

    def set(
        self, team_uid: str, *, quotas: Sequence[params.QuotaRequest], **options: Unpack[RequestOptions]
    ) -> models.ListQuotasResponse:
        """Replaces all quotas of a team. Only for operators.

        Args:
            quotas: All quotas of the team. One that is left out is removed.
        """
        return self._client._request(
            models.ListQuotasResponse,
            "PUT",
            path("/agent/teams/{}/quotas", team_uid),
            body={"quotas": quotas},
            options=options,
        )
