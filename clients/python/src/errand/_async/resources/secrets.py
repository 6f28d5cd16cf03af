from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncSecretsWithRawResponse
    from ..streaming import AsyncSecretsWithStreamingResponse


class AsyncSecrets:
    """Secrets: environment variables of runs whose values are never shown again."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncSecretsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncSecretsWithRawResponse

        return AsyncSecretsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncSecretsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncSecretsWithStreamingResponse

        return AsyncSecretsWithStreamingResponse(self)

    async def put(
        self, name: str, *, value: str, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.Secret:
        """Sets a secret. Runs that start or continue from now on have it.

        Args:
            value: The exact value. A value of at least 8 characters is replaced by `[redacted]` in all output of
                the runs that use it.
            team: false: only for your own runs. Default: true.
        """
        return await self._client._request(
            models.Secret,
            "PUT",
            path("/agent/secrets/{}", name),
            body={"value": value, "team": team},
            options=options,
        )

    async def retrieve(
        self, name: str, *, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.Secret:
        """Gets a secret without its value.

        Args:
            team: `false`: your own secret of that name.
        """
        return await self._client._request(
            models.Secret, "GET", path("/agent/secrets/{}", name), query={"team": team}, options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> AsyncPaginator[models.Secret, models.ListSecretsResponse]:
        """Lists the team's secrets and your own, without their values.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListSecretsResponse,
            "secrets",
            "/agent/secrets",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def delete(self, name: str, *, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a secret. Agents that are working keep it until they end.

        Args:
            team: `false`: your own secret of that name.
        """
        return await self._client._request(
            models.Success, "DELETE", path("/agent/secrets/{}", name), query={"team": team}, options=options
        )
