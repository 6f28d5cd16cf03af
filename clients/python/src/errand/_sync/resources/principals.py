# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import PrincipalsWithRawResponse
    from ..streaming import PrincipalsWithStreamingResponse


class Principals:
    """Principals: the people and programs of a team."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> PrincipalsWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import PrincipalsWithRawResponse

        return PrincipalsWithRawResponse(self)

    @property
    def with_streaming_response(self) -> PrincipalsWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import PrincipalsWithStreamingResponse

        return PrincipalsWithStreamingResponse(self)

    def create(
        self,
        *,
        type: Literal["user", "service_account"],
        display_name: str,
        email: str | Omit = OMIT,
        photo_url: str | Omit = OMIT,
        administrator: bool | Omit = OMIT,
        team_uid: str | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Principal:
        """Creates a user or a service account.

        Args:
            type: `user`: a person. `service_account`: a program.
            display_name: The name shown on the pages.
            email: The email address.
            photo_url: The URL of a picture for the pages.
            administrator: Whether the principal manages the team. Default: false.
            team_uid: For operators: the uid of another team. Default: the caller's team.
        """
        return self._client._request(
            models.Principal,
            "POST",
            "/agent/principals",
            body={
                "type": type,
                "display_name": display_name,
                "email": email,
                "photo_url": photo_url,
                "administrator": administrator,
                "team_uid": team_uid,
            },
            options=options,
        )

    def retrieve(self, principal_uid: str, **options: Unpack[RequestOptions]) -> models.Principal:
        """Gets a principal."""
        return self._client._request(
            models.Principal, "GET", path("/agent/principals/{}", principal_uid), options=options
        )

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.Principal, models.ListPrincipalsResponse]:
        """Lists the principals of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListPrincipalsResponse,
            "principals",
            "/agent/principals",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def update(
        self,
        principal_uid: str,
        *,
        display_name: str | Omit = OMIT,
        email: str | Omit = OMIT,
        photo_url: str | Omit = OMIT,
        administrator: bool | Omit = OMIT,
        disabled: bool | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Principal:
        """Changes a principal. With `disabled: false` it is enabled again.

        Args:
            display_name: The name shown on the pages. For a principal with exactly one external account, the name of
                that account replaces it.
            email: The email address.
            photo_url: The URL of a picture for the pages.
            administrator: Whether the principal manages the team. A team always keeps at least one administrator.
            disabled: true: the principal is disabled, and its keys stop working at once.
        """
        return self._client._request(
            models.Principal,
            "PATCH",
            path("/agent/principals/{}", principal_uid),
            body={
                "display_name": display_name,
                "email": email,
                "photo_url": photo_url,
                "administrator": administrator,
                "disabled": disabled,
            },
            options=options,
        )

    def disable(self, principal_uid: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Disables a principal. Its keys stop working at once, and its runs are kept."""
        return self._client._request(
            models.Success, "DELETE", path("/agent/principals/{}", principal_uid), options=options
        )
