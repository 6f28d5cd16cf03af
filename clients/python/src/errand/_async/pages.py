from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, TypeVar

from .._model import Model

ItemT = TypeVar("ItemT")
PageT = TypeVar("PageT", bound=Model)


class AsyncPaginator(Generic[ItemT, PageT]):
    """A list. Iterated with `async for`, it yields all entries, and requests each page when it is needed."""

    def __init__(self, read: Callable[[str | None], Awaitable[PageT]], entries: str) -> None:
        self._read = read
        self._entries = entries

    async def first_page(self) -> PageT:
        """Requests one page."""
        return await self._read(None)

    async def pages(self) -> AsyncIterator[PageT]:
        """Yields all pages."""
        cursor: str | None = None
        while True:
            page = await self._read(cursor)
            yield page
            cursor = getattr(getattr(page, "page_info", None), "next_cursor", None)
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[ItemT]:
        async for page in self.pages():
            for entry in getattr(page, self._entries):
                yield entry
