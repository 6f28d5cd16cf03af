# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import ModelsWithRawResponse
    from ..streaming import ModelsWithStreamingResponse


class Models:
    """Models that runs can name."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> ModelsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import ModelsWithRawResponse

        return ModelsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> ModelsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import ModelsWithStreamingResponse

        return ModelsWithStreamingResponse(self)

    def list(self, **options: Unpack[RequestOptions]) -> Paginator[models.AgentModel, models.ListModelsResponse]:
        """Lists the models, and the one that is the default."""
        return self._client._list(models.ListModelsResponse, "models", "/agent/models", options=options)
