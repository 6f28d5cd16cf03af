import type { App, types } from "@slack/bolt";
import type { WebClient } from "@slack/web-api";
import { AppError } from "../../core/basics/errors.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboxEvent, Translation } from "../../core/ports/thread-adapter.ts";
import { boltBody, causeOf, createApp } from "./bolt-app.ts";
import type { ClientDeps } from "./client.ts";
import { slashCommandOf, translateCommand } from "./command.ts";
import type { SlackConfig } from "./config.ts";
import { FORM } from "./form-ids.ts";
import { translateForm } from "./form-request.ts";
import type { Bot, BotIdentity } from "./identity.ts";
import { COMMAND_EVENT, type SlashCommand } from "./payload.ts";
import {
  translateButton,
  translateMessage,
  translateReaction,
  translateRemoval,
  translateStop,
} from "./translate.ts";

/** What the listeners of one stored event share. */
interface EventContext {
  readonly bot: Bot;
  /** Says what the event means, exactly once. */
  readonly settle: (translation: Translation) => void;
}

const REMOVALS = ["app_uninstalled", "tokens_revoked"] as const satisfies readonly types.SlackEvent["type"][];

/** Replays stored events through listeners of Bolt, which say what each one means. */
export class StoredEvents {
  readonly #app: App<EventContext>;

  constructor(
    config: SlackConfig,
    {
      client,
      identity,
      ...deps
    }: ClientDeps & { readonly client: WebClient; readonly identity: Pick<BotIdentity, "get"> },
  ) {
    this.#app = createApp<EventContext>(
      async (teamId) => {
        const bot = await identity.get();
        requireWorkspace(teamId, bot);
        return { bot, botToken: config.botToken, teamId: bot.teamId };
      },
      config,
      deps,
    );
    this.#listen(client);
  }

  /** Throws what a listener threw, or an AppError for another workspace. */
  async translate({ body, name }: InboxEvent): Promise<Translation> {
    let result: Translation | undefined;
    const settle: EventContext["settle"] = (translation) => {
      if (result !== undefined) {
        throw new Error(`Two listeners said what Slack's ${name} means.`);
      }
      result = translation;
    };
    const payload = bodyOf(name, body);
    try {
      await this.#app.processEvent({
        body: payload,
        ack: async () => undefined,
        customProperties: { settle },
      });
    } catch (error) {
      const cause = causeOf(error);
      // Bolt could not read a body that lacks what Slack documents. Sent again it would be the same.
      if (!(cause instanceof TypeError)) {
        throw cause;
      }
    }
    return result ?? { kind: "ignored", reason: `Slack's ${name} means nothing to Errand.` };
  }

  #listen(client: WebClient): void {
    const app = this.#app;
    for (const type of ["app_mention", "message"] as const) {
      app.event(type, async ({ event, body, context: { bot, settle } }) =>
        settle(translateMessage(event, bot, body)),
      );
    }
    app.event("reaction_added", async ({ event, context: { bot, settle } }) =>
      settle(translateReaction(event, bot)),
    );
    app.event("agent_session_stopped", async ({ event, context: { bot, settle } }) =>
      settle(translateStop(event, bot)),
    );
    for (const type of REMOVALS) {
      app.event(type, async ({ event, body, context: { settle } }) =>
        settle(translateRemoval(event, body.team_id)),
      );
    }
    app.action({ type: "block_actions" }, async ({ body, context: { bot, settle } }) =>
      settle(translateButton(body, bot)),
    );
    app.view(FORM, async ({ body, context: { bot, settle } }) =>
      settle(await translateForm(body, { bot, client })),
    );
    app.command(/^/, async ({ command, context: { settle } }) =>
      settle(await translateCommand(slashCommandOf(command), client)),
    );
  }
}

/** The adapter itself wrote the body of a command, after it had checked the signature. */
function bodyOf(name: string, stored: string) {
  const json = parseJson(stored);
  if (name !== COMMAND_EVENT) {
    return boltBody(json);
  }
  const { channel, teamId, text, triggerId, userId } = json as SlashCommand;
  const ids = { team_id: teamId, channel_id: channel, user_id: userId, trigger_id: triggerId };
  return { command: "/errand", text, ...ids };
}

/** The token belongs to one workspace. Events of another workspace with the same app are refused. */
function requireWorkspace(teamId: string | undefined, bot: Bot): void {
  if (teamId !== bot.teamId) {
    const message = "Errand is not set up for the workspace of this event.";
    throw new AppError("integration_not_configured", message, { retryable: false, integrationName: "slack" });
  }
}
