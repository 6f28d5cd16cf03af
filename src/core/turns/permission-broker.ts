import type { PermissionRequest } from "../agents/agent-runner.ts";
import type { LeaseWriter } from "../attempts/lease-writer.ts";
import type { Clock, Stop } from "../ports/clock.ts";
import type { RunEdit } from "../runs/run-edit.ts";

/** Asks people the questions of the agent. It asks one question at a time, and the run is BLOCKED while it waits. */
export class PermissionBroker {
  readonly #lease: LeaseWriter;
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #unanswered: () => void;
  #waiting: { readonly permissionId: string; answer(optionId: string | null | undefined): void } | undefined;
  #lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(lease: LeaseWriter, clock: Clock, idleMs: number, unanswered: () => void) {
    this.#lease = lease;
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#unanswered = unanswered;
  }

  ask(request: PermissionRequest): Promise<string | undefined> {
    const question = this.#lastQuestion.then(() => this.#askOne(request));
    this.#lastQuestion = question.catch(() => undefined);
    return question;
  }

  /**
   * `null` means "no" when the agent offers no such option. An answer may arrive late, when the agent already asks
   * the next question, which may have the same options.
   */
  answered(permissionId: string, optionId: string | null): void {
    if (this.#waiting?.permissionId === permissionId) {
      this.#waiting.answer(optionId);
    }
  }

  /** No answer will come, because the turn is being cancelled. */
  abandon(): void {
    this.#waiting?.answer(undefined);
  }

  async #askOne(request: PermissionRequest): Promise<string | undefined> {
    const answer = new Promise<string | null | undefined>((resolve) => {
      this.#waiting = { permissionId: request.permissionId, answer: resolve };
    });
    const { value: isAsked } = await this.#lease.write((edit) => decideQuestion(edit, request));
    if (!isAsked) {
      this.abandon();
    }
    const stopTimer: Stop = this.#clock.after(this.#idleMs, this.#unanswered);
    const optionId = await answer;
    stopTimer();
    this.#waiting = undefined;
    if (optionId !== undefined) {
      await this.#lease.write((edit) => edit.set({ permission: undefined }));
    }
    return optionId ?? undefined;
  }
}

/** False when the run is no longer in its turn, for example because it was cancelled. */
function decideQuestion(edit: RunEdit, request: PermissionRequest): boolean {
  if (edit.run.state !== "INPROGRESS") {
    return false;
  }
  edit.set({ permission: request });
  edit.record({ kind: "permission.requested", request });
  edit.moveTo("BLOCKED", { status: { message: `The agent asks: ${request.title}` } });
  edit.notices.postQuestion(questionText(request));
  return true;
}

function questionText({ title, options }: PermissionRequest): string {
  return `${title}\nAnswer with one of: ${options.map(({ name }) => name).join(", ")}.`;
}
