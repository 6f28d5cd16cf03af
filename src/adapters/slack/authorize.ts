import type { UsersInfoResponse, WebClient } from "@slack/web-api";
import type { Authorization, InboundMessage } from "../../core/threads/thread-adapter.ts";
import { callSlack } from "./client.ts";
import { slackCodeOf } from "./errors.ts";
import { userIdOf } from "./thread-key.ts";

type User = NonNullable<UsersInfoResponse["user"]>;

/** Asks Slack now whether the author is a full member of the workspace. Without an answer nobody is authorized. */
export async function authorize(
  client: WebClient,
  { author, installation }: Pick<InboundMessage, "author" | "installation">,
): Promise<Authorization> {
  const userId = userIdOf(author.subject);
  const user = await findUser(client, userId);
  const reason = user === undefined ? "This workspace does not know you." : reasonAgainst(user, installation);
  if (user === undefined || reason !== undefined) {
    return { allowed: false, reason: reason ?? "" };
  }
  const displayName = user.profile?.display_name || user.real_name || user.name;
  return {
    allowed: true,
    permission: permissionOf(user),
    // Guests, strangers and bots are refused above.
    roles: ["member"],
    author: { ...author, ...(displayName ? { displayName } : {}) },
    // Slack's events identify users only by id.
    ...(user.name ? { provenance: { actor: { id: userId, login: user.name } } } : {}),
  };
}

async function findUser(client: WebClient, userId: string): Promise<User | undefined> {
  try {
    return (await callSlack("users.info", client.users.info({ user: userId }))).user;
  } catch (error) {
    const code = slackCodeOf(error);
    if (code === "user_not_found" || code === "user_not_visible") {
      return undefined;
    }
    throw error;
  }
}

function reasonAgainst(user: User, teamId: string): string | undefined {
  if (user.deleted) {
    return "Your account is deactivated.";
  }
  if (user.is_bot || user.is_workflow_bot) {
    return "Bots and workflows may not start runs.";
  }
  if (user.is_stranger || !isOfTeam(user, teamId)) {
    return "Only members of this workspace may start runs.";
  }
  if (user.is_restricted || user.is_ultra_restricted) {
    return "Guests may not start runs.";
  }
  return undefined;
}

/** In an organization of several workspaces, `team_id` of a member is only the first one. */
function isOfTeam(user: User, teamId: string): boolean {
  return user.team_id === teamId || (user.enterprise_user?.teams ?? []).includes(teamId);
}

function permissionOf(user: User): string {
  if (user.is_owner || user.is_primary_owner) {
    return "owner";
  }
  return user.is_admin ? "admin" : "member";
}
