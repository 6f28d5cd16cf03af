import type { RefusalSign, RequestKind } from "../policies/policy.ts";
import type { RunConfig } from "../runs/run.ts";

/** What a file of a repository says about the work there. It chooses and restricts. Policies apply in addition. */
export interface RepositorySettings {
  /** The uid or the name of an environment of the team. */
  readonly environment?: string;
  readonly config: Pick<RunConfig, "base_prompt" | "harness" | "model_id" | "pull_request">;
  /** The kinds of requests that start nothing. */
  readonly off: readonly RequestKind[];
  readonly refusals: RefusalSign;
  /** The only paths that may be changed, as patterns of git from the root of the repository. */
  readonly paths?: readonly string[];
  /** Commits have the line `Signed-off-by` of their author. */
  readonly signsOff?: boolean;
  /** The host makes the commits again and signs them, before they are pushed. */
  readonly hostSigns?: boolean;
  /** Members that are left out because they are wrong: one sentence each, with the line. */
  readonly mistakes: readonly string[];
  /** Why nothing is done in the repository: a restriction may be written here that cannot be read. */
  readonly unreadable?: string;
  /** One sentence about a member, with its line. */
  mistakeAt(member: string, problem: string): string;
}
