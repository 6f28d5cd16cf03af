import type { PromptImage } from "../agents/agent-runner.ts";
import type { AttemptDeps } from "../attempts/attempt-deps.ts";
import { type FileInWorkspace, filesInWorkspace } from "../inputs/input-paths.ts";
import type { RunInput } from "../inputs/run-input.ts";
import { retry, WHILE_UNAVAILABLE } from "../retry.ts";
import type { InitialContents } from "./workspace.ts";

type InputFilesDeps = Pick<AttemptDeps, "blobs" | "clock" | "run" | "storage">;

/** The files of the run's request. They go into its first workspace and into its first prompt. */
export class InputFiles {
  readonly #deps: InputFilesDeps;
  #inputs: Promise<readonly RunInput[]> | undefined;

  constructor(deps: InputFilesDeps) {
    this.#deps = deps;
  }

  async list(): Promise<readonly FileInWorkspace[]> {
    return filesInWorkspace(await this.#read());
  }

  async withBytes(): Promise<InitialContents["files"]> {
    const inputs = await this.#read();
    const files: InitialContents["files"][number][] = [];
    for (const [index, { path }] of filesInWorkspace(inputs).entries()) {
      const input = inputs[index];
      if (input !== undefined) {
        files.push({ path, bytes: await this.#bytesOf(input) });
      }
    }
    return files;
  }

  async images(): Promise<readonly PromptImage[]> {
    const images: PromptImage[] = [];
    for (const input of await this.#read()) {
      if (input.kind !== "image") {
        continue;
      }
      images.push({ mimeType: input.mimeType, bytes: await this.#bytesOf(input) });
    }
    return images;
  }

  #read(): Promise<readonly RunInput[]> {
    const { clock, run, storage } = this.#deps;
    this.#inputs ??= retry(clock, WHILE_UNAVAILABLE, () => storage.files.inputsOf(run.id));
    return this.#inputs;
  }

  #bytesOf({ blobId }: RunInput): Promise<Uint8Array> {
    const { blobs, clock } = this.#deps;
    return retry(clock, WHILE_UNAVAILABLE, () => blobs.get(blobId));
  }
}
