import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../../core/basics/parse-json.ts";

/** One file for each image. Its modification time is the time of the last use. */
const FOLDER = "pulled-images";

const pulledImage = z.object({ name: z.string(), id: z.string() });
type PulledImage = z.infer<typeof pulledImage>;

/** Remembers which images Errand pulled. All other images of the daemon belong to the operator. */
export class PulledImages {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, FOLDER);
  }

  async add(image: PulledImage): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(this.#fileOf(image.name), JSON.stringify(image));
  }

  /** Does nothing for an image that Errand did not pull. */
  async touch(name: string): Promise<void> {
    const now = new Date();
    await utimes(this.#fileOf(name), now, now).catch(() => undefined);
  }

  async remove(name: string): Promise<void> {
    await rm(this.#fileOf(name), { force: true });
  }

  async listUnused(unusedMs: number): Promise<readonly PulledImage[]> {
    const files = await readdir(this.#folder).catch(() => []);
    const unused = await Promise.all(files.map((file) => readUnused(join(this.#folder, file), unusedMs)));
    return unused.flat();
  }

  #fileOf(name: string): string {
    return join(this.#folder, createHash("sha256").update(name).digest("hex"));
  }
}

async function readUnused(file: string, unusedMs: number): Promise<readonly PulledImage[]> {
  // Another process may have removed it.
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined || Date.now() - facts.mtimeMs < unusedMs) {
    return [];
  }
  const { data } = pulledImage.safeParse(parseJson(await readFile(file, "utf8").catch(() => "")));
  return data === undefined ? [] : [data];
}
