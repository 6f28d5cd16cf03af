import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { McpServerConfig } from "../../model/runs/run.ts";
import type { PreparedWorkspace, WorkspacePlan, WorkspaceStep } from "../../model/workspaces/workspace.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import { findEnvironment, planOf } from "../../runs/executed/workspace-plan.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { OpenedSecrets } from "../secrets/run-secrets.ts";
import { type FilledMcpServers, fillMcpServers } from "../workspaces/fill-mcp-servers.ts";
import { grantOf } from "../workspaces/gateway-grant.ts";
import type { InputFiles } from "../workspaces/input-files.ts";
import { prepareWorkspace } from "../workspaces/prepare-workspace.ts";

/** What an agent works with: its gateway, its workspace, its MCP servers. */
export interface AttemptContext extends RunWorkspace {
  readonly workspace: PreparedWorkspace;
  readonly plan: WorkspacePlan;
  readonly mcpServers: FilledMcpServers["forAgent"];
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

/** Opens the gateway first, because every later step of the preparation goes through it. */
export async function prepareAttemptContext(
  deps: AttemptDeps,
  needs: AttemptContextRequest,
): Promise<AttemptContext> {
  const { clock, gateways, run, storage } = deps;
  const environment = await retry(clock, WHILE_UNAVAILABLE, () => findEnvironment(storage, run));
  const plan = planOf(run, environment);
  const { inputFiles, mcpServers, secrets, signal, report } = needs;
  const { variables } = secrets;
  const { forAgent, forGateway } = fillMcpServers(mcpServers, secrets);
  const network = environment?.config.network ?? "none";
  const gateway = await gateways.open(grantOf(run, plan, { network, mcpServers: forGateway }));
  needs.opened(gateway);
  const request = { environment, inputFiles, plan, gateway, variables, signal, report };
  const workspace = await prepareWorkspace(deps, request);
  const image = plan.image === undefined ? {} : { image: plan.image };
  return { runId: run.id, workspace, gateway, plan, mcpServers: forAgent, ...image };
}
