import { z } from "zod";
import { AppError } from "../../../core/basics/errors.ts";
import type { Run } from "../../../core/model/runs/run.ts";
import type { PushedBranch } from "../../../core/ports/gateway.ts";
import type { WorkReport } from "../../../core/ports/thread-adapter.ts";
import { isBranchOf } from "../../../core/work/workspaces/branch-name.ts";
import type { CallRepository } from "../routes.ts";
import { type ErrandFileDeps, withErrandFile } from "./reader.ts";

const refAnswer = z.object({ object: z.object({ sha: z.string() }) });
const findingsSchema = z.object({ repository: z.object({ id: z.int() }) });
const pullsAnswer = z.array(z.unknown());

/**
 * Deletes the branch of a closed pull request if the file wants it: only one that Errand made for the run, while its head
 * is the last push of the run, and while no other open pull request is from or into it.
 */
export async function removeBranch(
  { findings, installation }: WorkReport,
  { pushed, run }: { readonly pushed: PushedBranch; readonly run: Pick<Run, "id" | "title"> },
  deps: ErrandFileDeps,
): Promise<void> {
  const { branch, commit } = pushed;
  if (!isBranchOf(run, branch)) {
    return;
  }
  const { repository: at } = findingsSchema.parse(findings);
  const ref = `heads/${branch}`;
  await withErrandFile({ id: at.id, installation }, deps, async (settings, call, owner) => {
    if (settings?.deletesBranch !== true) {
      return;
    }
    const route = "GET /repos/{owner}/{repo}/git/ref/{ref}";
    const found = await unlessRefused(call({ route, parameters: { ref }, answer: refAnswer }));
    if (found?.object.sha === commit && !(await isUsed(call, owner, branch))) {
      const deletion = "DELETE /repos/{owner}/{repo}/git/refs/{ref}";
      await unlessRefused(call({ route: deletion, parameters: { ref }, answer: z.unknown() }));
    }
  });
}

async function isUsed(call: CallRepository, owner: string, branch: string): Promise<boolean> {
  const route = "GET /repos/{owner}/{repo}/pulls";
  const open = { state: "open", per_page: 1 } as const;
  for (const filter of [{ head: `${owner}:${branch}` }, { base: branch }]) {
    if ((await call({ route, parameters: { ...open, ...filter }, answer: pullsAnswer })).length > 0) {
      return true;
    }
  }
  return false;
}

/** The branch is gone, or protected. */
async function unlessRefused<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return undefined;
    }
    throw error;
  }
}
