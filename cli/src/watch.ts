import { emitKeypressEvents } from "node:readline";
import { type Errand, type RunEvent, type RunItem, type StreamReset, withHiddenShown } from "@errand/client";
import { type Command, Option } from "commander";
import { askChoice, askConfirm, askText } from "./ask.ts";
import type { Cli } from "./cli.ts";
import { ENDED, EventText, outcomeText } from "./event-text.ts";
import { CliError, EXIT, Exit, exitCodeOfRun } from "./failure.ts";
import { keepLastRun } from "./find-run.ts";
import { cutText, type Output, parseDuration, safeText } from "./output.ts";

export interface WatchOptions {
  /** Questions of the agent are asked at once, if there is a terminal. */
  readonly asks?: boolean;
  /** Begins with the last events, at most this many. */
  readonly tail?: number;
  readonly after?: number;
}

/** How a command shows a run until its end. */
export interface EndOptions {
  readonly follow?: boolean;
  readonly wait?: boolean;
  readonly waitBlocked?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
}

const FRAMES = Array.from("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏");
const FRAME_MS = 100;
/** While the server restarts, the command tries again, with pauses of up to 8 s. */
const RECONNECTS = 60;
const KEYS = "q detach · c cancel · a answer · f follow up";
const LOST = "The connection to the server is lost. Trying again …";
const ERASE_LINE = "\r\u001b[2K";

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
  { follow, timeout, wait, waitBlocked }: EndOptions,
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
    if (cli.output.isJson) {
      cli.output.json(run);
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

/** What to do with a run that continues without this terminal. */
export function detachedText(runId: string): string {
  return `The run continues. Watch it: errand watch ${runId}\nCancel it: errand cancel ${runId}`;
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
      cli.output.note(detachedText(runId));
      throw new Exit(EXIT.interrupted);
    }
    throw error;
  } finally {
    process.off("SIGINT", detach);
  }
  cli.output.write(text.endLine());
  return client.runs.retrieve(runId);
}

/** The events of a run on a terminal: text that scrolls, and below it a line that says what happens now. */
class LiveScreen {
  readonly #client: Errand;
  readonly #options: WatchOptions;
  readonly #output: Output;
  readonly #runId: string;
  readonly #text: EventText;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #frame = 0;
  /** The status line is below the text. It is absent within a line of the agent and while a question is asked. */
  #hasStatus = false;
  #isAsking = false;
  #isConnected = true;
  #isWithinLine = false;
  #work: Promise<void> = Promise.resolve();
  #askedPermission: string | undefined;
  #failure: unknown;

  constructor(cli: Cli, client: Errand, runId: string, options: WatchOptions) {
    this.#client = client;
    this.#output = cli.output;
    this.#options = options;
    this.#runId = runId;
    this.#text = new EventText(cli.output);
    this.#timer = setInterval(() => this.#drawStatus(), FRAME_MS);
  }

  async show(): Promise<RunItem> {
    this.#listenForKeys(true);
    try {
      const { after, tail } = this.#options;
      const events = this.#client.runs.events(
        this.#runId,
        { after, tail },
        {
          signal: this.#stop.signal,
          maxReconnects: RECONNECTS,
          onConnectionChange: (isConnected) => this.#setConnected(isConnected),
        },
      );
      for await (const event of events) {
        // Text that arrives while a question is asked is shown afterwards.
        await this.#work;
        this.#add(event);
      }
    } catch (error) {
      throw this.#failure ?? error;
    } finally {
      clearInterval(this.#timer);
      this.#listenForKeys(false);
      this.#eraseStatus();
    }
    this.#output.write(this.#text.endLine());
    return this.#client.runs.retrieve(this.#runId);
  }

  #add(event: RunEvent | StreamReset): void {
    const text = this.#text.add(event);
    if (text !== "") {
      this.#eraseStatus();
      this.#output.write(text);
      this.#isWithinLine = !text.endsWith("\n");
    }
    this.#drawStatus();
    if (event.kind === "permission.requested" && this.#options.asks === true) {
      this.#ask(() => this.#answer());
    }
  }

  #setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#endLine();
    this.#drawStatus();
  }

  #drawStatus(): void {
    if (this.#isAsking || this.#isWithinLine || ENDED.has(this.#text.state)) {
      return;
    }
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = `${FRAMES[this.#frame]} ${this.#isConnected ? this.#text.activity : LOST}`;
    const room = this.#output.width - 1;
    const withKeys = `${text}   ${KEYS}`;
    const line = cutText(withKeys.length <= room ? withKeys : text, room);
    this.#output.write(`${ERASE_LINE}${this.#output.style("dim", line)}`);
    this.#hasStatus = true;
  }

  #endLine(): void {
    if (this.#isWithinLine) {
      this.#output.write(this.#text.endLine());
      this.#isWithinLine = false;
    }
  }

  #eraseStatus(): void {
    if (this.#hasStatus) {
      this.#output.write(ERASE_LINE);
      this.#hasStatus = false;
    }
  }

  #listenForKeys(isOn: boolean): void {
    const { stdin } = process;
    stdin.setRawMode(isOn);
    stdin.off("keypress", this.#onKey);
    if (isOn) {
      emitKeypressEvents(stdin);
      stdin.on("keypress", this.#onKey).resume();
    } else {
      stdin.pause();
    }
  }

  readonly #onKey = (
    _: string | undefined,
    { ctrl, name }: { readonly name?: string; readonly ctrl?: boolean },
  ) => {
    if (this.#isAsking) {
      return;
    }
    if (name === "q" || (ctrl === true && (name === "c" || name === "d"))) {
      this.#end(new Exit(name === "q" ? EXIT.ok : EXIT.interrupted));
      this.#eraseStatus();
      this.#output.note(detachedText(this.#runId));
    } else if (name === "c") {
      this.#ask(() => this.#cancel());
    } else if (name === "a") {
      this.#ask(() => this.#answer());
    } else if (name === "f") {
      this.#ask(() => this.#followUp());
    }
  };

  #end(failure: unknown): void {
    this.#failure = failure;
    this.#stop.abort();
  }

  /** Asks a question. Meanwhile the keys belong to it, and events wait. */
  #ask(question: () => Promise<void>): void {
    this.#eraseStatus();
    this.#endLine();
    this.#isAsking = true;
    process.stdin.off("keypress", this.#onKey);
    this.#work = question()
      .catch((error: unknown) => {
        // Escape or Ctrl-C in a question only leaves the question.
        if (!(error instanceof Exit)) {
          this.#output.note(
            this.#output.style("red", error instanceof Error ? error.message : String(error)),
          );
        }
      })
      .finally(() => {
        this.#isAsking = false;
        this.#listenForKeys(true);
      });
  }

  async #cancel(): Promise<void> {
    if (await askConfirm("Cancel the run?")) {
      await this.#client.runs.cancel(this.#runId);
    }
  }

  async #followUp(): Promise<void> {
    const message = (await askText("Follow-up")).trim();
    if (message !== "") {
      await this.#client.runs.followUp(this.#runId, { message });
    }
  }

  async #answer(): Promise<void> {
    const { permission } = await this.#client.runs.retrieve(this.#runId);
    if (permission === undefined || permission.permission_id === this.#askedPermission) {
      return;
    }
    const choices = permission.options.map(({ name, option_id }) => ({
      value: option_id,
      label: withHiddenShown(name),
    }));
    const option_id = await askChoice(safeText(withHiddenShown(permission.title)), choices);
    await this.#client.runs.answer(this.#runId, permission.permission_id, { option_id });
    this.#askedPermission = permission.permission_id;
  }
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
