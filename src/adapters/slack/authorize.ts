import type { UsersInfoResponse, WebClient } from "@slack/web-api";
import { defined } from "../../core/basics/defined.ts";
import type { Role } from "../../core/model/policies/policy.ts";
import type { Authorization, InboundMessage } from "../../core/ports/thread-adapter.ts";
import { authorSubject, userIdOf } from "./addresses.ts";
import { callSlack } from "./client.ts";
import { slackCodeOf } from "./errors.ts";

type User = NonNullable<UsersInfoResponse["user"]>;

const BOT_REFUSAL = "Bots and workflows may not start runs.";
/** Why an author with the role may do nothing by default. */
const REFUSALS: Partial<Record<Role, string>> = {
  bot: BOT_REFUSAL,
  external: "Only members of this workspace may start runs.",
  guest: "Guests may not start runs.",
};

/** Asks Slack now what the author is in the workspace. Without an answer nobody is authorized. */
export async function authorize(
  client: WebClient,
  { author, installation }: Pick<InboundMessage, "author" | "installation">,
): Promise<Authorization> {
  if (author.isBot === true) {
    return { allowed: true, permission: "bot", roles: ["bot"], author, refusal: BOT_REFUSAL };
  }
  const userId = userIdOf(author.subject);
  const user = await findUser(client, userId);
  if (user === undefined) {
    return { allowed: false, reason: "This workspace does not know you." };
  }
  if (user.deleted) {
    return { allowed: false, reason: "Your account is deactivated." };
  }
  const role = roleOf(user, installation);
  const refusal = REFUSALS[role];
  const displayName = user.profile?.display_name || user.real_name || user.name;
  return {
    allowed: true,
    permission: permissionOf(user, role),
    roles: [role],
    ...defined({ refusal }),
    author: {
      ...author,
      ...defined({
        displayName: displayName ? displayName : undefined,
        aliases: aliasesOf(user, author.subject),
      }),
    },
    // Slack's events identify users only by id.
    ...defined({ provenance: user.name ? { actor: { id: userId, login: user.name } } : undefined }),
  };
}

/** In an organization of several workspaces, a person has one account: the subject of it comes first. */
function aliasesOf(
  { enterprise_user: whole, id = "" }: User,
  subject: string,
): readonly string[] | undefined {
  const { enterprise_id: enterpriseId, id: wholeId = id, teams = [] } = whole ?? {};
  return enterpriseId === undefined || wholeId === ""
    ? undefined
    : [
        authorSubject(enterpriseId, wholeId),
        ...teams.map((teamId) => authorSubject(teamId, id)).filter((one) => one !== subject),
      ];
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

function roleOf(user: User, teamId: string): Role {
  if (user.is_bot || user.is_workflow_bot) {
    return "bot";
  }
  if (user.is_stranger || !isOfTeam(user, teamId)) {
    return "external";
  }
  return user.is_restricted || user.is_ultra_restricted ? "guest" : "member";
}

/** In an organization of several workspaces, `team_id` of a member is only the first one. */
function isOfTeam(user: User, teamId: string): boolean {
  return user.team_id === teamId || (user.enterprise_user?.teams ?? []).includes(teamId);
}

function permissionOf(user: User, role: Role): string {
  if (role !== "member") {
    return role;
  }
  if (user.is_owner || user.is_primary_owner) {
    return "owner";
  }
  return user.is_admin ? "admin" : "member";
}
