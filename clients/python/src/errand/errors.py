"""What the client raises."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

C = TypeVar("C")
T = TypeVar("T")

__all__ = [
    "APIConnectionError",
    "APIError",
    "APITimeoutError",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ErrandError",
    "InternalServerError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "UnprocessableEntityError",
    "WebhookVerificationError",
]


_PROXY_REMEDY = "Send less at once, or ask the operator of the server to let the proxy pass bodies of 30 MiB."


class ErrandError(Exception):
    """The base class of everything that the client raises."""


class APIError(ErrandError):
    """The server answered with an error. The subclasses stand for its HTTP status."""

    def __init__(self, response: httpx.Response) -> None:
        #: The complete response.
        self.response = response
        #: The HTTP status.
        self.status = response.status_code
        #: The body: JSON if it was JSON, otherwise the text.
        self.body: object = _parsed(response.text)
        super().__init__(self._message())

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also one for another process, has the response without the request, whose headers contain the key."""
        response = _without_key(self.response)
        return type(self), (response,), {**self.__dict__, "response": response}

    @property
    def problem(self) -> dict[str, Any]:
        """The body as the server's errors have it. It is empty if something else has answered."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def code(self) -> str | None:
        """What went wrong, as one of 16 codes. Decide by this code, never by the text."""
        return self.problem.get("code")

    @property
    def remedy(self) -> str | None:
        """What you can do about it, for people."""
        return self.problem.get("remedy") or (_PROXY_REMEDY if self._is_of_proxy() else None)

    @property
    def issues(self) -> list[dict[str, str]]:
        """For invalid input: the `path` of each invalid member, and the `message` that says what is wrong with it."""
        issues: list[dict[str, str]] = self.problem.get("issues", [])
        return issues

    @property
    def request_id(self) -> str | None:
        """The id of the request in the logs of the server."""
        return self.response.headers.get("x-request-id") or self.problem.get("trace_id")

    def _is_of_proxy(self) -> bool:
        """Errand says itself which limit a body exceeds. A proxy before it answers with a page or with nothing."""
        return self.status == 413 and not isinstance(self.problem.get("error"), str)

    def _message(self) -> str:
        text = self.problem.get("error")
        if isinstance(text, str):
            return text
        if self._is_of_proxy():
            return "A proxy before the server refuses bodies of this size."
        kind = self.response.headers.get("content-type", "unknown")
        return f"The response has the status {self.status} and the type {kind}."


class BadRequestError(APIError):
    """400: the request is not valid. `issues` says where."""


class AuthenticationError(APIError):
    """401: the key is missing, unknown, revoked or expired."""


class PermissionDeniedError(APIError):
    """403: the key is known and may not do this."""


class NotFoundError(APIError):
    """404: the object does not exist, or the caller may not see it."""


class ConflictError(APIError):
    """409: the request does not fit the current state of the object."""


class UnprocessableEntityError(APIError):
    """422: the operation is not possible, or its idempotency key belongs to another request."""


class RateLimitError(APIError):
    """429: too many requests, open streams or waiting runs."""


class InternalServerError(APIError):
    """500 and above: the server failed, or is not available."""


class APIConnectionError(ErrandError):
    """There is no complete response: the connection was refused or broke off. `__cause__` is the error of httpx."""


class APITimeoutError(APIConnectionError):
    """The server did not answer in time."""


class WebhookVerificationError(ErrandError):
    """A received webhook message is not authentic: nobody who knows the secret has signed it recently."""


_BY_STATUS: dict[int, type[APIError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableEntityError,
    429: RateLimitError,
}


def error_of_response(response: httpx.Response) -> APIError:
    """Creates the error of a response whose body has been read."""
    default = InternalServerError if response.status_code >= 500 else APIError
    return _BY_STATUS.get(response.status_code, default)(response)


def require_own_address(response: httpx.Response, method: str) -> None:
    """A redirect to another origin loses the key, and most redirects turn a write into a GET."""
    if response.history and (response.request.method != method or response.status_code == 401):
        origin = str(response.url.copy_with(raw_path=b"/")).rstrip("/")
        raise ErrandError(f"The address of the server leads to another one. Use {origin}")


@contextmanager
def connection_errors() -> Iterator[None]:
    """Raises an error of the client instead of one of httpx."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise APITimeoutError(f"The server did not answer in time: {type(error).__name__}.") from error
    except httpx.HTTPError as error:
        raise APIConnectionError(f"The connection to the server failed: {error or type(error).__name__}") from error


def is_truncated(response: httpx.Response) -> bool:
    """Whether JSON ends too early. Only a response without a length can be truncated without an error of httpx."""
    headers = response.headers
    if "content-length" in headers or "json" not in headers.get("content-type", "") or not response.content:
        return False
    try:
        json.loads(response.content)
    except ValueError:
        return True
    return False


def parsed(parse: Callable[[C], T], content: C, request: str) -> T:
    """Parses what the server sent for a request. It may not fit its model if something else has answered."""
    try:
        return parse(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        member = ".".join(str(part) for part in first["loc"])
        where = f"{member}: {first['msg']}" if member else first["msg"]
        raise ErrandError(
            f"The server sent something that this client does not understand ({request}). {where}"
        ) from error


def request_of(response: httpx.Response) -> str:
    """The request of a response, for people: method, path and id."""
    name = f"{response.request.method} {response.request.url.path}"
    request_id = response.headers.get("x-request-id")
    return f"{name}, request {request_id}" if request_id else name


def _without_key(response: httpx.Response) -> httpx.Response:
    kept = copy.copy(response)
    kept.history = []
    # A response that a program has made itself has no request.
    with suppress(RuntimeError):
        kept.request = httpx.Request(response.request.method, response.request.url)
    return kept


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
