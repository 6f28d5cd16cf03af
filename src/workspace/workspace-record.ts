import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Preparation } from "../core/ports/workspace-provider.ts";
import { isMissing } from "./file-trees.ts";

/**
 * Stored outside of the directories that a sandbox may write to, so that its statements about repositories can be
 * trusted.
 */
export const RECORD = "workspace.json";

const commit = z.string().regex(/^[0-9a-f]{40,64}$/);
const folder = z.string().regex(/^(?!\.{1,2}$)[^/\0]+$/);

export const clonedRepository = z.object({
  owner: z.string(),
  name: z.string(),
  /** Where it was cloned to, relative to the workspace. */
  folder,
  /** The cloned commit. */
  commit,
  branch: z.string().optional(),
  defaultBranch: z.string().optional(),
  isUntrusted: z.literal(true).optional(),
  /** The wanted folders. The cloned commit may lack some of them. */
  sparse: z.array(z.string()).readonly().optional(),
  committer: z.object({ name: z.string(), email: z.string() }).optional(),
  /** The template of pull requests in the commit. */
  template: z.string().optional(),
  /** Set when the work began again after the pull request at the address `after`, which belongs to no other run. */
  restart: z
    .object({ runId: z.string(), after: z.string(), branchNumber: z.int(), base: z.string() })
    .optional(),
  /** What differed from the commit when the agent got it, for the scripts of `changes`. */
  given: z
    .object({
      /** When that was, in seconds. */
      at: z.number(),
      files: z.string(),
      repositories: z.string(),
      leftOut: z.array(z.string()),
    })
    .optional(),
});

const workspaceRecord = z.object({
  /**
   * The run directory in which it was made, because programs write such paths down. Empty: its paths were those that
   * are the same on every worker.
   */
  place: z.string().default(""),
  /** Identifies its setup. Other commands are a reason to repeat it. */
  setup: z.string().default(""),
  repositories: z.array(clonedRepository).default([]),
});

export type WorkspaceRecord = z.infer<typeof workspaceRecord>;
export type ClonedRepository = z.infer<typeof clonedRepository>;

/** An empty record if there is none, as in workspaces from before records. */
export async function readRecord(directory: string): Promise<WorkspaceRecord> {
  try {
    return workspaceRecord.parse(JSON.parse(await readFile(join(directory, RECORD), "utf8")));
  } catch (error) {
    if (isMissing(error)) {
      return workspaceRecord.parse({});
    }
    throw error;
  }
}

export async function writeRecord(directory: string, record: WorkspaceRecord): Promise<void> {
  const path = join(directory, RECORD);
  await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** If commands or image differ, an inherited workspace is set up again. */
export function setupOf({ plan: { image, setupCommands } }: Preparation): string {
  if (setupCommands.length === 0) {
    return "";
  }
  return createHash("sha256")
    .update(JSON.stringify([image ?? null, setupCommands]))
    .digest("hex");
}
