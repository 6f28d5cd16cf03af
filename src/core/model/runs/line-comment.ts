import type { PrincipalId, RunId } from "../../basics/ids.ts";

/** `left`: the version before the changes of the run. `right`: the version after them. */
export const LINE_SIDES = ["left", "right"] as const;
export type LineSide = (typeof LINE_SIDES)[number];

/** A remark on lines that a run has changed. It is sent with a follow-up. */
export interface LineComment {
  /** `owner/name`. Absent: the run has only one repository. */
  readonly repository?: string;
  readonly path: string;
  readonly side: LineSide;
  /** The last line, counted from 1 on its side. */
  readonly line: number;
  /** The first line. Absent: there is only one. */
  readonly startLine?: number;
  /** The lines of the diff that the author saw. The last one is `line`. */
  readonly hunk: string;
  /** The commit whose version the author saw. Absent: it is not pushed. */
  readonly commitId?: string;
  readonly body: string;
}

/** A comment that its author has not sent yet. No one else sees it. */
export interface DraftComment {
  readonly id: string;
  readonly runId: RunId;
  readonly authorId: PrincipalId;
  readonly comment: LineComment;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
