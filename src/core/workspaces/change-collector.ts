import type { TurnEnd } from "../agents/agent-runner.ts";
import type { AttemptContext } from "../attempts/attempt-context.ts";
import { type AttemptServices, recordLostChanges } from "../attempts/attempt-services.ts";
import { LeaseLost } from "../attempts/lease-writer.ts";
import { PullRequestPublisher } from "../pull-requests/pull-request-publisher.ts";
import type { Run, StatusMessage } from "../runs/run.ts";
import { PatchFiles } from "./patch-files.ts";
import type { CollectedFile } from "./workspace.ts";

export interface CollectedChanges {
  readonly files: readonly CollectedFile[];
  /** The status message of a run that succeeds. */
  readonly success?: StatusMessage;
}

const NOTHING: CollectedChanges = { files: [] };

/**
 * Collects what a run changes in its repositories, as patches and as pull requests. A failure here never ends the
 * run.
 */
export class ChangeCollector {
  readonly #services: AttemptServices;
  readonly #files: PatchFiles;
  readonly #pullRequests: PullRequestPublisher;
  readonly #hasRepositories: boolean;

  constructor(services: AttemptServices, attemptContext: AttemptContext) {
    const { clean, lease, deps } = services;
    const problem = (what: string, error: unknown) => recordLostChanges(services, what, error);
    this.#services = services;
    this.#files = new PatchFiles({ ...deps, site: attemptContext, plan: attemptContext.plan, problem });
    this.#pullRequests = new PullRequestPublisher({ ...deps, lease, clean, site: attemptContext, problem });
    // A run that continues another run may have that run's repositories.
    this.#hasRepositories = attemptContext.plan.repositories.length > 0 || deps.run.continuesId !== undefined;
  }

  async beforeTurn(): Promise<void> {
    if (this.#hasRepositories) {
      await this.#files.mark();
    }
  }

  async afterTurn(run: Run, end: TurnEnd): Promise<CollectedChanges> {
    if (!this.#hasRepositories) {
      return NOTHING;
    }
    try {
      return await this.#collect(run, end);
    } catch (error) {
      if (error instanceof LeaseLost) {
        throw error;
      }
      recordLostChanges(this.#services, "The changes could not be kept", error);
      return NOTHING;
    }
  }

  /** For a run that ends in the middle of its work. */
  async atEnd(): Promise<readonly CollectedFile[]> {
    return this.#hasRepositories ? this.#files.ofRun() : [];
  }

  async #collect({ turn }: Run, { stopReason }: TurnEnd): Promise<CollectedChanges> {
    const { waiting } = await this.#services.lease.look();
    const isLast = waiting.length === 0;
    const ofTurn = await this.#files.ofTurn(turn);
    const isDone = isLast && stopReason === "end_turn";
    const { handedOver, url } = await this.#pullRequests.settle(isDone, ofTurn?.repositories);
    const ofRun = isLast ? await this.#files.ofRun(handedOver) : [];
    const success = url === undefined ? {} : { success: { message: `Its pull request: ${url}` } };
    return { files: [...(ofTurn?.files ?? []), ...ofRun], ...success };
  }
}
