import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { SIGN_IN_METHODS, type SignIn } from "../../core/model/people/sign-in.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp } from "./text.ts";

const EXAMPLE = {
  id: "0195b2a1-3c5d-7b11-9a40-5e7f2c1d8b91",
  principal_uid: "0195b2a0-0000-7000-8000-000000000001",
  method: "api_key" as const,
  created_at: "2026-03-01T09:00:00.000Z",
  last_seen_at: "2026-03-01T11:25:00.000Z",
  expires_at: "2026-03-01T21:00:00.000Z",
  address: "198.51.100.7",
  user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  current: true,
};

const SignInMethod = z.enum(SIGN_IN_METHODS).meta({
  id: "SignInMethod",
  description: "How the principal proved who it is.",
  examples: ["api_key"],
});

export const SignInItem = z
  .object({
    id: z.uuid().describe("The sign-in's id."),
    principal_uid: z.uuid().describe("The uid of the principal that is signed in."),
    method: SignInMethod,
    created_at: Timestamp.describe("When the principal signed in."),
    last_seen_at: Timestamp.describe("When the browser was last seen, accurate to a few minutes."),
    expires_at: Timestamp.describe("When the sign-in ends by itself."),
    address: z.string().optional().describe("The address that signed in."),
    user_agent: z.string().optional().describe("The browser, in its own words."),
    current: z.boolean().describe("Whether the request was made with this sign-in."),
  })
  .meta({ id: "SignIn", description: "A browser that is signed in to the pages.", examples: [EXAMPLE] });
export type SignInItem = z.output<typeof SignInItem>;

export const ListSignInsResponse = z
  .object({
    sign_ins: z.array(SignInItem).describe("The open sign-ins, at most 1000. The last seen come first."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListSignInsResponse",
    description: "An administrator gets all sign-ins of the team, others get their own.",
    examples: [{ sign_ins: [EXAMPLE], page_info: { has_next_page: false } }],
  });

/** `currentId` is the sign-in of the request. */
export function signInItem(signIn: SignIn, currentId: string | undefined): SignInItem {
  const { address, id, method, principalId, userAgent } = signIn;
  return defined({
    id,
    principal_uid: principalId,
    method,
    created_at: signIn.createdAt.toISOString(),
    last_seen_at: signIn.lastSeenAt.toISOString(),
    expires_at: signIn.expiresAt.toISOString(),
    address,
    user_agent: userAgent,
    current: id === currentId,
  });
}
