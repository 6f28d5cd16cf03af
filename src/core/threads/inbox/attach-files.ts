import type { AttachedFile, TurnOfRun } from "../../model/threads/notice.ts";
import type { Artifact } from "../../model/workspaces/artifact.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import { type AuthorizedContext, type InboxDeps, resultOf } from "./message-context.ts";
import { reply } from "./message-results.ts";

const FILES_MAX = 10;
const FILES_BYTES_MAX = 50 * 1024 * 1024;

/** Shows the files of a turn in the thread, once, to an author who may see the run. */
export async function attachFiles(
  context: AuthorizedContext,
  deps: InboxDeps,
  { runId, turn }: TurnOfRun,
): Promise<Disposition> {
  const { runs, storage } = deps;
  const run = await runs.get({ id: runId }, context.author);
  const artifacts = await storage.files.artifactsOf([runId]);
  const all = artifacts.filter((artifact) => artifact.turn === turn).flatMap(fileOf);
  const files = firstOf(all);
  if (files.length === 0) {
    return reply(
      context,
      deps,
      `There is no file of this turn that I could show here. ${runs.sessionLink(run)}`,
    );
  }
  const left = all.length - files.length;
  const rest = left === 0 ? "" : ` ${left} more are in the session: ${runs.sessionLink(run)}`;
  const text = `Files of turn ${turn} of "${run.title}".${rest}`;
  const attached = { runId, turn, files };
  await storage.inbox.complete(
    { ...resultOf(context), disposition: "answered" },
    { thread: context.thread, notices: [{ kind: "message", purpose: "reply", text, attached }] },
  );
  return "answered";
}

function fileOf({ body, file }: Artifact): AttachedFile[] {
  if (body.type !== "FILE" || file === undefined) {
    return [];
  }
  return [{ name: body.fileName, sizeBytes: file.sizeBytes, blobId: file.blobId }];
}

/** As many as are allowed together. */
function firstOf(files: readonly AttachedFile[]): readonly AttachedFile[] {
  let bytes = 0;
  return files
    .filter(({ sizeBytes }) => {
      const fits = bytes + sizeBytes <= FILES_BYTES_MAX;
      bytes += fits ? sizeBytes : 0;
      return fits;
    })
    .slice(0, FILES_MAX);
}
