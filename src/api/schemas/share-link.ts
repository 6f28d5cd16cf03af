import { z } from "zod";
import { invalidMember } from "../../core/basics/errors.ts";
import { SHARE_ACCESSES, type ShareLink } from "../../core/model/people/share-link.ts";
import type { NewShareLink } from "../../core/team/keys/share-link-service.ts";
import { PageInfo } from "./page-info.ts";
import { TimeInput, Timestamp } from "./text.ts";

const DAY_SECONDS = 24 * 60 * 60;
const LIFETIME_SECONDS = 7 * DAY_SECONDS;
const LIFETIME_MAX_SECONDS = 366 * DAY_SECONDS;

const EXAMPLE = {
  id: "0195b2a5-2222-7000-8000-000000000001",
  access: "VIEWER",
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T09:00:00.000Z",
  expires_at: "2026-03-08T09:00:00.000Z",
};

const MEMBERS = {
  id: z.uuid().describe("The link's id."),
  access: z
    .enum(SHARE_ACCESSES)
    .describe(
      "`VIEWER`: guests see the run. `EDITOR`: they may also send follow-ups, as long as the team allows it.",
    ),
  created_by: z.uuid().describe("The uid of the principal that created the link."),
  created_at: Timestamp.describe("When the link was created."),
  expires_at: Timestamp.describe("When the link expires."),
};

export const ShareLinkItem = z.object(MEMBERS).meta({
  id: "ShareLink",
  description: "Opens one run to everyone who has the link, without an account.",
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
    page_info: PageInfo,
  })
  .meta({
    id: "ListShareLinksResponse",
    description: "The links of a run.",
    examples: [{ share_links: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const CreateShareLinkRequest = z
  .object({
    access: z
      .enum(SHARE_ACCESSES)
      .optional()
      .describe("Default: `VIEWER`. `EDITOR` requires that the team's `sharing` is `editor`."),
    expires_at: TimeInput.optional().describe("When the link expires: in the future, and within a year."),
    expires_in_seconds: z
      .int()
      .min(1)
      .max(LIFETIME_MAX_SECONDS)
      .optional()
      .describe("The lifetime of the link, instead of `expires_at`. Default: 7 days; maximum: one year."),
  })
  .refine(
    ({ expires_at, expires_in_seconds }) => expires_at === undefined || expires_in_seconds === undefined,
    { path: ["expires_at"], message: "must not be combined with expires_in_seconds" },
  )
  .meta({
    id: "CreateShareLinkRequest",
    description: "What guests may do, and the lifetime of the link. At most one of the two times.",
    examples: [{ access: "VIEWER", expires_in_seconds: DAY_SECONDS }],
  });
type CreateShareLinkRequest = z.output<typeof CreateShareLinkRequest>;

/** The end of a new link. Throws for a time that is not in the allowed future. */
export function expiryOf(
  { expires_at, expires_in_seconds = LIFETIME_SECONDS }: CreateShareLinkRequest,
  now: Date,
): NewShareLink["expires"] {
  if (expires_at === undefined) {
    return { afterMs: expires_in_seconds * 1_000 };
  }
  if (expires_at <= now) {
    throw invalidMember("expires_at", "must be in the future");
  }
  if (expires_at.getTime() > now.getTime() + LIFETIME_MAX_SECONDS * 1_000) {
    throw invalidMember("expires_at", "must be within a year");
  }
  return { at: expires_at };
}

export function shareLinkItem({ access, createdAt, creatorId, expiresAt, id }: ShareLink): ShareLinkItem {
  return {
    id,
    access,
    created_by: creatorId,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
