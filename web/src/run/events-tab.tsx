import "./tabs.css";
import { type RunEvent, withHiddenShown } from "@errand/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { copy } from "../parts/copy.ts";
import { exactTime, plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { ScrollBox } from "../parts/scroll-box.tsx";
import { client } from "../server/client.ts";
import { cutLines } from "./text/marks.ts";

const PAGE = 200;
const ROW_PX = 33;

/** The log as it is stored, the newest event first. */
export function EventsTab({ runId, eventCount }: { readonly runId: string; readonly eventCount: number }) {
  // The newest event when the tab was opened: what comes later does not move what is read.
  const [newest, setNewest] = useState(eventCount);
  const log = useInfiniteQuery({
    queryKey: ["events", runId, newest],
    queryFn: ({ pageParam, signal }) =>
      client.runs.storedEvents(runId, { before: pageParam, limit: PAGE }, { signal }),
    initialPageParam: newest + 1,
    getNextPageParam: ({ next_before: before }) => before,
  });
  const events = log.data?.pages.flatMap(({ events: page }) => page.toReversed()) ?? [];
  const list = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => setMargin((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), []);
  const virtualizer = useWindowVirtualizer({
    count: events.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => events[index]?.seq ?? index,
    overscan: 20,
    scrollMargin: margin,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = log;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= events.length - 20) {
      void fetchNextPage();
    }
  }, [last, events.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <div className="events">
      {eventCount > newest && (
        <button type="button" className="btn" onClick={() => setNewest(eventCount)}>
          Show {plural(eventCount - newest, "newer event")}
        </button>
      )}
      {log.isPending && <Loading what="the events" />}
      {log.error && <Problem error={log.error} onRetry={() => void log.refetch()} />}
      <div ref={list} className="entries" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const event = events[index];
          return (
            event && (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className="entry-row"
                style={{ transform: `translateY(${start - margin}px)` }}
              >
                <Event event={event} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function Event({ event }: { readonly event: RunEvent }) {
  const [isOpen, setOpen] = useState(false);
  const { at, kind, seq, turn, ...members } = event;
  const short = JSON.stringify(members).slice(0, 300);
  return (
    <div className="event">
      <button type="button" className="event-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="faint num">{seq}</span>
        <time className="faint num" dateTime={at} title={exactTime(at)}>
          {new Date(at).toLocaleTimeString()}
        </time>
        <b>{kind}</b>
        <span className="one mono faint">{withHiddenShown(short)}</span>
        <Icon name="chevron" className="chevron" />
      </button>
      {isOpen && (
        <div className="event-body">
          <ScrollBox className="event-json" label={`Event ${seq}`}>
            <pre>{withHiddenShown(cutLines(JSON.stringify(event, null, 2)))}</pre>
          </ScrollBox>
          <button type="button" className="btn" onClick={() => copy(JSON.stringify(event, null, 2), "Event")}>
            <Icon name="copy" /> Copy
          </button>
        </div>
      )}
    </div>
  );
}
