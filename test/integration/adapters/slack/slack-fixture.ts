import { inspect } from "node:util";
import Fastify, { type FastifyInstance } from "fastify";
import { expect } from "vitest";
import { createSlackAdapter, type SlackDeps } from "../../../../src/adapters/slack/index.ts";
import { systemClock } from "../../../../src/app/system.ts";
import { AppError } from "../../../../src/core/basics/errors.ts";
import { newId, type RunId } from "../../../../src/core/basics/ids.ts";
import type { Notice, RunCard } from "../../../../src/core/model/threads/notice.ts";
import type {
  Delivery,
  InboundMessage,
  InboxEvent,
  ThreadAdapter,
  Translation,
} from "../../../../src/core/ports/thread-adapter.ts";
import type { ChoiceOption, ChoiceSearch } from "../../../../src/core/threads/inbox/environment-choice.ts";
import type { PrivateCommand, PrivateRequest } from "../../../../src/core/threads/inbox/private-commands.ts";
import {
  type EmulatedSlack,
  type SlackMessage,
  startEmulatedSlack,
} from "../../../support/emulated-slack.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { EMPTY_VIEWS } from "../../../support/person-views.ts";

export const PUBLIC_URL = "https://errand.example";
export const runId = newId<RunId>(new Date());

/** The adapter between an emulated Slack and an in-memory inbox. */
export class SlackFixture {
  readonly inbox: Omit<InboxEvent, "id" | "receivedAt">[] = [];
  /** Commands that only their authors get an answer to. */
  readonly commands: PrivateCommand[] = [];
  /** The answer to private commands. Default: one that names the command. */
  answer: string | undefined;
  /** What people looked for in menus of environments. */
  readonly searches: ChoiceSearch[] = [];
  /** The environments that people find. */
  choices: readonly ChoiceOption[] = [];
  /** What people see outside of threads, and who asked for it. */
  views = EMPTY_VIEWS;
  readonly viewRequests: PrivateRequest[] = [];
  /** False: the inbox does not answer. */
  isInboxWell = true;
  /** The files that notices name. */
  readonly blobs = new Map<string, Uint8Array>();
  readonly slack: EmulatedSlack;
  readonly adapter: ThreadAdapter;
  /** The adapter's calls to Slack. A test can intercept them. */
  fetch: NonNullable<SlackDeps["fetch"]> = (input, init) => loopbackOnlyFetch(input, init as RequestInit);
  url = "";
  readonly #lines: string[] = [];
  readonly #server: FastifyInstance = Fastify();

  static async open(): Promise<SlackFixture> {
    const fixture = new SlackFixture(await startEmulatedSlack());
    fixture.url = `${await fixture.#server.listen({ port: 0, host: "127.0.0.1" })}/webhooks/slack`;
    return fixture;
  }

  private constructor(slack: EmulatedSlack) {
    this.slack = slack;
    const config = { signingSecret: slack.signingSecret, botToken: slack.botToken, apiUrl: slack.apiUrl };
    const write = (...line: unknown[]) => this.#lines.push(inspect(line, { depth: 20 }));
    const { adapter, routes } = createSlackAdapter(config, {
      accept: async (event) => {
        if (!this.isInboxWell) {
          throw new Error("The inbox is unreachable.");
        }
        return this.inbox.push(event) > 0;
      },
      answerCommand: async (command) => {
        this.commands.push(command);
        return this.answer ?? `Your ${command.name}.`;
      },
      searchChoices: async (search) => {
        this.searches.push(search);
        return this.choices;
      },
      views: {
        form: async (request) => {
          this.viewRequests.push(request);
          return this.views.form(request);
        },
        home: async (request) => {
          this.viewRequests.push(request);
          return this.views.home(request);
        },
        preview: async (request, key) => {
          this.viewRequests.push(request);
          return this.views.preview(request, key);
        },
      },
      clock: systemClock,
      publicUrl: () => PUBLIC_URL,
      readBlob: async (id) => this.blobs.get(id) ?? new Uint8Array(),
      log: { info: write, warn: write, error: write },
      fetch: (input, init) => this.fetch(input, init),
    });
    this.adapter = adapter;
    this.#server.register(routes ?? expect.fail("There is no webhook."));
  }

  /** Also checks that the token was never logged, and that every message kept the limits of Slack. */
  async close(): Promise<void> {
    await this.#server.close();
    await this.slack.stop();
    expect(this.#lines.join()).not.toContain(this.slack.botToken);
    expect(this.slack.overLimits).toEqual([]);
  }

  translateLast(): Promise<Translation> {
    const event = this.inbox.at(-1);
    if (!event) {
      throw new Error("Nothing was stored");
    }
    return this.adapter.translate({ ...event, id: "i1", receivedAt: new Date() });
  }

  async mentioned(text = "fix it"): Promise<InboundMessage> {
    const mention = await this.slack.mention(this.slack.alice, { channel: "work", text });
    await this.slack.sendEvent(this.url, mention.appMention);
    return messageOf(await this.translateLast());
  }

  deliver(message: InboundMessage, notice: Notice, changes: Partial<Delivery> = {}): Promise<string> {
    const { installation, key } = message;
    const thread = { id: "t1", installation, key };
    return this.adapter.deliver({ id: "d1", thread, notice, maybeShown: false, ...changes });
  }

  /** The replies to the message, as all members of the channel see them. */
  repliesTo({ messageRef }: InboundMessage): SlackMessage[] {
    const { channel } = this.slack;
    return this.slack.threadMessages(channel.id, messageRef).filter(({ ts }) => ts !== messageRef);
  }

  /** Returns the expected failure, which must not contain the token. */
  async failureOf(promise: Promise<unknown>): Promise<AppError> {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof AppError)) {
      throw new Error("It did not fail with an AppError", { cause: error });
    }
    expect(inspect(error, { depth: 20 })).not.toContain(this.slack.botToken);
    return error;
  }
}

export function messageOf(translation: Translation): InboundMessage {
  if (translation.kind !== "message") {
    throw new Error(`No message: ${JSON.stringify(translation)}`);
  }
  return translation.message;
}

export function aCard(changes: Partial<RunCard> = {}): Notice {
  const card: RunCard = {
    runId,
    title: "Fix it",
    state: "INPROGRESS",
    turn: 1,
    sessionLink: "https://errand.example/sessions/1",
  };
  return { kind: "card", card: { ...card, ...changes } };
}

export function aReply(text = "Done."): Notice {
  return { kind: "message", purpose: "reply", text };
}
