import type { RunEvent, RunEventKind } from "./events.ts";
import type { Run } from "./run.ts";
import type { RunService } from "./run-service.ts";

/** An event may hold some hundred kilobytes, so a page of them is kept small. */
const PAGE = 200;

/** The log of a run as it stood when `run` was read, page by page: however long it is, little of it is held at once. */
export async function* eventPages(
  runs: Pick<RunService, "readEvents">,
  { id, lastSeq }: Pick<Run, "id" | "lastSeq">,
  kinds?: readonly RunEventKind[],
): AsyncGenerator<readonly RunEvent[]> {
  let after = 0;
  while (after < lastSeq) {
    const page = await runs.readEvents(id, after, PAGE, kinds);
    yield page.filter(({ seq }) => seq <= lastSeq);
    if (page.length < PAGE) return;
    after = page.at(-1)?.seq ?? lastSeq;
  }
}
