import type { TurnEnd } from "../ports/agent-runner.ts";
import type { CollectedFile } from "../ports/workspace.ts";
import type { Run, StatusMessage } from "../runs/run.ts";
import { type AttemptKit, tellNotKept } from "./attempt-kit.ts";
import { ChangeFiles } from "./change-files.ts";
import type { Ground } from "./ground.ts";
import { LeaseLost } from "./lease-writer.ts";
import { PullRequestDesk } from "./pull-request-desk.ts";

export interface KeptWork {
  readonly files: readonly CollectedFile[];
  /** What there is to say of a run that ends well. */
  readonly success?: StatusMessage;
}

const NOTHING: KeptWork = { files: [] };

/** Keeps what a run changes in its repositories: as patches, and in pull requests. Nothing in here ends the run. */
export class WorkKeeper {
  readonly #kit: AttemptKit;
  readonly #files: ChangeFiles;
  readonly #pullRequests: PullRequestDesk;
  readonly #hasRepositories: boolean;

  constructor(kit: AttemptKit, ground: Ground) {
    const { clean, lease, parts } = kit;
    const problem = (what: string, error: unknown) => tellNotKept(kit, what, error);
    this.#kit = kit;
    this.#files = new ChangeFiles({ ...parts, site: ground, plan: ground.plan, problem });
    this.#pullRequests = new PullRequestDesk({ ...parts, lease, clean, site: ground, problem });
    // A run that goes on with another one may have that one's.
    this.#hasRepositories = ground.plan.repositories.length > 0 || parts.run.continuesId !== undefined;
  }

  async beforeTurn(): Promise<void> {
    if (this.#hasRepositories) await this.#files.mark();
  }

  async afterTurn(run: Run, end: TurnEnd): Promise<KeptWork> {
    if (!this.#hasRepositories) return NOTHING;
    try {
      return await this.#keep(run, end);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      tellNotKept(this.#kit, "The changes could not be kept", error);
      return NOTHING;
    }
  }

  /** Of a run that ends in the middle of its work. */
  async atEnd(): Promise<readonly CollectedFile[]> {
    return this.#hasRepositories ? this.#files.ofRun() : [];
  }

  async #keep({ turn }: Run, { stopReason }: TurnEnd): Promise<KeptWork> {
    const { waiting } = await this.#kit.lease.look();
    const isLast = waiting.length === 0;
    const ofTurn = await this.#files.ofTurn(turn);
    const isDone = isLast && stopReason === "end_turn";
    const { handedOver, url } = await this.#pullRequests.settle(isDone, ofTurn?.repositories);
    const ofRun = isLast ? await this.#files.ofRun(handedOver) : [];
    const success = url === undefined ? {} : { success: { message: `Its pull request: ${url}` } };
    return { files: [...(ofTurn?.files ?? []), ...ofRun], ...success };
  }
}
