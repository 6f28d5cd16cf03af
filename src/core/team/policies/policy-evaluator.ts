import type { TeamId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { evaluatePolicies, type Verdict } from "../../model/policies/evaluate-policies.ts";
import type { PolicyAction, Relation, Role } from "../../model/policies/policy.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";
import type { RunRules } from "./run-rules.ts";

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
