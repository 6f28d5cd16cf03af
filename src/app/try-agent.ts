import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { createAcpRunner } from "../agents/acp/acp-runner.ts";
import type { AgentDefinition, AgentPrograms } from "../agents/agent-definition.ts";
import type { Config } from "../config/config.ts";
import { newId, type RunId, type TeamId } from "../core/basics/ids.ts";
import type { Log } from "../core/basics/log.ts";
import type { Gateway } from "../core/ports/gateway.ts";
import { createGateways } from "../gateway/create-gateways.ts";
import { gatewayVariables } from "../gateway/gateway-variables.ts";
import { Destinations } from "../outgoing/destinations.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { createKnownSecrets } from "../secrets/redaction.ts";
import { makeDirectory, removeTree } from "../workspace/file-trees.ts";
import { compatibleServerOf, defaultModelOf } from "./compose-agents.ts";
import { composeSandbox } from "./compose-sandbox.ts";
import { systemClock } from "./system.ts";

export interface TryAgentDeps {
  readonly config: Config;
  readonly programs: Pick<AgentPrograms, "provide">;
  readonly log: Log;
}

/**
 * Starts the agent as a run does, in the sandbox of this machine, with an empty workspace in the folder and a gateway
 * to the models only, until it has opened a session. Then ends it. Fails with an AppError if the agent does not get that far.
 */
export async function tryAgent(
  { config, log, programs }: TryAgentDeps,
  agent: AgentDefinition,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const { requireFor, sandbox } = await composeSandbox(config, log);
  await using undo = new AsyncDisposableStack();
  const root = await mkdtemp(join(folder, ".try-"));
  undo.defer(() => removeTree(root));
  const [directory, home] = [join(root, "workspace"), join(root, "home")];
  await makeDirectory(directory);
  await makeDirectory(home);
  const gateway = await openGateway(config, { sandbox, root, log });
  undo.defer(() => gateway.close());
  const runner = createAcpRunner({
    catalogue: new Map([[agent.name, agent]]),
    programs,
    sandbox,
    requireSandboxFor: requireFor,
    servers: config.models,
    ...defaultModelOf(config.agent),
    ...compatibleServerOf(config),
    variablesOf: (access) => gatewayVariables(access, config.gitUrl),
    log: { debug: () => undefined, warn: (facts, message) => log.warn(message, { ...facts }) },
    backgroundMs: 0,
  });
  const session = await runner.start(
    {
      runId: newId<RunId>(systemClock.now()),
      agent: agent.name,
      workspace: { directory, workingDirectory: directory, home },
      gateway,
      mcpServers: {},
      variables: {},
      permissionPolicy: "allow",
      signal,
    },
    {
      update: () => undefined,
      picture: () => undefined,
      backpressure: () => undefined,
      permission: async () => undefined,
    },
  );
  await session.close();
}

function openGateway(
  config: Config,
  { log, root, sandbox }: { readonly sandbox: Sandbox; readonly root: string; readonly log: Log },
): Promise<Gateway> {
  const { agentAllow, gitUrl, modelPrices, models } = config;
  const gateways = createGateways({
    // The gateways of a worker are in its data directory.
    dataDir: root,
    isolated: sandbox.hasLoopback,
    authorize: async () => undefined,
    destinations: new Destinations(agentAllow),
    ...{ gitUrl, log, modelPrices, models },
    redact: createKnownSecrets(config.secrets).redact,
  });
  const [runId, teamId] = [newId<RunId>(systemClock.now()), newId<TeamId>(systemClock.now())];
  return gateways.open({ runId, teamId, repositories: [], mcpServers: {}, network: "none" });
}
