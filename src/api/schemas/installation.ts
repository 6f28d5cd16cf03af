import { z } from "zod";
import type { Installation } from "../../core/people/installation.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 200;

const EXAMPLE = {
  id: "0195b2a2-1111-7000-8000-000000000001",
  adapter: "chat",
  external_id: "T024BE7LD",
  name: "Acme",
  enabled: true,
  team_uid: "00000000-0000-7000-8000-000000000001",
  created_at: "2026-02-01T08:00:00.000Z",
};

export const InstallationItem = z
  .object({
    id: z.uuid().describe("The installation's id."),
    adapter: z.string().describe("Through which adapter it talks to us."),
    external_id: z.string().describe("What it is called outside."),
    name: z.string().optional().describe("As an administrator called it."),
    enabled: z.boolean().describe("false: what comes from there is refused, and the reason is said there."),
    team_uid: z.uuid().describe("Whose it is: runs from there belong to that team."),
    created_at: Timestamp.describe("When it was first heard of."),
  })
  .meta({
    id: "Installation",
    description: "A workspace, organisation or account outside that talks to us.",
    examples: [EXAMPLE],
  });
export type InstallationItem = z.output<typeof InstallationItem>;

export const ListInstallationsResponse = z
  .object({ installations: z.array(InstallationItem).describe("The oldest first.") })
  .meta({
    id: "ListInstallationsResponse",
    description: "Those of the team; for operators all of them.",
    examples: [{ installations: [EXAMPLE] }],
  });

export const UpdateInstallationRequest = z
  .object({
    name: textOfCharacters(NAME_LENGTH).optional().describe("For whoever finds it in the list."),
    enabled: z.boolean().optional().describe("false: what comes from there is refused."),
    team_uid: z.string().optional().describe("For operators: to which team it goes. Its runs so far stay."),
  })
  .meta({
    id: "UpdateInstallationRequest",
    description: "What is to change; the rest stays.",
    examples: [{ enabled: false }],
  });
export type UpdateInstallationRequest = z.output<typeof UpdateInstallationRequest>;

export function installationItem(installation: Installation): InstallationItem {
  const { adapter, createdAt, enabled, externalId, id, name, teamId } = installation;
  return {
    id,
    adapter,
    external_id: externalId,
    ...(name === undefined ? {} : { name }),
    enabled,
    team_uid: teamId,
    created_at: createdAt.toISOString(),
  };
}
