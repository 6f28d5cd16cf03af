import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

const run = promisify(execFile);

const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG = "application/vnd.docker.container.image.v1+json";
const LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A registry of images on the loopback, which docker asks over HTTP. It also plays registries that mean harm. */
export class ImageRegistry {
  readonly host: string;
  readonly requests: string[] = [];
  /** Answers instead of the registry. */
  answer: Answer | undefined;
  /** Paths that are never answered. */
  readonly withheld = new Set<string>();
  readonly #server: Server;
  readonly #blobs = new Map<string, Buffer>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.host = `127.0.0.1:${port}`;
  }

  static async start(): Promise<ImageRegistry> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const registry = new ImageRegistry(server, typeof address === "object" ? (address?.port ?? 0) : 0);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      registry.requests.push(`${request.method} ${request.url}`);
      if (!registry.withheld.has(request.url ?? "")) {
        (registry.answer ?? registry.#serve)(request, response);
      }
    });
    return registry;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Connections of callers who still wait. */
  openConnections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  /** Adds an image of gzipped tar files, and returns its name. */
  add(path: string, ...layers: readonly Buffer[]): string {
    const config = Buffer.from(
      JSON.stringify({
        architecture: process.arch === "x64" ? "amd64" : process.arch,
        os: "linux",
        config: {},
        rootfs: { type: "layers", diff_ids: layers.map((layer) => digestOf(gunzipSync(layer))) },
      }),
    );
    const describe = (mediaType: string, bytes: Buffer) => {
      const digest = digestOf(bytes);
      this.#blobs.set(`/v2/${path}/blobs/${digest}`, bytes);
      return { mediaType, digest, size: bytes.length };
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: describe(CONFIG, config),
      layers: layers.map((layer) => describe(LAYER, layer)),
    };
    const bytes = Buffer.from(JSON.stringify(manifest));
    for (const reference of ["latest", digestOf(bytes)]) {
      this.#blobs.set(`/v2/${path}/manifests/${reference}`, bytes);
    }
    return `${this.host}/${path}`;
  }

  /** Never answers requests for this part of the image. */
  withhold(path: string, layer: Buffer): void {
    this.withheld.add(`/v2/${path}/blobs/${digestOf(layer)}`);
  }

  readonly #serve: Answer = ({ url = "" }, response) => {
    const bytes = url === "/v2/" ? Buffer.from("{}") : this.#blobs.get(url);
    if (bytes === undefined) {
      response.writeHead(404).end();
      return;
    }
    const isManifest = url.includes("/manifests/");
    const headers = isManifest ? { "content-type": MANIFEST, "docker-content-digest": digestOf(bytes) } : {};
    response.writeHead(200, { ...headers, "content-length": bytes.length });
    response.end(bytes);
  };
}

/** A gzipped tar file of a few kilobytes that unpacks to one file of zeros. */
export async function layerOfZeros(bytes: number): Promise<Buffer> {
  const root = await mkdtemp(join(tmpdir(), "errand-layer-"));
  try {
    const file = await open(join(root, "zeros"), "w");
    await file.truncate(bytes);
    await file.close();
    await run("tar", ["--create", "--gzip", "--file", join(root, "layer"), "--directory", root, "zeros"]);
    return await readFile(join(root, "layer"));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
