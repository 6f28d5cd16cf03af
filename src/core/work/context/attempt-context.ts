import { defined } from "../../basics/defined.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import { isSameRepository } from "../../model/repositories/repository-name.ts";
import { homeRepositoryOf, isPatchOnly } from "../../model/runs/home-repository.ts";
import { isReview, NO_PUSH_IN_REVIEWS } from "../../model/runs/review.ts";
import type { McpServerConfig, Run } from "../../model/runs/run.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { PreparedWorkspace, WorkspacePlan, WorkspaceStep } from "../../model/workspaces/workspace.ts";
import type { Gateway, GatewayGrant, RepositoryGrant } from "../../ports/gateway.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import { findEnvironment, planOf } from "../../runs/executed/workspace-plan.ts";
import { PathRules } from "../changes/path-rules.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { OpenedSecrets } from "../secrets/run-secrets.ts";
import { ownPrefixesOf } from "../workspaces/branch-name.ts";
import { type FilledMcpServers, fillMcpServers } from "../workspaces/fill-mcp-servers.ts";
import type { InputFiles } from "../workspaces/input-files.ts";
import { prepareWorkspace } from "../workspaces/prepare-workspace.ts";

/** What an agent works with: its gateway, its workspace, its MCP servers. */
export interface AttemptContext extends RunWorkspace {
  readonly workspace: PreparedWorkspace;
  readonly plan: WorkspacePlan;
  readonly rules: PathRules;
  readonly mcpServers: FilledMcpServers["forAgent"];
  /** How long the run keeps its attempt if it fails. Undefined: it does not. */
  readonly debugMinutes?: number;
}

export interface AttemptContextRequest {
  readonly inputFiles: InputFiles;
  readonly secrets: OpenedSecrets;
  /** The run's MCP servers. Those of the team have their values. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  readonly signal: AbortSignal;
  readonly report: (step: WorkspaceStep) => void;
  /** Called as soon as the gateway is open. The caller must close the gateway, whatever fails afterwards. */
  readonly opened: (gateway: Gateway) => void;
}

const NO_MCP_SERVERS: FilledMcpServers = { forAgent: {}, forGateway: {} };

/** Opens the gateway first, because every later step of the preparation goes through it. */
export async function prepareAttemptContext(
  deps: AttemptDeps,
  needs: AttemptContextRequest,
): Promise<AttemptContext> {
  const { clock, gateways, run, startTimes, storage } = deps;
  const begunMs = clock.elapsedMs();
  const environment = await retry(clock, WHILE_UNAVAILABLE, () => findEnvironment(storage, run));
  const plan = planOf(run, environment);
  const { inputFiles, mcpServers, secrets, signal, report } = needs;
  const { variables } = secrets;
  const hasServers = Object.keys(mcpServers).length > 0;
  const { forAgent, forGateway } = hasServers ? fillMcpServers(mcpServers, secrets) : NO_MCP_SERVERS;
  const network = environment?.config.network ?? "none";
  const grant = grantOf(run, plan, { network, mcpServers: forGateway });
  const rules = new PathRules(deps);
  const gateway = await gateways.open({ ...grant, refusalOfPush: (each) => rules.refusalOf(each) });
  needs.opened(gateway);
  // No agent can look into a test of an environment.
  const debugMinutes = run.preparesOnly === true ? undefined : environment?.config.debugMinutes;
  const keepsFailedSetup = debugMinutes !== undefined;
  const request = { environment, inputFiles, plan, gateway, variables, signal, report, keepsFailedSetup };
  const workspace = await prepareWorkspace(deps, request);
  startTimes.add("workspace", clock.elapsedMs() - begunMs);
  const optional = defined({ image: plan.image, debugMinutes });
  return { runId: run.id, workspace, gateway, plan, rules, mcpServers: forAgent, ...optional };
}

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
  const reviews = isReview(run);
  const push = !isPatchOnly(run) && !reviews;
  // Programs of a fork run in the workspace, so nothing reaches a branch that people or other runs work on.
  const limits = defined({
    branchPrefixes: push && home?.fork !== undefined ? ownPrefixesOf(run) : undefined,
    noPush: reviews ? NO_PUSH_IN_REVIEWS : undefined,
  });
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
