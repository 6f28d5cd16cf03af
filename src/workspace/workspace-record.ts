import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** Beside the directories that a sandbox may write to, so that what it says of the repositories is ours. */
export const RECORD = "workspace.json";

const commit = z.string().regex(/^[0-9a-f]{40,64}$/);
const folder = z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/);

export const clonedRepository = z.object({
  owner: z.string(),
  name: z.string(),
  /** Where it was cloned to, below the workspace. */
  folder,
  /** As it was cloned. */
  commit,
  branch: z.string().optional(),
  defaultBranch: z.string().optional(),
});

const workspaceRecord = z.object({
  /** The run directory that it was made in: programs write such paths down. */
  place: z.string().default(""),
  /** Of what it was set up with; other commands are a reason to do it again. */
  setup: z.string().default(""),
  repositories: z.array(clonedRepository).default([]),
});

export type WorkspaceRecord = z.infer<typeof workspaceRecord>;
export type ClonedRepository = z.infer<typeof clonedRepository>;

/** An empty one where there is none, as in workspaces that were made before there were records. */
export async function readRecord(directory: string): Promise<WorkspaceRecord> {
  try {
    return workspaceRecord.parse(JSON.parse(await readFile(join(directory, RECORD), "utf8")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return workspaceRecord.parse({});
    throw error;
  }
}

export async function writeRecord(directory: string, record: WorkspaceRecord): Promise<void> {
  const path = join(directory, RECORD);
  await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
