import type { ChangeSite } from "../ports/changes.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { WorkspacePlan, WorkspaceStep } from "../ports/workspace.ts";
import type { Variables } from "../secrets/run-secrets.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import type { GivenFiles } from "./given-files.ts";
import { givenToolServers, type ToolServers } from "./given-tool-servers.ts";
import { prepareWorkspace } from "./prepare-workspace.ts";
import { untilAvailable } from "./until-available.ts";
import { findEnvironment, grantOf, planOf } from "./workspace-plan.ts";

/** What an agent works on: its way out, its files, its tools. */
export interface Ground extends ChangeSite {
  readonly plan: WorkspacePlan;
  readonly toolServers: ToolServers["forAgent"];
}

export interface GroundNeeds {
  readonly given: GivenFiles;
  readonly secrets: Variables;
  readonly signal: AbortSignal;
  readonly tell: (step: WorkspaceStep) => void;
  /** Told at once: whatever fails afterwards, it must be closed. */
  readonly opened: (gateway: Gateway) => void;
}

/** The gateway first: nothing is prepared but through it. */
export async function prepareGround(parts: AttemptParts, needs: GroundNeeds): Promise<Ground> {
  const { clock, gateways, run, storage } = parts;
  const environment = await untilAvailable(clock, () => findEnvironment(storage, run));
  const plan = planOf(run, environment);
  const { given, secrets: variables, signal, tell } = needs;
  const { forAgent, forGateway } = givenToolServers(run, variables);
  const network = environment?.config.network ?? "none";
  const gateway = await gateways.open(grantOf(run, plan, { network, toolServers: forGateway }));
  needs.opened(gateway);
  const asked = { environment, given, plan, gateway, variables, signal, tell };
  const workspace = await prepareWorkspace(parts, asked);
  const image = plan.image === undefined ? {} : { image: plan.image };
  return { runId: run.id, workspace, gateway, plan, toolServers: forAgent, ...image };
}
