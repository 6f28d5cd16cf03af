# Written by scripts/clients.py. Do not edit.
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from .._model import Model

ItemT = TypeVar("ItemT")
PageT = TypeVar("PageT", bound=Model)


class Paginator(Generic[ItemT, PageT]):
    """A list. Iterated with `for`, it yields all entries, and requests each page when it is needed."""

    def __init__(self, read: Callable[[str | None], PageT], entries: str) -> None:
        self._read = read
        self._entries = entries

    def first_page(self) -> PageT:
        """Requests one page."""
        return self._read(None)

    def pages(self) -> Iterator[PageT]:
        """Yields all pages."""
        cursor: str | None = None
        while True:
            page = self._read(cursor)
            yield page
            cursor = getattr(getattr(page, "page_info", None), "next_cursor", None)
            if cursor is None:
                return

    def __iter__(self) -> Iterator[ItemT]:
        for page in self.pages():
            for entry in getattr(page, self._entries):
                yield entry
