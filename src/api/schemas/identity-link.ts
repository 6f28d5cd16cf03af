import { z } from "zod";
import type { IdentityLink } from "../../core/people/identity.ts";
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
    subject: z.string().describe("The account, as its adapter names it."),
    adapter: z.string().describe("Which adapter that is: what stands before the first colon."),
    principal_uid: z.uuid().describe("Whose account it is."),
    created_at: Timestamp.describe("When it was first heard of or linked."),
  })
  .meta({ id: "IdentityLink", description: "Whose an account outside is.", examples: [EXAMPLE] });
export type IdentityLinkItem = z.output<typeof IdentityLinkItem>;

export const ListIdentityLinksResponse = z
  .object({ links: z.array(IdentityLinkItem).describe("The oldest first.") })
  .meta({
    id: "ListIdentityLinksResponse",
    description: "Who is who outside.",
    examples: [{ links: [EXAMPLE] }],
  });

export const LinkIdentityRequest = z
  .object({
    subject: z
      .string()
      .max(SUBJECT_LENGTH)
      .regex(/^[a-z][a-z0-9-]*:\S+$/, "must be an adapter's name, a colon and what it calls the account")
      .describe("The account, as its adapter names it. One that was never heard of may be linked as well."),
    principal_uid: z.string().describe("Whose account it is to be."),
  })
  .meta({
    id: "LinkIdentityRequest",
    description: "Says whose an account is.",
    examples: [{ subject: EXAMPLE.subject, principal_uid: EXAMPLE.principal_uid }],
  });

export function identityLinkItem({ id, subject, principalId, createdAt }: IdentityLink): IdentityLinkItem {
  const [adapter = ""] = subject.split(":", 1);
  return { id, subject, adapter, principal_uid: principalId, created_at: createdAt.toISOString() };
}
