import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";

export const OBJECT_KINDS = ["issue", "pull_request", "issue_comment", "review", "review_comment"] as const;
/** The kinds of texts on GitHub. Each kind has its own ids. */
export type ObjectKind = (typeof OBJECT_KINDS)[number];

export interface MessageRef {
  readonly kind: ObjectKind;
  readonly id: number;
  /** Of a review comment: the comment that opened its review thread. It can be the same. */
  readonly root?: number | undefined;
}

export function messageRefOf({ id, kind, root }: MessageRef): string {
  return root === undefined ? `${kind}/${id}` : `${kind}/${id}/in/${root}`;
}

/** The review thread in which a message stands; undefined: it stands in the conversation. */
export function reviewThreadOf(ref: string): string | undefined {
  return /\/in\/(\d+)$/.exec(ref)?.[1];
}

export function parseMessageRef(ref: string): MessageRef {
  const [, name, id, root] = /^(\w+)\/(\d+)(?:\/in\/(\d+))?$/.exec(ref) ?? [];
  const kind = OBJECT_KINDS.find((known) => known === name);
  if (kind === undefined || id === undefined) {
    throw new AppError("invalid_request", "This is no message of GitHub.");
  }
  return defined({ kind, id: Number(id), root: root === undefined ? undefined : Number(root) });
}
