import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createGunzip } from "node:zlib";

/** Serves bare repositories over git's smart HTTP protocol, as hosts of repositories do. */
export class GitServer {
  /** The `Authorization` headers it was sent, in their order. */
  readonly authorizations: (string | undefined)[] = [];
  /** The URLs of all requests. */
  readonly urls: string[] = [];
  /** Answers instead of the repository, where it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse, serve: () => void) => boolean = () => false;
  readonly #server: Server;
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(root: string): Promise<GitServer> {
    const server = new GitServer(root);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.authorizations.push(request.headers.authorization);
    this.urls.push(request.url ?? "");
    const serve = () => this.#serve(request, response);
    if (!this.intercept(request, response, serve)) {
      serve();
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const [, repository = ""] = /^\/([\w.-]+\/[\w.-]+\.git)\//.exec(request.url ?? "") ?? [];
    const path = join(this.#root, repository);
    if (repository === "" || !existsSync(path)) {
      response.writeHead(404).end("not found");
      return;
    }
    uploadPack(path, request, response);
  }
}

/** https://git-scm.com/docs/http-protocol */
function uploadPack(path: string, request: IncomingMessage, response: ServerResponse): void {
  const isAsking = request.method === "GET";
  const kind = isAsking ? "advertisement" : "result";
  response.writeHead(200, { "content-type": `application/x-git-upload-pack-${kind}` });
  if (isAsking) {
    response.write("001e# service=git-upload-pack\n0000");
  }
  const args = ["upload-pack", "--stateless-rpc", ...(isAsking ? ["--http-backend-info-refs"] : []), path];
  const version = String(request.headers["git-protocol"] ?? "");
  const env = { PATH: process.env.PATH, GIT_PROTOCOL: version, GIT_CONFIG_GLOBAL: "/dev/null" };
  const child = spawn("git", args, { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => undefined);
  const isPacked = request.headers["content-encoding"] === "gzip";
  (isPacked ? request.pipe(createGunzip()) : request).pipe(child.stdin);
  child.stdout.pipe(response);
}
