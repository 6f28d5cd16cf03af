import { z } from "zod";
import { SHARINGS, type Team } from "../../core/model/people/team.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 100;

const EXAMPLE = {
  uid: "00000000-0000-7000-8000-000000000001",
  name: "Platform",
  sharing: "off",
  created_at: "2026-02-01T08:00:00.000Z",
};

const Sharing = z
  .enum(SHARINGS)
  .describe(
    "What runs of the team may share with guests because their `config.session_sharing` says so: nothing, a link for " +
      "viewing, or also a link for editing. Share links for editing exist only with `editor`.",
  );

export const TeamItem = z
  .object({
    uid: z.uuid().describe("The team's id."),
    name: z.string().describe("Unique on this server."),
    sharing: Sharing,
    created_at: Timestamp.describe("When the team was created."),
  })
  .meta({
    id: "Team",
    description: "A group of principals. Its data is separate from that of other teams.",
    examples: [EXAMPLE],
  });
export type TeamItem = z.output<typeof TeamItem>;

export const ListTeamsResponse = z
  .object({ teams: z.array(TeamItem).describe("The oldest team comes first."), page_info: PageInfo })
  .meta({
    id: "ListTeamsResponse",
    description: "The caller's team; for operators, all teams.",
    examples: [{ teams: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const TeamRequest = z
  .object({ name: textOfCharacters(NAME_LENGTH).min(1).describe("Unique on this server.") })
  .meta({ id: "TeamRequest", description: "The name of a team.", examples: [{ name: "Platform" }] });

export const TeamUpdateRequest = z
  .object({ name: TeamRequest.shape.name.optional(), sharing: Sharing.optional() })
  .meta({
    id: "TeamUpdateRequest",
    description: "The members to change. Those that are left out stay as they are.",
    examples: [{ sharing: "viewer" }],
  });

export function teamItem({ createdAt, id, name, sharing }: Team): TeamItem {
  return { uid: id, name, sharing, created_at: createdAt.toISOString() };
}
