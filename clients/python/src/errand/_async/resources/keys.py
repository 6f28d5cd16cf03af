from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import AsyncPaginator

if TYPE_CHECKING:
    from ..api_client import AsyncApiClient
    from ..raw import AsyncKeysWithRawResponse
    from ..streaming import AsyncKeysWithStreamingResponse


class AsyncKeys:
    """API keys. A key cannot allow more than the key that creates it."""

    def __init__(self, client: AsyncApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> AsyncKeysWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import AsyncKeysWithRawResponse

        return AsyncKeysWithRawResponse(self)

    @property
    def with_streaming_response(self) -> AsyncKeysWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `async with`."""
        from ..streaming import AsyncKeysWithStreamingResponse

        return AsyncKeysWithStreamingResponse(self)

    async def create(
        self,
        *,
        name: str,
        scopes: Sequence[Literal["runs:read", "runs:write", "settings:read", "settings:write", "admin"]] | Omit = OMIT,
        expires_at: str | datetime | Omit = OMIT,
        expires_in_days: int | Omit = OMIT,
        principal_uid: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.IssuedApiKey:
        """Creates a key. Only this response contains the key itself.

        Args:
            name: A name for the list of keys.
            scopes: At most the scopes of the caller's own key. Default: `runs:write`.
            expires_at: When the key expires: no later than the caller's own key, which is the default.
            expires_in_days: The lifetime in days, instead of `expires_at`.
            principal_uid: For administrators: the uid of the principal that will own the key. Default: the caller.
        """
        return await self._client._request(
            models.IssuedApiKey,
            "POST",
            "/agent/keys",
            body={
                "name": name,
                "scopes": scopes,
                "expires_at": expires_at,
                "expires_in_days": expires_in_days,
                "principal_uid": principal_uid,
            },
            options=options,
        )

    async def exchange(
        self,
        *,
        token: str,
        expires_in: int | Omit = OMIT,
        team_uid: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.IssuedApiKey:
        """Exchanges the OpenID Connect token of a CI workflow's job for a key. The client needs no key for this.

        Args:
            token: The OpenID Connect token of the workflow's job.
            expires_in: The lifetime of the key in seconds. Default: an hour, which is also the most.
            team_uid: The team whose policy gives the key. Needed only if policies of several teams do.
        """
        return await self._client._request(
            models.IssuedApiKey,
            "POST",
            "/agent/keys/exchange",
            body={"token": token, "expires_in": expires_in, "team_uid": team_uid},
            options=options,
        )

    async def retrieve(self, key_id: str, **options: Unpack[RequestOptions]) -> models.ApiKey:
        """Gets a key, without the key itself."""
        return await self._client._request(models.ApiKey, "GET", path("/agent/keys/{}", key_id), options=options)

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        principal: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[models.ApiKey, models.ListKeysResponse]:
        """Lists your keys, or those of another principal.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
            principal: Only the keys of the principal with this uid.
        """
        return self._client._list(
            models.ListKeysResponse,
            "keys",
            "/agent/keys",
            query={"limit": limit, "cursor": cursor, "principal": principal},
            options=options,
        )

    async def update(
        self,
        key_id: str,
        *,
        name: str | Omit = OMIT,
        expires_at: str | datetime | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.ApiKey:
        """Renames a key or changes its expiry.

        Args:
            name: A name for the list of keys.
            expires_at: When the key expires.
        """
        return await self._client._request(
            models.ApiKey,
            "PATCH",
            path("/agent/keys/{}", key_id),
            body={"name": name, "expires_at": expires_at},
            options=options,
        )

    async def revoke(
        self, key_id: str, *, descendants: bool | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.Success:
        """Revokes a key. With `descendants`, the keys that were created with it end too.

        Args:
            descendants: Whether to revoke also all keys that were created with it, with one of those, and so on.
        """
        return await self._client._request(
            models.Success,
            "DELETE",
            path("/agent/keys/{}", key_id),
            query={"descendants": descendants},
            options=options,
        )

    async def revoke_all(self, principal_uid: str, **options: Unpack[RequestOptions]) -> models.RevokedKeys:
        """Revokes all keys of a principal."""
        return await self._client._request(
            models.RevokedKeys, "DELETE", path("/agent/principals/{}/keys", principal_uid), options=options
        )

    async def rotate(
        self, key_id: str, *, overlap_seconds: int | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.IssuedApiKey:
        """Replaces a key by a new one with the same name, scopes and expiry. Only this response contains the new
        key.

        Args:
            overlap_seconds: For how long the old key continues to work. Default: 0.
        """
        return await self._client._request(
            models.IssuedApiKey,
            "POST",
            path("/agent/keys/{}/rotate", key_id),
            body={"overlap_seconds": overlap_seconds},
            options=options,
        )
