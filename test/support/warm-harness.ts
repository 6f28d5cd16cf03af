import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAcpRunner } from "../../src/agents/acp/acp-runner.ts";
import type { AcpRunnerOptions } from "../../src/agents/acp/runner-options.ts";
import { warmStarter } from "../../src/agents/acp/warm/start-warm-agent.ts";
import type { WarmAgent } from "../../src/agents/acp/warm/warm-agent.ts";
import { WarmAgents } from "../../src/agents/acp/warm/warm-agents.ts";
import type { AgentDefinition } from "../../src/agents/agent-definition.ts";
import { demoAgent } from "../../src/agents/demo-agent.ts";
import { newId, type RunId } from "../../src/core/basics/ids.ts";
import type { AgentUpdate } from "../../src/core/model/runs/agent-update.ts";
import {
  HOME_INSIDE,
  WORKSPACE_INSIDE,
  type Workspace,
  workspaceVariables,
} from "../../src/core/model/workspaces/workspace.ts";
import type { AgentRunner, AgentSession, AgentStart } from "../../src/core/ports/agent-runner.ts";
import type { Gateway, GatewayGrant, ReservableGateways } from "../../src/core/ports/gateway.ts";
import { createGateways } from "../../src/gateway/create-gateways.ts";
import { parseAllowList } from "../../src/outgoing/allow-list.ts";
import { Destinations } from "../../src/outgoing/destinations.ts";
import { removeTree } from "../../src/workspace/file-trees.ts";
import { BARE_RUNNER } from "./agent-harness.ts";
import { bubblewrapIn } from "./bubblewrap.ts";
import { aGrant } from "./gateway-harness.ts";
import { type RecordedLine, recordingLog, SILENT_LOG } from "./logs.ts";
import { ManualClock } from "./manual-clock.ts";

/** A run's folders inside the sandbox, with one repository. */
export const INSIDE = {
  directory: WORKSPACE_INSIDE,
  workingDirectory: `${WORKSPACE_INSIDE}/repo`,
  home: HOME_INSIDE,
};

export interface WarmRun {
  readonly runId: RunId;
  readonly session: AgentSession;
  readonly workspace: Workspace;
  readonly gateway: Gateway;
  /** What the agent reports of a shell command. */
  shell(command: string): Promise<string>;
}

export interface WarmRunChanges {
  readonly start?: Partial<AgentStart>;
  readonly grant?: Partial<GatewayGrant>;
  /** What setup commands left in the home. */
  readonly homeFile?: string;
  /** Another folder for the home. */
  readonly home?: string;
}

/** A runner that keeps one agent, in a real sandbox with real gateways. Its clock stands still. */
export class WarmHarness {
  readonly root: string;
  readonly clock = new ManualClock();
  readonly gateways: ReservableGateways;
  readonly warm: WarmAgents;
  /** All agents that were started without a run. */
  readonly started: WarmAgent[] = [];
  readonly logged: RecordedLine[] = [];
  isMemoryShort = false;
  readonly #runner: AgentRunner;
  readonly #opened: (() => Promise<unknown>)[] = [];

  private constructor(root: string, agent: AgentDefinition) {
    this.root = root;
    this.gateways = createGateways({
      ...{ isolated: true, dataDir: root, models: {}, modelPrices: {}, gitUrl: "http://127.0.0.1:9" },
      authorize: async () => undefined,
      destinations: new Destinations(parseAllowList("")),
      redact: (text) => text,
      log: SILENT_LOG,
    });
    const runner: AcpRunnerOptions = {
      ...BARE_RUNNER,
      catalogue: new Map([["demo", agent]]),
      sandbox: bubblewrapIn(root),
      variablesOf: ({ address, proxyUrl = "" }) => ({ GATEWAY: address, PROXY: proxyUrl }),
    };
    const start = warmStarter({
      ...{ runner, agent: "demo", dataDir: root, gateways: this.gateways, removeTree },
      programs: { isThere: async () => true },
    });
    this.warm = new WarmAgents({
      start: async (signal) => {
        const started = await start(signal);
        this.started.push(...(started === undefined ? [] : [started]));
        return started;
      },
      isMemoryShort: async () => this.isMemoryShort,
      clock: this.clock,
      log: recordingLog(this.logged),
    });
    this.#runner = createAcpRunner({ ...runner, warm: this.warm });
  }

  static async open(agent: AgentDefinition = demoAgent): Promise<WarmHarness> {
    return new WarmHarness(await mkdtemp(join(tmpdir(), "errand-warm-")), agent);
  }

  async close(): Promise<void> {
    await this.warm.stop();
    for (const close of this.#opened.reverse()) {
      await close();
    }
    await rm(this.root, { recursive: true, force: true });
  }

  /** Returns the agent that waits then. */
  async fill(): Promise<WarmAgent> {
    await this.warm.fill();
    const last = this.started.at(-1);
    if (last === undefined) {
      throw new Error(`No agent was started: ${JSON.stringify(this.logged)}`);
    }
    return last;
  }

  async startRun({ grant, home, homeFile, start }: WarmRunChanges = {}): Promise<WarmRun> {
    const runId = newId<RunId>(new Date());
    const workspace = await this.#makeWorkspace(runId, home);
    if (homeFile !== undefined) {
      await writeFile(join(workspace.home, homeFile), runId);
    }
    const gateway = await this.gateways.open(aGrant({ runId, ...grant }));
    this.#opened.push(() => gateway.close());
    const updates: AgentUpdate[] = [];
    const session = await this.#runner.start(
      {
        ...{ runId, agent: "demo", workspace, gateway, mcpServers: {}, permissionPolicy: "allow" },
        variables: workspaceVariables(workspace),
        signal: new AbortController().signal,
        ...start,
      },
      {
        update: (update) => void updates.push(update),
        picture: () => undefined,
        backpressure: () => undefined,
        permission: async () => undefined,
      },
    );
    this.#opened.push(() => session.close());
    const shell = async (command: string) => {
      updates.length = 0;
      await session.prompt(`shell ${command}`);
      return JSON.stringify(updates);
    };
    return { runId, session, workspace, gateway, shell };
  }

  /** With one repository, which has the file `given.txt`. */
  async #makeWorkspace(runId: RunId, otherHome: string | undefined): Promise<Workspace> {
    const directory = join(this.root, "runs", runId, "workspace");
    const home = otherHome ?? join(this.root, "runs", runId, "home");
    const workingDirectory = join(directory, "repo");
    await mkdir(workingDirectory, { recursive: true });
    await mkdir(home, { recursive: true });
    await writeFile(join(workingDirectory, "given.txt"), runId);
    return { directory, home, workingDirectory, inside: INSIDE };
  }
}

/** The status of a request to the address of an agent that waits, from this machine. */
export function statusAt({ access: { address, portForward } }: WarmAgent, part = "nothing"): Promise<number> {
  const path = `${new URL(address).pathname}/${part}`;
  return new Promise((resolve, reject) => {
    const call = httpRequest({ socketPath: portForward?.socketPath ?? "", path }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on("error", reject).end();
  });
}
