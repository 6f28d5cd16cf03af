import { z } from "zod";
import type { ShareLink } from "../../core/people/share-link.ts";
import { Timestamp } from "./text.ts";

const DAY_SECONDS = 24 * 60 * 60;
const LIFETIME_SECONDS = 7 * DAY_SECONDS;
const LIFETIME_MAX_SECONDS = 366 * DAY_SECONDS;

const EXAMPLE = {
  id: "0195b2a5-2222-7000-8000-000000000001",
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T09:00:00.000Z",
  expires_at: "2026-03-08T09:00:00.000Z",
};

const MEMBERS = {
  id: z.uuid().describe("The link's id."),
  created_by: z.uuid().describe("The uid of the principal that created the link."),
  created_at: Timestamp.describe("When the link was created."),
  expires_at: Timestamp.describe("When the link expires."),
};

export const ShareLinkItem = z.object(MEMBERS).meta({
  id: "ShareLink",
  description: "Shows one run to everyone who has the link, without an account.",
  examples: [EXAMPLE],
});
export type ShareLinkItem = z.output<typeof ShareLinkItem>;

export const IssuedShareLink = z
  .object({ ...MEMBERS, url: z.string().describe("The URL of the link. It is shown only once.") })
  .meta({
    id: "IssuedShareLink",
    description: "A new link.",
    examples: [{ ...EXAMPLE, url: "https://errand.example.com/sessions/0195b2a4-5c1f-7c2a?share=Xy12z…" }],
  });
export type IssuedShareLink = z.output<typeof IssuedShareLink>;

export const ListShareLinksResponse = z
  .object({
    share_links: z
      .array(ShareLinkItem)
      .describe("The oldest link comes first. Expired links are listed for 30 days."),
  })
  .meta({
    id: "ListShareLinksResponse",
    description: "The links of a run.",
    examples: [{ share_links: [EXAMPLE] }],
  });

export const CreateShareLinkRequest = z
  .object({
    expires_in_seconds: z
      .int()
      .min(1)
      .max(LIFETIME_MAX_SECONDS)
      .default(LIFETIME_SECONDS)
      .describe("The lifetime of the link. Default: 7 days; maximum: one year."),
  })
  .meta({
    id: "CreateShareLinkRequest",
    description: "The lifetime of the link.",
    examples: [{ expires_in_seconds: DAY_SECONDS }],
  });

export function shareLinkItem({ id, creatorId, createdAt, expiresAt }: ShareLink): ShareLinkItem {
  return {
    id,
    created_by: creatorId,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
