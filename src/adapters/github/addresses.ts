import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { ThreadKey } from "../../core/basics/ids.ts";
import type { Receipt } from "../../core/ports/thread-adapter.ts";

/** An issue, or a pull request with its review threads. Issues and pull requests share their numbers. */
export interface GithubThread {
  readonly repositoryId: number;
  readonly number: number;
}

const KEY = /^(\d+)\/issues\/(\d+)$/;

/** The key has no names, so a renamed repository keeps its conversations. */
export function threadKeyOf({ repositoryId, number }: GithubThread): ThreadKey {
  return `${repositoryId}/issues/${number}` as ThreadKey;
}

export function parseThreadKey(key: ThreadKey): GithubThread {
  const [, repositoryId, number] = KEY.exec(key) ?? [];
  if (repositoryId === undefined || number === undefined) {
    throw new AppError("invalid_request", "This is no thread of GitHub.");
  }
  return { repositoryId: Number(repositoryId), number: Number(number) };
}

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

const receiptSchema = z.object({
  kind: z.enum(["issue_comment", "review_comment", "reaction", "check", "review"]),
  id: z.number(),
  /** The address of the comment. */
  url: z.string().optional(),
  /** Of a check: its commit, and whether it has not ended. */
  head: z.string().optional(),
  isOpen: z.boolean().optional(),
});
/** Where a notice is shown. */
export type Shown = z.infer<typeof receiptSchema>;

export function receiptOf(shown: Shown): Receipt {
  return JSON.stringify(shown);
}

export function parseReceipt(receipt: Receipt): Shown {
  try {
    return receiptSchema.parse(JSON.parse(receipt));
  } catch (cause) {
    throw new AppError("invalid_request", "This is no receipt of GitHub's.", { cause });
  }
}
