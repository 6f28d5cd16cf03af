import { AppError, plainMessage } from "../../basics/errors.ts";
import { listText } from "../../basics/list-text.ts";
import { retry, THREE_TRIES } from "../../basics/retry.ts";
import type { RepositoryName } from "../../model/repositories/repository-name.ts";
import type { RepositorySettings } from "../../model/repositories/repository-settings.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";

/** How many paths a sentence names. */
const NAMED_MAX = 10;
const NOT_YOURS =
  "this repository has rules for what is pushed, so Errand pushes the work after the turn and you do not";

/** How the repository wants what is pushed. */
export type PushRules = Pick<RepositorySettings, "hostSigns" | "signsOff">;

/**
 * Repositories may restrict which paths are changed. Errand looks before it pushes, and the agent does not push there
 * itself, because nobody could look at that before.
 */
export class PathRules {
  readonly #deps: Pick<AttemptDeps, "changes" | "clock" | "pullRequests" | "run">;
  #isPushing = false;

  constructor(deps: Pick<AttemptDeps, "changes" | "clock" | "pullRequests" | "run">) {
    this.#deps = deps;
  }

  /** For the gateway: why a push is refused. */
  async refusalOf(repository: RepositoryName): Promise<string | undefined> {
    if (this.#isPushing) {
      return undefined;
    }
    try {
      const settings = await this.#settingsOf(repository);
      const { hostSigns = false, paths, signsOff = false, unreadable } = settings ?? {};
      return unreadable ?? (paths === undefined && !signsOff && !hostSigns ? undefined : NOT_YOURS);
    } catch (error) {
      return error instanceof AppError
        ? plainMessage(error)
        : "the rules of the repository could not be read";
    }
  }

  /** A sentence about the changed files that the repository does not let be changed. Undefined: there are none. */
  async problemIn(runWorkspace: RunWorkspace, repository: RepositoryName): Promise<string | undefined> {
    const { mistakeAt, paths, unreadable } = (await this.#settingsOf(repository)) ?? {};
    if (unreadable !== undefined || paths === undefined) {
      return unreadable;
    }
    const outside = await this.#deps.changes.outside(runWorkspace, repository, paths);
    const named = outside.slice(0, NAMED_MAX).map((path) => `\`${path}\``);
    const words = `allows changes only in ${paths.join(", ")}, and these files are changed too: ${listText(named, outside.length)}.`;
    return outside.length === 0 ? undefined : mistakeAt?.("pull_request.paths", words);
  }

  /** Pushes as the repository wants it, unless it does not allow what was changed. */
  async push<Value>(
    runWorkspace: RunWorkspace,
    repository: RepositoryName,
    work: (how: PushRules) => Promise<Value>,
  ): Promise<Value> {
    const problem = await this.problemIn(runWorkspace, repository);
    if (problem !== undefined) {
      throw new AppError("not_authorized", problem, {
        remedy: "Ask the agent to undo that, or change the file.",
      });
    }
    this.#isPushing = true;
    try {
      return await work((await this.#settingsOf(repository)) ?? {});
    } finally {
      this.#isPushing = false;
    }
  }

  #settingsOf({ name, owner }: RepositoryName): Promise<RepositorySettings | undefined> {
    const { clock, pullRequests, run } = this.#deps;
    return retry(clock, THREE_TRIES, () => pullRequests.settings(teamAccessOf(run), { owner, name }));
  }
}
