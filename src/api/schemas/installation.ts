import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Installation } from "../../core/model/people/installation.ts";
import { PageInfo } from "./page-info.ts";
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
    adapter: z.string().describe("The adapter that connects the installation."),
    external_id: z.string().describe("The id on the external platform."),
    name: z.string().optional().describe("The name that an administrator chose."),
    enabled: z
      .boolean()
      .describe("false: events from the installation are refused, and the sender is told the reason."),
    team_uid: z.uuid().describe("The uid of the team that owns the runs from this installation."),
    offered_team_uid: z
      .uuid()
      .optional()
      .describe(
        "The uid of the team that will own the installation once one of its administrators accepts it.",
      ),
    problem: z
      .string()
      .optional()
      .describe(
        "Why the platform refuses the app there, and what an operator can do. Absent: it works, as far as is known.",
      ),
    created_at: Timestamp.describe("When the installation was first seen."),
  })
  .meta({
    id: "Installation",
    description:
      "A workspace, organisation or account of an external platform that is connected to the server.",
    examples: [EXAMPLE],
  });
export type InstallationItem = z.output<typeof InstallationItem>;

const UNCONNECTED = {
  adapter: "chat",
  external_id: "T0NEW1234",
  last_received_at: "2026-02-01T08:00:00.000Z",
  install_url: "https://errand.example.com/setup/chat/install",
};

const UnconnectedWorkspaceItem = z
  .object({
    adapter: z.string().describe("The adapter of the platform."),
    external_id: z.string().describe("The id of the workspace on the external platform."),
    last_received_at: Timestamp.describe("When its last message came."),
    install_url: z.string().describe("Where an administrator installs the app in it."),
  })
  .meta({
    id: "UnconnectedWorkspace",
    description:
      "A workspace that sent messages in the last days and is not connected, so that they have no answer. Once the app " +
      "is installed there, the messages of the last hour are processed.",
    examples: [UNCONNECTED],
  });

export const ListInstallationsResponse = z
  .object({
    installations: z.array(InstallationItem).describe("The oldest installation comes first."),
    unconnected: z
      .array(UnconnectedWorkspaceItem)
      .optional()
      .describe(
        "For operators: workspaces that write to the server and are not connected, the newest first.",
      ),
    page_info: PageInfo,
  })
  .meta({
    id: "ListInstallationsResponse",
    description:
      "The installations of the team, and after them those that are offered to it; for operators, of all teams.",
    examples: [{ installations: [EXAMPLE], unconnected: [UNCONNECTED], page_info: { has_next_page: false } }],
  });

export const UpdateInstallationRequest = z
  .object({
    name: textOfCharacters(NAME_LENGTH).optional().describe("A name for the list of installations."),
    enabled: z
      .boolean()
      .optional()
      .describe(
        "false: events from the installation are refused. Operators cannot enable what belongs to another team with an " +
          "administrator.",
      ),
    team_uid: z
      .string()
      .optional()
      .describe(
        "For operators: the uid of the team that will own the installation. A team with an administrator is offered " +
          "it (`offered_team_uid`), and an administrator of that team accepts by sending the uid of the team here. The " +
          "uid of the present team takes an offer back. Existing runs keep their team.",
      ),
  })
  .meta({
    id: "UpdateInstallationRequest",
    description: "The members to change. Other members keep their value.",
    examples: [{ enabled: false }],
  });
export type UpdateInstallationRequest = z.output<typeof UpdateInstallationRequest>;

export function installationItem(installation: Installation): InstallationItem {
  const { adapter, createdAt, enabled, externalId, id, name, offeredTo, problem, teamId } = installation;
  return defined({
    id,
    adapter,
    external_id: externalId,
    name,
    enabled,
    team_uid: teamId,
    offered_team_uid: offeredTo,
    problem,
    created_at: createdAt.toISOString(),
  });
}
