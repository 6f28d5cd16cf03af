# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import RequestOptions

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import DoctorWithRawResponse
    from ..streaming import DoctorWithStreamingResponse


class Doctor:
    """The doctor: what works on the server, and what to do about the rest."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> DoctorWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import DoctorWithRawResponse

        return DoctorWithRawResponse(self)

    @property
    def with_streaming_response(self) -> DoctorWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import DoctorWithStreamingResponse

        return DoctorWithStreamingResponse(self)

    def retrieve(self, **options: Unpack[RequestOptions]) -> models.DoctorResponse:
        """Checks the server. Only for operators."""
        return self._client._request(models.DoctorResponse, "GET", "/agent/doctor", options=options)
