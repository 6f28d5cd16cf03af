import { z } from "zod";
import { SCOPES } from "../../core/people/api-key.ts";
import { PrincipalItem } from "./principal.ts";
import { Timestamp } from "./text.ts";

const EXAMPLE = {
  principal: {
    uid: "0195b2a0-0000-7000-8000-000000000001",
    team_uid: "00000000-0000-7000-8000-000000000001",
    type: "user",
    display_name: "Mira",
    administrator: true,
    disabled: false,
    created_at: "2026-02-01T08:30:00.000Z",
  },
  team: { uid: "00000000-0000-7000-8000-000000000001", name: "Platform" },
  key: {
    id: "0195b2a1-3c5d-7b11-9a40-5e7f2c1d8b90",
    name: "Laptop",
    hint: "errand_Xy12z…",
    scopes: ["runs:write", "settings:read"],
  },
  is_administrator: false,
  is_operator: false,
};

const Team = z.object({
  uid: z.uuid().describe("The team's id."),
  name: z.string().describe("What it is called."),
});

const Key = z.object({
  id: z.uuid().describe("The key's id."),
  name: z.string().describe("As its owner called it."),
  hint: z.string().describe("How the key begins."),
  scopes: z.array(z.enum(SCOPES)).describe("What it may do."),
  expires_at: Timestamp.optional().describe("Until when it opens; absent: for ever."),
});

export const Whoami = z
  .object({
    principal: PrincipalItem,
    team: Team.describe("The principal's team."),
    key: Key.describe("The key of this request, or the one that signed in to the pages."),
    is_administrator: z.boolean().describe("Whether this key manages the team."),
    is_operator: z.boolean().describe("Whether this key manages the installation and its teams."),
  })
  .meta({ id: "Whoami", description: "Who calls, and what they may do.", examples: [EXAMPLE] });
export type Whoami = z.output<typeof Whoami>;
