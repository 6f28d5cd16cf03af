import { emitKeypressEvents } from "node:readline";
import { type Errand, type RunEvent, type RunItem, type StreamReset, withHiddenShown } from "@errand/client";
import widthOf from "fast-string-width";
import { askChoice, askConfirm, askText } from "./ask.ts";
import type { Cli } from "./cli.ts";
import { ENDED, EventText } from "./event-text.ts";
import { EXIT, Exit, type ExitCode } from "./failure.ts";
import { cutText, type Output, safeText } from "./output.ts";

export interface WatchOptions {
  /** Questions of the agent are asked at once, if there is a terminal. */
  readonly asks?: boolean;
  /** Begins with the last events, at most this many. */
  readonly tail?: number;
  readonly after?: number;
  /** What is typed, or the lines of standard input, are follow-ups. */
  readonly types?: boolean;
}

const FRAMES = Array.from("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏");
const FRAME_MS = 100;
const KEYS = "q detach · c cancel · a answer · f follow up";
const TYPES = "write a follow-up · Ctrl-C detach";
/** While the server restarts, the command tries again, with pauses of up to 8 s. */
export const RECONNECTS = 60;
export const LOST = "The connection to the server is lost. Trying again …";
const ERASE_LINE = "\r\u001b[2K";
/** Makes room below, stores the position, goes to the beginning of the line below. */
const BELOW = "\u001bD\u001b[A\u001b7\u001b[B\r";
const BACK = "\u001b8";
const ERASE_BELOW = "\u001b[J";

/** What to do with a run that continues without this terminal. */
export function detachedText(runId: string, command: "watch" | "attach" = "watch"): string {
  const back = command === "watch" ? `Watch it: errand watch ${runId}` : `Come back: errand attach ${runId}`;
  return `The run continues. ${back}\nCancel it: errand cancel ${runId}`;
}

/** The events of a run on a terminal: text that scrolls, and below it a line that says what happens now. */
export class LiveScreen {
  readonly #client: Errand;
  readonly #options: WatchOptions;
  readonly #output: Output;
  readonly #runId: string;
  readonly #text: EventText;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #frame = 0;
  /** The follow-up that is being written. */
  #draft = "";
  /** The status line is below the text. It is absent while a question is asked. */
  #hasStatus = false;
  #isAsking = false;
  #isConnected = true;
  /** The line of the agent that is not complete. */
  #openLine = "";
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
      const lastLine = text.slice(text.lastIndexOf("\n") + 1);
      this.#openLine = text.includes("\n") ? lastLine : this.#openLine + lastLine;
    }
    this.#drawStatus();
    if (event.kind === "permission.requested" && this.#options.asks === true) {
      this.#ask(() => this.#answer());
    }
  }

  #setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#drawStatus();
  }

  #drawStatus(): void {
    if (this.#isAsking || ENDED.has(this.#text.state) || this.#isAtEdge()) {
      return;
    }
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const room = this.#output.width - 1;
    const line = this.#draft === "" ? this.#activity(room) : endOf(`> ${this.#draft}`, room);
    this.#output.write(
      this.#openLine === "" ? `${ERASE_LINE}${line}` : `${BELOW}${ERASE_LINE}${line}${BACK}`,
    );
    this.#hasStatus = true;
  }

  #activity(room: number): string {
    const text = `${FRAMES[this.#frame]} ${this.#isConnected ? this.#text.activity : LOST}`;
    const withKeys = `${text}   ${this.#options.types === true ? TYPES : KEYS}`;
    return this.#output.style("dim", cutText(withKeys.length <= room ? withKeys : text, room));
  }

  /** Behind a full row, terminals differ in where the next character goes after the position was stored. */
  #isAtEdge(): boolean {
    return this.#openLine !== "" && widthOf(this.#openLine) % this.#output.width === 0;
  }

  #endLine(): void {
    this.#openLine = "";
    this.#output.write(this.#text.endLine());
  }

  #eraseStatus(): void {
    if (this.#hasStatus) {
      this.#output.write(this.#openLine === "" ? ERASE_LINE : ERASE_BELOW);
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
    text: string | undefined,
    { ctrl, name }: { readonly name?: string; readonly ctrl?: boolean },
  ) => {
    if (this.#isAsking) {
      return;
    }
    if (ctrl === true && (name === "c" || name === "d")) {
      this.#detach(EXIT.interrupted);
    } else if (this.#options.types === true) {
      this.#write(text, name);
    } else if (name === "q") {
      this.#detach(EXIT.ok);
    } else if (name === "c") {
      this.#ask(() => this.#cancel());
    } else if (name === "a") {
      this.#ask(() => this.#answer());
    } else if (name === "f") {
      this.#ask(() => this.#followUp());
    }
  };

  #detach(code: ExitCode): void {
    this.#end(new Exit(code));
    this.#eraseStatus();
    this.#endLine();
    this.#output.note(detachedText(this.#runId, this.#options.types === true ? "attach" : "watch"));
  }

  /** Adds to the follow-up that is being written. Enter sends it. */
  #write(text = "", name?: string): void {
    if (name === "return" || name === "enter") {
      const message = this.#draft.trim();
      this.#draft = "";
      void this.#send(message);
    } else if (name === "backspace") {
      this.#draft = Array.from(this.#draft).slice(0, -1).join("");
    } else {
      this.#draft += safeText(text).replaceAll(/[\n\t]/g, "");
    }
    this.#drawStatus();
  }

  async #send(message: string): Promise<void> {
    if (message === "") {
      return;
    }
    try {
      await this.#client.runs.followUp(this.#runId, { message });
    } catch (error) {
      this.#eraseStatus();
      this.#endLine();
      this.#output.note(this.#output.style("red", error instanceof Error ? error.message : String(error)));
    }
  }

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
    await this.#send((await askText("Follow-up")).trim());
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

/** The end of a text that is too wide for a line, because there the next character is written. */
function endOf(text: string, room: number): string {
  const characters = Array.from(text.slice(-2 * room));
  while (widthOf(characters.join("")) > room) {
    characters.shift();
  }
  return characters.join("");
}
