import { eventPages, type LogPart } from "../runs/event-pages.ts";
import type { RunEvent } from "../runs/events.ts";
import type { Storage } from "../storage.ts";
import type { AttemptDeps } from "./attempt-deps.ts";
import { untilAvailable } from "./until-available.ts";

/** The log of a run, event by event, as `eventPages` reads it; a database that is away for a while is waited for. */
export async function* readLog(
  { clock, storage }: Pick<AttemptDeps, "clock" | "storage">,
  part: LogPart,
): AsyncGenerator<RunEvent> {
  const readEvents: Storage["runs"]["readEvents"] = (...given) =>
    untilAvailable(clock, () => storage.runs.readEvents(...given));
  for await (const page of eventPages({ readEvents }, part)) yield* page;
}
