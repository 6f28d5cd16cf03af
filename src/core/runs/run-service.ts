import { requireRunEnvironment } from "../environments/environment-service.ts";
import { AppError } from "../errors.ts";
import type { IdempotentResponse } from "../idempotency/idempotent-response.ts";
import type { RunId } from "../ids.ts";
import type { InboxResult } from "../inbox/settlement.ts";
import type { Viewer } from "../people/principal.ts";
import { evaluatePolicies, requireAllowed, type Verdict } from "../policies/evaluate-policies.ts";
import type { PolicyAction } from "../policies/policy.ts";
import type { Clock } from "../ports/clock.ts";
import { route } from "../routing/route.ts";
import { routedConfig } from "../routing/routed-config.ts";
import type { RunRules } from "../rules/run-rules.ts";
import type { Skill } from "../skills/skill.ts";
import type { SkillFinder } from "../skills/skill-finder.ts";
import type { Storage } from "../storage.ts";
import type { Notice } from "../threads/notice.ts";
import type { NoticeWriter } from "../threads/notice-writer.ts";
import type { ThreadBinding } from "../threads/thread.ts";
import { type ApprovalDecision, decideApproval } from "./decide-approval.ts";
import { decideCancel } from "./decide-cancel.ts";
import {
  actionsOf,
  decideFollowUp,
  decidePermission,
  type FollowUpInput,
  requireOption,
} from "./decide-follow-up.ts";
import type { RunEvent, RunEventKind } from "./events.ts";
import { inheritConfig } from "./inherit-config.ts";
import { type AgentChoice, freshSubject, type NewRun, originOf } from "./new-run.ts";
import type { RequestOrigin } from "./request-origin.ts";
import type { Approval, Run, RunConfig, RunOrigin } from "./run.ts";
import { RunEdit } from "./run-edit.ts";
import type { RunPage, RunQuery } from "./run-query.ts";
import type { RunKey } from "./run-store.ts";
import { requireKeepableConfig, requireSupportedConfig } from "./supported-config.ts";
import { requireVisible } from "./visibility.ts";

export interface RunServiceDeps extends RunRules {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly agents: AgentChoice;
  readonly skills: Pick<SkillFinder, "find">;
}

/** Where a change comes from, and what callers need stored in the same transaction as the change itself. */
export interface TransactionExtras {
  /** Default: the API. */
  readonly from?: RequestOrigin;
  readonly settles?: Omit<InboxResult, "runId">;
  readonly binds?: ThreadBinding;
  /** Said in the one thread `threadId`. */
  readonly says?: { readonly threadId: string; readonly notices: readonly Notice[] };
  /** Makes the answer to remember under the caller's idempotency key. */
  readonly remembers?: (run: Run, followUpId: string | undefined) => IdempotentResponse;
}

/** A run that only has to be stored: routed, with its skill, and allowed. */
export interface PreparedRun {
  readonly origin: RunOrigin;
  readonly inputs: NewRun["inputs"];
  readonly approval: Approval | undefined;
}

export interface FollowUpResult {
  readonly run: Run;
  readonly followUpId: string | undefined;
}

const OVER_THE_API: RequestOrigin = { source: "API" };
/** Threads are told what was asked, not all of it. */
const TOLD_LENGTH = 500;

/** All that callers can do with runs: the API and the intake of messages stand on this alone. */
export class RunService {
  readonly #deps: RunServiceDeps;

  constructor(deps: RunServiceDeps) {
    this.#deps = deps;
  }

  /** The same within a transaction of the storage. */
  within(storage: Storage): RunService {
    return new RunService({ ...this.#deps, storage });
  }

  /** Throws `not_authorized` when a policy forbids it. One that asks for approval makes the run wait for that. */
  async create(request: NewRun, extras: TransactionExtras = {}): Promise<Run> {
    return this.store(await this.prepare(request, extras.from), extras);
  }

  /** All of creating a run but storing it. It may take its time, so it is not to be done within a transaction. */
  async prepare(request: NewRun, from: RequestOrigin = { source: request.source }): Promise<PreparedRun> {
    const { agents, clock, storage } = this.#deps;
    const routed = await this.#routed(request, from);
    requireSupportedConfig(routed.config ?? {});
    await requireRunEnvironment(storage.environments, routed);
    const skill = await this.#skillOf(routed);
    const origin = originOf({ ...routed, ...(skill && { skill }) }, agents, clock.now());
    const judged = await this.#judge({ ...request.creator, administrator: false }, from);
    const verdict = judged("create", origin);
    requireAllowed(verdict);
    return { origin, inputs: request.inputs, approval: approvalOf(verdict) };
  }

  /** For a configuration that is kept for later runs. `member` is what the caller calls it. */
  requireKeepable(config: RunConfig, member: string): void {
    requireKeepableConfig(config, member, this.#deps.agents);
  }

  async store({ origin, inputs, approval }: PreparedRun, extras: TransactionExtras = {}): Promise<Run> {
    const edit = this.#edit(freshSubject(origin, approval));
    edit.begin(inputs);
    this.#add(edit, extras, undefined);
    return this.#deps.storage.runs.create(origin, edit.done());
  }

  async followUp(
    id: RunId,
    viewer: Viewer,
    input: FollowUpInput,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    let followUpId: string | undefined;
    const judged = await this.#judge(viewer, extras.from);
    const run = await this.#change(id, viewer, (edit) => {
      for (const action of actionsOf(edit.run, input.message)) requireAllowed(judged(action, edit.run));
      followUpId = decideFollowUp(edit, input);
      if (extras.from?.integration === undefined && input.private !== true)
        edit.say(toldInThreads(viewer, input));
      this.#add(edit, extras, followUpId);
    });
    return { run, followUpId };
  }

  async cancel(id: RunId, viewer: Viewer, extras: TransactionExtras = {}): Promise<Run> {
    const judged = await this.#judge(viewer, extras.from);
    return this.#change(id, viewer, (edit) => {
      requireAllowed(judged("cancel", edit.run));
      decideCancel(edit, viewer.displayName);
      this.#add(edit, extras, undefined);
    });
  }

  /** Chooses an option of the permission a run waits for. A question that is gone is a conflict. */
  async answerPermission(
    id: RunId,
    viewer: Viewer,
    choice: { readonly permissionId: string; readonly optionId: string },
    extras: TransactionExtras = {},
  ): Promise<Run> {
    const judged = await this.#judge(viewer, extras.from);
    return this.#change(id, viewer, (edit) => {
      requireAllowed(judged("answer", edit.run));
      const { permission, state } = edit.run;
      if (state !== "BLOCKED" || permission?.permissionId !== choice.permissionId)
        throw new AppError("conflict", "The run does not wait for this answer.", { retryable: false });
      decidePermission(edit, requireOption(permission, choice.optionId), viewer.id);
      this.#add(edit, extras, undefined);
    });
  }

  /** By an administrator, or whoever a policy lets approve: then not of what they have asked for themselves. */
  async approve(
    id: RunId,
    viewer: Viewer,
    decision: Pick<ApprovalDecision, "approve" | "comment">,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    const judged = await this.#judge(viewer, extras.from);
    return this.#change(id, viewer, (edit) => {
      requireAllowed(judged("approve", edit.run));
      if (!viewer.administrator && edit.run.creatorId === viewer.id)
        throw new AppError("not_authorized", "Nobody but an administrator approves a run of their own.");
      decideApproval(edit, { ...decision, decidedBy: viewer.id, name: viewer.displayName });
      this.#add(edit, extras, undefined);
    });
  }

  async get(key: RunKey, viewer: Viewer): Promise<Run> {
    return requireVisible(await this.#deps.storage.runs.find(key), viewer);
  }

  async list(query: RunQuery): Promise<RunPage> {
    return this.#deps.storage.runs.list(query);
  }

  /** The events after `after`, in order; the caller has already been allowed to see the run. */
  async readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]> {
    return this.#deps.storage.runs.readEvents(id, after, limit, kinds);
  }

  /** Which session shows a conversation and which conversation a session shows: all that anybody may know. */
  async findPlace(key: RunKey): Promise<Pick<Run, "conversationId" | "sessionId"> | undefined> {
    const run = await this.#deps.storage.runs.find(key);
    return run && { conversationId: run.conversationId, sessionId: run.sessionId };
  }

  sessionLink(run: Run): string {
    return this.#deps.writer.sessionLink(run);
  }

  /** Looked up before anything is stored: it may take a while, and without it there is no run. */
  async #skillOf({ config, creator, skill }: NewRun): Promise<Skill | undefined> {
    const spec = config?.skill_spec;
    if (skill !== undefined || spec === undefined) return skill;
    return this.#deps.skills.find(spec, { viewer: creator, environmentId: config?.environment_id });
  }

  /** With what it takes over from its conversation, and from the first routing rule that matches. */
  async #routed(request: NewRun, from: RequestOrigin): Promise<NewRun> {
    if (request.isRouted === true) return request;
    const { config: asked = {}, continues, creator, prompt } = request;
    const before = continues && inheritConfig(continues, asked);
    const rules = await this.#deps.routing.of(creator.teamId);
    const routing = route(rules, { ...from, text: prompt, config: { ...before?.config, ...asked } });
    const routed = routedConfig(asked, routing, before?.config);
    const provenance = { ...before?.provenance, ...request.provenance, ...routed.provenance };
    return { ...before, ...request, config: routed.config, provenance };
  }

  /** What the policies of the team say. The only place where they are asked: all that changes a run comes by here. */
  async #judge(
    { id, teamId, type, administrator }: Viewer,
    from: RequestOrigin = OVER_THE_API,
  ): Promise<(action: PolicyAction, run: Pick<Run, "agent" | "config">) => Verdict> {
    const policies = await this.#deps.policies.of(teamId);
    const who = { principalId: id, principalType: type, isAdministrator: administrator };
    return (action, { agent, config }) =>
      evaluatePolicies(policies, { ...from, ...who, action, agent, environmentId: config.environment_id });
  }

  async #change(id: RunId, viewer: Viewer, decide: (edit: RunEdit) => void): Promise<Run> {
    return this.#deps.storage.runs.change(id, (subject) => {
      requireVisible(subject.run, viewer);
      const edit = this.#edit(subject);
      decide(edit);
      return edit.done();
    });
  }

  #edit(subject: ConstructorParameters<typeof RunEdit>[0]): RunEdit {
    return new RunEdit(subject, { now: this.#deps.clock.now(), writer: this.#deps.writer });
  }

  #add(
    edit: RunEdit,
    { settles, binds, says, remembers }: TransactionExtras,
    followUpId: string | undefined,
  ): void {
    if (binds !== undefined) edit.bind(binds);
    for (const notice of says?.notices ?? []) edit.say(notice, says?.threadId);
    if (settles !== undefined) edit.settle({ ...settles, runId: edit.run.id });
    if (remembers !== undefined) edit.remember(remembers(edit.run, followUpId));
  }
}

function approvalOf({ effect, policy, reason }: Verdict): Approval | undefined {
  if (effect !== "require_approval" || policy === undefined) return undefined;
  return { policyId: policy.id, reason };
}

/** For who reads along in the threads of a run. */
function toldInThreads({ displayName = "Somebody" }: Viewer, { message }: FollowUpInput): Notice {
  const words = Array.from(message);
  const cut = words.length > TOLD_LENGTH ? `${words.slice(0, TOLD_LENGTH).join("")}…` : message;
  return { kind: "message", purpose: "reply", text: `${displayName} asked over the API: ${cut}` };
}
