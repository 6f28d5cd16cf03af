import { type FileInWorkspace, filesInWorkspace } from "../inputs/input-paths.ts";
import type { RunInput } from "../inputs/run-input.ts";
import type { PromptImage } from "../ports/agent-runner.ts";
import type { Beginning } from "../ports/workspace.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import { untilAvailable } from "./until-available.ts";

type Parts = Pick<AttemptParts, "blobs" | "clock" | "run" | "storage">;

/** What was given to the run with its request: into its first workspace, and into its first prompt. */
export class GivenFiles {
  readonly #parts: Parts;
  #inputs: Promise<readonly RunInput[]> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async list(): Promise<readonly FileInWorkspace[]> {
    return filesInWorkspace(await this.#read());
  }

  async withBytes(): Promise<Beginning["files"]> {
    const inputs = await this.#read();
    const files: Beginning["files"][number][] = [];
    for (const [index, { path }] of filesInWorkspace(inputs).entries()) {
      const input = inputs[index];
      if (input !== undefined) files.push({ path, bytes: await this.#bytesOf(input) });
    }
    return files;
  }

  async images(): Promise<readonly PromptImage[]> {
    const images: PromptImage[] = [];
    for (const input of await this.#read()) {
      if (input.kind !== "image") continue;
      images.push({ mimeType: input.mimeType, bytes: await this.#bytesOf(input) });
    }
    return images;
  }

  #read(): Promise<readonly RunInput[]> {
    const { clock, run, storage } = this.#parts;
    this.#inputs ??= untilAvailable(clock, () => storage.files.inputsOf(run.id));
    return this.#inputs;
  }

  #bytesOf({ blobId }: RunInput): Promise<Uint8Array> {
    const { blobs, clock } = this.#parts;
    return untilAvailable(clock, () => blobs.get(blobId));
  }
}
