import { App, type Authorize } from "@slack/bolt";
import type { WebClientOptions } from "@slack/web-api";
import { AppError } from "../../core/errors.ts";
import type { Bot, BotIdentity } from "./bot-identity.ts";
import type { TranslationContext } from "./hearing.ts";
import { translatePosting } from "./posting.ts";
import { translatePress } from "./press.ts";
import type { InboxReceiver } from "./receiver.ts";
import { SILENT_LOGGER } from "./web-client.ts";

type ErrandApp = App<TranslationContext & { readonly bot: Bot }>;

export interface BoltDeps {
  readonly receiver: InboxReceiver;
  readonly identity: BotIdentity;
  readonly clientOptions: WebClientOptions;
}

/** The Bolt app whose listeners translate. It starts nothing and calls nobody by being made. */
export function createBoltApp({ receiver, identity, clientOptions }: BoltDeps): void {
  const app: ErrandApp = new App({
    receiver,
    authorize: authorizeWith(identity),
    clientOptions,
    logger: SILENT_LOGGER,
    // Whatever is left out needs a reason in the inbox, the bot's own messages too.
    ignoreSelf: false,
    convoStore: false,
  });
  app.error(rethrow);
  listen(app);
}

function listen(app: ErrandApp): void {
  app.event("app_mention", async ({ event, body, context }) => {
    context.settle(translatePosting(event, { bot: context.bot, eventId: body.event_id }));
  });
  app.message(async ({ event, body, context }) => {
    context.settle(translatePosting(event, { bot: context.bot, eventId: body.event_id }));
  });
  app.action({ type: "block_actions" }, async ({ body, context, ack }) => {
    await ack();
    context.settle(translatePress(body, { bot: context.bot, eventId: undefined }));
  });
}

/** The token is that of one workspace: an event of another one, where the app may be installed too, is refused. */
function authorizeWith(identity: BotIdentity): Authorize<boolean> {
  return async ({ teamId }) => {
    const bot = await identity.get();
    if (teamId === bot.teamId) return { botUserId: bot.userId, teamId, bot };
    throw new AppError(
      "integration_not_configured",
      "Errand is not set up for the workspace of this event.",
      {
        retryable: false,
        integrationName: "slack",
      },
    );
  };
}

/** Bolt wraps what `authorize` throws; whether to retry stands on the error inside. */
async function rethrow(error: Error & { readonly original?: unknown }): Promise<void> {
  throw error.original instanceof AppError ? error.original : error;
}
