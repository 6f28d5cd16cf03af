import { cutMiddle, cutText } from "../../basics/clean-text.ts";
import { defined } from "../../basics/defined.ts";
import type { PermissionRequest } from "../../model/runs/agent-update.ts";
import { questionLine } from "../../model/runs/question-text.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { waitWithoutSlot } from "../slots/wait-without-slot.ts";

/**
 * Asks people the questions of the agent. It asks one question at a time, and the run is BLOCKED while it waits. Meanwhile
 * the run has no slot of its worker. Its agent is kept for a while (`waitWithoutSlot`).
 */
export class PermissionBroker {
  readonly #services: Pick<AttemptServices, "abort" | "deps" | "lease" | "slot">;
  #waiting: { readonly permissionId: string; answer(optionId: string | null | undefined): void } | undefined;
  #lastQuestion: Promise<unknown> = Promise.resolve();
  #refused: PermissionRequest | undefined;

  constructor(services: Pick<AttemptServices, "abort" | "deps" | "lease" | "slot">) {
    this.#services = services;
  }

  /** The turn's last question, if the answer was "no". */
  get refused(): PermissionRequest | undefined {
    return this.#refused;
  }

  beginTurn(): void {
    this.#refused = undefined;
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
    const { abort, deps, lease, slot } = this.#services;
    const answer = new Promise<string | null | undefined>((resolve) => {
      this.#waiting = { permissionId: request.permissionId, answer: resolve };
    });
    const { value: isAsked } = await lease.write((edit) => decideQuestion(edit, request));
    if (!isAsked) {
      this.#waiting = undefined;
      return undefined;
    }
    const stopWait = waitWithoutSlot(this.#services, () => abort.abort({ kind: "unanswered" }));
    const optionId = await answer;
    stopWait();
    this.#waiting = undefined;
    this.#refused = isRefusal(request, optionId) ? request : undefined;
    const answeredMs = deps.clock.elapsedMs();
    // Without a slot the agent must not continue. The end of the attempt keeps the answer for the next one.
    if (optionId === undefined || !(await slot.reacquire())) {
      return undefined;
    }
    const waitedMs = Math.round(deps.clock.elapsedMs() - answeredMs);
    await lease.write((edit) => decideContinuation(edit, waitedMs));
    return optionId ?? undefined;
  }
}

function isRefusal({ options }: PermissionRequest, optionId: string | null | undefined): boolean {
  const kind = options.find((option) => option.optionId === optionId)?.kind;
  return optionId === null || kind === "reject_once" || kind === "reject_always";
}

/** False when the run is no longer in its turn, for example because it was cancelled. */
function decideQuestion(edit: RunEdit, request: PermissionRequest): boolean {
  if (edit.run.state !== "INPROGRESS") {
    return false;
  }
  edit.set({ permission: { ...request, askedAt: edit.now } });
  edit.record({ kind: "permission.requested", request });
  edit.moveTo("BLOCKED", { status: { message: questionLine(request) } });
  edit.notices.postQuestion(request);
  return true;
}

/** The agent gets its answer. */
function decideContinuation(edit: RunEdit, waitedMs: number): void {
  edit.set({ permission: undefined });
  if (waitedMs > 0) {
    edit.set({ slotWaitMs: (edit.run.slotWaitMs ?? 0) + waitedMs });
  }
}

/** Agents offer two to five options. */
const OPTIONS_MAX = 20;

const PATHS_MAX = 50;

const NAME_LENGTH_MAX = 500;

const ID_LENGTH_MAX = 1_000;

const REASON_LENGTH_MAX = 2_000;

/** Some agents put the whole command into the title. */
const TITLE_LENGTH_MAX = 4_000;

/** Of a command, of changed lines and of arguments. */
const FACT_LENGTH_MAX = 16_000;

/**
 * Limits the question to options that a person can choose from, because it is stored with the run and shown in each
 * card. An option with a long id is left out, because a shortened id would be another id.
 */
export function limitOptions({ toolCallId, options, ...rest }: PermissionRequest): PermissionRequest {
  const known = options.filter(({ optionId }) => optionId.length <= ID_LENGTH_MAX).slice(0, OPTIONS_MAX);
  const isNamed = toolCallId !== undefined && toolCallId.length <= ID_LENGTH_MAX;
  return { ...rest, options: known, ...defined({ toolCallId: isNamed ? toolCallId : undefined }) };
}

/**
 * Shortens the texts of a question for display. They must have been cleaned before, because shortening could leave
 * half a secret. A call of which something is left out is marked, so that nobody allows it by one click.
 */
export function shortenTexts(clean: PermissionRequest): PermissionRequest {
  const { command, diff, input, truncated = false, options, paths = [], reason, title } = clean;
  const facts = [command, diff, input, ...paths].map((fact = "") => fact.length);
  // Without facts, the words are the question.
  const isCut = facts.every((length) => length === 0) && (reason ?? title).length > REASON_LENGTH_MAX;
  const isLong = isCut || facts.some((length) => length > FACT_LENGTH_MAX) || paths.length > PATHS_MAX;
  return {
    ...clean,
    title: cutText(title, TITLE_LENGTH_MAX),
    options: options.map((option) => ({ ...option, name: cutText(option.name, NAME_LENGTH_MAX) })),
    ...defined({
      command: command === undefined ? undefined : cutMiddle(command, FACT_LENGTH_MAX),
      diff: diff === undefined ? undefined : cutMiddle(diff, FACT_LENGTH_MAX),
      input: input === undefined ? undefined : cutMiddle(input, FACT_LENGTH_MAX),
      paths:
        paths.length === 0
          ? undefined
          : paths.slice(0, PATHS_MAX).map((path) => cutMiddle(path, FACT_LENGTH_MAX)),
      reason: reason === undefined ? undefined : cutText(reason, REASON_LENGTH_MAX),
      truncated: truncated || isLong ? true : undefined,
    }),
  };
}
