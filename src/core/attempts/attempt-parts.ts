import type { LeaseToken } from "../ids.ts";
import type { AgentRunner } from "../ports/agent-runner.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { ChangeKeeper } from "../ports/changes.ts";
import type { Clock } from "../ports/clock.ts";
import type { Gateways } from "../ports/gateway.ts";
import type { Log } from "../ports/log.ts";
import type { News } from "../ports/news.ts";
import type { PullRequests } from "../ports/pull-requests.ts";
import type { RunRedactors } from "../ports/redactor.ts";
import type { SecretBox } from "../ports/secret-box.ts";
import type { SkillLibrary } from "../ports/skill-library.ts";
import type { Storage } from "../ports/storage.ts";
import type { WorkspaceKeeper } from "../ports/workspace.ts";
import type { Run } from "../runs/run.ts";
import type { NoticeWriter } from "../threads/notice-writer.ts";

/** What one attempt works with. */
export interface AttemptParts {
  readonly storage: Storage;
  readonly agents: AgentRunner;
  readonly gateways: Gateways;
  readonly workspaces: WorkspaceKeeper;
  readonly changes: ChangeKeeper;
  readonly pullRequests: PullRequests;
  readonly blobs: Pick<BlobStore, "get" | "put">;
  readonly skills: Pick<SkillLibrary, "readFiles">;
  readonly news: News;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly log: Log;
  readonly secretBox: Pick<SecretBox, "open">;
  readonly redactors: RunRedactors;
  /** Takes secrets, the run's own as well, out of text that is going to be stored or shown. */
  readonly redact: (text: string) => string;
  readonly settings: WorkSettings;
  readonly leaseMs: number;
  readonly run: Run;
  readonly token: LeaseToken;
  readonly stop: AbortSignal;
}

/** What the operator says of all runs. */
export interface WorkSettings {
  /** An agent of which nothing is heard for so long is given up. */
  readonly inactivityMs: number;
  /** The longest that one turn may take. */
  readonly turnMs: number;
  /** The longest that one attempt may take. */
  readonly runMs: number;
  /** The most that one attempt may write to its run's log. */
  readonly logMib: number;
  /** For work that was asked for in a repository and that its agent did not push itself. */
  readonly pullRequests: PullRequestSetting;
}

export const PULL_REQUEST_SETTINGS = ["off", "draft", "ready"] as const;
export type PullRequestSetting = (typeof PULL_REQUEST_SETTINGS)[number];
