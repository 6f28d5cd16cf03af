import { cleaned } from "../../basics/clean-text.ts";
import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { newId, type RunId } from "../../basics/ids.ts";
import type { Log } from "../../basics/log.ts";
import type { Installation } from "../../model/people/installation.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { Policy, RefusalSign, Role } from "../../model/policies/policy.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import type { PullRequestSetting } from "../../model/repositories/pull-request-setting.ts";
import type { RepositorySettings } from "../../model/repositories/repository-settings.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Thread } from "../../model/threads/thread.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { InboxResult } from "../../ports/stores/inbox-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type {
  EnvironmentChoice,
  GatheredContext,
  InboundMessage,
  ThreadAdapter,
} from "../../ports/thread-adapter.ts";
import type { PullRequestReader } from "../../requests/pull-request-reader.ts";
import type { RequestDefaultsService } from "../../requests/routing/request-defaults-service.ts";
import type { RunService } from "../../requests/run-service.ts";
import type { InstallationHealth } from "../../team/people/installation-health.ts";
import type { PrincipalJoins } from "../../team/people/principal-joins.ts";
import type { RuleCache } from "../../team/policies/run-rules.ts";

export interface InboxDeps {
  readonly storage: Pick<
    Storage,
    | "environments"
    | "files"
    | "followUps"
    | "identities"
    | "inbox"
    | "installations"
    | "namedAgents"
    | "people"
    | "runs"
    | "threads"
  >;
  readonly runs: RunService;
  readonly policies: Pick<RuleCache<Policy>, "of">;
  readonly joins: Pick<PrincipalJoins, "joinedOf">;
  readonly pullRequests: Pick<PullRequestReader, "take">;
  readonly adapters: ReadonlyMap<string, ThreadAdapter>;
  /** Files of requests. */
  readonly blobs: Pick<BlobStore, "put">;
  readonly requestDefaults: RequestDefaultsService;
  /** As in `OptionDeps`. */
  readonly gitUrl: string;
  /** What becomes of changes where `proposesChanges` is set and nothing else says it. */
  readonly changesDefault: PullRequestSetting;
  readonly installationHealth: InstallationHealth;
  readonly clock: Clock;
  readonly log: Log;
}

/** A message with its installation and thread, looked up once per event and passed along. */
export interface MessageContext {
  readonly inboxId: string;
  readonly receivedAt: Date;
  readonly adapter: ThreadAdapter;
  readonly message: InboundMessage;
  readonly installation: Installation;
  /** Its row may not exist yet; then `id` is the id that the row will get. */
  readonly thread: Thread;
  /** What an earlier version of the message did. */
  readonly effect?: MessageEffect;
  /** Set for a request that waited for a choice. */
  readonly choice?: ChosenEnvironment;
  /** Set for a report: the run that it is about. */
  readonly reportedRun?: Run;
  /** What its repository says about work, once its author is known. */
  readonly settings?: RepositorySettings;
  /** How the policy that refuses the message wants it answered. It comes before the settings. */
  readonly refusalSign?: RefusalSign | undefined;
}

/** What a message did: it started a run, or became a follow-up of it. */
export interface MessageEffect {
  readonly runId: RunId;
  /** The run was started by the message. Otherwise it got a follow-up. */
  readonly isRequest: boolean;
}

/** A message whose author is known and may be allowed something. */
export interface AuthorizedContext extends MessageContext {
  readonly author: Principal;
  /** What the platform confirmed: the author's permission, and more about the channel or repository. */
  readonly proven: Readonly<Record<string, unknown>>;
  readonly roles: readonly Role[];
  readonly gathered: GatheredContext;
}

/** Where a request is worked on, as a person chose. */
export interface ChosenEnvironment extends Omit<EnvironmentChoice, "kind"> {
  readonly by: Principal;
  readonly environmentName?: string;
  /** The person asked to remember the choice for the place, which only administrators may do. */
  readonly isRefusedForPlace: boolean;
}

/** What an adapter made of an event, and what is known about it already. */
export interface FoundMessage {
  readonly message: InboundMessage;
  readonly thread?: Thread;
  readonly reportedRun?: Run;
}

/** Looks up the installation and the thread: once for this event, unless another event binds the thread meanwhile. */
export async function messageContextOf(
  source: Pick<MessageContext, "adapter" | "inboxId" | "receivedAt">,
  { message: received, reportedRun, thread }: FoundMessage,
  deps: Pick<InboxDeps, "clock" | "storage">,
): Promise<MessageContext> {
  const message = cleaned(received, (text) => text);
  const installation = await deps.storage.installations.ensure(message.adapter, message.installation);
  return {
    ...source,
    message,
    installation,
    thread: thread ?? (await findThread(message, deps)),
    ...defined({ reportedRun }),
  };
}

/** The thread of a message, also before its row exists. */
export async function findThread(
  { adapter, installation, key }: InboundMessage,
  { clock, storage }: Pick<InboxDeps, "clock" | "storage">,
): Promise<Thread> {
  const known = await storage.threads.find({ adapter, installation, key });
  return known ?? { id: newId(clock.now()), adapter, installation, key };
}

/** How people address the bot where the message was written. */
export function triggerIn({ adapter, message }: Pick<MessageContext, "adapter" | "message">): string {
  return adapter.traits.trigger(message.installation);
}

/** Where the message comes from, as policies and routing rules match it. */
export function requestOriginOf({
  adapter,
  message: { author, installation, place, requestKind },
  roles,
}: Pick<AuthorizedContext, "adapter" | "message" | "roles">): RequestOrigin {
  const { source } = adapter.traits;
  const where = defined({ integration: adapter.name, installation, place });
  const { botId: bot, isByNameOnly } = author;
  return { source, ...where, ...defined({ bot, isByNameOnly, requestKind }), roles };
}

/** The result of the message's event without its disposition. The dedupe key makes it the only one of its content. */
export function resultOf({ inboxId, installation, message }: MessageContext) {
  const { dedupeKey, revision } = message;
  const about = revision === undefined ? {} : { revision };
  return { inboxId, dedupeKey, teamId: installation.teamId, ...about } satisfies Partial<InboxResult>;
}
