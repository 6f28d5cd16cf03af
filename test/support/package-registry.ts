import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create } from "tar";
import { type AnsweringServer, startAnsweringServer } from "./answering-server.ts";

interface Published {
  readonly version: string;
  readonly tarball: Buffer;
  readonly dependencies: Readonly<Record<string, string>>;
}

export interface PublishOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** A registry of packages on loopback. The newest version is the one that was published last. */
export class PackageRegistry {
  readonly #server: AnsweringServer;
  readonly #packages = new Map<string, Published[]>();

  private constructor(server: AnsweringServer) {
    this.#server = server;
    server.answer = (response, { url }) => {
      const [name = "", file] = url.slice(1).split("/-/");
      const versions = this.#packages.get(name) ?? [];
      const published = versions.find(({ version }) => file === `${name}-${version}.tgz`);
      if (published !== undefined) {
        response.end(published.tarball);
        return;
      }
      response.statusCode = versions.length === 0 ? 404 : 200;
      response.end(JSON.stringify(this.#packument(name, versions)));
    };
  }

  static async start(): Promise<PackageRegistry> {
    return new PackageRegistry(await startAnsweringServer());
  }

  get url(): string {
    return this.#server.url;
  }

  /** The names that were asked for, in order. */
  get requests(): readonly string[] {
    return this.#server.requests.map(({ url }) => url);
  }

  async publish(name: string, version: string, options: PublishOptions = {}): Promise<void> {
    const { dependencies = {} } = options;
    const tarball = await pack(name, version, options);
    const versions = this.#packages.get(name) ?? [];
    this.#packages.set(name, [...versions, { version, tarball, dependencies }]);
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  #packument(name: string, versions: readonly Published[]) {
    const entries = versions.map(({ dependencies, tarball, version }) => {
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const dist = { tarball: `${this.url}/${name}/-/${name}-${version}.tgz`, integrity };
      return [version, { name, version, dependencies, dist }] as const;
    });
    return {
      name,
      "dist-tags": { latest: versions.at(-1)?.version },
      versions: Object.fromEntries(entries),
    };
  }
}

async function pack(name: string, version: string, options: PublishOptions): Promise<Buffer> {
  const { dependencies = {}, files = {}, scripts = {} } = options;
  const source = await mkdtemp(join(tmpdir(), "errand-pack-"));
  const manifest = JSON.stringify({ name, version, dependencies, scripts });
  try {
    for (const [path, text] of Object.entries({ "package.json": manifest, ...files })) {
      await mkdir(dirname(join(source, "package", path)), { recursive: true });
      await writeFile(join(source, "package", path), text);
    }
    const file = join(source, "package.tgz");
    await create({ gzip: true, cwd: source, file, portable: true }, ["package"]);
    return await readFile(file);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}
