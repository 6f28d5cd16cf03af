import type { LeaseToken } from "../ids.ts";
import type { AgentRunner } from "../ports/agent-runner.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { News } from "../ports/news.ts";
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
  readonly workspaces: WorkspaceKeeper;
  readonly blobs: Pick<BlobStore, "get">;
  readonly skills: Pick<SkillLibrary, "readFiles">;
  readonly news: News;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly log: Log;
  readonly secretBox: Pick<SecretBox, "open">;
  readonly redactors: RunRedactors;
  /** Takes secrets, the run's own as well, out of text that is going to be stored or shown. */
  readonly redact: (text: string) => string;
  readonly leaseMs: number;
  readonly run: Run;
  readonly token: LeaseToken;
  readonly stop: AbortSignal;
}
