import { expect } from "vitest";
import { sha256 } from "../../../../src/app/system.ts";
import { AppError, type ErrorCode } from "../../../../src/core/basics/errors.ts";
import { type LeaseToken, newId, type RunId } from "../../../../src/core/basics/ids.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import type { StopReason } from "../../../../src/core/model/runs/agent-update.ts";
import type { FollowUpDelivery } from "../../../../src/core/model/runs/follow-up.ts";
import { isEnded, needsLease } from "../../../../src/core/model/runs/states.ts";
import type { RunAggregate } from "../../../../src/core/ports/stores/run-store.ts";
import { RunService } from "../../../../src/core/requests/run-service.ts";
import { SkillFinder } from "../../../../src/core/requests/skills/skill-finder.ts";
import { deliverable, isWaitingForApproval, needsApproval } from "../../../../src/core/runs/approval.ts";
import { NoticeWriter } from "../../../../src/core/runs/notice-writer.ts";
import { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import { runRules } from "../../../../src/core/team/policies/run-rules.ts";
import {
  decideClaim,
  decideFailure,
  decideHandBack,
  decideReady,
  decideRecovery,
  decideTurnEnd,
  decideTurnStart,
} from "../../../../src/core/work/context/decide-attempt.ts";
import { LeaseLost, LeaseWriter } from "../../../../src/core/work/lease/lease-writer.ts";
import { decideSteered, steerable } from "../../../../src/core/work/turns/steering.ts";
import { createSecretBox } from "../../../../src/secrets/secret-box.ts";
import { agentChoice } from "../../../support/agent-choice.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../support/memory/in-memory-pubsub.ts";
import { InMemoryPullRequests } from "../../../support/memory/in-memory-pull-requests.ts";
import { InMemorySkillLibrary } from "../../../support/memory/in-memory-skill-library.ts";
import { createInMemoryBlobStore } from "../../../support/memory/storage/blob-store.ts";
import { createInMemoryStorage } from "../../../support/memory/storage/in-memory-storage.ts";
import { aPolicy } from "../../../support/rule-builders.ts";
import { aPrincipal } from "../../../support/run-builders.ts";
import { wholeLog } from "../../../support/whole-log.ts";
import { checkLog, mustHaveTakenAll, wordsGiven } from "./life-checks.ts";

const LEASE_MS = 10_000;
const OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
] as const;

/** What the policies want approved. */
export type Approves = "nothing" | "runs" | "follow-ups";

interface Attempt {
  readonly writer: LeaseWriter;
  phase: "claimed" | "ready" | "turn" | "over";
}

/** One run, its jobs, and a worker that takes one step at a time. */
export class LifeHarness {
  readonly #clock = new ManualClock();
  readonly #storage = createInMemoryStorage({
    clock: this.#clock,
    pubsub: new InMemoryPubSub(),
    sendJobs: () => undefined,
  });
  readonly #writer = new NoticeWriter(() => "http://here", new Map());
  readonly #runs: RunService;
  readonly #person: Principal;
  #id: RunId = "" as RunId;
  #attempt: Attempt | undefined;

  /** A member whose words need approval, as far as the policies of the test say so. */
  readonly #member = aPrincipal();
  readonly #isMemberFree: boolean;
  /** The follow-ups that no agent may get without an approval, and the words that were approved. */
  readonly #restricted = new Set<string>();
  readonly #approved = new Set<string>();
  #edits = 0;

  private constructor(person: Principal, isMemberFree: boolean) {
    this.#person = person;
    this.#isMemberFree = isMemberFree;
    const agents = agentChoice("scripted");
    const [storage, clock] = [this.#storage, this.#clock];
    const rules = runRules({ storage, clock, pubsub: new InMemoryPubSub() });
    const library = new InMemorySkillLibrary();
    const skills = new SkillFinder({ library, environments: { list: async () => [] } });
    const pullRequests = new InMemoryPullRequests();
    const secretBox = createSecretBox([Buffer.alloc(32, 1).toString("base64url")]);
    const words = { blobs: createInMemoryBlobStore(this.#clock), digest: sha256, log: SILENT_LOG };
    const deps = { storage, clock, writer: this.#writer, agents, skills, secretBox, pullRequests, ...words };
    this.#runs = new RunService({ ...deps, ...rules });
  }

  static async open(approves: Approves = "nothing"): Promise<LifeHarness> {
    const id = newId<Principal["id"]>(new Date());
    const ada = aPrincipal({ id, administrator: true });
    const harness = new LifeHarness(ada, approves !== "follow-ups");
    const principals = [harness.#member.id];
    const matches = {
      nothing: undefined,
      runs: { actions: ["create"] },
      "follow-ups": { principals },
    } as const;
    const match = matches[approves];
    if (match !== undefined) {
      await harness.#storage.policies.add(aPolicy({ effect: "require_approval", match }));
    }
    harness.#id = (await harness.#runs.create({ prompt: "x", source: "API", creator: ada })).id;
    return harness;
  }

  async followUp(): Promise<void> {
    await this.#follow("and this", "queue");
  }

  async interrupt(): Promise<void> {
    await this.#follow("rather this", "interrupt");
  }

  async answer(): Promise<void> {
    await this.#follow("yes", "queue");
  }

  async memberFollowUp(): Promise<void> {
    await this.#follow("from a member", "queue", this.#member);
  }

  async memberInterrupt(): Promise<void> {
    await this.#follow("rather this, from a member", "interrupt", this.#member);
  }

  async memberSteer(): Promise<void> {
    await this.#follow("at once, from a member", "steer", this.#member);
  }

  /** Rewrites the last message that waits. */
  async edit(): Promise<void> {
    const last = (await this.#look()).waiting.findLast(({ isAnswer }) => isAnswer !== true);
    if (last === undefined) {
      return;
    }
    this.#edits += 1;
    const target = { runId: this.#id, followUpId: last.id };
    const editor = this.#edits % 2 === 0 && last.authorId === this.#member.id ? this.#member : this.#person;
    await unlessRefused("conflict", () =>
      this.#runs.followUps.rewrite(target, editor, `edit ${this.#edits}`),
    );
  }

  /** Withdraws the first message that waits. */
  async withdraw(): Promise<void> {
    const first = (await this.#look()).waiting.find(({ isAnswer }) => isAnswer !== true);
    if (first !== undefined) {
      const target = { runId: this.#id, followUpId: first.id };
      await unlessRefused("conflict", () => this.#runs.followUps.withdraw(target, this.#person));
    }
  }

  async cancel(): Promise<void> {
    await unlessRefused("invalid_request", () => this.#runs.cancel(this.#id, this.#person));
  }

  async approve(): Promise<void> {
    await this.#decide(true);
  }

  async refuse(): Promise<void> {
    await this.#decide(false);
  }

  /** Tries to claim the run, also while another worker works on it. Then there is nothing to claim. */
  async takeJob(): Promise<void> {
    const token = newId<LeaseToken>(this.#clock.now());
    const grant = { token, worker: "w", ttlMs: LEASE_MS };
    const run = await this.#change((edit) => decideClaim(edit, grant));
    if (run.lease?.token !== token) {
      return;
    }
    expect(this.#attempt, "two attempts at a time").toBeUndefined();
    const parts = {
      runs: this.#storage.runs,
      runId: this.#id,
      token,
      clock: this.#clock,
      writer: this.#writer,
    };
    this.#attempt = { writer: new LeaseWriter(parts), phase: "claimed" };
  }

  async ready(): Promise<void> {
    await this.#work("claimed", async ({ writer }) => {
      return (await writer.write((edit) => decideReady(edit, { isOwnCopy: true }))).value ? "ready" : "over";
    });
  }

  async startTurn(): Promise<void> {
    await this.#work("ready", async ({ writer }) => {
      return (await writer.write((edit) => decideTurnStart(edit, false, edit.run))).value === undefined
        ? "over"
        : "turn";
    });
  }

  async ask(): Promise<void> {
    await this.#work("turn", async ({ writer }) => {
      await writer.write((edit) => {
        if (edit.run.state !== "INPROGRESS") {
          return;
        }
        edit.set({ permission: { permissionId: "p", title: "?", options: OPTIONS, askedAt: edit.now } });
        edit.moveTo("BLOCKED");
      });
      return "turn";
    });
  }

  async say(): Promise<void> {
    await this.#work("turn", async ({ writer }) => {
      await writer.write((edit) => edit.record({ kind: "agent.message", text: "hm" }));
      return "turn";
    });
  }

  async steer(): Promise<void> {
    await this.#work("turn", async ({ writer }) => {
      await writer.write((edit) => {
        const [first] = steerable(edit.aggregate.waiting);
        if (first !== undefined) {
          decideSteered(edit, first.id);
        }
      });
      return "turn";
    });
  }

  async endTurn(): Promise<void> {
    await this.#endTurn("end_turn");
  }

  async refuseTurn(): Promise<void> {
    await this.#endTurn("refusal");
  }

  async fail(): Promise<void> {
    const status = { message: "dead", errorCode: "internal_error", reason: "agent_process_failed" } as const;
    for (const phase of ["claimed", "ready", "turn"] as const) {
      await this.#work(phase, async ({ writer }) => {
        await writer.write((edit) => decideFailure(edit, status));
        return "over";
      });
    }
  }

  async handBack(): Promise<void> {
    const attempt = this.#attempt;
    if (attempt === undefined) {
      return;
    }
    await this.#unlessLost(() =>
      attempt.writer.write((edit) => decideHandBack(edit, { reason: "over", isBlameless: true })),
    );
    this.#attempt = undefined;
  }

  /** Loses the worker with its attempt. */
  async die(): Promise<void> {
    if (this.#attempt === undefined) {
      return;
    }
    this.#attempt = undefined;
  }

  /** Expires the lease of a lost worker. A live worker renews its own. */
  async lapse(): Promise<void> {
    if (this.#attempt === undefined) {
      await this.#clock.advance(2 * LEASE_MS);
    }
  }

  async recover(): Promise<void> {
    await this.#change((edit) => {
      decideRecovery(edit);
      return edit.aggregate.leaseOver;
    });
  }

  /** Lets users answer and workers work until nothing is left to do. */
  async finish(): Promise<void> {
    for (let isDone = false; !isDone; ) {
      await this.approve();
      if ((await this.#look()).run.state === "BLOCKED") {
        await this.answer();
      }
      await this.lapse();
      await this.recover();
      await this.takeJob();
      for (const step of [this.ready, this.startTurn, this.endTurn]) {
        await step.call(this);
      }
      isDone =
        !(await this.#isClaimable()) &&
        !(await this.#waitsForApproval()) &&
        (this.#attempt === undefined || this.#attempt.phase === "over");
      if (this.#attempt?.phase === "over") {
        await this.handBack();
      }
      isDone &&= !(await this.#isClaimable());
    }
  }

  async #isClaimable(): Promise<boolean> {
    const { run } = await this.#look();
    return run.state === "QUEUED" && run.lease === undefined;
  }

  async check(): Promise<void> {
    const { run, waiting } = await this.#look();
    const events = await wholeLog(this.#storage.runs, this.#id);
    checkLog(run, events);
    if (needsLease(run.state)) {
      expect(run.lease, `a lease while ${run.state}`).toBeDefined();
    }
    if (needsApproval(run)) {
      expect(run.attempt, "attempts before the approval").toBe(0);
    }
    if (mustHaveTakenAll(run, events)) {
      expect(deliverable(waiting), run.state).toEqual([]);
    }
    for (const words of wordsGiven(events)) {
      if (this.#restricted.has(words.id)) {
        expect(this.#approved, "approved words").toContain(`${words.id} ${words.text}`);
      }
    }
  }

  async checkEnd(): Promise<void> {
    const { run } = await this.#look();
    expect(run.lease).toBeUndefined();
    expect(isEnded(run.state), run.state).toBe(true);
    await this.check();
  }

  async #decide(approve: boolean): Promise<void> {
    const { run, waiting } = await this.#look();
    const open = [run.approval, ...waiting.map(({ approval }) => approval)].find(
      (approval) => approval !== undefined && approval.approved === undefined,
    );
    if (open === undefined) {
      return;
    }
    const { inputs, inputsHash } = open;
    await unlessRefused("conflict", async () => {
      await this.#runs.approve(this.#id, this.#person, { approve, inputsHash });
      for (const { followUpId = "", text } of approve ? inputs : []) {
        this.#restricted.add(followUpId);
        this.#approved.add(`${followUpId} ${text}`);
      }
    });
  }

  async #follow(message: string, delivery: FollowUpDelivery, author = this.#person): Promise<void> {
    const input = { message, delivery, authorId: author.id };
    const isUnapproved = needsApproval((await this.#look()).run);
    const { followUpId } = await this.#runs.followUps.send(this.#id, author, input);
    if (followUpId !== undefined && (isUnapproved || (author === this.#member && !this.#isMemberFree))) {
      this.#restricted.add(followUpId);
    }
  }

  async #waitsForApproval(): Promise<boolean> {
    return (await this.#look()).waiting.some(isWaitingForApproval);
  }

  async #endTurn(stopReason: StopReason): Promise<void> {
    await this.#work("turn", async ({ writer }) => {
      return (await writer.write((edit) => decideTurnEnd(edit, { stopReason }, "Done"))).value
        ? "ready"
        : "over";
    });
  }

  async #work(phase: Attempt["phase"], step: (attempt: Attempt) => Promise<Attempt["phase"]>): Promise<void> {
    const attempt = this.#attempt;
    if (attempt === undefined || attempt.phase !== phase) {
      return;
    }
    const next = await this.#unlessLost(() => step(attempt));
    attempt.phase = next ?? "over";
  }

  async #unlessLost<T>(write: () => Promise<T>): Promise<T | undefined> {
    return write().catch((error) => {
      if (error instanceof LeaseLost) {
        return undefined;
      }
      throw error;
    });
  }

  #change(decide: (edit: RunEdit) => boolean) {
    return this.#storage.runs.change(this.#id, (aggregate) => {
      const edit = new RunEdit(aggregate, { now: this.#clock.now(), writer: this.#writer });
      return decide(edit) ? edit.done() : undefined;
    });
  }

  async #look(): Promise<RunAggregate> {
    const seen: RunAggregate[] = [];
    await this.#storage.runs.change(this.#id, (aggregate) => {
      seen.push(aggregate);
      return undefined;
    });
    const [aggregate] = seen;
    if (aggregate === undefined) {
      throw new Error("The store did not call `decide`.");
    }
    return aggregate;
  }
}

/** Expects that an operation which is impossible in the current state is refused with `code` and has no effect. */
async function unlessRefused(code: ErrorCode, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== code) {
      throw error;
    }
  }
}
