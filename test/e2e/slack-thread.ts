import type { Mention, SlackMessage } from "../support/emulated-slack.ts";
import { asRecord, type JsonRecord } from "../support/json.ts";
import type { ButtonPress, PostedMessage, SlackEvent } from "../support/slack/slack-events.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Fixture, WAIT_LIMIT_MS } from "./service-fixture.ts";

/** The two events that Slack sends for one message with a mention, in either order. */
export type MentionEvent = "appMention" | "message";

export interface MenuOption {
  readonly text: { readonly text: string };
  readonly value: string;
}

/** One thread in Slack: messages of users, and the messages of the bot. */
export class SlackThread {
  /** The first message, which names the bot, and its events. */
  readonly mention: Mention;
  readonly #fixture: Fixture;

  /** Opens a thread by a mention of the bot, whose events are delivered and acknowledged. */
  static async open(
    fixture: Fixture,
    text: string,
    events: readonly MentionEvent[] = ["appMention"],
    channel?: string,
  ): Promise<SlackThread> {
    const thread = await SlackThread.post(fixture, text, channel);
    for (const event of events) {
      await thread.deliver(thread.mention[event]);
    }
    return thread;
  }

  /** Posts a mention by Alice without delivering its events to the service. */
  static async post(
    fixture: Fixture,
    text: string,
    channel = "work",
    threadTs?: string,
  ): Promise<SlackThread> {
    const { slack } = fixture;
    return new SlackThread(fixture, await slack.mention(slack.alice, { channel, text, threadTs }));
  }

  private constructor(fixture: Fixture, mention: Mention) {
    this.#fixture = fixture;
    this.mention = mention;
  }

  get root(): PostedMessage {
    return this.mention.posted;
  }

  /** The first message of the thread. */
  get ts(): string {
    return this.root.threadTs ?? this.root.ts;
  }

  async deliver(event: SlackEvent): Promise<void> {
    const { status } = await this.#fixture.sendSlack(event);
    if (status !== 200) {
      throw new Error(`Slack's event was answered ${status}`);
    }
  }

  /** Posts a reply in the thread without a mention. */
  async reply(text: string, user = this.#fixture.slack.alice): Promise<PostedMessage> {
    const posted = await this.#fixture.slack.postAs(user, { ...this.#place, text });
    await this.deliver(this.#fixture.slack.messageEvent(posted));
    return posted;
  }

  /** Posts a reply that names the bot and delivers both of its events. */
  async replyToBot(text: string): Promise<void> {
    const { slack } = this.#fixture;
    const mention = await slack.mention(slack.alice, { ...this.#place, text });
    await this.deliver(mention.appMention);
    await this.deliver(mention.message);
  }

  /** Presses the button with this label on the newest card or question that has it. */
  async press(label: string, user = this.#fixture.slack.alice): Promise<void> {
    const find = (message: SlackMessage | undefined) =>
      buttonsOf(message).find(({ text }) => asRecord(text).text === label);
    const card = this.messages.findLast((message) => find(message) !== undefined);
    const button = find(card);
    if (card === undefined || button === undefined) {
      throw new Error(`No card or question with a button ${label}`);
    }
    const message = { channel: this.root.channel.id, ts: card.ts };
    const { action_id: actionId, value } = button;
    const press = { actionId: String(actionId), value: String(value), user, message };
    const { status } = await this.#fixture.sendButton(press);
    if (status !== 200) {
      throw new Error(`The button was answered ${status}`);
    }
  }

  /** Presses a button of the question where to work, with these boxes ticked. */
  async choose(label: string, ticked: readonly string[] = []): Promise<void> {
    const { elements, message } = this.#question();
    const button = elements.find(({ text, type }) => type === "button" && asRecord(text).text === label);
    if (button === undefined) {
      throw new Error(`No question with a button ${label}`);
    }
    const press = { actionId: String(button.action_id), value: String(button.value), message, ticked };
    await this.#pressInQuestion(press);
  }

  /** Types these words in the menu of the question where to work. Returns the options that Slack shows. */
  async searchMenu(words: string, user = this.#fixture.slack.alice): Promise<readonly MenuOption[]> {
    const { actionId, message } = this.#menu();
    const answer = await this.#fixture.sendMenuSearch({ actionId, message, user, words });
    return asRecord(await answer.json()).options as readonly MenuOption[];
  }

  /** Chooses an option of that menu. */
  async chooseOption({ value }: MenuOption): Promise<void> {
    await this.#pressInQuestion({ ...this.#menu(), value, element: "menu" });
  }

  #question() {
    const question = this.messages.find((message) => messageKeyOf(message).startsWith("choice:"));
    if (question === undefined) {
      throw new Error("No question where to work");
    }
    const actions = question.blocks.filter(({ type }) => type === "actions");
    const elements = actions.flatMap((block) =>
      Array.isArray(block.elements) ? block.elements.map(asRecord) : [],
    );
    return { elements, message: { channel: this.root.channel.id, ts: question.ts } };
  }

  #menu() {
    const { elements, message } = this.#question();
    const menu = elements.find(({ type }) => type === "external_select");
    return { actionId: String(menu?.action_id), message };
  }

  async #pressInQuestion(press: Omit<ButtonPress, "user">): Promise<void> {
    const { status } = await this.#fixture.sendButton({ ...press, user: this.#fixture.slack.alice });
    if (status !== 200) {
      throw new Error(`The choice was answered ${status}`);
    }
  }

  /** The part of a URL that the permalink of its first message contains. */
  get address(): string {
    return `/archives/${this.root.channel.id}/p${this.root.ts.replace(".", "")}`;
  }

  /** The bot's messages, oldest first. */
  get messages(): SlackMessage[] {
    const { slack } = this.#fixture;
    const all = slack.threadMessages(this.root.channel.id, this.ts);
    return all.filter(({ userId }) => userId === slack.botUserId);
  }

  get cards(): SlackMessage[] {
    return this.messages.filter((message) => messageKeyOf(message).startsWith("card:"));
  }

  get answers(): string[] {
    return this.messages.filter(isAnswer).map(({ blocks }) => wordsOf(blocks[1]));
  }

  /** The questions of the agent, with their buttons. */
  get questions(): SlackMessage[] {
    return this.messages.filter((message) => messageKeyOf(message).startsWith("question:"));
  }

  /** The messages of the bot that are not cards. */
  get replies(): string[] {
    const plain = this.messages.filter(({ blocks }) => blocks[0]?.type === "section");
    return plain.map(({ text }) => text);
  }

  /** The run of the newest card. */
  get runId(): string {
    return messageKeyOf(this.cards.at(-1)).replace("card:", "");
  }

  /** The state texts that the newest card has shown, in order. Edits within one state count once. */
  get history(): string[] {
    const calls = this.#fixture.slack.calls().filter(({ method, args, outcome }) => {
      return (
        /^chat\.(postMessage|update)$/.test(method) && outcome === "ok" && args.metadata?.includes(this.runId)
      );
    });
    const cards = calls.filter(({ args }) => args.metadata?.includes("card:"));
    const states = cards.map(({ args }) => stateIn(args.text ?? ""));
    return states.filter((state, index) => state !== states[index - 1]);
  }

  async untilCard(state: string): Promise<SlackMessage> {
    const shows = () => this.cards.find(({ text }) => stateIn(text) === state);
    return waitFor(shows, {
      what: `the card to say ${state}, not ${this.#told()}`,
      timeoutMs: WAIT_LIMIT_MS,
    });
  }

  async untilAnswers(count: number): Promise<string[]> {
    const shows = () => this.answers.length >= count && this.answers;
    return waitFor(shows, { what: `${count} answers`, timeoutMs: WAIT_LIMIT_MS });
  }

  async untilReply(words: RegExp): Promise<string> {
    const shows = () => this.replies.find((text) => words.test(text));
    return waitFor(shows, { what: `a reply that says ${words}`, timeoutMs: WAIT_LIMIT_MS });
  }

  get #place(): { readonly channel: string; readonly threadTs: string } {
    return { channel: this.root.channel.id, threadTs: this.ts };
  }

  #told(): string {
    return JSON.stringify(this.messages.map(({ text }) => text));
  }
}

function messageKeyOf(message: SlackMessage | undefined): string {
  return String(asRecord(message?.metadata?.event_payload ?? {}).message_key ?? "");
}

function isAnswer({ blocks }: SlackMessage): boolean {
  const isFirst = !/part ([2-9]) of/.test(JSON.stringify(blocks[0]));
  return (blocks[1]?.type === "markdown" && isFirst) || /\*How it ended\*/.test(JSON.stringify(blocks[0]));
}

/** Returns the text of a markdown block or of a section with a text object. */
function wordsOf(block: JsonRecord | undefined): string {
  const text = block?.text;
  return typeof text === "string" ? text : String(asRecord(text ?? {}).text);
}

function stateIn(text: string): string {
  return text.split(" · ").at(-1) ?? "";
}

function buttonsOf(message: SlackMessage | undefined): JsonRecord[] {
  const blocks = message?.blocks ?? [];
  const actions = blocks.find(({ type }) => type === "actions");
  const beside = blocks.flatMap(({ accessory }) => (accessory === undefined ? [] : [asRecord(accessory)]));
  return [...(Array.isArray(actions?.elements) ? actions.elements.map(asRecord) : []), ...beside];
}
