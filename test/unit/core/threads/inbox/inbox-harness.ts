import { randomUUID } from "node:crypto";
import type { ThreadKey } from "../../../../../src/core/basics/ids.ts";
import type { PermissionRequest } from "../../../../../src/core/model/runs/agent-update.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { RunCard } from "../../../../../src/core/model/threads/notice.ts";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { anInboxEvent } from "../../../../support/run-builders.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";

export const KEY = "thread-1" as ThreadKey;
export const ADDRESS = { adapter: "memory", installation: "here", key: KEY };

/** The core with one thread that receives messages. */
export class InboxHarness extends CoreHarness {
  async put(
    changes: Partial<InboundMessage>,
    orderingKey?: string,
    body: object = aMessage(changes),
  ): Promise<void> {
    const event = anInboxEvent({ body: JSON.stringify(body) });
    await this.storage.inbox.put({ ...event, orderingKey: orderingKey ?? event.orderingKey });
  }

  /** Receives an event and returns its disposition. */
  async receive(changes: Partial<InboundMessage>, body?: object): Promise<string> {
    await this.put(changes, undefined, body);
    await quiet();
    return this.dispositions().at(-1) ?? "open";
  }

  /** Returns the dispositions so far. */
  dispositions(): readonly string[] {
    const ends = this.logged.filter(({ message }) => message === "inbox.completed");
    return ends.map(({ facts }) => String(facts?.disposition));
  }

  async currentRun(): Promise<Run> {
    const thread = await this.storage.threads.find(ADDRESS);
    if (thread?.runId === undefined) {
      throw new Error("The thread has no run.");
    }
    return this.run(thread.runId);
  }

  kindsShown(): readonly string[] {
    return this.adapter.thread(KEY).map(({ notice }) => notice.kind);
  }

  /** Returns the cards of all runs that the thread has had. */
  cardsShown(): readonly RunCard[] {
    const notices = this.adapter.thread(KEY).map(({ notice }) => notice);
    return notices.flatMap((notice) => (notice.kind === "card" ? [notice.card] : []));
  }

  repliesShown(): readonly string[] {
    const notices = this.adapter.thread(KEY).map(({ notice }) => notice);
    return notices.flatMap((notice) =>
      notice.kind === "message" && notice.purpose === "reply" ? [notice.text] : [],
    );
  }

  async aBlockedRun(facts: Partial<PermissionRequest> = {}): Promise<Run> {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }] as const;
    this.agents.scripts.push(async ({ observer, say }) => {
      say(`I got ${await observer.permission({ permissionId: "p", title: "May I?", options, ...facts })}`);
      return END_TURN;
    });
    await this.receive({});
    return this.currentRun();
  }
}

function aMessage(changes: Partial<InboundMessage>): InboundMessage {
  return {
    ...ADDRESS,
    dedupeKey: randomUUID(),
    addressed: "mention",
    author: { subject: "memory:Ada", displayName: "Ada" },
    text: "Fix it",
    messageRef: "ref",
    provenance: { from: "test" },
    ...changes,
  };
}
