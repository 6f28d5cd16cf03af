# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import WorkersWithRawResponse
    from ..streaming import WorkersWithStreamingResponse


class Workers:
    """Workers: the processes that do runs."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> WorkersWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import WorkersWithRawResponse

        return WorkersWithRawResponse(self)

    @property
    def with_streaming_response(self) -> WorkersWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import WorkersWithStreamingResponse

        return WorkersWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> Paginator[models.WorkerHost, models.ListWorkersResponse]:
        """Lists the names of the workers that are connected."""
        return self._client._list(
            models.ListWorkersResponse, "workers", "/agent/connected-self-hosted-workers", options=options
        )

    def egress_ranges(self, **options: Unpack[RequestOptions]) -> models.EgressRanges:
        """Gets the networks from which agents connect to other servers, as the operator states them."""
        return self._client._request(models.EgressRanges, "GET", "/networking/egress-ranges", options=options)
