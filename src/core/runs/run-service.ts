import { type AuditContext, auditContextOf } from "../audit/audit-log.ts";
import type { Environment } from "../environments/environment.ts";
import { requireRunEnvironment } from "../environments/environment-service.ts";
import { AppError } from "../errors.ts";
import type { IdempotentResponse } from "../idempotency/idempotent-response.ts";
import { newId, type PrincipalId, type RunId, type TeamId } from "../ids.ts";
import type { InboxResult } from "../inbox/inbox-result.ts";
import type { RunInput } from "../inputs/run-input.ts";
import { requireTeamMcpServers } from "../mcp-servers/mcp-server.ts";
import { requireMcpServers } from "../mcp-servers/require-mcp-servers.ts";
import { type KeptValues, withSealedValues } from "../mcp-servers/sealed-values.ts";
import { agentConfig, findExecutingAgent } from "../people/named-agent.ts";
import type { Viewer } from "../people/principal.ts";
import { allowsSharing, type ShareAccess } from "../people/share-link.ts";
import { requireAllowed, stricter, type Verdict } from "../policies/evaluate-policies.ts";
import { type RunJudge, runJudge } from "../policies/run-judge.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Digest } from "../ports/digest.ts";
import type { Log } from "../ports/log.ts";
import type { PullRequestStatus } from "../pull-requests/pull-request-status.ts";
import type { PullRequests } from "../pull-requests/pull-requests.ts";
import { requirePullRequestAccess } from "../pull-requests/require-access.ts";
import { requireRunRepository } from "../repositories/run-repository.ts";
import { route } from "../routing/route.ts";
import { isPlaced, routedConfig, withoutPlace } from "../routing/routed-config.ts";
import type { RunRules } from "../rules/run-rules.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { SkillFinder } from "../skills/skill-finder.ts";
import { withSkills } from "../skills/with-skills.ts";
import type { Storage } from "../storage.ts";
import type { Notice } from "../threads/notice.ts";
import type { NoticeWriter } from "../threads/notice-writer.ts";
import type { ThreadBinding } from "../threads/thread.ts";
import type { WebhookEndpoint } from "../webhooks/webhook-endpoint.ts";
import { requireSandbox } from "../workers/require-sandbox.ts";
import {
  type ApprovalTools,
  hashed,
  inputsOfRequest,
  newApproval,
  objectionTo,
  requiredApproval,
} from "./approval.ts";
import { decideRewrite, decideWithdrawal } from "./change-follow-up.ts";
import { decideRequestRewrite, decideRequestWithdrawal, requireAuthor } from "./change-request.ts";
import {
  type ApprovalDecision,
  type ApprovalTarget,
  decideApproval,
  findApproval,
  updateApproval,
} from "./decide-approval.ts";
import { decideCancel } from "./decide-cancel.ts";
import {
  actionOf,
  actionOfDelivery,
  decideFollowUp,
  decidePermission,
  type FollowUpEffect,
  type FollowUpInput,
  requireOption,
} from "./decide-follow-up.ts";
import { type DecidersOf, decidersFor, type ListMembers } from "./deciders.ts";
import type { RunEvent, RunEventBody, RunEventKind } from "./events.ts";
import { homeRepositoryOf } from "./home-repository.ts";
import { inheritConfig } from "./inherit-config.ts";
import { layeredConfig } from "./layered-config.ts";
import { logRunEnd } from "./log-run-end.ts";
import { type AgentChoice, type NewRun, newRunSubject, originOf } from "./new-run.ts";
import type { RequestOrigin } from "./request-origin.ts";
import { requireRemovable } from "./require-removable.ts";
import type { Approval, FollowUp, Run, RunConfig, RunDefinition, RunDetails } from "./run.ts";
import { RunEdit } from "./run-edit.ts";
import { type RunPage, type RunQuery, similarQuery } from "./run-query.ts";
import type { RunKey } from "./run-store.ts";
import { isEnded } from "./states.ts";
import { requireKeepableConfig } from "./supported-config.ts";
import { requireVisible } from "./visibility.ts";

export interface RunServiceDeps extends RunRules {
  readonly storage: Pick<
    Storage,
    "environments" | "followUps" | "mcpServers" | "namedAgents" | "people" | "runs" | "teams" | "workers"
  >;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly agents: AgentChoice;
  readonly skills: Pick<SkillFinder, "find">;
  readonly secretBox: Pick<SecretBox, "seal">;
  readonly pullRequests: Pick<PullRequests, "isAllowed">;
  readonly blobs: Pick<BlobStore, "get">;
  readonly digest: Digest;
  readonly log: Log;
}

/** The origin of a change, and what must be stored in the same transaction as the change. */
export interface TransactionExtras {
  /** Default: the API. */
  readonly from?: RequestOrigin;
  readonly inboxResult?: Omit<InboxResult, "runId">;
  readonly binding?: ThreadBinding;
  /** Posted to the thread `threadId` only. */
  readonly threadNotices?: { readonly threadId: string; readonly notices: readonly Notice[] };
  /** If the change queues the run, the work begins this much later. */
  readonly startAfterMs?: number | undefined;
  /** The API key of the caller. If it was revoked, nothing is stored. */
  readonly apiKeyId?: string;
  /** The sign-in of the caller. If it has ended, nothing is stored. */
  readonly signInId?: string;
  /** Named in audit entries. Default: the viewer. */
  readonly author?: AuditContext;
  /** Builds the response that is stored under the caller's idempotency key. */
  readonly responseFor?: (result: FollowUpResult) => IdempotentResponse;
  /** Posted to the thread of `threadNotices` too if the follow-up is no answer to the open question. */
  readonly saysIfQuestionOpen?: Notice;
}

/** A new run that is routed, has its skill and is allowed. It only has to be stored. */
export interface PreparedRun {
  readonly definition: RunDefinition;
  readonly inputs: NewRun["inputs"];
  readonly webhook?: WebhookEndpoint | undefined;
  readonly approval: Approval | undefined;
  readonly othersWrote: boolean;
  /** The access with which the request shares the run. Absent: it does not, or the team does not allow it. */
  readonly shares?: ShareAccess;
  /** The paths of the caller's members that have no effect for a reason that only the core knows. */
  readonly ignored: readonly string[];
}

export interface FollowUpResult extends FollowUpEffect {
  /** The follow-up that was rewritten. */
  readonly followUp?: FollowUp;
  readonly run: Run;
}

/** A follow-up whose files are stored. */
export interface ReceivedFollowUp extends Omit<FollowUpInput, "files"> {
  readonly files?: readonly RunInput[];
}

export const CANCEL_STATUSES = [
  "cancelled",
  "already_cancelled",
  "ended",
  "not_found",
  "not_authorized",
] as const;
/** What cancelling one of several runs resulted in. */
export type CancelStatus = (typeof CANCEL_STATUSES)[number];

const OVER_THE_API: RequestOrigin = { source: "API" };
/** Threads show only the beginning of a follow-up. */
const TOLD_LENGTH = 500;

export interface FollowUpTarget {
  readonly runId: RunId;
  readonly followUpId: string;
}

/** Everything that callers can do with runs. The API and the inbox use only this service. */
export class RunService {
  readonly #deps: RunServiceDeps;

  constructor(deps: RunServiceDeps) {
    this.#deps = deps;
  }

  /** The same service inside a transaction of the storage. */
  within(storage: RunServiceDeps["storage"]): RunService {
    return new RunService({ ...this.#deps, storage });
  }

  /** Throws `not_authorized` when a policy forbids the run. If a policy requires approval, the run waits for it. */
  async create(request: NewRun, extras: TransactionExtras = {}): Promise<Run> {
    return this.store(await this.prepare(request, extras.from), extras);
  }

  /** Does everything except storing the run. It may take a while, so it must not run inside a transaction. */
  async prepare(request: NewRun, from: RequestOrigin = { source: request.source }): Promise<PreparedRun> {
    const { agents, clock, storage } = this.#deps;
    const routed = await this.#routed(await this.#withAgent(this.#withSealedConfig(request)), from);
    requireMcpServers(routed.config ?? {}, "config");
    requireRunRepository(routed.config ?? {}, "config");
    await this.requirePullRequestAccess(routed, "config");
    const environment = await requireRunEnvironment(storage.environments, routed);
    await requireTeamMcpServers(storage.mcpServers, routed.creator.teamId, routed.config ?? {});
    // Rows of earlier versions have values that are not sealed.
    const sealed = withEnvironment(
      { ...routed, ...this.#sealedConfig(routed, { isStored: true }) },
      environment,
    );
    // The skills are read before anything is stored, because it may take a while and without them there is no run.
    const origin = originOf(await withSkills(this.#deps.skills, sealed), agents, clock.now());
    await requireSandbox(storage.workers, agents, origin, environment?.config.image);
    const verdict = await this.#judgeNew(origin, routed, from);
    requireAllowed(verdict);
    const required = requiredApproval(verdict);
    const { inputs = [] } = request;
    const approval = required && newApproval(newId(clock.now()), required, [], this.#approvalTools());
    const othersWrote = request.othersWrote === true;
    const sharing = await this.#sharing(request);
    const prepared = { definition: origin, inputs, approval, othersWrote, ...sharing };
    return this.withFiles(prepared, inputs);
  }

  /** The same run with these files. An approval covers their contents, which are read here. */
  async withFiles(prepared: PreparedRun, inputs: readonly RunInput[]): Promise<PreparedRun> {
    const { approval, definition } = prepared;
    if (approval === undefined) {
      return { ...prepared, inputs };
    }
    const words = await inputsOfRequest(definition, inputs, this.#deps);
    return { ...prepared, inputs, approval: { ...approval, ...hashed(words, this.#deps.digest) } };
  }

  /** Whether the request, a routing rule or a default says in which environment or repository the run works. */
  async saysWhere(request: NewRun, from: RequestOrigin): Promise<boolean> {
    if (request.isWithoutEnvironment === true) {
      return true;
    }
    const { config = {}, provenance = {} } = await this.#routed(await this.#withAgent(request), from);
    return isPlaced(config) || homeRepositoryOf({ provenance }) !== undefined;
  }

  /** Checks a configuration that is stored for later runs. `member` is the caller's name for it. */
  requireStorable(config: RunConfig, member: string): void {
    requireKeepableConfig(config, member, this.#deps.agents);
  }

  /** A configuration as it is stored. `before` has the values that the caller was shown as `[redacted]`. */
  storable<Config extends RunConfig>(teamId: TeamId, config: Config, kept: KeptValues = {}): Config {
    return withSealedValues(this.#deps.secretBox, teamId, config, kept);
  }

  /** Seals the caller's values before they are joined with those of stored configurations, which are sealed already. */
  #withSealedConfig(request: NewRun): NewRun {
    if (request.hasStoredConfig === true) {
      return request;
    }
    requireMcpServers(request.config ?? {}, "config");
    return { ...request, ...this.#sealedConfig(request) };
  }

  #sealedConfig({ config, creator }: NewRun, kept: KeptValues = {}): Pick<NewRun, "config"> {
    return config === undefined ? {} : { config: this.storable(creator.teamId, config, kept) };
  }

  /** Checks the credentials for the pull request of a configuration. It may ask another system. */
  async requirePullRequestAccess(
    request: Pick<NewRun, "config" | "creator" | "namedAgent">,
    member: string,
  ): Promise<void> {
    await requirePullRequestAccess(this.#deps.pullRequests, request, member);
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
    const edit = this.#edit(newRunSubject(origin, { approval, othersWrote }));
    edit.begin(inputs);
    edit.attach({ webhook });
    this.#add(edit, extras);
    return this.#deps.storage.runs.create(origin, edit.done());
  }

  async followUp(
    id: RunId,
    viewer: Viewer,
    input: ReceivedFollowUp,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    const { invitation, onlyRunId } = viewer;
    if (onlyRunId !== undefined && invitation?.mayFollowUp !== true) {
      throw new AppError("not_authorized", "This share link is only for viewing.");
    }
    let effect: FollowUpEffect = {};
    const { from = OVER_THE_API } = extras;
    const given = await this.#withDigests(input);
    const judges = [await this.#judge(viewer, from)];
    if (invitation !== undefined) {
      // A guest may do no more than the creator of the link as an ordinary member.
      judges.push(await this.#judge({ ...invitation.by, administrator: false }, from));
    }
    const run = await this.#change(id, viewer, (edit) => {
      if (invitation !== undefined) {
        edit.attach({ shareLinkId: viewer.id });
      }
      requireAgent(edit.run);
      const verdict = judges
        .map((judged) => judged(actionOf(edit.run, given), edit.run))
        .reduce((one, other) => stricter(one, other));
      requireAllowed(verdict);
      const rules = { ...this.#approvalTools(viewer), required: requiredApproval(verdict) };
      effect = decideFollowUp(edit, { source: from.source, ...given }, rules);
      if (input.private !== true) {
        edit.notices.postElsewhere(followUpNotice(viewer, input, extras), from.integration);
      }
      this.#add(edit, extras, effect);
    });
    return { run, ...effect };
  }

  /** The messages to a run, also withdrawn ones, in order. */
  async listFollowUps(
    id: RunId,
    viewer: Viewer,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly FollowUp[]> {
    await this.get({ id }, viewer);
    return this.#deps.storage.followUps.list(id, after, limit);
  }

  /** Allowed to the author and to administrators, while no turn has taken the follow-up. */
  async rewriteFollowUp(
    target: FollowUpTarget,
    viewer: Viewer,
    message: string,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    await this.authorOfFollowUp(target, viewer);
    const judged = await this.#judge(viewer, extras.from);
    let effect: Omit<FollowUpResult, "run"> = {};
    const run = await this.#change(target.runId, viewer, (edit) => {
      const before = edit.waiting.find(({ id }) => id === target.followUpId);
      const verdict = judged(actionOfDelivery(before?.delivery), edit.run);
      requireAllowed(verdict);
      const rewrite = { message, editedBy: viewer.id, required: requiredApproval(verdict) };
      const followUp = decideRewrite(edit, target.followUpId, rewrite, this.#approvalTools(viewer));
      if (extras.from?.integration === undefined && !followUp.private) {
        edit.notices.post(changeNotice(viewer, "changed a message that waits", message));
      }
      effect = { followUpId: followUp.id, followUp };
      this.#add(edit, extras, effect);
    });
    return { run, ...effect };
  }

  /** Allowed like `rewriteFollowUp`. The agent never receives the follow-up. */
  async withdrawFollowUp(
    target: FollowUpTarget,
    viewer: Viewer,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    await this.authorOfFollowUp(target, viewer);
    const run = await this.#change(target.runId, viewer, (edit) => {
      const followUp = decideWithdrawal(edit, target.followUpId, viewer.id);
      if (extras.from?.integration === undefined && !followUp.private) {
        edit.notices.post(changeNotice(viewer, "withdrew a message that waited", followUp.message));
      }
      this.#add(edit, extras);
    });
    return { run };
  }

  /**
   * The author of a follow-up that the viewer may change. An answer to a question is stored as a follow-up too, but it
   * is no message of its own.
   */
  async authorOfFollowUp({ runId, followUpId }: FollowUpTarget, viewer: Viewer): Promise<PrincipalId> {
    await this.get({ id: runId }, viewer);
    const followUp = await this.#deps.storage.followUps.find(runId, followUpId);
    if (followUp === undefined || followUp.isAnswer === true) {
      throw new AppError("resource_not_found", "There is no such follow-up.");
    }
    if (followUp.authorId !== viewer.id && !viewer.administrator) {
      throw new AppError("not_authorized", "Only its author and administrators may change a follow-up.");
    }
    return followUp.authorId;
  }

  async cancel(id: RunId, viewer: Viewer, extras: TransactionExtras = {}): Promise<Run> {
    const judged = await this.#judge(viewer, extras.from);
    return this.#change(id, viewer, (edit) => {
      requireAllowed(judged("cancel", edit.run));
      decideCancel(edit, viewer.displayName);
      this.#add(edit, extras);
    });
  }

  /** Allowed to the author and to administrators, while nothing works on the run. Otherwise it is a conflict. */
  async rewriteRequest(
    id: RunId,
    viewer: Viewer,
    prompt: string,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    return this.#change(id, viewer, (edit) => {
      requireAuthor(edit.run, viewer);
      decideRequestRewrite(edit, prompt, this.#approvalTools(viewer));
      this.#add(edit, extras);
    });
  }

  /** Allowed like `rewriteRequest`. The run is cancelled. */
  async withdrawRequest(id: RunId, viewer: Viewer, extras: TransactionExtras = {}): Promise<Run> {
    return this.#change(id, viewer, (edit) => {
      requireAuthor(edit.run, viewer);
      decideRequestWithdrawal(edit, viewer.displayName);
      this.#add(edit, extras);
    });
  }

  /** Throws `not_authorized` unless the policies let the viewer stop the run, which is what steering it needs. */
  async requireControl(id: RunId, viewer: Viewer, from?: RequestOrigin): Promise<Run> {
    const run = await this.get({ id }, viewer);
    requireAllowed((await this.#judge(viewer, from))("cancel", run));
    return run;
  }

  /** Cancels several runs, in one transaction if this service is inside one. An id may occur twice. */
  async cancelMany(ids: readonly RunId[], viewer: Viewer): Promise<ReadonlyMap<RunId, CancelStatus>> {
    const statuses = new Map<RunId, CancelStatus>();
    // In one order, so that two requests for the same runs do not block each other.
    for (const id of [...new Set(ids)].sort()) {
      statuses.set(id, await this.#tryCancel(id, viewer));
    }
    return statuses;
  }

  /** Changes how the run is labelled, in any state. */
  async update(
    id: RunId,
    viewer: Viewer,
    details: Partial<RunDetails>,
    extras: TransactionExtras = {},
  ): Promise<Run> {
    return this.#change(id, viewer, (edit) => {
      edit.changeDetails(details);
      this.#add(edit, extras, undefined);
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
    const judged = await this.#judge(viewer, extras.from);
    return this.#change(id, viewer, (edit) => {
      requireAllowed(judged("answer", edit.run));
      const { permission, state } = edit.run;
      if (state !== "BLOCKED" || permission?.permissionId !== choice.permissionId) {
        throw new AppError("conflict", "The run does not wait for this answer.", { retryable: false });
      }
      decidePermission(edit, requireOption(permission, choice.optionId), viewer.id);
      this.#add(edit, extras);
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
    const judged = await this.#judge(viewer, extras.from);
    return this.#change(id, viewer, (edit) => {
      requireAllowed(judged("approve", edit.run));
      const target = findApproval(edit, decision.inputsHash);
      requireOthersWords(edit.run, target, viewer);
      edit.attach({ author: extras.author ?? auditContextOf(viewer) });
      decideApproval(edit, target, { ...decision, decidedBy: viewer.id, name: viewer.displayName });
      this.#add(edit, extras);
    });
  }

  /** Says who may give the answer or the approval that a run waits for, when the viewer and others act from there. */
  async deciders(viewer: Viewer, from: RequestOrigin, members: ListMembers): Promise<DecidersOf> {
    const { policies, storage } = this.#deps;
    return decidersFor({ policies, environments: storage.environments, members }, viewer, from);
  }

  async get(key: RunKey, viewer: Viewer): Promise<Run> {
    return requireVisible(await this.#deps.storage.runs.find(key), viewer);
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

  /** The last events before `before`, in order. The caller must already have checked that the viewer may see the run. */
  async readEventsBefore(id: RunId, before: number, limit: number): Promise<readonly RunEvent[]> {
    return this.#deps.storage.runs.readEventsBefore(id, before, limit);
  }

  /** Says in the log of the run that a message to its thread was given up. A deleted run has no log. */
  async recordDeadNotice(
    id: RunId,
    notice: Omit<Extract<RunEventBody, { readonly kind: "notice.dead" }>, "kind">,
  ): Promise<void> {
    await this.#deps.storage.runs.change(id, (subject) => {
      const edit = this.#edit(subject);
      edit.record({ kind: "notice.dead", ...notice });
      return edit.done();
    });
  }

  /** Stores what the platform says about the newest pull request of the run. */
  async setPullRequestStatus(id: RunId, status: PullRequestStatus): Promise<void> {
    await this.#deps.storage.runs.change(id, (subject) => {
      const edit = this.#edit(subject);
      edit.setPullRequestStatus(status);
      return edit.done();
    });
  }

  /** The events after `after`, in order. The caller must already have checked that the viewer may see the run. */
  async readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]> {
    return this.#deps.storage.runs.readEvents(id, after, limit, kinds);
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

  /** Sharing takes effect only if the request itself asks for it, because only its response shows the address. */
  async #sharing({ config, creator }: NewRun): Promise<Pick<PreparedRun, "ignored" | "shares">> {
    const access = config?.session_sharing?.public_access;
    if (access === undefined) {
      return { ignored: [] };
    }
    const team = await this.#deps.storage.teams.find(creator.teamId);
    return team !== undefined && allowsSharing(team, access)
      ? { shares: access, ignored: [] }
      : { ignored: ["config.session_sharing"] };
  }

  /** Adds the named agent that executes the run, if any. */
  async #withAgent(request: NewRun): Promise<NewRun> {
    const { agentUid, creator, requester = creator } = request;
    const namedAgent = await findExecutingAgent(this.#deps.storage, requester, agentUid);
    return namedAgent === undefined ? request : { ...request, namedAgent };
  }

  /** Adds what the run inherits from its conversation, and what the first matching routing rule says. */
  async #routed(request: NewRun, from: RequestOrigin): Promise<NewRun> {
    if (request.isRouted === true) {
      return request;
    }
    const { config: requested = {}, continues, creator, namedAgent, prompt } = request;
    const agent = namedAgent && agentConfig(namedAgent, requested);
    const chosen = layeredConfig(requested, agent ?? {});
    const before = continues && inheritConfig(continues, chosen);
    const { defaults = [], isWithoutEnvironment = false } = request;
    const rules = await this.#deps.routing.of(creator.teamId);
    const known = layeredConfig(chosen, before?.config ?? {});
    const routing = isWithoutEnvironment
      ? { reason: "The request names no environment.", considered: [] }
      : route(rules, { ...from, text: prompt, config: known });
    // An issue says itself where its run works.
    const hasPlace =
      isWithoutEnvironment || homeRepositoryOf({ provenance: request.provenance ?? {} }) !== undefined;
    const below = hasPlace
      ? defaults.map(({ config, layer }) => ({ layer, config: withoutPlace(config) }))
      : defaults;
    const sources = { request: requested, agent, conversation: before?.config, defaults: below };
    const routed = routedConfig(sources, routing);
    const provenance = { ...before?.provenance, ...request.provenance, ...routed.provenance };
    return { ...before, ...request, config: routed.config, provenance };
  }

  /** The policies apply to everybody who takes part in the request. Nobody uses a right to administer here. */
  async #judgeNew(origin: RunDefinition, request: NewRun, from: RequestOrigin): Promise<Verdict> {
    const { creator, namedAgent, requester = creator } = request;
    const verdictOn = async (one: Pick<Viewer, "id" | "type">) => {
      const who = { ...one, teamId: creator.teamId, administrator: false };
      return (await this.#judge(who, from))("create", origin);
    };
    let verdict = await verdictOn(creator);
    if (requester.id !== creator.id) {
      verdict = stricter(verdict, await verdictOn(requester));
    }
    if (namedAgent !== undefined && namedAgent.id !== requester.id) {
      verdict = stricter(verdict, await verdictOn({ id: namedAgent.id, type: "service_account" }));
    }
    return verdict;
  }

  /** Evaluates the team's policies. Every change of a run goes through here. */
  #judge(viewer: Parameters<typeof runJudge>[1], from: RequestOrigin = OVER_THE_API): Promise<RunJudge> {
    const { policies, storage } = this.#deps;
    return runJudge({ policies, environments: storage.environments }, viewer, from);
  }

  /** A guest's words are also those of the member who invited the guest. */
  #approvalTools(author?: Viewer): ApprovalTools {
    const authorIds = [author?.id, author?.invitation?.by.id].filter((id) => id !== undefined);
    return { digest: this.#deps.digest, authorIds };
  }

  /** An approval is for the contents of the files, which are read here. */
  async #withDigests({ files = [], ...input }: ReceivedFollowUp): Promise<FollowUpInput> {
    const { blobs, digest } = this.#deps;
    const digested: (RunInput & { readonly sha256: string })[] = [];
    for (const file of files) {
      digested.push({ ...file, sha256: digest(await blobs.get(file.blobId)) });
    }
    return digested.length === 0 ? input : { ...input, files: digested };
  }

  async #tryCancel(id: RunId, viewer: Viewer): Promise<CancelStatus> {
    let isChanged = false;
    const judged = await this.#judge(viewer);
    try {
      await this.#change(id, viewer, (edit) => {
        requireAllowed(judged("cancel", edit.run));
        isChanged = decideCancel(edit, viewer.displayName);
      });
    } catch (error) {
      return statusOf(error);
    }
    return isChanged ? "cancelled" : "already_cancelled";
  }

  async #change(id: RunId, viewer: Viewer, decide: (edit: RunEdit) => void): Promise<Run> {
    const { log, storage } = this.#deps;
    let wasEnded = false;
    const run = await storage.runs.change(id, (subject) => {
      requireVisible(subject.run, viewer);
      wasEnded = isEnded(subject.run.state);
      const edit = this.#edit(subject);
      decide(edit);
      updateApproval(edit, this.#approvalTools(viewer));
      return edit.done();
    });
    // A worker that has the run logs its end when the processes are gone and the cost is known.
    if (!wasEnded && run.lease === undefined) {
      logRunEnd(log, run);
    }
    return run;
  }

  #edit(subject: ConstructorParameters<typeof RunEdit>[0]): RunEdit {
    return new RunEdit(subject, { now: this.#deps.clock.now(), writer: this.#deps.writer });
  }

  #add(edit: RunEdit, extras: TransactionExtras, effect: Omit<FollowUpResult, "run"> = {}): void {
    const { apiKeyId, binding, inboxResult, responseFor, signInId, startAfterMs = 0 } = extras;
    edit.attach({ apiKeyId, signInId });
    if (binding !== undefined) {
      edit.bind(binding);
    }
    edit.startAfter(startAfterMs);
    const { saysIfQuestionOpen, threadNotices } = extras;
    for (const notice of threadNotices?.notices ?? []) {
      edit.notices.post(notice, threadNotices?.threadId);
    }
    if (saysIfQuestionOpen !== undefined && effect.questionOpen === true) {
      edit.notices.post(saysIfQuestionOpen, threadNotices?.threadId);
    }
    if (inboxResult !== undefined) {
      edit.attach({ inboxResult: { ...inboxResult, runId: edit.run.id } });
    }
    edit.attach({ idempotentResponse: responseFor?.({ run: edit.run, ...effect }) });
  }
}

function requireOthersWords(run: Run, { approval, followUp }: ApprovalTarget, viewer: Viewer): void {
  const { authorIds = [] } = approval;
  const words =
    followUp === undefined
      ? { authorIds, isRequest: true }
      : { authorIds: [followUp.authorId, ...authorIds], isRequest: false };
  const objection = objectionTo(viewer, run, words);
  if (objection !== undefined) {
    throw new AppError("not_authorized", objection);
  }
}

/** What a refused cancellation says about the run. Any other failure is thrown. */
function statusOf(error: unknown): CancelStatus {
  const code = error instanceof AppError ? error.code : undefined;
  switch (code) {
    case "invalid_request":
      return "ended";
    case "not_authorized":
      return "not_authorized";
    case "resource_not_found":
      return "not_found";
    default:
      throw error;
  }
}

/** Shows a follow-up to people who read the run's threads elsewhere. */
function followUpNotice(
  viewer: Viewer,
  { message }: Pick<FollowUpInput, "message">,
  { from, signInId }: Pick<TransactionExtras, "from" | "signInId">,
): Notice {
  if (viewer.invitation !== undefined) {
    return changeNotice({ displayName: "A guest" }, "asked over a share link", message);
  }
  const place = signInId === undefined ? "over the API" : "on the web";
  return changeNotice(viewer, `asked ${from?.integration ? `in ${from.integration}` : place}`, message);
}

function changeNotice(
  { displayName = "A user" }: Pick<Viewer, "displayName">,
  did: string,
  message: string,
): Notice {
  const words = Array.from(message);
  const cut = words.length > TOLD_LENGTH ? `${words.slice(0, TOLD_LENGTH).join("")}…` : message;
  return { kind: "message", purpose: "reply", text: `${displayName} ${did}: ${cut}` };
}

/** A run that tests an environment has no agent that could read a message. */
function requireAgent({ preparesOnly }: Run): void {
  if (preparesOnly === true) {
    throw new AppError("operation_not_supported", "This run tests an environment: no agent works on it.", {
      remedy: "Start a run in this environment.",
    });
  }
}

/** The name of the environment, for people who read about the run when the environment has been changed. */
function withEnvironment(request: NewRun, environment: Environment | undefined): NewRun {
  if (environment === undefined) {
    return request;
  }
  const { name, repositories } = environment.config;
  const names = repositories.map((repository) => `${repository.owner}/${repository.name}`);
  return { ...request, provenance: { ...request.provenance, environment: { name, repositories: names } } };
}
