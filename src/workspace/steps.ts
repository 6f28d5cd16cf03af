import { randomUUID } from "node:crypto";
import { defined } from "../core/basics/defined.ts";
import type { WorkspaceStep } from "../core/model/workspaces/workspace.ts";

type Report = (step: WorkspaceStep) => void;

const BATCH_MS = 50;
const TITLE_CHARS = 200;
/** A longer output is cut in the middle, because its beginning and end say most. */
const HEAD_CHARS = 192 * 1024;
const TAIL_CHARS = 64 * 1024;

/** Reports the steps of a preparation to the readers of the run. */
export class Steps {
  readonly #report: Report;
  // A run may be prepared more than once, and each preparation has its own steps.
  readonly #preparation = randomUUID().slice(0, 8);
  #count = 0;

  constructor(report: Report) {
    this.#report = report;
  }

  begin(title: string): Step {
    this.#count += 1;
    return new Step(this.#report, `${this.#preparation}-${this.#count}`, title);
  }

  /** A step that ends together with its work. */
  async during<T>(title: string, work: (step: Step) => Promise<T>): Promise<T> {
    const step = this.begin(title);
    try {
      const done = await work(step);
      step.end("completed");
      return done;
    } catch (error) {
      step.end("failed");
      throw error;
    }
  }
}

export class Step {
  readonly #report: Report;
  readonly #about: Pick<WorkspaceStep, "kind" | "stepId" | "title">;
  readonly #output = new StepOutput();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(report: Report, stepId: string, title: string) {
    this.#report = report;
    this.#about = { kind: "workspace.step", stepId, title: shortened(title) };
    report({ ...this.#about, status: "running" });
  }

  say(text: string): void {
    if (this.#isOver) {
      return;
    }
    this.#output.add(text);
    this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  /** Can be repeated; the first end counts. */
  end(status: "completed" | "failed"): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#send(status, this.#output.end());
  }

  #flush(): void {
    this.#timer = undefined;
    const output = this.#output.take();
    if (output !== "") {
      this.#send("running", output);
    }
  }

  #send(status: WorkspaceStep["status"], output: string): void {
    this.#report({ ...this.#about, status, ...defined({ output: output === "" ? undefined : output }) });
  }
}

function shortened(title: string): string {
  const line = title.replace(/\s+/g, " ").trim();
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1)}…` : line;
}

/** Collects the output of a command: the beginning as it arrives, the end when it is known. */
class StepOutput {
  #said = 0;
  #new = "";
  #tail = "";
  #leftOut = 0;

  add(text: string): void {
    const left = Math.max(0, HEAD_CHARS - this.#said);
    const head = text.slice(0, left);
    this.#said += head.length;
    this.#new += head;
    const tail = this.#tail + text.slice(left);
    this.#leftOut += Math.max(0, tail.length - TAIL_CHARS);
    this.#tail = tail.slice(-TAIL_CHARS);
  }

  /** The output since the last call. */
  take(): string {
    const text = this.#new;
    this.#new = "";
    return text;
  }

  /** The rest, after the end of the output. */
  end(): string {
    const gap = this.#leftOut > 0 ? `\n… ${this.#leftOut} characters left out …\n` : "";
    const text = this.take() + gap + this.#tail;
    this.#tail = "";
    return text;
  }
}
