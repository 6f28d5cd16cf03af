import type { WebClient } from "@slack/web-api";
import { plainName } from "./message-content.ts";

/** Each unknown name is one more call. */
const NAMES_MAX = 10;
const MENTIONED =
  /(?<![\p{L}\p{N}_])(?:@([UW][A-Z0-9]{2,})|#([CG][A-Z0-9]{2,})|@subteam\^(S[A-Z0-9]{2,}))\b/gu;

/**
 * The names of the people, channels and groups whom readable texts mention by id, as `@U1` → `@Ada`. One whose name Slack
 * does not give keeps the id.
 */
export async function namesIn(
  client: WebClient,
  texts: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = new Map(
    texts.flatMap((text) => Array.from(text.matchAll(MENTIONED), (match) => [match[0], match])),
  );
  const groups = [...found.values()].some(([, , , group]) => group !== undefined)
    ? await groupNames(client)
    : new Map<string, string>();
  const named = await Promise.all(
    [...found].slice(0, NAMES_MAX).map(async ([mention, [, user, channel, group = ""]]) => {
      const name = await (user !== undefined
        ? userName(client, user)
        : channel !== undefined
          ? channelName(client, channel)
          : groups.get(group));
      return [mention, name ? `${mention[0]}${name}` : mention] as const;
    }),
  );
  const known = new Map(named.filter(([mention, name]) => name !== mention));
  return known.size === 0 ? undefined : known;
}

/** The names of users by their ids, as far as Slack gives them. */
export async function userNames(
  client: WebClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = await Promise.all(
    [...new Set(ids)].slice(0, NAMES_MAX).map(async (id) => [id, await userName(client, id)] as const),
  );
  return new Map(names.filter((named): named is [string, string] => Boolean(named[1])));
}

async function userName(client: WebClient, user: string): Promise<string | undefined> {
  const answer = await client.users.info({ user }).catch(() => undefined);
  const found = answer?.user;
  return plainName(found?.profile?.display_name || found?.real_name || found?.name || "");
}

async function channelName(client: WebClient, channel: string): Promise<string | undefined> {
  const answer = await client.conversations.info({ channel }).catch(() => undefined);
  return plainName(answer?.channel?.name ?? "");
}

async function groupNames(client: WebClient): Promise<ReadonlyMap<string, string>> {
  const answer = await client.usergroups.list().catch(() => undefined);
  const groups = (answer?.usergroups ?? []).map(
    ({ id = "", handle = "" }) => [id, plainName(handle)] as const,
  );
  return new Map(groups);
}
