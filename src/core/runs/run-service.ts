import { AppError } from "../errors.ts";
import type { RunId } from "../ids.ts";
import type { Settlement } from "../intake/settlement.ts";
import type { Viewer } from "../people/principal.ts";
import type { Clock } from "../ports/clock.ts";
import type { RunKey, Storage } from "../ports/storage.ts";
import type { Notice } from "../threads/notice.ts";
import type { NoticeWriter } from "../threads/notice-writer.ts";
import type { ThreadBinding } from "../threads/thread.ts";
import { decideCancel } from "./decide-cancel.ts";
import { decideFollowUp, decidePermission, type FollowUpInput } from "./decide-follow-up.ts";
import type { RunEvent, RunEventKind } from "./events.ts";
import { type AgentChoice, freshSubject, type NewRun, originOf } from "./new-run.ts";
import type { RememberedAnswer } from "./remembered-answer.ts";
import type { Run } from "./run.ts";
import { RunEdit } from "./run-edit.ts";
import type { RunPage, RunQuery } from "./run-query.ts";
import { isVisible } from "./visibility.ts";

export interface RunServiceParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly agents: AgentChoice;
}

/** What is stored in the same transaction as the change itself, by callers that need it so. */
export interface Alongside {
  readonly settles?: Omit<Settlement, "runId">;
  readonly binds?: ThreadBinding;
  /** Said in the one thread `threadId`. */
  readonly says?: { readonly threadId: string; readonly notices: readonly Notice[] };
  /** Makes the answer to remember under the caller's idempotency key. */
  readonly remembers?: (run: Run, followUpId: string | undefined) => RememberedAnswer;
}

export interface FollowUpResult {
  readonly run: Run;
  readonly followUpId: string | undefined;
}

/** All that callers can do with runs: the API and the intake of messages stand on this alone. */
export class RunService {
  readonly #parts: RunServiceParts;

  constructor(parts: RunServiceParts) {
    this.#parts = parts;
  }

  async create(request: NewRun, alongside: Alongside = {}): Promise<Run> {
    const { agents, clock, storage } = this.#parts;
    const origin = originOf(request, agents, clock.now());
    const edit = this.#edit(freshSubject(origin));
    edit.begin(request.inputs);
    this.#add(edit, alongside, undefined);
    return storage.runs.create(origin, edit.done());
  }

  async followUp(
    id: RunId,
    viewer: Viewer,
    input: FollowUpInput,
    alongside: Alongside = {},
  ): Promise<FollowUpResult> {
    let followUpId: string | undefined;
    const run = await this.#change(id, viewer, (edit) => {
      followUpId = decideFollowUp(edit, input);
      this.#add(edit, alongside, followUpId);
    });
    return { run, followUpId };
  }

  async cancel(id: RunId, viewer: Viewer, alongside: Alongside = {}): Promise<Run> {
    return this.#change(id, viewer, (edit) => {
      decideCancel(edit, viewer.displayName);
      this.#add(edit, alongside, undefined);
    });
  }

  /** Chooses an option of the permission a run waits for. A question that is gone is a conflict. */
  async answerPermission(
    id: RunId,
    viewer: Viewer,
    choice: { readonly permissionId: string; readonly optionId: string },
    alongside: Alongside = {},
  ): Promise<Run> {
    return this.#change(id, viewer, (edit) => {
      const { permission, state } = edit.run;
      const waits = state === "BLOCKED" && permission?.permissionId === choice.permissionId;
      const option = permission?.options.find(({ optionId }) => optionId === choice.optionId);
      if (!waits || option === undefined)
        throw new AppError("conflict", "The run does not wait for this answer.");
      decidePermission(edit, option, viewer.id);
      this.#add(edit, alongside, undefined);
    });
  }

  async get(key: RunKey, viewer: Viewer): Promise<Run> {
    const run = await this.#parts.storage.runs.find(key);
    if (run === undefined) throw unknownRun();
    requireVisible(run, viewer);
    return run;
  }

  async list(query: RunQuery): Promise<RunPage> {
    return this.#parts.storage.runs.list(query);
  }

  /** The events after `after`, in order; the caller has already been allowed to see the run. */
  async readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]> {
    return this.#parts.storage.runs.readEvents(id, after, limit, kinds);
  }

  /** Which session shows a conversation and which conversation a session shows: all that anybody may know. */
  async findPlace(key: RunKey): Promise<Pick<Run, "conversationId" | "sessionId"> | undefined> {
    const run = await this.#parts.storage.runs.find(key);
    return run && { conversationId: run.conversationId, sessionId: run.sessionId };
  }

  sessionLink(run: Run): string {
    return this.#parts.writer.sessionLink(run);
  }

  async #change(id: RunId, viewer: Viewer, decide: (edit: RunEdit) => void): Promise<Run> {
    return this.#parts.storage.runs.change(id, (subject) => {
      requireVisible(subject.run, viewer);
      const edit = this.#edit(subject);
      decide(edit);
      return edit.done();
    });
  }

  #edit(subject: ConstructorParameters<typeof RunEdit>[0]): RunEdit {
    return new RunEdit(subject, { now: this.#parts.clock.now(), writer: this.#parts.writer });
  }

  #add(edit: RunEdit, { settles, binds, says, remembers }: Alongside, followUpId: string | undefined): void {
    if (binds !== undefined) edit.bind(binds);
    for (const notice of says?.notices ?? []) edit.say(notice, says?.threadId);
    if (settles !== undefined) edit.settle({ ...settles, runId: edit.run.id });
    if (remembers !== undefined) edit.remember(remembers(edit.run, followUpId));
  }
}

function requireVisible(run: Run, viewer: Viewer): void {
  if (!isVisible(run, viewer)) throw unknownRun();
}

function unknownRun(): AppError {
  return new AppError("resource_not_found", "There is no such run.");
}
