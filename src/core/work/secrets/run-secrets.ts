import type { SecretBox } from "../../basics/crypto.ts";
import { AppError } from "../../basics/errors.ts";
import { isTeamOwned } from "../../model/people/ownership.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { McpServerConfig, Run, RunConfig } from "../../model/runs/run.ts";
import { mcpServerNamed, openMcpServer, PLACEHOLDER } from "../../model/secrets/mcp-server.ts";
import { openValues } from "../../model/secrets/sealed-values.ts";
import {
  isGitToken,
  openSecret,
  PERSONAL_SECRETS_BYTES_MAX,
  type Secret,
  TEAM_SECRETS_BYTES_MAX,
} from "../../model/secrets/secret.ts";
import type { ShownPath } from "../../model/workspaces/workspace.ts";
import type { Redactor, RunRedactors } from "../../ports/redactor.ts";
import type { PeopleStore } from "../../ports/stores/people-stores.ts";
import type { McpServerStore, RecordStore } from "../../ports/stores/record-store.ts";
import { secretsOf } from "../../runs/executed/resolve-executed.ts";
import { approvedServer } from "./approved-server.ts";

export interface RunSecretsDeps {
  readonly storage: {
    readonly secrets: Pick<RecordStore<Secret>, "list">;
    readonly mcpServers: McpServerStore;
    readonly people: Pick<PeopleStore, "getMany">;
  };
  readonly secretBox: Pick<SecretBox, "open">;
  readonly redactors: RunRedactors;
  /** The worker's own paths of the run. */
  readonly paths: readonly ShownPath[];
  readonly run: Pick<
    Run,
    | "config"
    | "creatorId"
    | "executes"
    | "executorId"
    | "othersWrote"
    | "provenance"
    | "requesterId"
    | "secretNames"
    | "teamId"
  >;
}

export type Variables = Readonly<Record<string, string>>;

export interface OpenedSecrets {
  /** The secrets that the caller of a run may use: as environment variables, and in the values of MCP servers. */
  readonly variables: Variables;
  /** Those of the team. */
  readonly teamVariables: Variables;
  /** Also the team's token for repositories. */
  readonly all: Variables;
  /** Whether some are personal ones of the run's creator. */
  readonly hasPersonal: boolean;
}

const NO_SECRETS: OpenedSecrets = { variables: {}, teamVariables: {}, all: {}, hasPersonal: false };

export interface OpenedMcpServers {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** The names of those that the run does not get. */
  readonly leftOut: readonly string[];
}

/** The operating system limits environment and arguments of a program to about 2 MiB together. */
const TOTAL_BYTES_MAX = TEAM_SECRETS_BYTES_MAX + PERSONAL_SECRETS_BYTES_MAX;

/**
 * The opened secrets of one attempt. They become environment variables of the agent, and are removed from everything
 * that is recorded.
 */
export class RunSecrets implements Redactor {
  readonly #deps: RunSecretsDeps;
  #redactor: ReturnType<RunRedactors["create"]>;
  #opened: readonly string[] = [];

  constructor(deps: RunSecretsDeps) {
    this.#deps = deps;
    this.#redactor = deps.redactors.create([], deps.paths);
  }

  /**
   * Returns the team's secrets, or those among them that the run may have, and the personal secrets of the run's
   * creator, which take precedence. Personal secrets are left out if another principal executes the run or chooses its secrets, or
   * wrote a part of what the agent is given. A disabled creator's secrets are left out too, because the people who
   * continue the run would receive them. A run in the pull request of a fork gets none, because programs of the fork
   * run in it. The token for repositories stays outside of the sandbox.
   */
  async open(): Promise<OpenedSecrets> {
    const { run, storage } = this.#deps;
    const [all, [creator]] = await Promise.all([
      storage.secrets.list(run.teamId),
      storage.people.getMany([run.creatorId]),
    ]);
    if (all.length === 0) {
      return NO_SECRETS;
    }
    const { othersWrote } = run;
    const { personal, teams } = secretsOf(all, run);
    const own = creator?.disabled === false ? personal : [];
    const opened = [...teams, ...own].map((secret) => ({
      secret,
      value: openSecret(this.#deps.secretBox, secret),
    }));
    // Includes team secrets that a personal secret replaces, and personal ones of turns before someone else wrote.
    this.#redactToo(opened.map(({ value }) => value));
    const used = othersWrote === true ? opened.slice(0, teams.length) : opened;
    const isOfFork = homeRepositoryOf(run)?.fork !== undefined;
    const usable = used.filter(({ secret }) => !isGitToken(secret) && !isOfFork);
    return {
      variables: withinSizeLimit(variablesOf(usable)),
      teamVariables: variablesOf(usable.filter(({ secret }) => isTeamOwned(secret))),
      all: variablesOf(used),
      hasPersonal: !isOfFork && used.length > teams.length,
    };
  }

  /**
   * Returns the run's MCP servers with their values. A run in the pull request of a fork does not get those that have
   * values, because programs of the fork could read them or use the server by them.
   */
  async openMcpServers(): Promise<OpenedMcpServers> {
    const servers = Object.entries(await this.#allMcpServers());
    const isOfFork = homeRepositoryOf(this.#deps.run)?.fork !== undefined;
    const leftOut = servers.filter(([, server]) => isOfFork && hasValues(server)).map(([name]) => name);
    return {
      servers: Object.fromEntries(servers.filter(([name]) => !leftOut.includes(name))),
      leftOut,
    };
  }

  /** Those of the team, with a `warp_id`, have values that are secrets as well. */
  async #allMcpServers(): Promise<OpenedMcpServers["servers"]> {
    const { run, secretBox, storage } = this.#deps;
    const own = this.#openValues(run.config.mcp_servers ?? {});
    const servers = Object.entries(own);
    if (servers.every(([, { warp_id }]) => warp_id === undefined)) {
      return Object.fromEntries(servers);
    }
    const known = await storage.mcpServers.list(run.teamId);
    return Object.fromEntries(
      servers.map(([name, config]) => {
        if (config.warp_id === undefined) {
          return [name, config];
        }
        const copy = run.executes?.mcpServers[name];
        const server = mcpServerNamed(known, copy?.warpId ?? config.warp_id);
        if (server === undefined) {
          throw new AppError(
            "environment_setup_failed",
            `MCP server "${name}" names "${config.warp_id}", which does not exist any more.`,
          );
        }
        const today = openMcpServer(secretBox, server);
        const opened = copy === undefined ? today : approvedServer(name, copy, today);
        this.#redactToo(valuesOf(opened));
        return [name, { ...opened, warp_id: config.warp_id }];
      }),
    );
  }

  #openValues(servers: NonNullable<RunConfig["mcp_servers"]>): Readonly<Record<string, McpServerConfig>> {
    const { run, secretBox } = this.#deps;
    try {
      const { opened, servers: open } = openValues(secretBox, run.teamId, servers);
      this.#redactToo(opened);
      return open;
    } catch (cause) {
      throw new AppError("environment_setup_failed", "A value of an MCP server cannot be opened.", {
        cause,
        remedy: "Start a new run with the values: they were sealed with another secret key, or changed.",
      });
    }
  }

  redact = (text: string): string => this.#redactor.redact(text);

  openTail(text: string): number {
    return this.#redactor.openTail(text);
  }

  release(): void {
    this.#redactor.release();
  }

  #redactToo(values: readonly string[]): void {
    this.#opened = [...this.#opened, ...values];
    const redactor = this.#deps.redactors.create(this.#opened, this.#deps.paths);
    this.release();
    this.#redactor = redactor;
  }
}

function hasValues(server: McpServerConfig): boolean {
  return valuesOf(server).length > 0 || server.url?.match(PLACEHOLDER) != null;
}

/** Those that reach a program or a server. No run uses unknown members. */
function valuesOf({ env = {}, headers = {} }: McpServerConfig): readonly string[] {
  return [...Object.values(env), ...Object.values(headers)];
}

function variablesOf(opened: readonly { readonly secret: Secret; readonly value: string }[]): Variables {
  return Object.fromEntries(opened.map(({ secret, value }) => [secret.name, value]));
}

function withinSizeLimit(variables: Variables): Variables {
  const text = Object.entries(variables).flat().join("");
  if (new TextEncoder().encode(text).length <= TOTAL_BYTES_MAX) {
    return variables;
  }
  throw new AppError("environment_setup_failed", "The secrets of this run are too large together.", {
    remedy: `Remove some: a program's environment has room for ${TOTAL_BYTES_MAX} bytes of them.`,
  });
}
