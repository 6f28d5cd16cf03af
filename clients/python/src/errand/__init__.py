"""The Python client of Errand, a self-hosted service that runs coding agents."""

from . import models, params
from ._async.api_client import AsyncApiClient
from ._async.errand import AsyncErrand
from ._async.pages import AsyncPaginator
from ._async.responses import AsyncAPIResponse
from ._async.run_stream import AsyncRunStream
from ._logging import set_up_logging
from ._request import OMIT, Omit, RequestOptions
from ._sync.api_client import ApiClient
from ._sync.errand import Errand
from ._sync.pages import Paginator
from ._sync.responses import APIResponse
from ._sync.run_stream import RunStream
from ._version import __version__
from ._webhooks import WebhookMessage
from .errors import (
    APIConnectionError,
    APIError,
    APITimeoutError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ErrandError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    UnprocessableEntityError,
    WebhookVerificationError,
)

__all__ = [
    "OMIT",
    "APIConnectionError",
    "APIError",
    "APIResponse",
    "APITimeoutError",
    "ApiClient",
    "AsyncAPIResponse",
    "AsyncApiClient",
    "AsyncErrand",
    "AsyncPaginator",
    "AsyncRunStream",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "Errand",
    "ErrandError",
    "InternalServerError",
    "NotFoundError",
    "Omit",
    "Paginator",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestOptions",
    "RunStream",
    "UnprocessableEntityError",
    "WebhookMessage",
    "WebhookVerificationError",
    "__version__",
    "models",
    "params",
]

set_up_logging()
