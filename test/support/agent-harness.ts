import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition, AgentLaunch } from "../../src/agents/agent-definition.ts";
import type { RunId } from "../../src/core/basics/ids.ts";
import type { AgentUpdate } from "../../src/core/model/runs/agent-update.ts";
import type { AgentPicture } from "../../src/core/model/workspaces/picture.ts";
import type { Workspace } from "../../src/core/model/workspaces/workspace.ts";
import type {
  AgentObserver,
  AgentRunner,
  AgentSession,
  AgentStart,
} from "../../src/core/ports/agent-runner.ts";
import { anIdleGateway } from "./idle-gateway.ts";

/** What a runner needs besides a catalogue and a sandbox, for agents that are there and have no model. */
export const BARE_RUNNER = {
  programs: { provide: async () => "" },
  servers: {},
  requireSandboxFor: () => undefined,
  variablesOf: () => ({}),
  log: { debug: () => undefined, warn: () => undefined },
  backgroundMs: 2_000,
};

/** An agent that is a program of a test's. */
export function aScriptedAgent(
  name: string,
  argv: AgentLaunch["argv"],
  launch: Partial<AgentLaunch> = {},
): AgentDefinition {
  return {
    ...{ name, displayName: name, description: "", license: "none", providers: [], isDemo: true },
    models: [{ id: name, displayName: name, provider: "test", seesImages: false }],
    ...{ countsUsage: "by turn", acceptsMcpServers: true },
    launch: () => ({ argv, env: {}, readable: [], ...launch }),
  };
}

export type MakeRunner = (dataDir: string) => AgentRunner;

export interface StartedAgent {
  readonly session: AgentSession;
  readonly updates: readonly AgentUpdate[];
  readonly pictures: readonly AgentPicture[];
  /** All messages of the agent so far. */
  said(): string;
}

const RUN_ID = "0197f3a2-0000-7000-8000-000000000001" as RunId;

/** A workspace with a runner for it; closes what a test leaves open. */
export class AgentHarness {
  readonly workspace: Workspace;
  /** What agents wait for before more is read of them. */
  backpressure: Promise<void> | undefined;
  readonly #root: string;
  readonly #runner: AgentRunner;
  readonly #sessions: AgentSession[] = [];

  private constructor(root: string, runner: AgentRunner) {
    this.#root = root;
    this.#runner = runner;
    const directory = join(root, "run", "workspace");
    this.workspace = { directory, workingDirectory: directory, home: join(root, "run", "home") };
  }

  static async open(makeRunner: MakeRunner): Promise<AgentHarness> {
    const root = await mkdtemp(join(tmpdir(), "errand-agent-"));
    const harness = new AgentHarness(root, makeRunner(root));
    await mkdir(harness.workspace.directory, { recursive: true });
    await mkdir(harness.workspace.home);
    return harness;
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close()));
    await rm(this.#root, { recursive: true, force: true });
  }

  async start(
    changes: Partial<AgentStart> = {},
    permission: AgentObserver["permission"] = async () => undefined,
  ): Promise<StartedAgent> {
    const updates: AgentUpdate[] = [];
    const update = (told: AgentUpdate) => void updates.push(told);
    const pictures: AgentPicture[] = [];
    const picture = (shown: AgentPicture) => void pictures.push(shown);
    const observer = { update, picture, backpressure: () => this.backpressure, permission };
    const request = {
      runId: RUN_ID,
      agent: "demo",
      workspace: this.workspace,
      gateway: anIdleGateway(),
      mcpServers: {},
      variables: {},
      permissionPolicy: "allow" as const,
      signal: new AbortController().signal,
    };
    const session = await this.#runner.start({ ...request, ...changes }, observer);
    this.#sessions.push(session);
    const said = () => updates.map((update) => (update.kind === "agent.message" ? update.text : "")).join("");
    return { session, updates, pictures, said };
  }
}
