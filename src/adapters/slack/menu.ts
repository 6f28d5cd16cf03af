import type { types } from "@slack/bolt";
import { z } from "zod";
import type { ChoiceOption, ChoiceSearch } from "../../core/threads/inbox/environment-choice.ts";
import { choiceOf, requestOfMenu } from "./buttons.ts";
import { authorSubject } from "./thread-key.ts";

/** Slack shows at most this many. The user types more to find others. */
const MAX_OPTIONS = 100;

const menuSchema = z.object({
  action_id: z.string(),
  value: z.string().default(""),
  team: z.object({ id: z.string() }),
  user: z.object({ id: z.string() }),
});

/** The options of the menu for which Slack asks. A menu that is not from Errand has none. */
export async function menuOptions(
  request: unknown,
  search: (search: ChoiceSearch) => Promise<readonly ChoiceOption[]>,
): Promise<readonly types.PlainTextOption[]> {
  const parsed = menuSchema.safeParse(request);
  const requestId = parsed.success ? requestOfMenu(parsed.data.action_id) : undefined;
  if (!parsed.success || requestId === undefined) {
    return [];
  }
  const { team, user, value } = parsed.data;
  const subject = authorSubject(team.id, user.id);
  const found = await search({
    adapter: "slack",
    installation: team.id,
    subject,
    requestId,
    query: value.trim(),
  });
  return found.slice(0, MAX_OPTIONS).map((option) => choiceOf(requestId, option));
}
