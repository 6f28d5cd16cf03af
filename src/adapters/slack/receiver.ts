import type { types } from "@slack/bolt";
import { withTimeout } from "../../core/basics/clock.ts";
import type { Log } from "../../core/basics/log.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { PRIVATE_COMMANDS, type PrivateCommandName } from "../../core/threads/inbox/private-commands.ts";
import { isSettings } from "../../core/threads/inbox/settings-command.ts";
import type { Answer } from "../webhook-route.ts";
import { afterName } from "./command.ts";
import { defuseMrkdwn } from "./defuse.ts";
import { commandEvent, type SlackPayload, type SlashCommand } from "./payload.ts";

/** Slack waits 3 seconds. After a refusal within that time it delivers again sooner than after a late answer. */
const ANSWER_LIMIT_MS = 2_500;
const ANSWER_LENGTH_MAX = 15_000;

export interface ReceiverDeps {
  /** How people address the bot. Before `learnTrigger`, it is the usual name. */
  trigger(): string;
  learnTrigger(): Promise<unknown>;
  readonly log: Log;
  accept(event: ReceivedEvent): Promise<boolean>;
  /** Answers a command that is not stored. */
  answer(name: PrivateCommandName, command: SlashCommand): Promise<string>;
  /** The options of a menu that Slack asks for. */
  optionsOf(request: unknown): Promise<readonly types.PlainTextOption[]>;
}

/**
 * Stores what Slack sent and returns its answer, the same by HTTP and by Socket Mode. If it throws, nothing may be
 * acknowledged, and Slack delivers again.
 */
export class Receiver {
  readonly #deps: ReceiverDeps;
  #droppedAt: Date | undefined;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
  }

  /** When Slack last told this process that it drops events of the app. */
  get droppedAt(): Date | undefined {
    return this.#droppedAt;
  }

  async take(payload: Exclude<SlackPayload, { kind: "malformed" }>): Promise<Answer> {
    switch (payload.kind) {
      case "unused":
        return {};
      case "challenge":
        return { body: { challenge: payload.challenge } };
      case "rate_limited":
        this.#droppedAt = new Date();
        this.#deps.log.warn("slack.events.dropped");
        return {};
      case "command":
        return { body: { response_type: "ephemeral", text: await this.#answerCommand(payload.command) } };
      case "options":
        return { body: { options: await this.#optionsOf(payload.request) } };
      case "event": {
        const { deliveryId, name } = payload.event;
        return { stored: { deliveryId, name, isNew: await this.#store(payload.event) } };
      }
    }
  }

  #store(event: ReceivedEvent): Promise<boolean> {
    return inTime(this.#deps.accept(event));
  }

  /** The answer to a command, for its author alone. Slack does not deliver a command again. */
  async #answerCommand(command: SlashCommand): Promise<string> {
    const { text } = command;
    if (text === "" || text.toLowerCase() === "help") {
      await this.#learnTrigger();
      return helpText(this.#deps.trigger());
    }
    try {
      const name = privateCommandIn(text);
      if (name !== undefined) {
        // It can name runs, whose titles strangers wrote: without this, a title can be a link with any words.
        return defuseMrkdwn(await inTime(this.#deps.answer(name, command)), ANSWER_LENGTH_MAX);
      }
      await this.#store(commandEvent(command));
      return "I will do it, and answer in our direct conversation.";
    } catch (error) {
      this.#deps.log.warn("slack.command.failed", { error });
      return "That did not work just now. Try it again in a moment.";
    }
  }

  /** A process that only serves requests has not asked Slack before. */
  async #learnTrigger(): Promise<void> {
    try {
      await inTime(this.#deps.learnTrigger());
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
    "`/errand <task>` starts a run in our direct conversation.",
    "`/errand runs` (or `status`) shows your latest runs, and `/errand link` gives you a link that signs you in to their pages.",
    "`/errand settings` shows and sets your defaults and those of the channel: `/errand settings env=Backend`.",
    "`/errand doctor` shows administrators of the server what is wrong with it.",
    `In a channel, mention me: \`${trigger} <task>\`. \`${trigger} help\` says what works in a thread.`,
  ].join("\n");
}

function failToAnswer(): never {
  throw new Error(`It was not done within ${ANSWER_LIMIT_MS} ms.`);
}
