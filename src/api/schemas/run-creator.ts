import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import { RUN_ITEM_EXAMPLE } from "./run-examples.ts";

export const RunCreatorInfo = z
  .object({
    uid: z.string().describe("The principal's id."),
    type: z.enum(["user", "service_account"]).describe("`user`: a person. `service_account`: a program."),
    display_name: z.string().optional().describe("The name shown on the pages."),
    email: z.string().optional().describe("The email address, if known."),
    photo_url: z.string().optional().describe("The URL of a picture, if known."),
  })
  .meta({
    id: "RunCreatorInfo",
    description: "A principal: the creator or the executor of a run.",
    examples: [RUN_ITEM_EXAMPLE.creator],
  });
export type RunCreatorInfo = z.output<typeof RunCreatorInfo>;

/** The id is present even if the principal was deleted. */
export function creatorInfo(uid: PrincipalId, creator: Principal | undefined): RunCreatorInfo {
  const { type = "user", displayName, email, photoUrl } = creator ?? {};
  return defined({ uid, type, display_name: displayName, email, photo_url: photoUrl });
}
