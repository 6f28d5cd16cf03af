import type { Clock } from "../../basics/clock.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { RoutingRule } from "../../model/defaults/request-defaults.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { evaluatePolicies, type Verdict } from "../../model/policies/evaluate-policies.ts";
import type { Policy, PolicyAction, Relation, Role } from "../../model/policies/policy.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { inOrder, type Rule } from "../../model/policies/rule.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";

export interface PolicyEvaluatorDeps extends Pick<RunRules, "policies"> {
  readonly environments: Pick<RecordStore<Environment>, "list">;
}

type EvaluatedRun = Pick<
  Run,
  "agent" | "config" | "creatorId" | "executes" | "executorId" | "provenance" | "requesterId"
>;
type Actor = Pick<Viewer, "id" | "teamId" | "administrator" | "groups" | "invitation"> & {
  readonly type?: Viewer["type"] | undefined;
};

/** Says what the policies of the team decide about an action of this principal on a run. */
export type PolicyEvaluator = (action: PolicyAction, run: EvaluatedRun) => Verdict;

/** Reads everything that a verdict needs, so that it can be made within a change of the run. */
export async function policyEvaluator(
  deps: PolicyEvaluatorDeps,
  actor: Actor,
  from: RequestOrigin,
): Promise<PolicyEvaluator> {
  return (await policyEvaluators(deps, actor.teamId, from))(actor);
}

/** The same for every principal of the team. */
export async function policyEvaluators(
  deps: PolicyEvaluatorDeps,
  teamId: TeamId,
  from: RequestOrigin,
): Promise<(actor: Actor) => PolicyEvaluator> {
  const policies = await deps.policies.of(teamId);
  const asksForRepositories = policies.some(({ match }) => match.repositories !== undefined);
  const environments = asksForRepositories ? await deps.environments.list(teamId) : [];
  return (actor) => {
    const { groups, id: principalId, type: principalType } = actor;
    const who = { principalId, principalType, groups, roles: rolesOf(actor, from) };
    return (action, run) => {
      const { agent, config } = run;
      return evaluatePolicies(policies, {
        ...from,
        ...who,
        action,
        agent,
        environmentId: config.environment_id,
        model: config.harness?.model_id ?? config.model_id,
        priority: config.priority ?? "normal",
        repositories: repositoriesOf(run, environments),
        relation: relationOf(actor, run),
      });
    };
  };
}

function rolesOf({ administrator, invitation }: Actor, { roles = [] }: RequestOrigin): readonly Role[] {
  return [
    ...roles,
    ...(administrator ? (["administrator"] as const) : []),
    ...(invitation === undefined ? [] : (["guest"] as const)),
  ];
}

/** All repositories that the workspace of the run gets, also those of an approved copy of its environment. */
function repositoriesOf(run: EvaluatedRun, environments: readonly Environment[]): readonly string[] {
  const { environment_id: id, repository } = run.config;
  const environment = environments.find((each) => each.id === id);
  const home = homeRepositoryOf(run);
  return [
    ...(repository === undefined ? [] : [repository]),
    ...(environment?.config.repositories ?? []).map(({ name, owner }) => `${owner}/${name}`),
    ...(home === undefined ? [] : [`${home.owner}/${home.name}`]),
    ...(run.executes?.repositories ?? []).map(({ repository: name }) => name),
  ];
}

function relationOf({ id }: Actor, { creatorId, executorId, requesterId }: EvaluatedRun): Relation {
  return [creatorId, executorId, requesterId].includes(id) ? "own" : "others";
}

export interface RuleCacheDeps<R extends Rule> {
  readonly records: Pick<RecordStore<R>, "list">;
  /** The channel that announces changed rules of this kind. */
  readonly channel: string;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

/** A notification clears the cache at once. If it is lost, old rules apply for at most this long. */
const KEPT_MS = 5_000;

interface Kept<R> {
  readonly rules: Promise<readonly R[]>;
  readonly untilMs: number;
}

/** Caches the rules of each team, so that they are not read for every run. */
export class RuleCache<R extends Rule> {
  readonly #deps: RuleCacheDeps<R>;
  readonly #kept = new Map<TeamId, Kept<R>>();

  constructor(deps: RuleCacheDeps<R>) {
    this.#deps = deps;
    deps.pubsub.subscribe(deps.channel, () => this.#kept.clear());
  }

  /** The enabled rules in their order. */
  of(teamId: TeamId): Promise<readonly R[]> {
    const nowMs = this.#deps.clock.now().getTime();
    const kept = this.#kept.get(teamId);
    if (kept !== undefined && kept.untilMs > nowMs) {
      return kept.rules;
    }
    const read = { rules: this.#read(teamId), untilMs: nowMs + KEPT_MS };
    this.#kept.set(teamId, read);
    read.rules.catch(() => this.#forget(teamId, read));
    return read.rules;
  }

  async #read(teamId: TeamId): Promise<readonly R[]> {
    return inOrder(await this.#deps.records.list(teamId));
  }

  /** A failed read is not cached. */
  #forget(teamId: TeamId, read: Kept<R>): void {
    if (this.#kept.get(teamId) === read) {
      this.#kept.delete(teamId);
    }
  }
}

/** The rules for creating and changing runs. */
export interface RunRules {
  readonly policies: Pick<RuleCache<Policy>, "of">;
  readonly routing: Pick<RuleCache<RoutingRule>, "of">;
}

export interface RunRulesDeps {
  readonly storage: Pick<Storage, "policies" | "routingRules">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

export function runRules({ storage, pubsub, clock }: RunRulesDeps): RunRules {
  return {
    policies: new RuleCache({ records: storage.policies, channel: CHANNELS.policies, pubsub, clock }),
    routing: new RuleCache({ records: storage.routingRules, channel: CHANNELS.routingRules, pubsub, clock }),
  };
}
