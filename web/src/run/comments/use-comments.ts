import type { DraftComment, LineComment, RunFollowup } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { client } from "../../server/client.ts";
import { queries } from "../../server/queries.ts";
import { personName } from "../names.ts";
import { useRun } from "../run-context.tsx";

/** A comment beside its line: a draft, or one that was sent with a follow-up. */
export interface ShownComment {
  readonly key: string;
  readonly comment: LineComment;
  /** Of a draft, which its author may change. */
  readonly draftId?: string;
  /** Who sent it, and what became of it. */
  readonly sent?: string;
}

export const NO_COMMENTS: readonly ShownComment[] = [];
const STATUS: Readonly<Record<RunFollowup["status"], string>> = {
  held: "waits for the next turn",
  waiting_approval: "waits for approval",
  given: "read by the agent",
  withdrawn: "withdrawn",
  refused: "refused",
};

/** The drafts of this person, which the server keeps. */
export function useDrafts(): readonly DraftComment[] {
  const { isGuest, runId } = useRun();
  const { data } = useQuery({
    queryKey: draftsKey(runId),
    queryFn: ({ signal }) => client.runs.draftComments(runId, { signal }),
    enabled: !isGuest,
  });
  return data?.draft_comments ?? [];
}

function draftsKey(runId: string): readonly string[] {
  return ["run", runId, "draft-comments"];
}

export async function keepDraft(runId: string, draftId: string, comment: LineComment): Promise<void> {
  await client.runs.putDraftComment(runId, draftId, comment);
  await queries.invalidateQueries({ queryKey: draftsKey(runId) });
}

export async function deleteDraft(runId: string, draftId: string): Promise<void> {
  await client.runs.deleteDraftComment(runId, draftId);
  await queries.invalidateQueries({ queryKey: draftsKey(runId) });
}

/** The comments on one repository by the path of their file. */
export function useCommentsOf(repository: string): ReadonlyMap<string, readonly ShownComment[]> {
  const { followUps } = useRun();
  const drafts = useDrafts();
  return useMemo(() => {
    const sent = [...followUps.values()].flatMap(sentWith);
    const kept = drafts.map(
      ({ created_at: _created, draft_id: draftId, updated_at: _updated, ...comment }) => ({
        key: draftId,
        draftId,
        comment,
      }),
    );
    const all: readonly ShownComment[] = [...sent, ...kept];
    const ofThis = all.filter(({ comment }) => (comment.repository ?? repository) === repository);
    return Map.groupBy(ofThis, ({ comment }) => comment.path);
  }, [drafts, followUps, repository]);
}

function sentWith({ author, comments = [], followup_id, status }: RunFollowup): readonly ShownComment[] {
  return status === "withdrawn" || status === "refused"
    ? []
    : comments.map((comment, index) => ({
        key: `${followup_id} ${index}`,
        comment,
        sent: `${personName(author)}, ${STATUS[status]}`,
      }));
}

/** A UUID. `crypto.randomUUID` does not exist on pages that are served without TLS. */
export function newDraftId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}
