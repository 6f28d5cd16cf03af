import {
  APIConnectionError,
  APIError,
  AuthenticationError,
  type ClientOptions,
  Errand,
  InvalidResponseError,
} from "@errand/client";
import { type Command, Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { CliError, EXIT } from "./failure.ts";
import { requireMembers } from "./json-members.ts";
import { Output } from "./output.ts";
import { type Connection, FORMER_VARIABLE, Settings } from "./settings.ts";

type ClientFetch = NonNullable<ClientOptions["fetch"]>;

/** The options of every command. */
export interface CommonOptions {
  readonly json?: string;
  readonly jq?: string;
  readonly url?: string;
  readonly context?: string;
  readonly quiet?: boolean;
  /** False: no question is asked. */
  readonly input?: boolean;
  readonly debug?: boolean;
}

/** What a command works with. */
export class Cli {
  readonly options: CommonOptions;
  readonly output: Output;
  readonly settings = new Settings();
  #connection: Promise<Connection> | undefined;
  /** The address of the last client. */
  #url = "";

  constructor(options: CommonOptions) {
    this.options = options;
    this.output = new Output(options);
  }

  /** Whether questions can be asked. */
  get isInteractive(): boolean {
    const { input, json, jq } = this.options;
    const isForPrograms = json !== undefined || jq !== undefined;
    return input !== false && !isForPrograms && process.stdin.isTTY === true && this.output.isTerminal;
  }

  /** The server and the key. Throws when there is no key. */
  connection(): Promise<Connection> {
    this.#connection ??= this.settings.connection(this.options).then((connection) => {
      if (connection.origin === FORMER_VARIABLE) {
        this.output.note("WARP_API_KEY is used. Set ERRAND_API_KEY instead, or run: errand login");
      }
      return connection;
    });
    return this.#connection;
  }

  async client(): Promise<Errand> {
    const { apiKey, url } = await this.connection();
    return this.clientOf(url, apiKey);
  }

  /** The error as it concerns a user of this program, who sees neither requests nor their headers. */
  async explain(error: unknown): Promise<unknown> {
    if (error instanceof AuthenticationError) {
      const origin = (await this.#connection)?.origin;
      return new CliError(
        `The server does not accept the key${origin === undefined ? "" : ` of ${origin}`}. It is unknown, revoked or expired.`,
        origin === "ERRAND_API_KEY" ? "Set ERRAND_API_KEY to another key." : "Run: errand login",
        EXIT.notAllowed,
        error.requestId,
      );
    }
    const address = `Check the address ${this.#url}, and that the server runs.`;
    if (error instanceof APIError && error.code === undefined) {
      // Something else than an Errand server has answered.
      return new CliError(error.message, error.remedy ?? address);
    }
    if (error instanceof InvalidResponseError) {
      return new CliError(error.message, address);
    }
    if (error instanceof APIConnectionError) {
      return new CliError(error.message, remedyOf(error.message, process.env) ?? address);
    }
    return error;
  }

  clientOf(baseUrl: string, apiKey: string | null): Errand {
    this.#url = baseUrl;
    return new Errand({
      baseUrl,
      apiKey,
      defaultHeaders: {
        "User-Agent": `errand-cli/${packageJson.version}`,
        "X-Run-Source": process.env.GITHUB_ACTIONS === "true" ? "GITHUB_ACTION" : "CLI",
      },
      fetch: this.options.debug === true ? this.#loggedFetch() : undefined,
    });
  }

  /** Writes one line for each request and response. The key is not in them. */
  #loggedFetch(): ClientFetch {
    const log = (text: string) => process.stderr.write(`${text}\n`);
    return async (url, init) => {
      const begun = performance.now();
      log(`> ${init.method} ${url}`);
      if (typeof init.body === "string" && !/\/(secrets|device-codes|mcp-servers)\b/.test(String(url))) {
        log(`> ${init.body}`);
      }
      const response = await fetch(url, init).catch((error: unknown) => {
        log(`< ${error instanceof Error ? error.message : error}`);
        throw error;
      });
      const took = Math.round(performance.now() - begun);
      log(
        `< ${response.status} in ${took} ms, request id ${response.headers.get("x-request-id") ?? "unknown"}`,
      );
      return response;
    };
  }
}

/** What a network may need that lets programs out only through a proxy, or that reads their traffic. */
function remedyOf(message: string, env: NodeJS.ProcessEnv): string | undefined {
  if (/certificate/i.test(message)) {
    return "Name the file with the certificate of your authority in the variable NODE_EXTRA_CA_CERTS.";
  }
  const proxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].find((name) => env[name]);
  return proxy === undefined || env.NODE_USE_ENV_PROXY
    ? undefined
    : `${proxy} is used only with NODE_USE_ENV_PROXY=1. Set that if the server is behind the proxy.`;
}

/** Adds the options that every command has. */
export function withCommonOptions(command: Command): Command {
  const own = command.options.flatMap(({ short }) => short ?? []);
  return command
    .addOption(
      new Option("--json <members>", "write JSON; --json a,b writes only these members").helpGroup(COMMON),
    )
    .addOption(new Option("--jq <expression>", "filter the JSON with a jq expression").helpGroup(COMMON))
    .addOption(new Option("--url <address>", "the address of the server").helpGroup(COMMON))
    .addOption(new Option("--context <name>", "use this context").helpGroup(COMMON))
    .addOption(
      new Option(own.includes("-q") ? "--quiet" : "-q, --quiet", "write only results and errors").helpGroup(
        COMMON,
      ),
    )
    .addOption(new Option("--no-input", "never ask a question").helpGroup(COMMON))
    .addOption(new Option("--debug", "show the HTTP requests").helpGroup(COMMON))
    .helpOption("-h, --help", "show this help");
}

const COMMON = "Options of every command:";

/** What a command does. `options` are its own. */
export type Handler<Args extends readonly unknown[], Options> = (
  cli: Cli,
  options: Options,
  ...args: Args
) => Promise<void>;

/** Defines what a command does. */
export function handle<Args extends readonly unknown[], Options extends object>(
  command: Command,
  handler: Handler<Args, Options>,
): Command {
  return withCommonOptions(command).action(async (...parameters: unknown[]) => {
    // commander passes the arguments of the command, then its options, then the command.
    const args = parameters.slice(0, -2) as unknown as Args;
    const options = command.optsWithGlobals<Options & CommonOptions>();
    const cli = new Cli(options);
    try {
      // With a schema for the answer, the JSON is what the agent answers.
      if (!("outputSchema" in options)) {
        requireMembers(command, options.json);
      }
      await cli.output.prepare();
      await handler(cli, options, ...args);
    } catch (error) {
      throw await cli.explain(error);
    }
  });
}
