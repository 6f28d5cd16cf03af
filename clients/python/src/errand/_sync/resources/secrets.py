# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import SecretsWithRawResponse
    from ..streaming import SecretsWithStreamingResponse


class Secrets:
    """Secrets: environment variables of runs whose values are never shown again."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> SecretsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import SecretsWithRawResponse

        return SecretsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> SecretsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import SecretsWithStreamingResponse

        return SecretsWithStreamingResponse(self)

    def put(
        self, name: str, *, value: str, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.Secret:
        """Sets a secret. Runs that start or continue from now on have it.

        Args:
            value: The exact value. A value of at least 8 characters is replaced by `[redacted]` in all output of
                the runs that use it.
            team: false: only for your own runs. Default: true.
        """
        return self._client._request(
            models.Secret,
            "PUT",
            path("/agent/secrets/{}", name),
            body={"value": value, "team": team},
            options=options,
        )

    def retrieve(self, name: str, *, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]) -> models.Secret:
        """Gets a secret without its value.

        Args:
            team: `false`: your own secret of that name.
        """
        return self._client._request(
            models.Secret, "GET", path("/agent/secrets/{}", name), query={"team": team}, options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.Secret, models.ListSecretsResponse]:
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

    def delete(self, name: str, *, team: bool | Omit = OMIT, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a secret. Agents that are working keep it until they end.

        Args:
            team: `false`: your own secret of that name.
        """
        return self._client._request(
            models.Success, "DELETE", path("/agent/secrets/{}", name), query={"team": team}, options=options
        )
