import { createInterface } from "node:readline";
import type { Errand, RunItem } from "@errand/client";
import { type Command, Option } from "commander";
import type { Cli } from "./cli.ts";
import { EventText, outcomeText } from "./event-text.ts";
import { CliError, EXIT, Exit, exitCodeOfRun } from "./failure.ts";
import { keepLastRun } from "./find-run.ts";
import { detachedText, LiveScreen, LOST, RECONNECTS, type WatchOptions } from "./live-screen.ts";
import { parseDuration, safeText } from "./output.ts";

/** How a command shows a run until its end. */
export interface EndOptions {
  readonly follow?: boolean;
  readonly wait?: boolean;
  readonly waitBlocked?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  /** The file with the schema that the answer matches: as JSON, only the value that matches is written. */
  readonly outputSchema?: string;
}

/** Adds the options by which a command shows a run until its end. */
export function withEndOptions(command: Command): Command {
  return command
    .option("-f, --follow", "show the run until it ends, and ask its questions")
    .addOption(
      new Option(
        "-w, --wait",
        "wait for the end and print the result; exit code 6: the push, the pull request or files are missing",
      ).conflicts("follow"),
    )
    .addOption(new Option("--wait-blocked", "wait also while a person has to answer").implies({ wait: true }))
    .addOption(
      new Option("--timeout <duration>", "wait at most this long, for example 30m")
        .argParser(parseDuration)
        .implies({ wait: true }),
    );
}

/** Shows the run until its end if the options say so, and then throws its exit code. */
export async function followOrWait(
  cli: Cli,
  runId: string,
  { follow, outputSchema, timeout, wait, waitBlocked }: EndOptions,
  after?: number,
): Promise<void> {
  if (follow === true) {
    const { session_link: page } = await (await cli.client()).runs.retrieve(runId);
    cli.output.note(page === undefined ? `Run ${runId}` : `Run ${runId}: ${page}`);
    await watchRun(cli, runId, { asks: true, ...(after !== undefined && { after }) });
  }
  if (wait === true) {
    if (cli.output.isTerminal) {
      cli.output.note(cli.output.style("dim", `Waiting for run ${runId} …`));
    }
    const run = await waitForRun(cli, runId, { timeoutMs: timeout, untilBlocked: waitBlocked !== true });
    if (cli.output.isJson && outputSchema === undefined) {
      cli.output.json(run);
    } else if (cli.output.isJson) {
      // Without a value that matches, there is only the reason, which is no result.
      if (run.result?.data !== undefined) {
        cli.output.json(run.result.data);
      }
    } else if (run.result !== undefined) {
      cli.output.line(safeText(run.result.text).trimEnd());
    }
    cli.output.note(outcomeText(cli.output, run));
    throw new Exit(exitCodeOfRun(run));
  }
}

/** Shows a run live until it has ended, and throws its exit code. */
export async function watchRun(cli: Cli, runId: string, options: WatchOptions = {}): Promise<void> {
  const client = await cli.client();
  const run = cli.isInteractive
    ? await new LiveScreen(cli, client, runId, options).show()
    : await printEvents(cli, client, runId, options);
  cli.output.note(outcomeText(cli.output, run));
  throw new Exit(exitCodeOfRun(run));
}

function noteLoss({ output }: Cli): (isConnected: boolean) => void {
  return (isConnected) => {
    if (!isConnected) {
      output.note(LOST);
    }
  };
}

async function printEvents(cli: Cli, client: Errand, runId: string, options: WatchOptions): Promise<RunItem> {
  const text = new EventText(cli.output);
  const { after, tail } = options;
  const stop = new AbortController();
  const detach = () => stop.abort();
  process.once("SIGINT", detach);
  const input = options.types === true ? sendLines(cli, client, runId) : undefined;
  try {
    for await (const event of client.runs.events(
      runId,
      { after, tail },
      { signal: stop.signal, maxReconnects: RECONNECTS, onConnectionChange: noteLoss(cli) },
    )) {
      if (cli.output.isJson) {
        cli.output.json(event);
      } else {
        cli.output.write(text.add(event));
      }
    }
  } catch (error) {
    if (stop.signal.aborted) {
      cli.output.write(text.endLine());
      cli.output.note(detachedText(runId, options.types === true ? "attach" : "watch"));
      throw new Exit(EXIT.interrupted);
    }
    throw error;
  } finally {
    process.off("SIGINT", detach);
    input?.close();
  }
  cli.output.write(text.endLine());
  return client.runs.retrieve(runId);
}

/** Sends each line of standard input as a follow-up, one after the other. */
function sendLines({ output }: Cli, client: Errand, runId: string): { close(): void } {
  const input = createInterface({ input: process.stdin });
  let sent: Promise<unknown> = Promise.resolve();
  input.on("line", (line) => {
    const message = line.trim();
    if (message !== "") {
      sent = sent
        .then(() => client.runs.followUp(runId, { message }))
        .catch((error: unknown) => output.note(error instanceof Error ? error.message : String(error)));
    }
  });
  return input;
}

/** Waits for the end of a run without showing it. Throws when it takes longer than `timeoutMs`. */
async function waitForRun(
  cli: Cli,
  runId: string,
  { timeoutMs, untilBlocked }: { readonly timeoutMs?: number | undefined; readonly untilBlocked: boolean },
): Promise<RunItem> {
  const client = await cli.client();
  const interrupt = new AbortController();
  const detach = () => interrupt.abort();
  process.once("SIGINT", detach);
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([interrupt.signal, ...(timeout === undefined ? [] : [timeout])]);
  try {
    const options = { signal, untilBlocked, maxReconnects: RECONNECTS, onConnectionChange: noteLoss(cli) };
    return await client.runs.waitForCompletion(runId, options);
  } catch (error) {
    if (interrupt.signal.aborted) {
      cli.output.note(detachedText(runId));
      throw new Exit(EXIT.interrupted);
    }
    if (timeout?.aborted) {
      throw new CliError("The run has not ended in time.", detachedText(runId).split("\n")[0], EXIT.timedOut);
    }
    throw error;
  } finally {
    process.off("SIGINT", detach);
  }
}

/** Waits for a run that tests something, and says how it ended. */
export async function reportTest(cli: Cli, { run_id }: { readonly run_id: string }): Promise<void> {
  await keepLastRun(cli, run_id);
  const run = await waitForRun(cli, run_id, { untilBlocked: true });
  if (cli.output.isJson) {
    cli.output.json(run);
  } else {
    cli.output.line(outcomeText(cli.output, run));
  }
  if (run.state !== "SUCCEEDED") {
    throw new Exit(EXIT.failed);
  }
}
