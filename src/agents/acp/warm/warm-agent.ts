import { isDeepStrictEqual } from "node:util";
import type { AgentStart } from "../../../core/ports/agent-runner.ts";
import type { GatewayAccess, ReservedGateway } from "../../../core/ports/gateway.ts";
import type { SandboxCommand } from "../../../sandboxes/sandbox.ts";
import type { AgentLaunch } from "../../agent-definition.ts";
import type { AgentConnection } from "../agent-connection.ts";
import type { WarmFolders } from "./warm-folders.ts";

/** What starts an agent: the command in its sandbox, and the files in its home. */
export interface AgentProgram {
  readonly command: SandboxCommand;
  readonly files: AgentLaunch["files"];
}

export interface WarmAgentParts extends AgentProgram {
  readonly connection: AgentConnection;
  readonly folders: WarmFolders;
  readonly reservation: ReservedGateway;
}

/** An initialized agent without a run. It has an address that refuses everything, and two folders of its own. */
export class WarmAgent {
  readonly #parts: WarmAgentParts;
  #closed: Promise<void> | undefined;

  constructor(parts: WarmAgentParts) {
    this.#parts = parts;
  }

  get connection(): AgentConnection {
    return this.#parts.connection;
  }

  get access(): GatewayAccess {
    return this.#parts.reservation;
  }

  get ended(): Promise<void> {
    return this.#parts.connection.process.ended();
  }

  /** Whether the run would start the same program with the same environment and the same files. */
  isFor({ command, files }: AgentProgram): boolean {
    const own = this.#parts;
    return isDeepStrictEqual([fixed(own.command), own.files], [fixed(command), files]);
  }

  /** Gives the folders and the address to a run. If that fails, the run needs `takeBack`. */
  async giveTo({ gateway, workspace }: Pick<AgentStart, "gateway" | "workspace">): Promise<void> {
    await this.#parts.folders.giveTo(workspace);
    this.#parts.reservation.giveTo(gateway);
    // Not earlier, because closing removes the folders. The next start of the worker removes what this could not remove.
    this.ended.then(() => this.close()).catch(() => undefined);
  }

  /** Ends the agent. The run then has its folders as before. */
  async takeBack(): Promise<void> {
    await this.#parts.connection.close();
    await this.#parts.folders.takeBack();
    await this.close();
  }

  /** Ends the agent, and removes what no run has. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { connection, folders, reservation } = this.#parts;
    await connection.close();
    await reservation.close();
    await folders.remove();
  }
}

/** The session names the working directory, and the mounts show other folders at the same paths. */
function fixed({ cwd: _, label: __, mounts = [], ...command }: SandboxCommand): object {
  return { ...command, mounts: mounts.map(({ target }) => target) };
}
