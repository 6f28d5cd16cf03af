import { z } from "zod";
import { AppError } from "../../../core/basics/errors.ts";
import type { NewCommit, NewFile } from "../../../core/ports/change-tracker.ts";
import type { CallRepository } from "../routes.ts";

/** The values that GitHub takes as the mode of a file. */
const MODES = ["100644", "100755", "120000", "160000"] as const;

const objectAnswer = z.object({ sha: z.string() });
const commitAnswer = z.object({
  sha: z.string(),
  verification: z.object({ verified: z.boolean(), reason: z.string() }),
});

/**
 * Makes a commit without an author, so that GitHub signs it for the App that asks.
 * https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification#signature-verification-for-bots
 */
export async function makeCommit(call: CallRepository, commit: NewCommit): Promise<string> {
  const { message, parents, tree } = commit;
  if (tree !== commit.baseTree && (await makeTree(call, commit)) !== tree) {
    throw cannot("GitHub made other files of the same content");
  }
  const route = "POST /repos/{owner}/{repo}/git/commits";
  const parameters = { message, tree, parents: [...parents] };
  const { sha, verification } = await call({ route, parameters, answer: commitAnswer });
  if (!verification.verified) {
    throw cannot(`GitHub says: ${verification.reason}`);
  }
  return sha;
}

async function makeTree(call: CallRepository, { baseTree, files }: NewCommit): Promise<string> {
  const tree = [];
  for (const file of files) {
    tree.push(await entryOf(call, file));
  }
  const route = "POST /repos/{owner}/{repo}/git/trees";
  const parameters = baseTree === undefined ? { tree } : { tree, base_tree: baseTree };
  return (await call({ route, parameters, answer: objectAnswer })).sha;
}

/** Text needs no call of its own. */
async function entryOf(call: CallRepository, { content, id, mode: text, path }: NewFile) {
  const mode = MODES.find((each) => each === text);
  if (mode === undefined) {
    throw cannot(`GitHub has no files of the mode ${text}`);
  }
  const type = mode === "160000" ? ("commit" as const) : ("blob" as const);
  if (typeof content === "string") {
    return { path, mode, type, content };
  }
  if (content !== undefined) {
    const route = "POST /repos/{owner}/{repo}/git/blobs";
    const parameters = { content: Buffer.from(content).toString("base64"), encoding: "base64" };
    await call({ route, parameters, answer: objectAnswer });
  }
  // Without an id, GitHub deletes the file.
  return { path, mode, type, sha: id ?? null };
}

function cannot(why: string): AppError {
  return new AppError("operation_not_supported", why, { retryable: false });
}
