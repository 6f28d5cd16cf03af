import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";

export interface GitRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly authorization: string | undefined;
}

/**
 * Git's own HTTP server (`git http-backend`) before the bare repositories of a directory: reading and pushing, as
 * hosts of repositories do. `test/support/git-repositories.ts` makes such a directory.
 */
export class GitHttpServer {
  readonly requests: GitRequest[] = [];
  /** Undefined: every request is allowed. Otherwise a request with another `Authorization` is refused with 401. */
  authorization: string | undefined;
  /** The present names of renamed repositories, by their former names, at which the server redirects. */
  readonly renames = new Map<string, string>();
  /** Answers instead of git, where it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse, serve: () => void) => boolean = () => false;
  readonly #server: Server;
  readonly #root: string;

  private constructor(root: string, authorization: string | undefined) {
    this.#root = root;
    this.authorization = authorization;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(root: string, authorization?: string): Promise<GitHttpServer> {
    const server = new GitHttpServer(root, authorization);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** Repositories are at `<url>/<owner>/<name>.git`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "" } = request;
    const { authorization } = request.headers;
    this.requests.push({ method, url, authorization });
    if (!this.intercept(request, response, () => this.#serve(request, response))) {
      this.#serve(request, response);
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { url = "" } = request;
    const { authorization } = request.headers;
    const [, repository = "", rest = ""] = /^\/(.+)\.git(\/.*)$/.exec(url) ?? [];
    const present = this.renames.get(repository);
    if (present !== undefined) {
      response.writeHead(301, { location: `/${present}.git${rest}` }).end();
      return;
    }
    if (this.authorization !== undefined && authorization !== this.authorization) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("Who are you?");
      return;
    }
    runBackend(this.#root, request, response).catch((error: unknown) => response.destroy(error as Error));
  }
}

/** https://git-scm.com/docs/git-http-backend */
async function runBackend(root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const child = spawn("git", ["http-backend"], {
    env: backendEnvironment(root, request),
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  response.once("close", () => child.kill());
  const { status, headers } = await readHead(child.stdout);
  response.writeHead(status, headers);
  child.stdout.pipe(response);
}

function backendEnvironment(
  root: string,
  { headers, method, url = "" }: IncomingMessage,
): Record<string, string | undefined> {
  const { pathname, searchParams } = new URL(url, "http://git");
  return {
    PATH: process.env.PATH,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    // Whose user they belong to is of no interest here.
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    GIT_CONFIG_KEY_1: "http.receivepack",
    GIT_CONFIG_VALUE_1: "true",
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_PROTOCOL: headers["git-protocol"]?.toString(),
    REQUEST_METHOD: method,
    PATH_INFO: pathname,
    QUERY_STRING: searchParams.toString(),
    CONTENT_TYPE: headers["content-type"],
    CONTENT_LENGTH: headers["content-length"],
    HTTP_CONTENT_ENCODING: headers["content-encoding"],
    REMOTE_USER: "ada",
    REMOTE_ADDR: "127.0.0.1",
  };
}

interface Head {
  readonly status: number;
  readonly headers: Record<string, string>;
}

const HEAD_END = "\r\n\r\n";

/** What a CGI program says before its body, which is left in the stream. */
async function readHead(output: Readable): Promise<Head> {
  let read = Buffer.alloc(0);
  while (!read.includes(HEAD_END)) {
    const chunk: Buffer | null = output.read();
    if (chunk !== null) {
      read = Buffer.concat([read, chunk]);
    } else if (output.readableEnded) {
      throw new Error("git http-backend ended without an answer");
    } else {
      await Promise.race([once(output, "readable"), once(output, "end")]);
    }
  }
  const end = read.indexOf(HEAD_END);
  output.unshift(read.subarray(end + HEAD_END.length));
  const lines = read.subarray(0, end).toString("latin1").split("\r\n");
  const { status, ...headers } = Object.fromEntries(lines.map(fieldOf));
  return { status: Number.parseInt(status ?? "200", 10), headers };
}

function fieldOf(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
