from __future__ import annotations

import math
from time import monotonic

import httpx


class Deadline:
    """The end of a call with all its retries and pauses."""

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else monotonic() + seconds

    @property
    def remaining(self) -> float:
        """Seconds, not below 0."""
        return max(0.0, self._end - monotonic())

    def limited(self, timeout: float | httpx.Timeout | None) -> httpx.Timeout:
        """The timeouts of one try, none of them longer than what remains."""
        parts = httpx.Timeout(timeout).as_dict()
        remaining = self.remaining
        if math.isinf(remaining):
            return httpx.Timeout(timeout)
        return httpx.Timeout(**{name: min(value or math.inf, remaining) for name, value in parts.items()})

    def require_time(self) -> None:
        if self.remaining == 0:
            raise httpx.ReadTimeout("The total timeout has passed.")
