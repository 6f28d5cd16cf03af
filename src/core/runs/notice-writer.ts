import { defined } from "../basics/defined.ts";
import { withHiddenShown } from "../basics/hidden-characters.ts";
import { countChecks } from "../model/repositories/pull-request-status.ts";
import {
  detailsOf,
  type ExecutedConfig,
  NOT_COVERED,
  publicDetailsOf,
} from "../model/runs/executed-config.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import { homeRepositoryOf, isPatchOnly } from "../model/runs/home-repository.ts";
import { shownQuestion } from "../model/runs/question-text.ts";
import { isReview } from "../model/runs/review.ts";
import type {
  Approval,
  ApprovalInput,
  ConfigLayer,
  PendingPermission,
  Provenance,
  Run,
  RunConfig,
  StatusMessage,
} from "../model/runs/run.ts";
import { shortfallOf } from "../model/runs/run-outcome.ts";
import type { RunSource } from "../model/runs/sources.ts";
import { isEnded, isPaused } from "../model/runs/states.ts";
import type {
  CardApproval,
  CardQuestion,
  CardWorkspace,
  Notice,
  RunCard,
  RunCheck,
} from "../model/threads/notice.ts";
import type { Thread } from "../model/threads/thread.ts";
import type { AdapterTraits } from "../ports/thread-adapter.ts";
import { isWaitingForApproval, needsApproval } from "./approval.ts";
import { checkOf } from "./run-check.ts";

type Message = Extract<Notice, { readonly kind: "message" }>;

/** Adapters can show a text of this length as a whole. */
const APPROVAL_LENGTH_MAX = 2_000;

/** Describes runs for threads as plain data. The adapter renders it. */
export class NoticeWriter {
  readonly #publicUrl: () => string;
  readonly #traits: ReadonlyMap<string, AdapterTraits>;

  /** `publicUrl` is a function, because a server on a free port learns its address late. */
  constructor(publicUrl: () => string, traits: ReadonlyMap<string, AdapterTraits>) {
    this.#publicUrl = publicUrl;
    this.#traits = traits;
  }

  sessionLink(run: Pick<Run, "sessionId">): string {
    return `${this.#publicUrl()}/sessions/${run.sessionId}`;
  }

  /** `waiting` are the follow-ups that no turn has taken. `isPublic`: people outside of the team read the card. */
  card(run: Run, now: Date, waiting: readonly FollowUp[] = [], isPublic = false): RunCard {
    const question = run.state === "BLOCKED" ? run.permission : undefined;
    // A question already says what the run waits for.
    const status = question === undefined && run.statusMessage ? [statusText(run.statusMessage)] : [];
    const words = [...(run.provenance.settings_mistakes ?? []), ...status].join("\n");
    const [approval] = approvalsOn(run, waiting, isPublic);
    const shortfall = run.outcome && shortfallOf(run);
    const { costUsd, pullRequest } = run;
    return {
      runId: run.id,
      title: withHiddenShown(run.title),
      state: run.state,
      turn: run.turn,
      sessionLink: this.sessionLink(run),
      workspace: this.#workspaceOn(run),
      ...activityOn(run, now),
      ...defined({ shortfall }),
      ...(pullRequest === undefined ? {} : { pullRequest, ...pullRequestStatusOn(run) }),
      ...defined({
        costUsd,
        message: words === "" ? undefined : withHiddenShown(words),
        question: question === undefined ? undefined : cardQuestion(question),
        isPaused: isPaused(run) ? true : undefined,
        approval,
      }),
    };
  }

  check(run: Run, adapter: string): RunCheck {
    const review = isReview(run) ? this.#traits.get(adapter)?.reviewIn?.(run.answer ?? "") : undefined;
    return checkOf(run, this.sessionLink(run), review?.findings.length);
  }

  /** As `AdapterTraits.showsCheckIn`. */
  showsCheckIn({ adapter, key }: Pick<Thread, "adapter" | "key">, { provenance }: Run): boolean {
    const own = provenance.integration === adapter ? provenance : undefined;
    return this.#traits.get(adapter)?.showsCheckIn?.(key, own) === true;
  }

  #workspaceOn(run: Run): CardWorkspace {
    const workspace = workspaceOn(run);
    const isEmpty = workspace.environment === undefined && workspace.repositories.length === 0;
    return isEmpty && run.provenance.has_environments === false
      ? { ...workspace, environmentsLink: `${this.#publicUrl()}/environments` }
      : workspace;
  }

  /** The source of the requests of an adapter. */
  sourceOf(adapter: string): RunSource | undefined {
    return this.#traits.get(adapter)?.source;
  }

  /** The person who asked for the run, as `AdapterTraits.coAuthorOf`. */
  coAuthorOf({ provenance: { actor, integration } }: Pick<Run, "provenance">): string | undefined {
    const traits = integration === undefined ? undefined : this.#traits.get(integration);
    return actor && traits?.coAuthorOf?.(actor);
  }

  /** As `AdapterTraits.placeOf`. */
  placeOf(adapter: string, messageRef: string): string | undefined {
    return this.#traits.get(adapter)?.placeOf?.(messageRef);
  }

  /** Whether people outside of the team can read the threads of the run there, as far as the adapter knows. */
  isPublic(adapter: string, { provenance }: Run): boolean {
    const own = provenance.integration === adapter ? provenance : undefined;
    return this.#traits.get(adapter)?.isPublic?.(own) === true;
  }

  /** Whether the card of the adapter shows the plan and what the agent does now. */
  showsActivity(adapter: string): boolean {
    return this.#traits.get(adapter)?.showsActivity === true;
  }

  /** Whether a question is shown there with its buttons, and edited once it is answered. */
  showsChoices(adapter: string): boolean {
    return this.#traits.get(adapter)?.asksForEnvironment === true;
  }

  /** The notice as it is for the threads of one adapter. If it names no person, it names the run's requester there. */
  addressed(notice: Notice, run: Run, adapter: string): Notice {
    const { actor, integration } = run.provenance;
    if (notice.kind !== "message") {
      return notice;
    }
    const { asks, ...message } = notice;
    const asked = asks === undefined || this.showsChoices(adapter) ? notice : message;
    const shown = isReview(run) ? this.#withReview(asked, adapter) : asked;
    const isToRequester = notice.purpose !== "reply" && integration === adapter && actor !== undefined;
    return isToRequester ? { requester: actor, ...shown } : shown;
  }

  /** The answer of a review with its findings, where the adapter can show them at their places. */
  #withReview(message: Message, adapter: string): Message {
    const report =
      message.purpose === "answer" ? this.#traits.get(adapter)?.reviewIn?.(message.text) : undefined;
    if (report === undefined) {
      const { review: _unread, ...plain } = message;
      return plain;
    }
    const { summary: text, ...review } = report;
    return { ...message, text, review: { ...message.review, ...review } };
  }
}

function cardQuestion(question: PendingPermission): CardQuestion {
  const { isWhole, options, text } = shownQuestion(question);
  const { permissionId, title } = question;
  const shown = { permissionId, title: withHiddenShown(title), text, options };
  return isWhole ? shown : { ...shown, isOnlyOnPage: true };
}

/** What happened, and what a person can do about it. */
export function statusText({ message, remedy }: StatusMessage): string {
  return remedy === undefined ? message : `${message}\n${remedy}`;
}

const REASONS: Readonly<Record<ConfigLayer, string>> = {
  request: "named in the request",
  agent: "a default of the agent",
  conversation: "as before in the conversation",
  repository_file: "as the file of the repository says",
  routing_rule: "a routing rule",
  place_default: "the default of this place",
  person_default: "the default of the person who asked",
  choice: "chosen here",
  only_environment: "the only environment of the team",
  skill: "named by the skill",
  default: "the default",
};

function workspaceOn(run: Run): CardWorkspace {
  const { config, provenance } = run;
  const home = homeRepositoryOf(run);
  const named = provenance.environment;
  const repositories = [
    ...(config.repository === undefined ? [] : [config.repository]),
    ...(named?.repositories ?? []),
    ...(home === undefined ? [] : [`${home.owner}/${home.name}`]),
  ];
  const reason = forkReason(run) ?? reasonOf(provenance, config) ?? (home && "where the request was made");
  const changes = changesOn(run);
  return defined({ environment: named?.name, repositories: [...new Set(repositories)], reason, changes });
}

/** Said before there are changes, because nobody asked for it. */
function changesOn({ config, provenance, pullRequest, state }: Run): CardWorkspace["changes"] {
  const { pull_request: setting } = config;
  const isDefault = provenance.config_layers?.pull_request === "default";
  return !isDefault || setting === "off" || pullRequest !== undefined || isEnded(state) ? undefined : setting;
}

/** Says before the work begins how it comes back, because nothing can be pushed to the fork. */
function forkReason(run: Run): string | undefined {
  const { commit, name } = homeRepositoryOf(run)?.fork ?? {};
  const fork = name === undefined ? "a fork that was deleted" : `the fork ${name}`;
  const result = isPatchOnly(run) ? "a patch" : "a pull request here";
  return commit && `at ${commit.slice(0, 7)} of ${fork}, so the work comes back as ${result}`;
}

function reasonOf(
  { config_layers: layers = {}, routing }: Provenance,
  config: RunConfig,
): string | undefined {
  const member = config.environment_id === undefined ? "repository" : "environment_id";
  const layer = config[member] === undefined ? undefined : layers[member];
  if (layer === "routing_rule" && routing?.rule != null) {
    return `the routing rule “${routing.rule}”`;
  }
  return layer && REASONS[layer];
}

function activityOn(
  { activity, endedAt }: Run,
  now: Date,
): Pick<RunCard, "elapsedSeconds" | "plan" | "step"> {
  const { plan, since, step } = activity ?? {};
  const elapsedMs = since && (endedAt ?? now).getTime() - since.getTime();
  return defined({
    plan,
    step,
    elapsedSeconds: elapsedMs === undefined ? undefined : Math.max(0, Math.round(elapsedMs / 1_000)),
  });
}

/** The status of an earlier pull request says nothing about the newest. */
function pullRequestStatusOn({
  pullRequest,
  pullRequestStatus: status,
}: Run): Pick<RunCard, "pullRequestStatus"> {
  return status === undefined || status.url !== pullRequest
    ? {}
    : { pullRequestStatus: { state: status.state, checks: countChecks(status.checks) } };
}

/** What waits for approval, as a thread shows it: the run's own request first, then each follow-up. */
export function approvalsOn(
  run: Run,
  waiting: readonly FollowUp[],
  isPublic: boolean,
): readonly CardApproval[] {
  if (run.state === "BLOCKED" && run.permission === undefined && run.approval && needsApproval(run)) {
    return [shownApproval(run.approval, waiting, { isFollowUp: false, isPublic })];
  }
  const approvals = waiting.flatMap((one) =>
    one.approval && isWaitingForApproval(one) ? [one.approval] : [],
  );
  return approvals.map((approval) => shownApproval(approval, waiting, { isFollowUp: true, isPublic }));
}

/**
 * Nobody decides here about words that are not shown as a whole, or that have hidden characters. Where people outside of
 * the team read it, the text around the words and the configuration are only named: the page of the run has them.
 */
function shownApproval(
  { executes, inputs, inputsHash }: Approval,
  waiting: readonly FollowUp[],
  { isFollowUp, isPublic }: { readonly isFollowUp: boolean; readonly isPublic: boolean },
): CardApproval {
  const secret = new Set(waiting.filter((followUp) => followUp.private).map(({ id }) => id));
  if (inputs.some(({ followUpId }) => followUpId !== undefined && secret.has(followUpId))) {
    return { isFollowUp };
  }
  const isShown = ({ followUpId }: ApprovalInput, index: number) =>
    !isPublic || index === 0 || followUpId !== undefined;
  const around = inputs.filter((input, index) => !isShown(input, index));
  const text = [
    ...inputs
      .filter(isShown)
      .flatMap(({ attachments, text: words }) => [
        words,
        ...attachments.map(({ name, sha256 }) => `File: ${name} (SHA-256 ${sha256})`),
      ]),
    ...(around.length === 0 ? [] : [`And the text around it: ${lengthOf(around)} characters.`]),
    ...(executes === undefined ? [] : [executedText(executes, isPublic)]),
  ].join("\n\n");
  const shown = withHiddenShown(text);
  if (shown.length > APPROVAL_LENGTH_MAX) {
    return { isFollowUp, text: `${shown.slice(0, APPROVAL_LENGTH_MAX).toWellFormed()}…` };
  }
  return shown === text ? { isFollowUp, text, inputsHash } : { isFollowUp, text: shown };
}

function lengthOf(inputs: readonly ApprovalInput[]): number {
  return inputs.reduce((sum, { text }) => sum + text.length, 0);
}

function executedText(executes: ExecutedConfig, isPublic: boolean): string {
  const details = isPublic ? publicDetailsOf(executes) : detailsOf(executes);
  const lines = details.map(({ label, values }) =>
    values.length === 1
      ? `${label}: ${values[0]}`
      : `${label}:\n${values.map((value) => `- ${value}`).join("\n")}`,
  );
  return ["What will be executed", ...lines, `Not covered: ${NOT_COVERED.join("; ")}.`].join("\n");
}
