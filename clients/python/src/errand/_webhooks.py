"""Verifies received webhook messages, as the Standard Webhooks specification has it."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
from collections.abc import Mapping
from time import time
from typing import Any

from ._model import Model
from .errors import WebhookVerificationError

DEFAULT_TOLERANCE = 300.0
SECRET_PREFIX = "whsec_"  # noqa: S105
#: Seconds. With more digits, `int` or the subtraction fails.
TIMESTAMP = re.compile("[0-9]{1,15}")


class WebhookMessage(Model):
    """A received message. Later servers may send further types."""

    type: str
    """What happened, for example `run.succeeded`."""
    timestamp: str
    """When it happened, as an ISO 8601 text."""
    data: dict[str, Any]
    """The run as it was at that time, or the webhook."""


def unwrap(body: str | bytes, headers: Mapping[str, str], secret: str, tolerance: float) -> WebhookMessage:
    received = {name.lower(): value for name, value in headers.items()}
    message_id = _header(received, "webhook-id")
    timestamp = _header(received, "webhook-timestamp")
    signatures = _header(received, "webhook-signature").split(" ")
    if not TIMESTAMP.fullmatch(timestamp) or abs(time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The time of the message differs too much from the clock.")
    raw = body.encode() if isinstance(body, str) else body
    digest = hmac.digest(_key(secret), f"{message_id}.{timestamp}.".encode() + raw, "sha256")
    expected = "v1," + base64.b64encode(digest).decode()
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures):
        raise WebhookVerificationError("No signature of the message was made with this secret.")
    return WebhookMessage.model_validate(json.loads(raw))


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value is None:
        raise WebhookVerificationError(f"The header {name} is missing.")
    return value


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith(SECRET_PREFIX) or not key:
        raise WebhookVerificationError(f"The secret must begin with {SECRET_PREFIX}.")
    return key
