from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncDoctorWithRawResponse
    from ..streaming import AsyncDoctorWithStreamingResponse


class AsyncDoctor:
    """The doctor: what works on the server, and what to do about the rest."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncDoctorWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncDoctorWithRawResponse

        return AsyncDoctorWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncDoctorWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncDoctorWithStreamingResponse

        return AsyncDoctorWithStreamingResponse(self)

    async def retrieve(self, **options: Unpack[RequestOptions]) -> models.DoctorResponse:
        """Checks the server. Only for operators."""
        return await self._client._request(models.DoctorResponse, "GET", "/agent/doctor", options=options)
