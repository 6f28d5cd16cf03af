import { AppError } from "../../core/errors.ts";

export const OBJECT_KINDS = ["issue", "pull_request", "issue_comment", "review", "review_comment"] as const;
/** The kinds of texts on GitHub. Each kind has its own ids. */
export type ObjectKind = (typeof OBJECT_KINDS)[number];

export interface MessageRef {
  readonly kind: ObjectKind;
  readonly id: number;
}

export function messageRefOf({ kind, id }: MessageRef): string {
  return `${kind}/${id}`;
}

export function parseMessageRef(ref: string): MessageRef {
  const [, name, id] = /^(\w+)\/(\d+)$/.exec(ref) ?? [];
  const kind = OBJECT_KINDS.find((known) => known === name);
  if (kind === undefined || id === undefined) {
    throw new AppError("invalid_request", "This is no message of GitHub.");
  }
  return { kind, id: Number(id) };
}
