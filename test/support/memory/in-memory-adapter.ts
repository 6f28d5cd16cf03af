import type { AppError } from "../../../src/core/basics/errors.ts";
import type { ThreadKey } from "../../../src/core/basics/ids.ts";
import type { Role } from "../../../src/core/model/policies/policy.ts";
import type { RepositorySettings } from "../../../src/core/model/repositories/repository-settings.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { Notice } from "../../../src/core/model/threads/notice.ts";
import type { PushedBranch } from "../../../src/core/ports/gateway.ts";
import type { PullRequestReading } from "../../../src/core/ports/pull-requests.ts";
import type {
  AdapterTraits,
  Authorization,
  Deletion,
  Delivery,
  GatheredContext,
  GatherPurpose,
  InboundMessage,
  InboxEvent,
  Inspection,
  Receipt,
  ReceivedEvent,
  StopReaction,
  ThreadAdapter,
  Translation,
  WorkReport,
} from "../../../src/core/ports/thread-adapter.ts";

/** A message in a thread. */
export interface Post {
  readonly id: Receipt;
  /** The delivery that posted it. */
  readonly deliveryId: string;
  readonly notice: Notice;
}

export interface DeliverFault {
  readonly error: AppError;
  /** True: the delivery fails after the notice was shown, because the answer is lost. */
  readonly shown?: boolean;
}

/** An outside conversation system that is only a map. Its events are inbound messages as JSON. */
export class InMemoryAdapter implements ThreadAdapter {
  readonly name = "memory";
  traits: AdapterTraits = { source: "API", showsActivity: true, trigger: () => "@errand" };
  /** The users with their roles. Other users have none. */
  readonly roles = new Map<string, readonly Role[]>();
  /** The users without permission, with the reasons that they get. */
  readonly refused = new Map<string, string>();
  /** Each one fails one coming delivery. */
  readonly deliverFaults: DeliverFault[] = [];
  /** Kinds of notices that are left out. */
  readonly leftOut = new Set<string>();
  /** Each one fails one coming translation. */
  readonly translateFaults: unknown[] = [];
  /** What stands around each message. An error: it cannot be read. */
  surroundings: ((about: GatherPurpose) => GatheredContext | Promise<GatheredContext>) | undefined;
  /** What the repository of each message says. An error: it cannot be read. */
  settings: RepositorySettings | Error | undefined;
  /** The branches of closed pull requests: run, branch and last commit. */
  readonly removed: string[] = [];
  /** What a report is found to be. */
  inspection: (report: WorkReport, provenance: Run["provenance"]) => InboundMessage | string = () => "Fine.";
  /** The pull request that a report is about. */
  inspected: PullRequestReading | undefined;
  /** By thread, oldest first. */
  readonly #posts = new Map<ThreadKey, readonly Post[]>();

  async translate({ body }: InboxEvent): Promise<Translation> {
    const fault = this.translateFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    const event = JSON.parse(body) as
      | InboundMessage
      | { readonly deletion: Deletion }
      | { readonly stop: StopReaction }
      | { readonly report: WorkReport }
      | { readonly several: readonly ReceivedEvent[] }
      | { readonly ignored: string };
    if ("ignored" in event) {
      return { kind: "ignored", reason: event.ignored };
    }
    if ("report" in event) {
      return { kind: "report", report: event.report };
    }
    if ("several" in event) {
      return { kind: "several", events: event.several };
    }
    if ("stop" in event) {
      return { kind: "stop", stop: event.stop };
    }
    return "deletion" in event
      ? { kind: "deletion", deletion: event.deletion }
      : { kind: "message", message: event };
  }

  async inspect(report: WorkReport, { provenance }: Pick<Run, "provenance">): Promise<Inspection> {
    return { found: this.inspection(report, provenance), status: this.inspected };
  }

  async removeBranch(
    _report: WorkReport,
    { id }: Pick<Run, "id" | "title">,
    { branch, commit }: PushedBranch,
  ): Promise<void> {
    this.removed.push(`${id} ${branch} ${commit}`);
  }

  async authorize({ author }: InboundMessage): Promise<Authorization> {
    const reason = this.refused.get(author.subject);
    const roles = this.roles.get(author.subject) ?? [];
    return reason === undefined
      ? { allowed: true, permission: "member", roles, author, refusal: "Members only." }
      : { allowed: false, reason };
  }

  async settingsOf(): Promise<RepositorySettings | undefined> {
    if (this.settings instanceof Error) {
      throw this.settings;
    }
    return this.settings;
  }

  async gather(_message: InboundMessage, about: GatherPurpose): Promise<GatheredContext> {
    return (await this.surroundings?.(about)) ?? {};
  }

  refuses({ notice }: Delivery): boolean {
    return this.leftOut.has(notice.kind);
  }

  async deliver(delivery: Delivery): Promise<Receipt> {
    const fault = this.deliverFaults.shift();
    if (fault !== undefined && fault.shown !== true) {
      throw fault.error;
    }
    const receipt = this.#show(delivery);
    if (fault !== undefined) {
      throw fault.error;
    }
    return receipt;
  }

  /** The messages that users see in a thread. */
  thread(key: ThreadKey): readonly Post[] {
    return this.#posts.get(key) ?? [];
  }

  #show({ id, maybeShown, notice, shownAt, thread }: Delivery): Receipt {
    const posts = this.thread(thread.key);
    const isShown = (post: Post) =>
      post.id === shownAt || (maybeShown && (post.deliveryId === id || isSameCard(post.notice, notice)));
    const shown = posts.find(isShown);
    const post = { id: shown?.id ?? `post-${posts.length + 1}`, deliveryId: shown?.deliveryId ?? id, notice };
    const others = posts.map((other) => (other === shown ? post : other));
    this.#posts.set(thread.key, shown === undefined ? [...posts, post] : others);
    return post.id;
  }
}

function isSameCard(shown: Notice, notice: Notice): boolean {
  return shown.kind === "card" && notice.kind === "card" && shown.card.runId === notice.card.runId;
}
