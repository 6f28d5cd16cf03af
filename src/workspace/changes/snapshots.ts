import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isMissing, removeTree } from "../file-trees.ts";

const FILE = "marks.json";
const snapshots = z.record(z.string(), z.string().regex(/^[0-9a-f]{40,64}$/));

/** Snapshots of the repositories of a run: tree ids by folder, and the objects that the repositories lack. */
export class Snapshots {
  readonly #path: string;

  /** `path`: the run directory. */
  constructor(path: string) {
    this.#path = path;
  }

  async find(folder: string): Promise<string | undefined> {
    return (await this.#read())[folder];
  }

  async set(folder: string, tree: string | undefined): Promise<void> {
    const { [folder]: _, ...others } = await this.#read();
    const file = join(this.#path, FILE);
    const all = tree === undefined ? others : { ...others, [folder]: tree };
    await writeFile(`${file}.new`, JSON.stringify(all), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  /**
   * The directory for objects. Only this directory is visible in the sandbox, so that nothing above it can be changed
   * from there.
   */
  async objectsOf(folder: string): Promise<string> {
    const place = this.#place(folder);
    await mkdir(place, { recursive: true, mode: 0o700 });
    return place;
  }

  async forgetObjects(folder: string): Promise<void> {
    await removeTree(this.#place(folder));
  }

  #place(folder: string): string {
    return join(this.#path, "marks", folder);
  }

  async #read(): Promise<Readonly<Record<string, string>>> {
    try {
      return snapshots.parse(JSON.parse(await readFile(join(this.#path, FILE), "utf8")));
    } catch (error) {
      if (isMissing(error)) {
        return {};
      }
      throw error;
    }
  }
}
