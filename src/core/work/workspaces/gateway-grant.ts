import { defined } from "../../basics/defined.ts";
import { isSameRepository } from "../../model/repositories/repository-name.ts";
import { homeRepositoryOf, isPatchOnly } from "../../model/runs/home-repository.ts";
import type { Run } from "../../model/runs/run.ts";
import { teamAccessOf } from "../../model/secrets/git-token.ts";
import type { WorkspacePlan } from "../../model/workspaces/workspace.ts";
import type { GatewayGrant, RepositoryGrant } from "../../ports/gateway.ts";
import { ownPrefixesOf } from "./branch-name.ts";

/**
 * What the processes of an attempt may reach. The repositories of skills may only be read, unless they are also
 * repositories of the workspace.
 */
export function grantOf(
  run: Pick<
    Run,
    "config" | "id" | "teamId" | "secretNames" | "provenance" | "skillSnapshot" | "skillSnapshots"
  >,
  plan: WorkspacePlan,
  more: Pick<GatewayGrant, "network" | "mcpServers">,
): GatewayGrant {
  const home = homeRepositoryOf(run);
  const push = !isPatchOnly(run);
  // Programs of a fork run in the workspace, so nothing reaches a branch that people or other runs work on.
  const limits = push && home?.fork !== undefined ? { branchPrefixes: ownPrefixesOf(run) } : {};
  const worked = [...plan.repositories, ...(home === undefined ? [] : [home])];
  const { skillSnapshot: task, skillSnapshots = [] } = run;
  const skills = [...(task === undefined ? [] : [task]), ...skillSnapshots];
  const grants: RepositoryGrant[] = [
    ...worked.map(({ owner, name }) => ({ owner, name, push, ...limits })),
    ...skills.map(({ repository: { name, owner } }) => ({ owner, name, push: false })),
  ];
  const repositories = grants.filter(
    (grant, index) => grants.findIndex((each) => isSameRepository(each, grant)) === index,
  );
  const limitsCost = run.config.budget?.max_cost_usd !== undefined;
  return {
    runId: run.id,
    ...teamAccessOf(run),
    repositories,
    ...more,
    ...defined({ limitsCost: limitsCost ? limitsCost : undefined }),
  };
}
