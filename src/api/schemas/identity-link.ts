import { z } from "zod";
import type { IdentityLink } from "../../core/model/people/identity.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp } from "./text.ts";

const SUBJECT_LENGTH = 300;

const EXAMPLE = {
  id: "7b1f4a52-6f0e-4b7a-9a83-0d5c2e7b1a64",
  subject: "chat:T024BE7LD:U2147483697",
  adapter: "chat",
  principal_uid: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T09:00:00.000Z",
};

export const IdentityLinkItem = z
  .object({
    id: z.uuid().describe("The link's id."),
    subject: z.string().describe("The external account, as its adapter names it."),
    adapter: z.string().describe("The adapter of the account: the part of `subject` before the first colon."),
    principal_uid: z.uuid().describe("The uid of the principal that owns the account."),
    created_at: Timestamp.describe("When the account was first seen or linked."),
  })
  .meta({
    id: "IdentityLink",
    description: "Links an external account to a principal.",
    examples: [EXAMPLE],
  });
export type IdentityLinkItem = z.output<typeof IdentityLinkItem>;

export const ListIdentityLinksResponse = z
  .object({ links: z.array(IdentityLinkItem).describe("The oldest link comes first."), page_info: PageInfo })
  .meta({
    id: "ListIdentityLinksResponse",
    description: "The external accounts of the team's principals.",
    examples: [{ links: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const LinkIdentityRequest = z
  .object({
    subject: z
      .string()
      .max(SUBJECT_LENGTH)
      .regex(
        /^[a-z][a-z0-9-]*:\S+$/,
        "must be an adapter's name, a colon and the adapter's id of the account",
      )
      .describe(
        "The external account, as its adapter names it. It may be an account that has not been seen yet.",
      ),
    principal_uid: z.string().describe("The uid of the principal that will own the account."),
  })
  .meta({
    id: "LinkIdentityRequest",
    description: "Links an external account to a principal.",
    examples: [{ subject: EXAMPLE.subject, principal_uid: EXAMPLE.principal_uid }],
  });

export function identityLinkItem({ id, subject, principalId, createdAt }: IdentityLink): IdentityLinkItem {
  const [adapter = ""] = subject.split(":", 1);
  return { id, subject, adapter, principal_uid: principalId, created_at: createdAt.toISOString() };
}
