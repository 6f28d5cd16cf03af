import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { RunEvent } from "../../model/runs/events.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { eventPages, type LogPart } from "../../runs/event-pages.ts";
import type { AttemptDeps } from "./attempt-deps.ts";

/** Reads the log of a run event by event. Waits for a database that is unreachable for a short time. */
export async function* readLog(
  { clock, storage }: Pick<AttemptDeps, "clock" | "storage">,
  part: LogPart,
): AsyncGenerator<RunEvent> {
  const readEvents: Storage["runs"]["readEvents"] = (...args) =>
    retry(clock, WHILE_UNAVAILABLE, () => storage.runs.readEvents(...args));
  for await (const page of eventPages({ readEvents }, part)) {
    yield* page;
  }
}
