import type { Errand, RunItem } from "@errand/client";
import type { Cli } from "./cli.ts";
import { UsageError } from "./failure.ts";
import { oneLine } from "./output.ts";

export const RUN_HELP = "an id, the beginning of one, a session link, or @last";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
/** The beginning of an id. Eight digits name the time at which the run was created, to about a minute. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}$/;
const TIME_DIGITS = 8;
/** The last of these digits counts units of 65,536 ms. */
const TIME_UNIT_MS = 2 ** 16;
/** The id is made shortly before the run is stored. */
const TOLERANCE_MS = 60_000;

/** Finds the id of the run that the user named. */
export async function findRunId(cli: Cli, name: string): Promise<string> {
  if (name === "@last") {
    const { url } = await cli.connection();
    const id = (await cli.settings.read()).lastRuns[url];
    if (id === undefined) {
      throw new UsageError("You have not started a run on this server.", "List runs with: errand runs list");
    }
    return id;
  }
  const text = name.toLowerCase();
  if (text.includes("/")) {
    return (
      await findOne(cli, UUID.exec(text)?.[0] ?? "", (run, id) => [run.session_id, run.run_id].includes(id))
    ).run_id;
  }
  if (UUID.exec(text)?.[0] === text) {
    return text;
  }
  if (!PREFIX.test(text)) {
    throw new UsageError(`"${name}" does not name a run.`, `Name it by ${RUN_HELP}.`);
  }
  return (await findOne(cli, text, (run, prefix) => run.run_id.startsWith(prefix))).run_id;
}

/** Keeps the id for `@last`. The run has started, so a home directory that cannot be written is no failure. */
export async function keepLastRun(cli: Cli, runId: string): Promise<void> {
  const { url } = await cli.connection();
  try {
    await cli.settings.change((stored) => ({ ...stored, lastRuns: { ...stored.lastRuns, [url]: runId } }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    cli.output.note(`! @last does not name this run: ${oneLine(reason)}`);
  }
}

async function findOne(
  cli: Cli,
  id: string,
  matches: (run: RunItem, id: string) => boolean,
): Promise<RunItem> {
  const found: RunItem[] = [];
  for await (const run of candidates(await cli.client(), id)) {
    if (id !== "" && matches(run, id)) {
      found.push(run);
    }
  }
  const [run] = found;
  if (run === undefined) {
    throw new UsageError(`No run begins with "${id}".`, "List runs with: errand runs list");
  }
  if (found.length > 1) {
    const names = found.slice(0, 3).map(({ run_id }) => run_id);
    throw new UsageError(`Several runs begin with "${id}": ${names.join(", ")}`, "Write more of the id.");
  }
  return run;
}

/** The runs that were created at the time which the id contains, or the newest ones. */
async function* candidates(client: Errand, id: string): AsyncGenerator<RunItem> {
  const digits = id.replaceAll("-", "").slice(0, TIME_DIGITS);
  const order = { sort_by: "created_at", limit: 500 } as const;
  if (digits.length < TIME_DIGITS) {
    yield* (await client.runs.list(order)).runs;
    return;
  }
  const from = Number.parseInt(digits, 16) * TIME_UNIT_MS;
  if (from > Date.now() + TOLERANCE_MS) {
    return;
  }
  yield* client.runs.list({
    ...order,
    created_after: new Date(from - TOLERANCE_MS).toISOString(),
    created_before: new Date(from + TIME_UNIT_MS + TOLERANCE_MS).toISOString(),
  });
}
