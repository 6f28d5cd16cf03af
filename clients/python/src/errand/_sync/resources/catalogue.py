# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import CatalogueWithRawResponse
    from ..streaming import CatalogueWithStreamingResponse


class Catalogue:
    """The agent catalogue: the coding agents that can do runs, and what each needs."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> CatalogueWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import CatalogueWithRawResponse

        return CatalogueWithRawResponse(self)

    @property
    def with_streaming_response(self) -> CatalogueWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import CatalogueWithStreamingResponse

        return CatalogueWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> Paginator[models.CatalogueAgent, models.ListCatalogueResponse]:
        """Lists the agents with their versions and requirements."""
        return self._client._list(models.ListCatalogueResponse, "agents", "/agent/catalogue", options=options)

    def test(self, agent_name: str, **options: Unpack[RequestOptions]) -> models.RunAgentResponse:
        """Starts a small run of an agent, which costs about one word of its model. Its end shows whether the
        agent works."""
        return self._client._request(
            models.RunAgentResponse, "POST", path("/agent/catalogue/{}/test", agent_name), options=options
        )
