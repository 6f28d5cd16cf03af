import { z } from "zod";
import { PRINCIPAL_TYPES, type Principal, type Viewer } from "../../core/people/principal.ts";
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

const PrincipalType = z.enum(PRINCIPAL_TYPES).describe("A person, or a program.");

export const PrincipalItem = z
  .object({
    uid: Uid.describe("The principal's id."),
    team_uid: Uid.describe("Whose team it belongs to."),
    type: PrincipalType,
    display_name: z.string().optional().describe("As the principal is called on the pages."),
    email: z.string().optional().describe("For administrators, and the principal itself."),
    photo_url: z.string().optional().describe("Where it is known."),
    administrator: z.boolean().describe("Whether it sees and manages everything of the team."),
    disabled: z.boolean().describe("Whether it may do nothing any more. What was done stays."),
    created_at: Timestamp.describe("When it was made."),
  })
  .meta({ id: "Principal", description: "A user or a service account of a team.", examples: [EXAMPLE] });
export type PrincipalItem = z.output<typeof PrincipalItem>;

export const ListPrincipalsResponse = z
  .object({ principals: z.array(PrincipalItem).describe("The oldest first, disabled ones too.") })
  .meta({
    id: "ListPrincipalsResponse",
    description: "All principals of the team.",
    examples: [{ principals: [EXAMPLE] }],
  });

const DisplayName = textOfCharacters(NAME_LENGTH);
const Email = z.email().max(EMAIL_LENGTH);
const PhotoUrl = z.url({ protocol: /^https?$/ }).max(URL_LENGTH);

export const CreatePrincipalRequest = z
  .object({
    type: PrincipalType,
    display_name: DisplayName.min(1).describe("As the principal is to be called."),
    email: Email.optional().describe("Where it can be reached."),
    photo_url: PhotoUrl.optional().describe("A picture for the pages."),
    administrator: z.boolean().default(false).describe("Whether it manages the team. Default: no."),
    team_uid: z.string().optional().describe("For operators: another team than their own."),
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
      "The name of somebody who writes from one account outside follows that account.",
    ),
    email: Email.optional().describe("Where it can be reached."),
    photo_url: PhotoUrl.optional().describe("A picture for the pages."),
    administrator: z.boolean().optional().describe("A team keeps at least one."),
    disabled: z.boolean().optional().describe("true: it may do nothing any more, and its keys die at once."),
  })
  .meta({
    id: "UpdatePrincipalRequest",
    description: "What is to change; the rest stays.",
    examples: [{ administrator: true }],
  });
export type UpdatePrincipalRequest = z.output<typeof UpdatePrincipalRequest>;

/** A principal as `viewer` may see it. */
export function principalItem(principal: Principal, viewer: Viewer): PrincipalItem {
  const { administrator, createdAt, disabled, displayName, email, id, photoUrl, teamId, type } = principal;
  const seesEmail = email !== undefined && (viewer.administrator || viewer.id === id);
  return {
    uid: id,
    team_uid: teamId,
    type,
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(seesEmail ? { email } : {}),
    ...(photoUrl === undefined ? {} : { photo_url: photoUrl }),
    administrator,
    disabled,
    created_at: createdAt.toISOString(),
  };
}
