import type { App, types } from "@slack/bolt";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboxEvent, Translation } from "../../core/ports/thread-adapter.ts";
import { boltBody, causeOf, createApp, removedFrom, workspaceOf } from "./bolt-app.ts";
import type { ClientDeps } from "./client.ts";
import { slashCommandOf, translateCommand } from "./command.ts";
import type { SlackConfig } from "./config.ts";
import { FORM } from "./form-ids.ts";
import { translateForm } from "./form-request.ts";
import type { Bot } from "./identity.ts";
import { COMMAND_EVENT, type SlashCommand } from "./payload.ts";
import {
  translateButton,
  translateMessage,
  translateReaction,
  translateRemoval,
  translateStop,
} from "./translate.ts";
import type { Workspace, Workspaces } from "./workspaces.ts";

/** What the listeners of one stored event share. */
interface EventContext {
  readonly workspace: Workspace;
  readonly bot: Bot;
  /** Says what the event means, exactly once. */
  readonly settle: (translation: Translation) => void;
}

const REMOVALS = ["app_uninstalled", "tokens_revoked"] as const satisfies readonly types.SlackEvent["type"][];

/** Replays stored events through listeners of Bolt, which say what each one means. */
export class StoredEvents {
  readonly #app: App<EventContext>;

  constructor(
    config: Pick<SlackConfig, "apiUrl">,
    { workspaces, ...deps }: ClientDeps & { readonly workspaces: Pick<Workspaces, "of" | "remove"> },
  ) {
    this.#app = createApp<EventContext>(
      async (body) => {
        const workspace = await workspaces.of(workspaceOf(body));
        return { workspace, bot: await workspace.bot() };
      },
      config,
      deps,
    );
    this.#listen(workspaces);
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

  #listen(workspaces: Pick<Workspaces, "remove">): void {
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
      app.event(type, async ({ event, body, context: { settle } }) => {
        const translation = translateRemoval(event, removedFrom(body));
        if (translation.kind === "removal") {
          await workspaces.remove(translation.installation);
        }
        settle(translation);
      });
    }
    app.action({ type: "block_actions" }, async ({ body, context: { bot, settle } }) =>
      settle(translateButton(body, bot)),
    );
    app.view(FORM, async ({ body, context: { bot, settle, workspace } }) =>
      settle(await translateForm(body, { bot, client: workspace.client })),
    );
    app.command(/^/, async ({ command, context: { settle, workspace } }) =>
      settle(await translateCommand(slashCommandOf(command), workspace.client)),
    );
  }
}

/** The adapter itself wrote the body of a command, after it had checked the signature. */
function bodyOf(name: string, stored: string) {
  const json = parseJson(stored);
  if (name !== COMMAND_EVENT) {
    return boltBody(json);
  }
  const { channel, enterpriseId, teamId, text, triggerId, userId } = json as SlashCommand;
  const ids = {
    team_id: teamId,
    enterprise_id: enterpriseId,
    channel_id: channel,
    user_id: userId,
    trigger_id: triggerId,
  };
  return { command: "/errand", text, ...ids };
}
