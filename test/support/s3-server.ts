import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseS3Address } from "../../src/object-storage/s3-address.ts";
import { freePort } from "./free-port.ts";
import { waitFor } from "./wait-for.ts";

/** A server for S3 over a folder (https://github.com/versity/versitygw). `.ci/run` builds it. */
const PROGRAM = process.env.VERSITYGW ?? "versitygw";
export const S3_KEY = { accessKeyId: "errand-test", secretAccessKey: "canary-of-the-object-store-51c7" };

/** Why tests with an object store are skipped here, or undefined. Where everything should be there, nothing is skipped. */
export function reasonToSkipS3(): string | undefined {
  try {
    execFileSync(PROGRAM, ["--version"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    if (process.env.CI === "true") {
      throw new Error("versitygw must be there where CI=true", { cause: error });
    }
    return "there is no versitygw";
  }
}

/** What happens to a request before the server gets it. False: the server does not get it. */
export type Interference = (request: IncomingMessage, response: ServerResponse) => boolean;

/** An S3 server with one bucket, behind a proxy that can disturb each request. */
export class S3Server {
  /** Undefined: all requests pass. */
  interfere: Interference | undefined;
  /** Changes what the server answers. */
  alter: ((answer: IncomingMessage, response: ServerResponse) => void) | undefined;
  readonly requests: string[] = [];
  readonly #folder: string;
  readonly #stop: () => Promise<void>;
  readonly #port: number;

  static async start(): Promise<S3Server> {
    const folder = await mkdtemp(join(tmpdir(), "errand-s3-"));
    await mkdir(join(folder, "files", "errand"), { recursive: true });
    await mkdir(join(folder, "meta"));
    const target = await freePort();
    const child = spawn(
      PROGRAM,
      ["--port", `127.0.0.1:${target}`, "posix", "--sidecar", join(folder, "meta"), join(folder, "files")],
      {
        cwd: folder,
        env: { ROOT_ACCESS_KEY: S3_KEY.accessKeyId, ROOT_SECRET_KEY: S3_KEY.secretAccessKey },
        stdio: "ignore",
      },
    );
    const ended = once(child, "exit");
    await waitFor(
      () =>
        fetch(`http://127.0.0.1:${target}/`).then(
          () => true,
          () => false,
        ),
      {
        what: "the S3 server to listen",
      },
    );
    const proxy = createServer();
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const server = new S3Server(folder, (proxy.address() as AddressInfo).port, async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true });
    });
    proxy.on("request", (request, response) => server.#pass(target, request, response));
    return server;
  }

  private constructor(folder: string, port: number, stop: () => Promise<void>) {
    this.#folder = folder;
    this.#port = port;
    this.#stop = stop;
  }

  get url(): string {
    return `s3://errand/blobs?endpoint=${encodeURIComponent(`http://127.0.0.1:${this.#port}`)}`;
  }

  get address() {
    return parseS3Address(this.url);
  }

  /** The variables of a service that stores its blobs here. */
  environment(): Record<string, string> {
    return {
      ERRAND_BLOB_URL: this.url,
      AWS_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    };
  }

  /** The path of the file in which the server keeps an object. */
  fileOf(id: string): string {
    return join(this.#folder, "files", "errand", "blobs", id);
  }

  get objectsFolder(): string {
    return join(this.#folder, "files", "errand", "blobs");
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  #pass(port: number, request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(`${request.method} ${request.url}`);
    if (this.interfere?.(request, response) === false) {
      return;
    }
    const { headers, method, url } = request;
    const passed = forward({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (this.alter === undefined) {
        answer.pipe(response);
      } else {
        this.alter(answer, response);
      }
    });
    passed.on("error", () => response.destroy());
    request.on("error", () => passed.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  }
}
