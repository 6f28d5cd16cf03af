import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { PRINCIPAL_TYPES, type Principal, type Viewer } from "../../core/model/people/principal.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 200;
const EMAIL_LENGTH = 320;
const URL_LENGTH = 2_000;

const EXAMPLE = {
  uid: "0195b2a0-0000-7000-8000-000000000001",
  team_uid: "00000000-0000-7000-8000-000000000001",
  type: "user",
  display_name: "Mira",
  email: "mira@example.com",
  administrator: false,
  disabled: false,
  created_at: "2026-02-01T08:30:00.000Z",
};

const Uid = z.uuid();

const PrincipalType = z.enum(PRINCIPAL_TYPES).describe("`user`: a person. `service_account`: a program.");

export const PrincipalItem = z
  .object({
    uid: Uid.describe("The principal's id."),
    team_uid: Uid.describe("The uid of the principal's team."),
    type: PrincipalType,
    display_name: z.string().optional().describe("The name shown on the pages."),
    email: z.string().optional().describe("Visible to administrators and to the principal itself."),
    photo_url: z.string().optional().describe("The URL of a picture, if known."),
    administrator: z.boolean().describe("Whether the principal can see and manage everything of the team."),
    disabled: z.boolean().describe("Whether the principal is disabled. Its runs are kept."),
    created_at: Timestamp.describe("When the principal was created."),
  })
  .meta({ id: "Principal", description: "A user or a service account of a team.", examples: [EXAMPLE] });
export type PrincipalItem = z.output<typeof PrincipalItem>;

export const ListPrincipalsResponse = z
  .object({
    principals: z
      .array(PrincipalItem)
      .describe("The oldest principal comes first. Disabled principals are included."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListPrincipalsResponse",
    description: "All principals of the team.",
    examples: [{ principals: [EXAMPLE], page_info: { has_next_page: false } }],
  });

const DisplayName = textOfCharacters(NAME_LENGTH);
const Email = z.email().max(EMAIL_LENGTH);
const PhotoUrl = z.url({ protocol: /^https?$/ }).max(URL_LENGTH);

export const CreatePrincipalRequest = z
  .object({
    type: PrincipalType,
    display_name: DisplayName.min(1).describe("The name shown on the pages."),
    email: Email.optional().describe("The email address."),
    photo_url: PhotoUrl.optional().describe("The URL of a picture for the pages."),
    administrator: z
      .boolean()
      .default(false)
      .describe("Whether the principal manages the team. Default: false."),
    team_uid: z
      .string()
      .optional()
      .describe("For operators: the uid of another team. Default: the caller's team."),
  })
  .meta({
    id: "CreatePrincipalRequest",
    description: "A new user or service account.",
    examples: [{ type: "service_account", display_name: "Nightly build" }],
  });
export type CreatePrincipalRequest = z.output<typeof CreatePrincipalRequest>;

export const UpdatePrincipalRequest = z
  .object({
    display_name: DisplayName.optional().describe(
      "The name shown on the pages. For a principal with exactly one external account, the name of that account " +
        "replaces it.",
    ),
    email: Email.optional().describe("The email address."),
    photo_url: PhotoUrl.optional().describe("The URL of a picture for the pages."),
    administrator: z
      .boolean()
      .optional()
      .describe("Whether the principal manages the team. A team always keeps at least one administrator."),
    disabled: z
      .boolean()
      .optional()
      .describe("true: the principal is disabled, and its keys stop working at once."),
  })
  .meta({
    id: "UpdatePrincipalRequest",
    description: "The members to change. Other members keep their value.",
    examples: [{ administrator: true }],
  });
export type UpdatePrincipalRequest = z.output<typeof UpdatePrincipalRequest>;

/** Converts a principal to the format of the API, as `viewer` may see it. */
export function principalItem(principal: Principal, viewer: Viewer): PrincipalItem {
  const { administrator, createdAt, disabled, displayName, email, id, photoUrl, teamId, type } = principal;
  const seesEmail = email !== undefined && (viewer.administrator || viewer.id === id);
  return defined({
    uid: id,
    team_uid: teamId,
    type,
    display_name: displayName,
    email: seesEmail ? email : undefined,
    photo_url: photoUrl,
    administrator,
    disabled,
    created_at: createdAt.toISOString(),
  });
}
