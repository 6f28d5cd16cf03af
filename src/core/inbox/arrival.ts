import type { Principal } from "../people/principal.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { RunService } from "../runs/run-service.ts";
import type { Storage } from "../storage.ts";
import type { Thread } from "../threads/thread.ts";
import type { InboundMessage, ThreadAdapter } from "../threads/thread-adapter.ts";
import type { InboxResult } from "./settlement.ts";

export interface InboxProcessorDeps {
  readonly storage: Storage;
  readonly runs: RunService;
  readonly adapters: ReadonlyMap<string, ThreadAdapter>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A message with all that is known of it when it is decided upon. */
export interface MessageContext {
  readonly message: InboundMessage;
  readonly trigger: string;
  readonly adapter: ThreadAdapter;
  readonly author: Principal;
  /** What the platform proved when it was asked: the author's permission, and more about the place. */
  readonly proven: Readonly<Record<string, unknown>>;
  /** Its row may not exist yet; then `id` is what it will be called. */
  readonly thread: Thread;
  readonly settles: Omit<InboxResult, "disposition" | "runId">;
}
