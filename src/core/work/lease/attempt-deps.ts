import type { Clock } from "../../basics/clock.ts";
import type { SecretBox } from "../../basics/crypto.ts";
import type { LeaseToken } from "../../basics/ids.ts";
import type { Log } from "../../basics/log.ts";
import type { PullRequestSetting } from "../../model/repositories/pull-request-setting.ts";
import type { Run } from "../../model/runs/run.ts";
import type { AgentRunner } from "../../ports/agent-runner.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { ChangeTracker } from "../../ports/change-tracker.ts";
import type { Gateways } from "../../ports/gateway.ts";
import type { PubSub } from "../../ports/pubsub.ts";
import type { PullRequests } from "../../ports/pull-requests.ts";
import type { Slot } from "../../ports/queue.ts";
import type { RunRedactors } from "../../ports/redactor.ts";
import type { SchemaChecker } from "../../ports/schema-checker.ts";
import type { SkillLibrary } from "../../ports/skill-library.ts";
import type { RunAggregate } from "../../ports/stores/run-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { WorkspaceProvider } from "../../ports/workspace-provider.ts";
import type { NoticeWriter } from "../../runs/notice-writer.ts";
import type { StartTimes } from "../log/start-times.ts";
import type { LeaseRenewals } from "./lease-renewals.ts";
import type { WaitingAgents } from "./waiting-agents.ts";

/** The dependencies of one attempt. */
export interface AttemptDeps {
  readonly storage: Pick<
    Storage,
    "environments" | "files" | "mcpServers" | "people" | "runs" | "secrets" | "threads"
  >;
  readonly agents: AgentRunner;
  readonly gateways: Gateways;
  readonly workspaces: WorkspaceProvider;
  readonly changes: ChangeTracker;
  readonly pullRequests: PullRequests;
  readonly blobs: Pick<BlobStore, "get" | "put">;
  readonly skills: Pick<SkillLibrary, "readFiles">;
  readonly schemas: SchemaChecker;
  readonly pubsub: PubSub;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly log: Log;
  readonly secretBox: Pick<SecretBox, "open">;
  readonly redactors: RunRedactors;
  /** Removes secrets, those of the run included, from text that will be stored or shown. */
  readonly redact: (text: string) => string;
  readonly settings: RunSettings;
  readonly renewals: Pick<LeaseRenewals, "hold">;
  readonly run: Run;
  readonly token: LeaseToken;
  /** The run as the claim left it. */
  readonly known: RunAggregate | undefined;
  /** The id of this worker's data directory. */
  readonly disk?: string;
  /** The name of this worker, for people. */
  readonly worker: string;
  readonly stop: AbortSignal;
  readonly slot: Slot;
  readonly waitingAgents: Pick<WaitingAgents, "add">;
  readonly startTimes: Pick<StartTimes, "add" | "addAgent">;
}

/** The operator's settings for all runs. */
export interface RunSettings {
  /** An agent that is silent for this long is stopped. */
  readonly inactivityMs: number;
  /** The longest time that one turn may take. */
  readonly turnMs: number;
  /** The longest time that one attempt may take. */
  readonly attemptMs: number;
  /** The most that one attempt may write to the log of its run. */
  readonly logMib: number;
  /** How often the files are stored within a turn. */
  readonly checkpointMs: number;
  /** The largest size of a workspace on the disk of its worker. */
  readonly workspaceGib: number;
  /** Applies to changes that were asked for in a repository and that the agent did not push. */
  readonly pullRequests: PullRequestSetting;
}
