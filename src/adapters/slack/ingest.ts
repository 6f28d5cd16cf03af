import type { App, ReceiverEvent, StringIndexed, types } from "@slack/bolt";
import { z } from "zod";
import { withTimeout } from "../../core/basics/clock.ts";
import type { Log } from "../../core/basics/log.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { PRIVATE_COMMANDS, type PrivateCommandName } from "../../core/threads/inbox/private-commands.ts";
import { isSettings } from "../../core/threads/inbox/settings-command.ts";
import { boltBody, causeOf, createApp, type EventSink } from "./bolt-app.ts";
import type { ClientDeps } from "./client.ts";
import { afterName, slashCommandOf } from "./command.ts";
import type { SlackConfig } from "./config.ts";
import { defuseMrkdwn } from "./defuse.ts";
import { slackCodeOf } from "./errors.ts";
import { FORM, NEW_RUN, SEND } from "./form-ids.ts";
import { formEvent, problemsOf } from "./form-request.ts";
import { isIrrelevant } from "./irrelevant-events.ts";
import type { LinkPreviews } from "./link-previews.ts";
import type { NotInstalled } from "./not-installed.ts";
import { commandEvent, eventOf, type SlashCommand } from "./payload.ts";
import type { Views } from "./views.ts";

/** Slack waits 3 seconds. After a refusal within that time it delivers again sooner than after a late answer. */
const ANSWER_LIMIT_MS = 2_500;
/** Slack asks for the options of a menu, and shows them while a person types. */
const OPTIONS_REQUEST = "block_suggestion";
/** Of that time, a task waits so long to learn whether the bot may answer it. */
const DIRECT_LIMIT_MS = 400;
const ANSWER_LENGTH_MAX = 15_000;

export interface IngestDeps extends ClientDeps {
  /** How people address the bot in the workspace. Before `learnTrigger`, it is the usual name. */
  trigger(command: Pick<SlashCommand, "teamId">): string;
  learnTrigger(command: SlashCommand): Promise<unknown>;
  readonly log: Log;
  accept(event: ReceivedEvent): Promise<boolean>;
  /** Opens the direct conversation in which a command is answered. */
  openDirect(command: SlashCommand): Promise<unknown>;
  /** Answers a command that is not stored. */
  answer(name: PrivateCommandName, command: SlashCommand): Promise<string>;
  readonly notInstalled: Pick<NotInstalled, "answerPress" | "textFor">;
  /** The options of a menu that Slack asks for. */
  optionsOf(request: unknown): Promise<readonly types.PlainTextOption[]>;
  readonly shown: Pick<Views, "openForm" | "openFormFor" | "publishHome">;
  readonly linkPreviews: Pick<LinkPreviews, "show">;
}

/** What the log says about an event. The receiver passes an empty one with the event, and reads it afterwards. */
export interface EventFacts {
  deliveryId?: string;
  name?: string;
  isNew?: boolean;
}

/**
 * What the receivers give everything to that Slack sends, in place of Bolt's `App`: it stores events and then acknowledges
 * them. If it throws, nothing was acknowledged, and Slack delivers again. What Slack wants answered at once goes to the
 * listeners of an `App`.
 */
export class Ingest implements EventSink {
  readonly #deps: IngestDeps;
  readonly #app: App<Properties>;
  #droppedAt: Date | undefined;

  constructor(config: SlackConfig, deps: IngestDeps) {
    this.#deps = deps;
    // Commands are stored while Slack's API is unreachable, so nothing is asked here.
    this.#app = createApp<Properties>(async () => ({}), config, deps);
    this.#app.command(/^/, async ({ ack, command }) => {
      const text = await this.#answerCommand(slashCommandOf(command));
      await ack(text === undefined ? undefined : { response_type: "ephemeral", text });
    });
    this.#app.options(/^/, async ({ ack, body }) => ack({ options: [...(await this.#optionsOf(body))] }));
    this.#app.shortcut(SEND, async ({ ack, body }) => this.#openForm(body, ack));
    this.#app.action(NEW_RUN, async ({ ack, body }) => this.#openForm(body, ack));
    this.#app.view(FORM, async ({ ack, body, context: { facts, raw } }) => {
      const errors = await this.#submit(body, { facts, raw });
      await ack(errors === undefined ? undefined : { response_action: "errors", errors });
    });
    this.#app.event("app_home_opened", async ({ body: { team_id: teamId }, event: { user: userId } }) =>
      this.#publishHome({ teamId, userId }),
    );
    this.#app.event("link_shared", async ({ body }) => this.#previewLinks(body));
  }

  /** When Slack last told this process that it drops events of the app. */
  get droppedAt(): Date | undefined {
    return this.#droppedAt;
  }

  async processEvent(received: ReceiverEvent): Promise<void> {
    const { ack, body, customProperties } = received;
    if (isForListeners(body)) {
      return this.#answer(received);
    }
    if (body.type === "app_rate_limited") {
      this.#droppedAt = new Date();
      this.#deps.log.warn("slack.events.dropped");
      return ack();
    }
    const { facts, raw } = propertiesSchema.parse(customProperties);
    const event = eventOf(body, raw);
    if (event === undefined) {
      throw new MalformedEvent();
    }
    if (body.event === undefined || !isIrrelevant(body.event)) {
      Object.assign(facts, { deliveryId: event.deliveryId, name: event.name });
      [facts.isNew] = await Promise.all([this.#store(event), this.#deps.notInstalled.answerPress(body)]);
    }
    await ack();
  }

  /**
   * A command or a menu that no listener can read gets an empty answer. Of a form or a shortcut, Slack says that it failed
   * if there is no answer.
   */
  async #answer(received: ReceiverEvent): Promise<void> {
    let isAnswered = false;
    const ack = async (answer?: object) => {
      isAnswered = true;
      await received.ack(answer);
    };
    try {
      await this.#app.processEvent({ ...received, body: boltBody(received.body), ack });
    } catch (error) {
      this.#deps.log.warn("slack.answer.failed", { error: causeOf(error) });
    }
    const { command, type } = received.body;
    if (!isAnswered && command === undefined && type !== OPTIONS_REQUEST) {
      throw new Error(`No listener answered Slack's ${type}.`);
    }
    if (!isAnswered) {
      await received.ack(type === OPTIONS_REQUEST ? { options: [] } : undefined);
    }
  }

  #store(event: ReceivedEvent): Promise<boolean> {
    return inTime(this.#deps.accept(event));
  }

  async #openForm(body: object, ack: () => Promise<void>): Promise<void> {
    await inTime(this.#deps.shown.openFormFor(body));
    await ack();
  }

  /** Stores a form that a person submitted, or says at its fields what is wrong. */
  async #submit(body: object, { facts, raw }: Properties): Promise<Record<string, string> | undefined> {
    const problems = problemsOf(body);
    if (Object.keys(problems).length > 0) {
      return problems;
    }
    const event = formEvent(body, raw);
    try {
      facts.isNew = await this.#store(event);
      Object.assign(facts, { deliveryId: event.deliveryId, name: event.name });
      return undefined;
    } catch (error) {
      this.#deps.log.warn("slack.form.not_stored", { error });
      return { prompt: "That did not work just now. Press Start again in a moment." };
    }
  }

  /** Slack has its acknowledgement already. The tab is drawn again when it is opened again. */
  async #publishHome(person: { readonly teamId: string; readonly userId: string }): Promise<void> {
    try {
      await inTime(this.#deps.shown.publishHome(person));
    } catch (error) {
      this.#deps.log.warn("slack.home.not_published", { error });
    }
  }

  /** Slack has its acknowledgement already. Without a preview, the message has its link. */
  async #previewLinks(body: object): Promise<void> {
    try {
      await inTime(this.#deps.linkPreviews.show(body));
    } catch (error) {
      this.#deps.log.warn("slack.links.not_previewed", { error });
    }
  }

  /** Undefined: the form was opened. If it cannot be, the author reads the help. */
  async #answerEmptyCommand({
    channel,
    teamId,
    triggerId,
    userId,
  }: SlashCommand): Promise<string | undefined> {
    try {
      return await inTime(this.#deps.shown.openForm({ teamId, userId, triggerId, origin: { channel } }));
    } catch (error) {
      this.#deps.log.warn("slack.form.not_opened", { error });
      return helpText(this.#deps.trigger({ teamId }));
    }
  }

  /** The answer to a command, for its author alone. Slack does not deliver a command again. */
  async #answerCommand(command: SlashCommand): Promise<string | undefined> {
    const { text } = command;
    if (text === "") {
      return this.#answerEmptyCommand(command);
    }
    if (text.toLowerCase() === "help") {
      await this.#learnTrigger(command);
      return helpText(this.#deps.trigger(command));
    }
    const notInstalled = await this.#deps.notInstalled.textFor(command);
    if (notInstalled !== undefined) {
      return notInstalled;
    }
    try {
      const name = privateCommandIn(text);
      if (name !== undefined) {
        // It can name runs, whose titles strangers wrote: without this, a title can be a link with any words.
        return defuseMrkdwn(await inTime(this.#deps.answer(name, command)), ANSWER_LENGTH_MAX);
      }
      if (await this.#lacksDirect(command)) {
        return NO_DIRECT;
      }
      await this.#store(commandEvent(command));
      return "I will do it, and answer in our direct conversation.";
    } catch (error) {
      this.#deps.log.warn("slack.command.failed", { error });
      return "That did not work just now. Try it again in a moment.";
    }
  }

  /** Whether the app may not write to the author. Without an answer in time, the task is stored, and tried later. */
  async #lacksDirect(command: SlashCommand): Promise<boolean> {
    try {
      await withTimeout(this.#deps.openDirect(command), DIRECT_LIMIT_MS, { onTimeout: failToAnswer });
      return false;
    } catch (error) {
      return slackCodeOf(error) === "missing_scope";
    }
  }

  /** A process that only serves requests has not asked Slack before. */
  async #learnTrigger(command: SlashCommand): Promise<void> {
    try {
      await inTime(this.#deps.learnTrigger(command));
    } catch (error) {
      this.#deps.log.warn("slack.trigger.not_learned", { error });
    }
  }

  /** Slack does not ask again, and shows an empty menu. */
  async #optionsOf(request: unknown): Promise<readonly types.PlainTextOption[]> {
    try {
      return await inTime(this.#deps.optionsOf(request));
    } catch (error) {
      this.#deps.log.warn("slack.options.failed", { error });
      return [];
    }
  }
}

const NO_DIRECT =
  "I cannot do that, because I may not write to you: the app lacks the scope `im:write`. Ask an administrator to add it and to " +
  "reinstall the app. Until then, mention me in a channel.";

const propertiesSchema = z.object({ raw: z.string(), facts: z.custom<EventFacts>() });
/** What a receiver passes with an event. */
interface Properties {
  readonly raw: string;
  readonly facts: EventFacts;
}

/** Whether Slack wants an answer at once. Everything else is stored and then acknowledged. */
function isForListeners({ actions, callback_id: id, command, event, type, view }: StringIndexed): boolean {
  switch (type) {
    case OPTIONS_REQUEST:
      return true;
    case "message_action":
      return id === SEND;
    case "view_submission":
      return view?.callback_id === FORM;
    case "block_actions":
      return actions?.[0]?.action_id === NEW_RUN;
    case "event_callback":
      return event?.type === "link_shared" || (event?.type === "app_home_opened" && event.tab === "home");
    default:
      return command !== undefined;
  }
}

/** Slack sent something that is no event. Sent again it would be the same. */
export class MalformedEvent extends Error {}

function inTime<T>(work: Promise<T>): Promise<T> {
  return withTimeout(work, ANSWER_LIMIT_MS, { onTimeout: failToAnswer });
}

/** `settings` with other words behind it is a task. */
function privateCommandIn(text: string): PrivateCommandName | undefined {
  const [word = "", ...rest] = text.toLowerCase().split(/\s+/);
  const name = PRIVATE_COMMANDS.find((one) => one === word);
  const isWhole = name === "settings" ? isSettings(afterName(text)) : rest.length === 0;
  return isWhole ? name : undefined;
}

function helpText(trigger: string): string {
  return [
    "`/errand <task>` starts a run in our direct conversation, and `/errand` alone opens a form for it.",
    "`/errand runs` (or `status`) shows your latest runs, and `/errand link` gives you a link that signs you in to their pages.",
    "`/errand settings` shows and sets your defaults and those of the channel: `/errand settings env=Backend`.",
    "`/errand doctor` shows administrators of the server what is wrong with it.",
    `In a channel, mention me: \`${trigger} <task>\`. \`${trigger} help\` says what works in a thread.`,
  ].join("\n");
}

function failToAnswer(): never {
  throw new Error(`It was not done within ${ANSWER_LIMIT_MS} ms.`);
}
