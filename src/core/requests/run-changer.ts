import type { Clock } from "../basics/clock.ts";
import type { Digest } from "../basics/crypto.ts";
import type { RunId } from "../basics/ids.ts";
import type { Log } from "../basics/log.ts";
import type { Viewer } from "../model/people/principal.ts";
import { requiredApproval } from "../model/policies/evaluate-policies.ts";
import { ACTIONS_WITH_WORDS } from "../model/policies/policy.ts";
import type { RequestOrigin } from "../model/policies/request-origin.ts";
import { requireVisible } from "../model/policies/visibility.ts";
import type { Run } from "../model/runs/run.ts";
import { isEnded } from "../model/runs/states.ts";
import type { RunKey } from "../ports/stores/run-store.ts";
import type { Storage } from "../ports/stores/storage.ts";
import type { ApprovalTools } from "../runs/approval.ts";
import { updateApproval } from "../runs/decide-approval.ts";
import { resolveExecuted } from "../runs/executed/resolve-executed.ts";
import { logRunEnd } from "../runs/log-run-end.ts";
import type { NoticeWriter } from "../runs/notice-writer.ts";
import { RunEdit } from "../runs/run-edit.ts";
import { type PolicyEvaluator, policyEvaluator, type RunRules } from "../team/policies/run-rules.ts";

export interface RunChangerDeps extends RunRules {
  readonly storage: Pick<Storage, "environments" | "mcpServers" | "runs" | "secrets">;
  readonly clock: Clock;
  readonly writer: NoticeWriter;
  readonly digest: Digest;
  readonly log: Log;
}

export const OVER_THE_API: RequestOrigin = { source: "API" };

/** Changes runs by decisions about a `RunEdit`, and says what the policies decide about a change. */
export class RunChanger {
  readonly #deps: RunChangerDeps;

  constructor(deps: RunChangerDeps) {
    this.#deps = deps;
  }

  /** Reads the team's policies, and says what they decide about the actions of the viewer. */
  evaluator(
    viewer: Parameters<typeof policyEvaluator>[1],
    from: RequestOrigin = OVER_THE_API,
  ): Promise<PolicyEvaluator> {
    const { policies, storage } = this.#deps;
    return policyEvaluator({ policies, environments: storage.environments }, viewer, from);
  }

  /** A guest's words are also those of the member who invited the guest. */
  approvalTools(author?: Viewer): ApprovalTools {
    const authorIds = [author?.id, author?.invitation?.by.id].filter((id) => id !== undefined);
    return { digest: this.#deps.digest, authorIds };
  }

  /** With what the run would execute now, if the change may ask for an approval. */
  async approvalToolsFor(id: RunId, viewer: Viewer, evaluate: PolicyEvaluator): Promise<ApprovalTools> {
    const tools = this.approvalTools(viewer);
    const run = await this.get({ id }, viewer);
    const { approval, executes, waitingFollowUp } = run;
    const mayAsk =
      (approval ?? executes ?? waitingFollowUp) !== undefined ||
      ACTIONS_WITH_WORDS.some((action) => requiredApproval(evaluate(action, run)) !== undefined);
    return mayAsk ? { ...tools, executes: await resolveExecuted(this.#deps.storage, run) } : tools;
  }

  async get(key: RunKey, viewer: Viewer): Promise<Run> {
    return requireVisible(await this.#deps.storage.runs.find(key), viewer);
  }

  /** Stores the decision in one transaction. The viewer must be allowed to see the run. `decide` may throw. */
  async change(id: RunId, viewer: Viewer, decide: (edit: RunEdit) => void): Promise<Run> {
    const { log, storage } = this.#deps;
    let wasEnded = false;
    const run = await storage.runs.change(id, (aggregate) => {
      requireVisible(aggregate.run, viewer);
      wasEnded = isEnded(aggregate.run.state);
      const edit = this.#edit(aggregate);
      decide(edit);
      updateApproval(edit, this.approvalTools(viewer));
      return edit.done();
    });
    // A worker that has the run logs its end when the processes are gone and the cost is known.
    if (!wasEnded && run.lease === undefined) {
      logRunEnd(log, run);
    }
    return run;
  }

  /** The same without a viewer, for changes that the server itself makes. */
  async changeForSystem(id: RunId, decide: (edit: RunEdit) => void): Promise<void> {
    await this.#deps.storage.runs.change(id, (aggregate) => {
      const edit = this.#edit(aggregate);
      decide(edit);
      return edit.done();
    });
  }

  #edit(aggregate: ConstructorParameters<typeof RunEdit>[0]): RunEdit {
    return new RunEdit(aggregate, { now: this.#deps.clock.now(), writer: this.#deps.writer });
  }
}
