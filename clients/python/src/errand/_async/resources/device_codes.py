from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncDeviceCodesWithRawResponse
    from ..streaming import AsyncDeviceCodesWithStreamingResponse


class AsyncDeviceCodes:
    """Keys for programs whose user signs in with a browser. These calls need no key."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncDeviceCodesWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncDeviceCodesWithRawResponse

        return AsyncDeviceCodesWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncDeviceCodesWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncDeviceCodesWithStreamingResponse

        return AsyncDeviceCodesWithStreamingResponse(self)

    async def create(
        self, *, client_name: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.DeviceCodeResponse:
        """Starts to sign the program in. Show `user_code` and `verification_uri` to the user.

        Args:
            client_name: What the program calls itself. The user sees it, and it becomes the name of the key.
        """
        return await self._client._request(
            models.DeviceCodeResponse, "POST", "/agent/device-codes", body={"client_name": client_name}, options=options
        )

    async def token(self, device_code: str, **options: Unpack[RequestOptions]) -> models.IssuedApiKey:
        """Gets the key after the user has allowed the program.

        Until then it raises a `BadRequestError`, whose `problem` has the `reason`. Call this again after `interval`
        seconds while the reason is `authorization_pending` or `slow_down`.
        """
        return await self._client._request(
            models.IssuedApiKey,
            "POST",
            "/agent/device-codes/token",
            body={"device_code": device_code},
            options=options,
        )
