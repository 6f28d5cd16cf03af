# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from typing_extensions import Unpack

from ... import models
from ..._request import OMIT, Omit, RequestOptions, path
from ..._webhooks import DEFAULT_TOLERANCE, WebhookMessage, unwrap
from ..pages import Paginator

if TYPE_CHECKING:
    from ..api_client import ApiClient
    from ..raw import WebhooksWithRawResponse
    from ..streaming import WebhooksWithStreamingResponse


class Webhooks:
    """Webhooks: addresses that the server notifies of the runs of a team."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def with_raw_response(self) -> WebhooksWithRawResponse:
        """The same methods with a response, whose body has been read, as their result."""
        from ..raw import WebhooksWithRawResponse

        return WebhooksWithRawResponse(self)

    @property
    def with_streaming_response(self) -> WebhooksWithStreamingResponse:
        """The same methods with a response, whose body has not been read, for `with`."""
        from ..streaming import WebhooksWithStreamingResponse

        return WebhooksWithStreamingResponse(self)

    def create(
        self,
        *,
        url: str,
        description: str | Omit = OMIT,
        events: Sequence[
            Literal[
                "run.created",
                "run.queued",
                "run.pending",
                "run.claimed",
                "run.inprogress",
                "run.blocked",
                "run.succeeded",
                "run.failed",
                "run.error",
                "run.cancelled",
                "webhook.disabled",
            ]
        ]
        | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.RevealedWebhook:
        """Creates a webhook. Only this response and that of `rotate_secret` contain a secret.

        Args:
            url: The receiver's URL. It must be https, and outside the server's own network unless the operator
                allows it.
            description: A description for people.
            events: The events that are sent. An empty list means all that begin with `run.`.
            enabled: Whether messages are sent. Events that happen while the webhook is disabled are never sent.
                Default: true.
        """
        return self._client._request(
            models.RevealedWebhook,
            "POST",
            "/agent/webhooks",
            body={"url": url, "description": description, "events": events, "enabled": enabled},
            options=options,
        )

    def retrieve(self, webhook_id: str, **options: Unpack[RequestOptions]) -> models.Webhook:
        """Gets a webhook."""
        return self._client._request(models.Webhook, "GET", path("/agent/webhooks/{}", webhook_id), options=options)

    def list(
        self, *, limit: int | Omit = OMIT, cursor: str | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> Paginator[models.Webhook, models.ListWebhooksResponse]:
        """Lists the webhooks of the team.

        Args:
            limit: The maximum number of entries per page. Default: all entries, on one page.
            cursor: `next_cursor` of the previous page. Requires the same filters and the same sort.
        """
        return self._client._list(
            models.ListWebhooksResponse,
            "webhooks",
            "/agent/webhooks",
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def update(
        self,
        webhook_id: str,
        *,
        url: str | Omit = OMIT,
        description: str | Omit = OMIT,
        events: Sequence[
            Literal[
                "run.created",
                "run.queued",
                "run.pending",
                "run.claimed",
                "run.inprogress",
                "run.blocked",
                "run.succeeded",
                "run.failed",
                "run.error",
                "run.cancelled",
                "webhook.disabled",
            ]
        ]
        | Omit = OMIT,
        enabled: bool | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.Webhook:
        """Changes, enables or disables a webhook.

        Args:
            url: The receiver's URL. It must be https, and outside the server's own network unless the operator
                allows it.
            description: A description for people.
            events: The events that are sent. An empty list means all that begin with `run.`.
            enabled: Whether messages are sent. Events that happen while the webhook is disabled are never sent.
                Default: true.
        """
        return self._client._request(
            models.Webhook,
            "PATCH",
            path("/agent/webhooks/{}", webhook_id),
            body={"url": url, "description": description, "events": events, "enabled": enabled},
            options=options,
        )

    def delete(self, webhook_id: str, **options: Unpack[RequestOptions]) -> models.Success:
        """Deletes a webhook and the history of its deliveries."""
        return self._client._request(models.Success, "DELETE", path("/agent/webhooks/{}", webhook_id), options=options)

    def rotate_secret(
        self, webhook_id: str, *, overlap_seconds: int | Omit = OMIT, **options: Unpack[RequestOptions]
    ) -> models.RevealedWebhook:
        """Creates a new secret. For a day, or for `overlap_seconds`, messages are signed with the old one too.

        Args:
            overlap_seconds: For how long messages are also signed with the old secret.
        """
        return self._client._request(
            models.RevealedWebhook,
            "POST",
            path("/agent/webhooks/{}/rotate-secret", webhook_id),
            body={"overlap_seconds": overlap_seconds},
            options=options,
        )

    def test(self, webhook_id: str, **options: Unpack[RequestOptions]) -> models.WebhookDelivery:
        """Sends a message of the type `webhook.test`."""
        return self._client._request(
            models.WebhookDelivery, "POST", path("/agent/webhooks/{}/test", webhook_id), options=options
        )

    def deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        state: Literal["waiting", "delivered", "dead"] | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> Paginator[models.WebhookDelivery, models.ListWebhookDeliveriesResponse]:
        """Lists the deliveries of a webhook, the newest first.

        Args:
            limit: The maximum number of deliveries.
            cursor: `next_cursor` of the previous page. Requires the same filters.
            state: Only deliveries in this state.
        """
        return self._client._list(
            models.ListWebhookDeliveriesResponse,
            "deliveries",
            path("/agent/webhooks/{}/deliveries", webhook_id),
            query={"limit": limit, "cursor": cursor, "state": state},
            options=options,
        )

    def delivery(
        self, webhook_id: str, delivery_id: str, **options: Unpack[RequestOptions]
    ) -> models.WebhookDeliveryDetail:
        """Gets a delivery with its message and all tries."""
        return self._client._request(
            models.WebhookDeliveryDetail,
            "GET",
            path("/agent/webhooks/{}/deliveries/{}", webhook_id, delivery_id),
            options=options,
        )

    def replay(self, webhook_id: str, delivery_id: str, **options: Unpack[RequestOptions]) -> models.WebhookDelivery:
        """Sends a delivery again, whatever its state."""
        return self._client._request(
            models.WebhookDelivery,
            "POST",
            path("/agent/webhooks/{}/deliveries/{}/replay", webhook_id, delivery_id),
            options=options,
        )

    def replay_many(
        self,
        webhook_id: str,
        *,
        since: str | datetime,
        until: str | datetime | Omit = OMIT,
        **options: Unpack[RequestOptions],
    ) -> models.ReplayedWebhookDeliveries:
        """Sends all deliveries of a period again that were given up.

        Args:
            since: Deliveries created at or after this time.
            until: Deliveries created before this time.
        """
        return self._client._request(
            models.ReplayedWebhookDeliveries,
            "POST",
            path("/agent/webhooks/{}/deliveries/replay", webhook_id),
            body={"since": since, "until": until},
            options=options,
        )

    def unwrap(
        self,
        body: str | bytes,
        headers: Mapping[str, str],
        *,
        secret: str,
        tolerance: float = DEFAULT_TOLERANCE,
    ) -> WebhookMessage:
        """Verifies a received message and parses it. No request is sent.

        Args:
            body: The body exactly as it was received, before any parsing.
            headers: The headers of the received request.
            secret: The secret of the webhook, which begins with `whsec_`.
            tolerance: How many seconds the time of the message may differ from the clock. Default: 300.

        Raises:
            WebhookVerificationError: The message was not signed with the secret within the tolerance.
        """
        return unwrap(body, headers, secret, tolerance)
