import type { Workspace } from "./workspace.ts";

export const INPUT_KINDS = ["attachment", "image"] as const;

export type InputKind = (typeof INPUT_KINDS)[number];

/** A file in the request of a run. */
export interface InputFile {
  readonly kind: InputKind;
  /** The name that the caller gave; untrusted. */
  readonly fileName: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly blobId: string;
}

/** A file of a follow-up. It has a place of its own in the workspace. */
export interface FollowUpFile extends InputFile {
  /** Relative to the workspace's directory. */
  readonly path: string;
  readonly sha256: string;
}

export interface RequestFile extends Pick<InputFile, "kind" | "fileName" | "mimeType"> {
  readonly bytes: Uint8Array;
}

const DIRECTORY = "attachments";
/** Follow-ups of one run differ in the end of their ids. */
const ID_LENGTH = 8;
/** File systems allow 255 bytes. A number may be added. */
const NAME_BYTES_MAX = 200;
const EXTENSION_LENGTH_MAX = 20;

export interface FileInWorkspace extends Pick<InputFile, "kind" | "mimeType" | "sizeBytes"> {
  /** Relative to the workspace's directory. */
  readonly path: string;
}

/** The path of each input file in the workspace. Names from callers are made safe and unique. */
export function filesInWorkspace(
  inputs: readonly Omit<InputFile, "blobId">[],
  directory = DIRECTORY,
): readonly FileInWorkspace[] {
  const taken = new Set<string>();
  return inputs.map(({ fileName, kind, mimeType, sizeBytes }) => {
    const name = freeName(cleanFileName(fileName), taken);
    // Some file systems do not distinguish upper from lower case.
    taken.add(name.toLowerCase());
    return { path: `${directory}/${name}`, kind, mimeType, sizeBytes };
  });
}

/** What the log and the agent get to know about a file. */
export function fileInWorkspace({ kind, mimeType, path, sizeBytes }: FollowUpFile): FileInWorkspace {
  return { path, kind, mimeType, sizeBytes };
}

/** The files of a follow-up in a directory of its own, because the workspace may have files of these names already. */
export function filesOfFollowUp(
  followUpId: string,
  files: readonly Omit<FollowUpFile, "path">[],
): readonly FollowUpFile[] {
  const paths = filesInWorkspace(files, `${DIRECTORY}-${followUpId.slice(-ID_LENGTH)}`);
  return files.map((file, index) => ({ ...file, path: paths[index]?.path ?? "" }));
}

/** The relative path from the agent's working directory to the input files: empty, or several `../`. */
export function pathToFiles({
  directory,
  workingDirectory,
}: Pick<Workspace, "directory" | "workingDirectory">): string {
  if (!workingDirectory.startsWith(`${directory}/`)) {
    return "";
  }
  const below = workingDirectory.slice(directory.length).split("/");
  return "../".repeat(below.filter((part) => part !== "").length);
}

/** A file name without a path and without characters that a shell or a terminal would interpret. */
export function cleanFileName(name: string): string {
  const last = name.normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[^\p{L}\p{N}\p{M} ._()+@=,-]/gu, "_").replace(/^[. -]+|[. ]+$/g, "");
  return shortName(plain === "" ? "file" : plain);
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const [stem, extension] = splitName(name);
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem}-${number}${extension}`;
    if (!taken.has(candidate.toLowerCase())) {
      return candidate;
    }
  }
}

function shortName(name: string): string {
  const [stem, extension] = splitName(name);
  const characters = Array.from(stem);
  while (bytesOf(characters.join("") + extension) > NAME_BYTES_MAX) {
    characters.pop();
  }
  return characters.join("") + extension;
}

function splitName(name: string): readonly [stem: string, extension: string] {
  const dot = name.lastIndexOf(".");
  const isExtension = dot > 0 && name.length - dot <= EXTENSION_LENGTH_MAX;
  return isExtension ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
