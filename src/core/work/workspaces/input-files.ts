import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import {
  type FileInWorkspace,
  type FollowUpFile,
  fileInWorkspace,
  filesInWorkspace,
  type InputFile,
} from "../../model/workspaces/input-file.ts";
import type { PromptImage } from "../../ports/agent-runner.ts";
import type { InitialContents } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";

type InputFilesDeps = Pick<AttemptDeps, "blobs" | "clock" | "run" | "storage" | "workspaces">;

/** The files that a turn gets: those in its workspace, and the images that go into its prompt as well. */
export interface TurnFiles {
  readonly files: readonly FileInWorkspace[];
  readonly images: readonly PromptImage[];
}

/**
 * The files that people give to a run. Those of the request go into its first workspace and into its first prompt,
 * those of a follow-up into the workspace and the prompt of its turn.
 */
export class InputFiles {
  readonly #deps: InputFilesDeps;
  #inputs: Promise<readonly InputFile[]> | undefined;

  constructor(deps: InputFilesDeps) {
    this.#deps = deps;
  }

  async ofRequest(): Promise<TurnFiles> {
    const inputs = await this.#read();
    return { files: filesInWorkspace(inputs), images: await this.#imagesIn(inputs) };
  }

  /** Puts the files into the workspace. A lost attempt may have done it before. */
  async add(files: readonly FollowUpFile[]): Promise<TurnFiles> {
    const { run, workspaces } = this.#deps;
    const contents: InitialContents["files"][number][] = [];
    for (const file of files) {
      contents.push({ path: file.path, bytes: await this.#bytesOf(file) });
    }
    if (contents.length > 0) {
      await workspaces.addFiles(run.id, contents);
    }
    return { files: files.map(fileInWorkspace), images: await this.#imagesIn(files) };
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

  async #imagesIn(inputs: readonly InputFile[]): Promise<readonly PromptImage[]> {
    const images: PromptImage[] = [];
    for (const input of inputs) {
      if (input.kind === "image") {
        images.push({ mimeType: input.mimeType, bytes: await this.#bytesOf(input) });
      }
    }
    return images;
  }

  #read(): Promise<readonly InputFile[]> {
    const { clock, run, storage } = this.#deps;
    this.#inputs ??= retry(clock, WHILE_UNAVAILABLE, () => storage.files.inputsOf(run.id));
    return this.#inputs;
  }

  #bytesOf({ blobId }: InputFile): Promise<Uint8Array> {
    const { blobs, clock } = this.#deps;
    return retry(clock, WHILE_UNAVAILABLE, () => blobs.get(blobId));
  }
}
