"""What the client logs: requests, responses and retries, but no key, no body, no header and no query."""

from __future__ import annotations

import logging
import os
from urllib.parse import urlsplit

import httpx

from ._request import Request
from .errors import ErrandError

logger = logging.getLogger("errand")
logger.addHandler(logging.NullHandler())


def set_up_logging() -> None:
    """Writes to standard error if the variable ERRAND_LOG is `info` or `debug`, whatever the program does with its logs."""
    level = os.environ.get("ERRAND_LOG", "").strip().upper()
    if level not in ("INFO", "DEBUG"):
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[%(asctime)s %(name)s %(levelname)s] %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(level)
    # The handlers of the program would write each line again.
    logger.propagate = False


def log_request(request: Request, retries: int) -> None:
    logger.debug("%s %s%s", request.method, _path(request), f" (retry {retries})" if retries else "")


def log_response(request: Request, response: httpx.Response) -> None:
    request_id = response.headers.get("x-request-id", "none")
    logger.info("%s %s: status %s, request %s", request.method, _path(request), response.status_code, request_id)


def log_failure(request: Request, error: ErrandError, pause: float | None) -> None:
    """The status stands in a line of its own, and the text of the error may contain what was sent."""
    after = "no retry" if pause is None else f"retry in {pause:.2f} s"
    logger.info("%s %s failed: %s, %s", request.method, _path(request), type(error).__name__, after)


def _path(request: Request) -> str:
    return urlsplit(request.url).path
