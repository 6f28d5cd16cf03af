"""What a request consists of, and when it is sent again. Shared by both clients."""

from __future__ import annotations

import os
import platform
import random
import re
import secrets
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpx
from pydantic import BaseModel
from typing_extensions import TypedDict

from ._version import __version__
from .errors import APIConnectionError, APIError, ErrandError

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

DEFAULT_URL = "http://127.0.0.1:8787"
DEFAULT_TIMEOUT = httpx.Timeout(60)
DEFAULT_MAX_RETRIES = 2
API_PATH = "/api/v1"
USER_AGENT = f"errand-python/{__version__} python/{platform.python_version()} httpx/{httpx.__version__}"

#: The pause before the first retry in seconds. It doubles before each further one.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
#: The part of a pause that is left out at random, so that many clients do not return at the same moment.
JITTER = 0.25
#: If the server asks for a longer pause, the error is raised at once, because nobody expects a call to take so long.
LONGEST_SERVER_PAUSE = 60.0
RETRIED_STATUSES = frozenset({408, 409, 429})


class Omit:
    """The type of `OMIT`."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "OMIT"


#: A parameter that is left out of the request. `None` is sent as null.
OMIT = Omit()


class RequestOptions(TypedDict, total=False):
    """What can be changed for a single request."""

    extra_headers: Mapping[str, str | None]
    """Further headers. They win over those of the client. None removes a header."""
    extra_query: Mapping[str, object]
    """Further members of the query."""
    extra_body: Mapping[str, object]
    """Further members of the body, for example those of a newer server."""
    timeout: float | httpx.Timeout | None
    """How long the parts of one try may take, in seconds. None: for ever. Default: that of the client."""
    total_timeout: float | None
    """How long the call may take with all its retries and pauses, in seconds. Then `APITimeoutError` is raised. None: no
    limit. Default: that of the client."""
    max_retries: int
    """How often the request is repeated if it fails in a way that may pass. Default: that of the client."""
    idempotency_key: str
    """The server performs a write with the same key only once, within a day. Default for writes: a new random key, which
    all retries of the call use."""
    if_match: str
    """The `ETag` of the answer that a change is based on. If the resource has been changed since, the call raises
    `APIError` with the status 412."""


#: How the response of the current call is returned: parsed, as a response with its body, or as one that is still read.
ResponseMode = Literal["parsed", "raw", "streaming"]
response_mode: ContextVar[ResponseMode] = ContextVar("response_mode", default="parsed")


@dataclass(frozen=True)
class Settings:
    """The options of a client."""

    base_url: str
    api_key: str | None = field(repr=False)
    timeout: float | httpx.Timeout | None
    total_timeout: float | None
    max_retries: int
    default_headers: Mapping[str, str | None]
    default_query: Mapping[str, object]

    def changed(self, **changes: Any) -> Settings:
        return replace(self, **{name: value for name, value in changes.items() if not isinstance(value, Omit)})


def settings_from(
    base_url: str | None,
    api_key: str | Omit | None,
    timeout: float | httpx.Timeout | None,
    total_timeout: float | None,
    max_retries: int,
    default_headers: Mapping[str, str | None] | None,
    default_query: Mapping[str, object] | None,
) -> Settings:
    key = os.environ.get("ERRAND_API_KEY") if isinstance(api_key, Omit) else api_key
    if (key is None and isinstance(api_key, Omit)) or (key is not None and key.strip() == ""):
        raise ErrandError("An API key is missing. Pass `api_key`, or set the variable ERRAND_API_KEY.")
    return Settings(
        base_url=with_api_path(base_url or os.environ.get("ERRAND_URL") or DEFAULT_URL),
        api_key=key,
        timeout=timeout,
        total_timeout=total_timeout,
        max_retries=max_retries,
        default_headers=default_headers or {},
        default_query=default_query or {},
    )


def with_api_path(address: str) -> str:
    """Other clients of this API expect the path as a part of the address. Both forms are accepted."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ErrandError(f"The address of the server is not a URL: {address}")
    base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    return base if base.endswith(API_PATH) else base + API_PATH


def path(template: str, *values: str) -> str:
    """Fills values into a path: `path("/agent/runs/{}", run_id)`."""
    return template.format(*(_segment(value) for value in values))


def _segment(value: object) -> str:
    """An empty value or one of dots would lead to another endpoint."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise ErrandError(f"An id must be a text that is not empty: {value!r}")
    return quote(value, safe="")


@dataclass(frozen=True)
class Request:
    """A request as it is sent, also by its retries."""

    method: Method
    url: str
    params: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    json: object
    timeout: float | httpx.Timeout | None
    total_timeout: float | None
    max_retries: int


def request_from(
    settings: Settings,
    method: Method,
    relative: str,
    query: Mapping[str, object],
    body: Mapping[str, object] | None,
    options: RequestOptions,
) -> Request:
    if not relative.startswith("/"):
        raise ErrandError(f'A path must begin with "/": {relative}')
    require_known(options, RequestOptions.__optional_keys__)
    extra_body = options.get("extra_body")
    members = {**(body or {}), **(extra_body or {})}
    json = None if body is None and extra_body is None else serialized(members)
    pairs = {**settings.default_query, **query, **options.get("extra_query", {})}
    return Request(
        method=method,
        url=settings.base_url + relative,
        params=[pair for name, value in pairs.items() for pair in _query_pairs(name, value)],
        headers=_headers(settings, method, options),
        # A body without members is none: some operations take no body at all.
        json=json or None,
        timeout=options.get("timeout", settings.timeout),
        total_timeout=options.get("total_timeout", settings.total_timeout),
        max_retries=options.get("max_retries", settings.max_retries),
    )


def _headers(settings: Settings, method: Method, options: RequestOptions) -> Mapping[str, str]:
    headers: dict[str, str | None] = {"accept": "application/json", "user-agent": USER_AGENT}
    if settings.api_key is not None:
        headers["authorization"] = f"Bearer {settings.api_key}"
    if method != "GET":
        headers["idempotency-key"] = options.get("idempotency_key") or f"errand-{secrets.token_hex(16)}"
    if "if_match" in options:
        headers["if-match"] = options["if_match"]
    for more in (settings.default_headers, options.get("extra_headers", {})):
        headers.update({name.lower(): value for name, value in more.items()})
    return {name: _header_value(name, value) for name, value in headers.items() if value is not None}


def _header_value(name: str, value: str) -> str:
    """Files of keys end with a line break. The error of httpx would show the value, which may be a key."""
    stripped = value.strip()
    if not (stripped.isascii() and stripped.isprintable()):
        what = "The API key" if name == "authorization" else f"The header {name}"
        raise ErrandError(f"{what} has characters that cannot be sent.")
    return stripped


def require_known(options: Mapping[str, object], known: frozenset[str]) -> None:
    """Python checks no keyword arguments that a method passes on."""
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(f"Unknown arguments: {', '.join(unknown)}")


def serialized(value: object) -> Any:
    """A value as JSON has it. Members that are OMIT are left out."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: serialized(member) for name, member in value.items() if not isinstance(member, Omit)}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [serialized(entry) for entry in value]
    return value


def _query_pairs(name: str, value: object) -> list[tuple[str, str]]:
    """Lists are sent as repeated names, and mappings as `name[member]`."""
    if value is None or isinstance(value, Omit):
        return []
    if isinstance(value, Mapping):
        return [pair for key, member in value.items() for pair in _query_pairs(f"{name}[{key}]", member)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [pair for entry in value for pair in _query_pairs(name, entry)]
    if isinstance(value, bool):
        return [(name, "true" if value else "false")]
    return [(name, value.isoformat() if isinstance(value, datetime) else str(value))]


def pause_before_retry(error: ErrandError, retries: int) -> float | None:
    """Returns the seconds after which the same request may succeed, or None if a retry is useless."""
    default = min(FIRST_PAUSE * 2.0**retries, LONGEST_PAUSE) * (1 - JITTER * random.random())  # noqa: S311
    if isinstance(error, APIConnectionError):
        return default
    if not isinstance(error, APIError) or not _is_retried(error):
        return None
    asked = _pause_of_server(error.response.headers)
    if asked is None:
        return default
    return asked if asked <= LONGEST_SERVER_PAUSE else None


def _is_retried(error: APIError) -> bool:
    """The server's own word wins over the status."""
    word = error.response.headers.get("x-should-retry")
    if word in ("true", "false"):
        return bool(word == "true")
    return error.status in RETRIED_STATUSES or error.status >= 500


def _pause_of_server(headers: httpx.Headers) -> float | None:
    """Reads `retry-after-ms`, and `retry-after` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"\s*\d+(\.\d+)?\s*", text) else None
