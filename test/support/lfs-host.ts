import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";

interface BatchObject {
  readonly oid: string;
  readonly size: number;
}

/**
 * The large files of a git host: its batch API, which `answer` gives a `GitHttpServer` as its `intercept`, and a server of
 * its own for the objects, which wants a key in a header and one in the address.
 */
export class LfsHost {
  readonly objects = new Map<string, Buffer>();
  /** `Authorization` headers of the batch and lock calls. */
  readonly authorizations: (string | undefined)[] = [];
  readonly paths: string[] = [];
  /** Changes what the host says of an object. */
  describe: (object: BatchObject) => object = () => ({});
  /** Locks of other people, as `locks/verify` lists them. */
  theirs: readonly { readonly id: string; readonly path: string }[] = [];
  readonly #server: Server;

  static readonly KEY = "RemoteAuth canary-key-of-the-storage";
  static readonly SIGNATURE = "canary-signature-in-the-address";

  private constructor() {
    this.#server = createServer((request, response) => void this.#store(request, response));
  }

  static async start(): Promise<LfsHost> {
    const host = new LfsHost();
    host.#server.listen(0, "127.0.0.1");
    await once(host.#server, "listening");
    return host;
  }

  get storageUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The pointer that a repository has instead of the file. */
  add(content: string): string {
    const bytes = Buffer.from(content);
    const oid = createHash("sha256").update(bytes).digest("hex");
    this.objects.set(oid, bytes);
    return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes.length}\n`;
  }

  readonly answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { url = "" } = request;
    if (!url.includes("/info/lfs/")) {
      return false;
    }
    this.authorizations.push(request.headers.authorization);
    this.paths.push(url);
    this.#answerCall(url, request, response).catch((error: unknown) => response.destroy(error as Error));
    return true;
  };

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answerCall(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const answer = (value: object) =>
      response.writeHead(200, { "content-type": "application/vnd.git-lfs+json" }).end(JSON.stringify(value));
    if (url.endsWith("/locks/verify")) {
      answer({ ours: [], theirs: this.theirs });
      return;
    }
    const { objects, operation } = JSON.parse(body);
    answer({ objects: objects.map((each: BatchObject) => this.#describe(each, operation)) });
  }

  #describe({ oid, size }: BatchObject, operation: string): object {
    const href = `${this.storageUrl}/${oid}?signature=${LfsHost.SIGNATURE}`;
    const action = { href, header: { Authorization: LfsHost.KEY }, expires_in: 3_600 };
    const isThere = this.objects.has(oid);
    if (operation === "upload") {
      const actions = isThere ? undefined : { upload: action, verify: { ...action, href: `${href}&verify` } };
      return { oid, size, ...(actions && { actions }), ...this.describe({ oid, size }) };
    }
    const missing = { oid, size, error: { code: 404, message: "There is no such object." } };
    return isThere ? { oid, size, actions: { download: action }, ...this.describe({ oid, size }) } : missing;
  }

  async #store(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://storage");
    const oid = pathname.slice(1);
    if (
      request.headers.authorization !== LfsHost.KEY ||
      searchParams.get("signature") !== LfsHost.SIGNATURE
    ) {
      response.writeHead(403).end(`Who are you? ${LfsHost.SIGNATURE}`);
      return;
    }
    if (request.method === "PUT") {
      this.objects.set(oid, await buffer(request));
    }
    response.writeHead(200, { "x-key": LfsHost.KEY });
    response.end(request.method === "GET" ? this.objects.get(oid) : "");
  }
}
