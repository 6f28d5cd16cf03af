import { randomUUID } from "node:crypto";
import { defined } from "../core/basics/defined.ts";
import type { WorkspaceStep } from "../core/model/workspaces/workspace.ts";
import { StepOutput } from "./step-output.ts";

type Report = (step: WorkspaceStep) => void;

const BATCH_MS = 50;
const TITLE_CHARS = 200;

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
