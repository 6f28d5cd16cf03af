import { z } from "zod";
import { workspaceOf } from "./bolt-app.ts";
import { callSlack } from "./client.ts";
import { ignoreCode } from "./errors.ts";
import type { Bot } from "./identity.ts";
import { hasMention, mentionedUsers } from "./mention.ts";
import type { Workspace, WorkspaceAddress, Workspaces } from "./workspaces.ts";

const id = z.string().min(1).optional().catch(undefined);
const team = z.object({ team: id, user_team: id, source_team: id });
const sharedSchema = z.object({
  is_ext_shared_channel: z.literal(true),
  team_id: id,
  enterprise_id: id,
  event: team.extend({
    type: id,
    text: id,
    channel: id,
    user: id,
    item: z.object({ channel: id }).optional().catch(undefined),
    message: team.optional().catch(undefined),
    previous_message: team.optional().catch(undefined),
  }),
});
const pressSchema = z.object({
  is_enterprise_install: z.literal(false).optional(),
  team: z.object({ id: z.string() }),
  message: z.object({ team: z.string().min(1) }),
});

type SharedEvent = z.output<typeof sharedSchema>;

/** Where something happened, and the bot that acts there. */
export interface Place {
  readonly workspace: Workspace;
  readonly bot: Bot;
}

/**
 * The workspace whose installation takes an event. In a channel that several workspaces share, Slack delivers an event
 * through any of them, and may do so through each. So the choice does not depend on the delivery: it is the workspace of
 * the author, otherwise that of the channel, if the app is installed there and its bot is in the channel.
 * Undefined: the app is installed in none of them.
 */
export async function placeOf(
  body: unknown,
  workspaces: Pick<Workspaces, "find">,
): Promise<Place | undefined> {
  const receiver = workspaceOf(body);
  const shared = sharedSchema.safeParse(body).data;
  if (shared === undefined) {
    const workspace = await findOwner(body, receiver, workspaces);
    return workspace && { workspace, bot: await workspace.bot() };
  }
  const [taker, ...others] = await findSharers(shared, receiver, workspaces);
  if (taker === undefined) {
    return undefined;
  }
  const bots = await Promise.all(others.map((workspace) => workspace.bot()));
  const otherIds = bots.flatMap(({ botId, userId }) => [userId, botId ?? userId]);
  const bot = { ...(await taker.bot()), otherIds };
  return { workspace: taker, bot: { ...bot, otherIds: [...otherIds, ...unnamedBotIn(shared.event, bot)] } };
}

/** Slack says that the app is mentioned, by a bot of a workspace that it does not name. */
function unnamedBotIn({ text = "", type }: SharedEvent["event"], bot: Bot): readonly string[] {
  return type === "app_mention" && !hasMention(text, bot) ? mentionedUsers(text).slice(0, 1) : [];
}

/** A button belongs to the workspace whose bot posted its message, in whichever it was pressed. */
async function findOwner(
  body: unknown,
  receiver: WorkspaceAddress,
  workspaces: Pick<Workspaces, "find">,
): Promise<Workspace | undefined> {
  const press = pressSchema.safeParse(body).data;
  const isElsewhere = press !== undefined && press.message.team !== receiver.teamId;
  const owner = isElsewhere ? await workspaces.find({ teamId: press.message.team }) : undefined;
  return owner ?? workspaces.find(receiver);
}

/** The workspaces with the app that share the channel. The one that takes the event comes first. */
async function findSharers(
  shared: SharedEvent,
  receiver: WorkspaceAddress,
  workspaces: Pick<Workspaces, "find">,
): Promise<readonly Workspace[]> {
  const { enterprise_id: enterpriseId, event, team_id: teamId = "" } = shared;
  const owner = { teamId, enterpriseId };
  const author = (await authorTeamOf(event, receiver, workspaces)) ?? "";
  const known = [owner, receiver].find((one) => one.teamId === author);
  const addresses = new Map(
    [known ?? { teamId: author }, owner, receiver].map((one) => [one.teamId, one] as const),
  );
  addresses.delete("");
  const found = await Promise.all(Array.from(addresses.values(), (one) => workspaces.find(one)));
  const sharers = [...new Set(found.filter((one) => one !== undefined))];
  const channel = event.channel ?? event.item?.channel;
  const isIn = await Promise.all(
    sharers.map(async (one) => sharers.length === 1 || channel === undefined || one.isIn(channel)),
  );
  return [...sharers.filter((_, index) => isIn[index]), ...sharers.filter((_, index) => !isIn[index])];
}

/** Reactions and a Stop do not name the workspace of their author. */
async function authorTeamOf(
  { message, previous_message: previous, user, ...event }: SharedEvent["event"],
  receiver: WorkspaceAddress,
  workspaces: Pick<Workspaces, "find">,
): Promise<string | undefined> {
  const said = message ?? previous ?? event;
  const named = said.user_team ?? said.source_team ?? said.team;
  if (named !== undefined || user === undefined) {
    return named;
  }
  const client = (await workspaces.find(receiver))?.client;
  const answer =
    client &&
    (await callSlack("users.info", client.users.info({ user })).catch(ignoreCode("user_not_found")));
  return answer?.user?.team_id;
}
