import type { WebClient } from "@slack/web-api";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Translation } from "../../core/ports/thread-adapter.ts";
import { parseCommand } from "../../core/threads/inbox/parse-command.ts";
import type { PrivateCommand, PrivateRequest } from "../../core/threads/inbox/private-commands.ts";
import { authorSubject, isDirect, threadKeyOf } from "./addresses.ts";
import { authorize } from "./authorize.ts";
import { callSlack } from "./client.ts";
import type { SlashCommand } from "./payload.ts";
import { provenanceOf } from "./provenance.ts";

/**
 * A task that was given as a slash command. A command has no message and no thread, so its run is in the direct
 * conversation of the bot and the user. A control word is for the run there.
 */
export async function translateCommand(command: SlashCommand, client: WebClient): Promise<Translation> {
  const { channel: place, teamId, text: task, triggerId, userId } = command;
  const channel = await directOf(command, client);
  const location = { teamId, channel, ts: triggerId, threadTs: undefined };
  return {
    kind: "message",
    message: {
      adapter: "slack",
      installation: teamId,
      key: threadKeyOf(location),
      place,
      dedupeKey: `slack:${teamId}/command/${triggerId}`,
      addressed: "direct",
      author: { subject: authorSubject(teamId, userId) },
      text: parseCommand({ text: task }).kind === "work" ? `new ${task}` : task,
      messageRef: "",
      provenance: provenanceOf(location, { userId, content: task, action: "commanded", version: triggerId }),
    },
  };
}

/** Reads the fields of a slash command. What could answer it later, such as its `response_url`, is dropped. */
export function slashCommandOf(fields: Readonly<Record<string, unknown>>): SlashCommand {
  const [teamId = "", channel = "", userId = "", words = "", triggerId = "", organization = ""] = [
    "team_id",
    "channel_id",
    "user_id",
    "text",
    "trigger_id",
    "enterprise_id",
  ].map((name) => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  });
  const enterpriseId = organization || undefined;
  return defined({ teamId, enterpriseId, channel, userId, text: words.trim(), triggerId });
}

export async function privateCommandOf(
  name: PrivateCommand["name"],
  command: SlashCommand,
  client: WebClient,
): Promise<PrivateCommand> {
  const { channel: place, triggerId: requestId } = command;
  const request = await privateRequestOf(command, client);
  return { ...request, name, text: afterName(command.text), place, requestId };
}

/** Asks Slack who the person is. */
export async function privateRequestOf(
  person: Pick<SlashCommand, "teamId" | "userId"> & { readonly channel?: string | undefined },
  client: WebClient,
): Promise<PrivateRequest> {
  const { channel: place, teamId: installation, userId } = person;
  const author = { subject: authorSubject(installation, userId) };
  const authorization = await authorize(client, { author, installation });
  return { adapter: "slack", source: "SLACK", installation, ...defined({ place }), authorization };
}

/** What stands after the first word of a command. */
export function afterName(text: string): string {
  return text.trim().replace(/^\S+\s*/, "");
}

/** The direct conversation in which a command is answered. */
export async function directOf(
  { channel, userId }: Pick<SlashCommand, "channel" | "userId">,
  client: WebClient,
): Promise<string> {
  return isDirect(channel) ? channel : openDirect(client, userId);
}

/** Slack returns the same conversation each time. */
export async function openDirect(client: WebClient, userId: string): Promise<string> {
  const { channel } = await callSlack("conversations.open", client.conversations.open({ users: userId }));
  if (channel?.id === undefined) {
    throw new AppError("resource_unavailable", "Slack opened no direct conversation.", { retryable: true });
  }
  return channel.id;
}
