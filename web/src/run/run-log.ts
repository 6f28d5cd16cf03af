import type { RunEvent, RunItem, RunState } from "@errand/client";
import { useEffect, useState, useSyncExternalStore } from "react";
import { client } from "../server/client.ts";
import type { Row } from "./conversation/blocks.ts";
import type { Facts } from "./conversation/conversation.ts";
import type { Entry, FollowUpEntry } from "./conversation/entries.ts";
import { Timeline } from "./conversation/timeline.ts";

const PAGE = 500;
/** Beyond this size of JSON, earlier pages are read only when the reader scrolls to them. */
const IDLE_LENGTH_MAX = 48_000_000;
const RECONNECT_MS = 5_000;
const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

/** Whether the run lasts for the first time, was continued after its end, or was continued and has ended again. */
type Phase = "first" | "continued" | "over";

/** What the page shows of a log. */
export interface RunLogView {
  readonly version: number;
  readonly rows: readonly Row[];
  readonly held: readonly FollowUpEntry[];
  readonly facts: Facts;
  /** How many events the log has. */
  readonly eventCount: number;
  /** How many of them are in the entries. */
  readonly loadedCount: number;
  readonly isLoaded: boolean;
  /** Earlier events exist that are not shown yet. */
  readonly hasEarlier: boolean;
  readonly isConnected: boolean;
  readonly error: unknown;
}

/**
 * The log of a run: its end first, then live events while the tab is visible and the run lasts, and earlier pages when
 * the browser has nothing else to do.
 */
export class RunLog {
  readonly #runId: string;
  readonly #timeline = new Timeline();
  readonly #listeners = new Set<() => void>();
  /** Earlier events that are read but not folded yet, the newest page first. */
  #waiting: (readonly RunEvent[])[] = [];
  #before: number | undefined;
  #readLength = 0;
  #reading: Promise<void> | undefined;
  #readsInIdleTime = false;
  #stop: AbortController | undefined;
  #stream: AbortController | undefined;
  #isDrawing = false;
  #isLoaded = false;
  #isConnected = true;
  /** The last change of the run up to which the log of an ended run was read. */
  #readUntil = "";
  #error: unknown;
  #view: RunLogView;

  constructor(runId: string) {
    this.#runId = runId;
    this.#view = this.#newView(0);
  }

  get view(): RunLogView {
    return this.#view;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Reads the log until the returned function is called. */
  open(): () => void {
    const stop = new AbortController();
    this.#stop = stop;
    const onVisibility = () => this.#follow();
    document.addEventListener("visibilitychange", onVisibility);
    void this.#start(stop.signal);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      stop.abort();
      this.#stream?.abort();
      this.#stream = undefined;
    };
  }

  /** Called when the run has changed: a follow-up continues a run that had ended, and its turn may be over already. */
  resume({ state, updated_at }: Pick<RunItem, "state" | "updated_at">): void {
    if (!ENDED.has(state)) {
      this.followContinued();
    } else if (
      updated_at > (this.#timeline.conversation.facts.stateAt ?? "") &&
      updated_at > this.#readUntil
    ) {
      this.#readUntil = updated_at;
      this.#follow("over");
    }
  }

  /** Follows the run although the log says that it has ended. */
  followContinued(): void {
    this.#follow("continued");
  }

  find(key: string): Entry | undefined {
    return this.#timeline.conversation.find(key);
  }

  get entries(): readonly Entry[] {
    return this.#timeline.conversation.entries;
  }

  toggleFold(key: string): void {
    this.#timeline.toggleFold(key);
    this.#changed();
  }

  /** Shows an earlier part of the log. */
  async loadEarlier(): Promise<void> {
    if (this.#waiting.length === 0) {
      await this.#readEarlier();
    }
    this.#foldWaiting();
  }

  /** Shows the log back to the entry of this key. Without such an entry, or without a key, it shows the whole log. */
  async loadUntil(key?: string): Promise<void> {
    while ((key === undefined || this.find(key) === undefined) && this.#view.hasEarlier) {
      const before = this.#before;
      await this.#readEarlier();
      this.#foldDoubled();
      if (this.#before === before) {
        // The page could not be read.
        return;
      }
    }
  }

  async #start(signal: AbortSignal): Promise<void> {
    try {
      if (!this.#isLoaded) {
        const page = await client.runs.storedEvents(this.#runId, { tail: PAGE }, { signal });
        this.#timeline.append(page.events);
        this.#before = page.next_before;
        this.#isLoaded = true;
        this.#error = undefined;
        this.#changed();
      }
      this.#follow();
    } catch (error) {
      if (!signal.aborted) {
        this.#error = error;
        this.#changed();
      }
    }
  }

  /** Opens the stream when there is something to follow and a visible page, and closes it otherwise. */
  #follow(phase: Phase = "first"): void {
    const { facts } = this.#timeline.conversation;
    if (this.#isLoaded && document.visibilityState === "visible") {
      void this.#readInIdleTime();
    }
    const hasEnded = phase === "first" && facts.state !== undefined && ENDED.has(facts.state);
    if (document.visibilityState !== "visible") {
      this.#stream?.abort();
      this.#stream = undefined;
    } else if (this.#isLoaded && this.#stream === undefined && !hasEnded && !this.#stop?.signal.aborted) {
      this.#stream = new AbortController();
      void this.#read(this.#stream.signal, phase);
    }
  }

  async #read(signal: AbortSignal, phase: Phase): Promise<void> {
    const isContinued = phase === "continued";
    try {
      const after = this.#timeline.conversation.last;
      if (!this.#isConnected) {
        // A stream says nothing before its first event.
        await client.runs.storedEvents(this.#runId, { after, limit: 1 }, { signal });
        this.#isConnected = true;
        this.#changed();
      }
      for await (const event of client.runs.events(this.#runId, { after, follow: isContinued }, { signal })) {
        if (event.kind === "reset") {
          continue;
        }
        this.#append(event);
        // A stream that follows a continued run has no end of its own.
        if (isContinued && event.kind === "run.state" && ENDED.has(event.to)) {
          break;
        }
      }
      this.#stream = undefined;
    } catch {
      if (!signal.aborted) {
        this.#stream = undefined;
        this.#isConnected = false;
        this.#changed();
        setTimeout(() => this.#follow(phase), RECONNECT_MS);
      }
    }
  }

  #pending: RunEvent[] = [];

  /** Events that arrive together are folded and drawn together. */
  #append(event: RunEvent): void {
    this.#pending.push(event);
    if (this.#isDrawing) {
      return;
    }
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#timeline.append(this.#pending.splice(0));
      this.#changed();
    });
  }

  async #readInIdleTime(): Promise<void> {
    const signal = this.#stop?.signal;
    if (this.#readsInIdleTime || signal === undefined) {
      return;
    }
    this.#readsInIdleTime = true;
    while (this.#before !== undefined && this.#readLength < IDLE_LENGTH_MAX) {
      const before = this.#before;
      await idle();
      if (signal.aborted || document.visibilityState !== "visible") {
        break;
      }
      await this.#readEarlier();
      await idle();
      this.#foldDoubled();
      if (this.#before === before) {
        break;
      }
    }
    this.#readsInIdleTime = false;
  }

  /** Reads the page before the first event. Only one is read at a time. */
  #readEarlier(): Promise<void> {
    this.#reading ??= this.#readPage().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readPage(): Promise<void> {
    const before = this.#before;
    if (before === undefined) {
      return;
    }
    try {
      const signal = this.#stop?.signal;
      const page = await client.runs.storedEvents(this.#runId, { before, limit: PAGE }, signal && { signal });
      this.#waiting.unshift(page.events);
      this.#before = page.next_before;
      this.#readLength += JSON.stringify(page.events).length;
    } catch {
      // The reader scrolls again, or the page becomes visible again.
    }
  }

  /** Folding is dear with many entries, so the known part at least doubles each time. */
  #foldDoubled(): void {
    const waiting = this.#waiting.reduce((sum, page) => sum + page.length, 0);
    const { first, last } = this.#timeline.conversation;
    if (waiting > last - first || this.#before === undefined) {
      this.#foldWaiting();
    }
  }

  #foldWaiting(): void {
    if (this.#waiting.length > 0) {
      this.#timeline.prepend(this.#waiting.flat());
      this.#waiting = [];
      this.#changed();
    }
  }

  #changed(): void {
    this.#view = this.#newView(this.#view.version + 1);
    for (const listener of this.#listeners) {
      listener();
    }
  }

  #newView(version: number): RunLogView {
    const { conversation, rows } = this.#timeline;
    return {
      version,
      // A copy, because the timeline changes its rows in place.
      rows: rows.slice(),
      held: conversation.held,
      facts: conversation.facts,
      eventCount: conversation.last,
      loadedCount: conversation.last === 0 ? 0 : conversation.last - conversation.first + 1,
      isLoaded: this.#isLoaded,
      hasEarlier: this.#before !== undefined || this.#waiting.length > 0,
      isConnected: this.#isConnected,
      error: this.#error,
    };
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === "function") {
      requestIdleCallback(() => resolve(), { timeout: 2_000 });
    } else {
      setTimeout(resolve, 100);
    }
  });
}

export function useRunLog(runId: string): { readonly log: RunLog; readonly view: RunLogView } {
  const [log] = useState(() => new RunLog(runId));
  useEffect(() => log.open(), [log]);
  const view = useSyncExternalStore(log.subscribe, () => log.view);
  return { log, view };
}
