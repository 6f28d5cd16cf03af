import { defined } from "../basics/defined.ts";
import { AppError } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import { auditContextOf } from "../model/people/audit.ts";
import type { Viewer } from "../model/people/principal.ts";
import { requireAllowed } from "../model/policies/evaluate-policies.ts";
import type { RequestOrigin } from "../model/policies/request-origin.ts";
import { requireVisible } from "../model/policies/visibility.ts";
import type { PullRequestStatus } from "../model/repositories/pull-request-status.ts";
import type { RunEvent, RunEventBody, TurnRating } from "../model/runs/events.ts";
import type { Run, RunDetails } from "../model/runs/run.ts";
import type { RunCard } from "../model/threads/notice.ts";
import { type RunFilters, type RunPage, type RunQuery, similarQuery } from "../ports/stores/run-query.ts";
import type { RunKey, RunStore } from "../ports/stores/run-store.ts";
import { decideRequestRewrite, decideRequestWithdrawal, requireAuthor } from "../runs/change-request.ts";
import {
  type ApprovalDecision,
  decideApproval,
  findApproval,
  requireOtherAuthor,
} from "../runs/decide-approval.ts";
import { decideCancel } from "../runs/decide-cancel.ts";
import { decidePermission, requireOption } from "../runs/decide-follow-up.ts";
import { decideInterrupt } from "../runs/decide-interrupt.ts";
import { requireRemovable } from "../runs/require-removable.ts";
import { RunEdit } from "../runs/run-edit.ts";
import { addExtras, type TransactionExtras } from "../runs/transaction-extras.ts";
import { approvalRights } from "./approval-rights.ts";
import { type CancelStatus, cancelMany, findExpected } from "./cancel-many.ts";
import { type DecidersOf, decidersFor, type ListMembers } from "./deciders.ts";
import { FollowUpService, type FollowUpServiceDeps } from "./follow-up-service.ts";
import { type NewRun, newRunAggregate } from "./prepare/new-run.ts";
import type { RunPreparerDeps } from "./prepare/request-steps.ts";
import { type PreparedRun, RunPreparer } from "./prepare/run-preparer.ts";
import { RunChanger, type RunChangerDeps } from "./run-changer.ts";

export interface RunServiceDeps extends RunPreparerDeps, RunChangerDeps, FollowUpServiceDeps {
  readonly storage: RunPreparerDeps["storage"] & RunChangerDeps["storage"] & FollowUpServiceDeps["storage"];
}

/** Everything that callers can do with runs. The API and the inbox use only this service. */
export class RunService {
  readonly preparer: RunPreparer;
  readonly followUps: FollowUpService;
  readonly #changer: RunChanger;
  readonly #deps: RunServiceDeps;

  constructor(deps: RunServiceDeps) {
    this.#deps = deps;
    this.preparer = new RunPreparer(deps);
    this.#changer = new RunChanger(deps);
    this.followUps = new FollowUpService(deps, this.#changer);
  }

  /** The same service inside a transaction of the storage. */
  within(storage: RunServiceDeps["storage"]): RunService {
    return new RunService({ ...this.#deps, storage });
  }

  /** Throws `not_authorized` when a policy forbids the run. If a policy requires approval, the run waits for it. */
  async create(request: NewRun, extras: TransactionExtras = {}): Promise<Run> {
    return this.store(await this.preparer.prepare(request, extras.from), extras);
  }

  async store(
    {
      definition: origin,
      inputs,
      approval,
      othersWrote,
      webhook,
    }: Pick<PreparedRun, "approval" | "definition" | "inputs" | "othersWrote" | "webhook">,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    const { clock, storage, writer } = this.#deps;
    const edit = new RunEdit(newRunAggregate(origin, { approval, othersWrote }), {
      now: clock.now(),
      writer,
    });
    edit.begin(inputs);
    edit.attach({ webhook });
    addExtras(edit, extras);
    return storage.runs.create(origin, edit.done());
  }

  cancel(id: RunId, viewer: Viewer, extras: TransactionExtras = {}): Promise<Run> {
    return this.#stopWork(id, viewer, extras, decideCancel);
  }

  /** Ends the current turn, but not the run. Allowed to those who may cancel it. */
  interrupt(id: RunId, viewer: Viewer, extras: TransactionExtras = {}): Promise<Run> {
    return this.#stopWork(id, viewer, extras, decideInterrupt);
  }

  async #stopWork(
    id: RunId,
    viewer: Viewer,
    extras: TransactionExtras,
    decide: (edit: RunEdit, by: Viewer) => unknown,
  ): Promise<Run> {
    const evaluate = await this.#changer.evaluator(viewer, extras.from);
    return this.#changer.change(id, viewer, (edit) => {
      requireAllowed(evaluate("cancel", edit.run));
      decide(edit, viewer);
      addExtras(edit, extras);
    });
  }

  /** Allowed to the author and to administrators, while nothing works on the run. Otherwise it is a conflict. */
  async rewriteRequest(
    id: RunId,
    viewer: Viewer,
    prompt: string,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    const evaluate = await this.#changer.evaluator(viewer, extras.from);
    const tools = await this.#changer.approvalToolsFor(id, viewer, evaluate);
    return this.#changer.change(id, viewer, (edit) => {
      requireAuthor(edit.run, viewer);
      decideRequestRewrite(edit, prompt, tools);
      addExtras(edit, extras);
    });
  }

  /** Allowed like `rewriteRequest`. The run is cancelled. */
  async withdrawRequest(id: RunId, viewer: Viewer, extras: TransactionExtras = {}): Promise<Run> {
    return this.#changer.change(id, viewer, (edit) => {
      requireAuthor(edit.run, viewer);
      decideRequestWithdrawal(edit, viewer);
      addExtras(edit, extras);
    });
  }

  /** Throws `not_authorized` unless the policies let the viewer stop the run, which is what steering it needs. */
  async requireControl(id: RunId, viewer: Viewer, from?: RequestOrigin): Promise<Run> {
    const run = await this.get({ id }, viewer);
    requireAllowed((await this.#changer.evaluator(viewer, from))("cancel", run));
    return run;
  }

  /** Cancels several runs, in one transaction if this service is inside one. An id may occur twice. */
  cancelMany(ids: readonly RunId[], viewer: Viewer): Promise<ReadonlyMap<RunId, CancelStatus>> {
    return cancelMany(this.#changer, ids, viewer);
  }

  /** Cancels the runs that a filter matches, if they are about as many as expected. */
  async cancelMatching(
    filters: RunFilters | undefined,
    viewer: Viewer,
    expected: number,
  ): Promise<ReadonlyMap<RunId, CancelStatus>> {
    return this.cancelMany(await findExpected(this.#deps.storage.runs, viewer, filters, expected), viewer);
  }

  /** Changes how the run is labelled, in any state. */
  async update(
    id: RunId,
    viewer: Viewer,
    details: Partial<RunDetails>,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    return this.#changer.change(id, viewer, (edit) => {
      edit.changeDetails(details);
      addExtras(edit, extras);
    });
  }

  /** Deletes an ended run with all its traces. */
  async remove(id: RunId, viewer: Viewer): Promise<void> {
    await this.#deps.storage.runs.remove(id, (run) => requireRemovable(requireVisible(run, viewer)));
  }

  /** Chooses an option of the permission that the run waits for. A question that is no longer open is a conflict. */
  async answerPermission(
    id: RunId,
    viewer: Viewer,
    choice: { readonly permissionId: string; readonly optionId: string },
    extras: TransactionExtras = {},
  ): Promise<Run> {
    const evaluate = await this.#changer.evaluator(viewer, extras.from);
    return this.#changer.change(id, viewer, (edit) => {
      requireAllowed(evaluate("answer", edit.run));
      const { permission, state } = edit.run;
      if (state !== "BLOCKED" || permission?.permissionId !== choice.permissionId) {
        throw new AppError("conflict", "The run does not wait for this answer.", { retryable: false });
      }
      decidePermission(edit, requireOption(permission, choice.optionId), viewer.id);
      addExtras(edit, extras);
    });
  }

  /** Keeps what the viewer thinks of an answer. Everybody who may see the run may rate it, and rate again. */
  async rate(id: RunId, viewer: Viewer, rating: TurnRating, extras: TransactionExtras = {}): Promise<Run> {
    return this.#changer.change(id, viewer, (edit) => {
      if (rating.ratedTurn < 1 || rating.ratedTurn > edit.run.turn) {
        throw new AppError("invalid_request", "The run has no such turn.");
      }
      edit.record({ kind: "turn.rated", ratedBy: viewer.id, ...rating });
      addExtras(edit, extras);
    });
  }

  /**
   * Decides about the inputs with this hash: those of the run before its start, or one follow-up. Allowed to
   * administrators and to principals whom a policy allows to approve, except for their own words.
   */
  async approve(
    id: RunId,
    viewer: Viewer,
    decision: Pick<ApprovalDecision, "approve" | "comment" | "inputsHash">,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    const { decidedAs, evaluate } = await approvalRights(this.#changer, viewer, extras, () =>
      this.get({ id }, viewer),
    );
    return this.#changer.change(id, viewer, (edit) => {
      requireAllowed(evaluate("approve", edit.run));
      const target = findApproval(edit, decision.inputsHash);
      requireOtherAuthor(edit.run, target, viewer);
      edit.attach({ author: extras.author ?? auditContextOf(viewer) });
      const who = { decidedBy: viewer.id, name: viewer.displayName, ...defined({ decidedAs }) };
      decideApproval(edit, target, { ...decision, ...who });
      addExtras(edit, extras);
    });
  }

  /** Says who may give the answer or the approval that a run waits for, when the viewer and others act from there. */
  async deciders(viewer: Viewer, from: RequestOrigin, members: ListMembers): Promise<DecidersOf> {
    const { policies, storage } = this.#deps;
    return decidersFor({ policies, environments: storage.environments, members }, viewer, from);
  }

  async get(key: RunKey, viewer: Viewer): Promise<Run> {
    return this.#changer.get(key, viewer);
  }

  /** When no run has the words of the query, the list has runs with similar words. Later pages continue it. */
  async list(query: RunQuery): Promise<RunPage> {
    const { runs } = this.#deps.storage;
    if (query.after?.isSimilar !== true) {
      const page = await runs.list(query);
      if (page.runs.length > 0 || query.after !== undefined) {
        return page;
      }
    }
    const similar = similarQuery(query);
    const { next, ...page } = similar === undefined ? { runs: [] } : await runs.list(similar);
    return next === undefined ? page : { ...page, next: { ...next, isSimilar: true } };
  }

  /** The events after `after`, in order. The caller must already have checked that the viewer may see the run. */
  async readEvents(...page: Parameters<RunStore["readEvents"]>): Promise<readonly RunEvent[]> {
    return this.#deps.storage.runs.readEvents(...page);
  }

  /** The last events before `before`, in order. The caller must already have checked that the viewer may see the run. */
  async readEventsBefore(id: RunId, before: number, limit: number): Promise<readonly RunEvent[]> {
    return this.#deps.storage.runs.readEventsBefore(id, before, limit);
  }

  /** Finds the session of a conversation and the conversation of a session. This is public, and nothing else is. */
  async findSessionAndConversation(
    key: RunKey,
  ): Promise<Pick<Run, "conversationId" | "sessionId"> | undefined> {
    const run = await this.#deps.storage.runs.find(key);
    return run && { conversationId: run.conversationId, sessionId: run.sessionId };
  }

  sessionLink(run: Pick<Run, "sessionId">): string {
    return this.#deps.writer.sessionLink(run);
  }

  card(run: Run): RunCard {
    return this.#deps.writer.card(run, this.#deps.clock.now());
  }

  /** Says in the log of the run that a message to its thread was given up. A deleted run has no log. */
  async recordDeadNotice(
    id: RunId,
    notice: Omit<Extract<RunEventBody, { readonly kind: "notice.dead" }>, "kind">,
  ): Promise<void> {
    await this.#changer.changeForSystem(id, (edit) => edit.record({ kind: "notice.dead", ...notice }));
  }

  /** Stores what the platform says about the newest pull request of the run. */
  async setPullRequestStatus(id: RunId, status: PullRequestStatus): Promise<void> {
    await this.#changer.changeForSystem(id, (edit) => edit.setPullRequestStatus(status));
  }
}
