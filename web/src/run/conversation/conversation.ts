import type { AgentPlanEventEntry, RunEvent, RunState } from "@errand/client";
import {
  continues,
  type Entry,
  type FollowUpEntry,
  joined,
  type QuestionEntry,
  type StepEntry,
  type ToolEntry,
  toolKey,
} from "./entries.ts";
import { entryOf } from "./entry-of.ts";

/** What the events say about the run as a whole. */
export interface Facts {
  readonly state?: RunState;
  readonly stateAt?: string;
  /** The size and the use of the agent's context in tokens. */
  readonly context?: { readonly used: number; readonly size: number };
  readonly costUsd?: number;
  readonly plan?: readonly AgentPlanEventEntry[];
  /** The number of the newest turn. */
  readonly turn: number;
  /** The last end of a turn, an attempt or the run. Calls that were open before it are over. */
  readonly lastEnd: number;
}

/**
 * Folds the events of a run into the entries of a conversation. Events are appended as they happen, and earlier pages
 * of the log are put before them; in both cases only the entries of these events change.
 */
export class Conversation {
  #entries: Entry[] = [];
  #places = new Map<string, number>();
  /** Follow-ups that the agent has not received. */
  readonly #held = new Map<string, FollowUpEntry>();
  /** The running steps by their id: a step that starts again is another entry. */
  readonly #steps = new Map<string, string>();
  /** The tool calls whose end the agent has not reported. */
  readonly #openCalls = new Set<string>();
  #facts: Facts = { turn: 0, lastEnd: 0 };
  #first = 0;
  #last = 0;
  #changedFrom = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get held(): readonly FollowUpEntry[] {
    return Array.from(this.#held.values());
  }

  get facts(): Facts {
    return this.#facts;
  }

  /** The sequence numbers of the first and the last event. 0: there is none. */
  get first(): number {
    return this.#first;
  }

  get last(): number {
    return this.#last;
  }

  /** The index of the first entry that changed since this was read last. */
  takeChangedFrom(): number {
    const from = this.#changedFrom;
    this.#changedFrom = this.#entries.length;
    return from;
  }

  find(key: string): Entry | undefined {
    return this.#entries[this.#places.get(key) ?? -1];
  }

  /** Adds events behind the last one. Events that are known already are ignored. */
  append(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.#last) {
        continue;
      }
      this.#first ||= event.seq;
      this.#last = event.seq;
      this.#facts = factsAfter(this.#facts, event);
      for (const entry of entryOf(event)) {
        this.#put(entry);
      }
      if (this.#facts.lastEnd === event.seq) {
        this.#endCalls();
      }
    }
  }

  /** Adds events before the first one. */
  prepend(events: readonly RunEvent[]): void {
    const earlier = new Conversation();
    earlier.append(events.filter(({ seq }) => this.#first === 0 || seq < this.#first));
    if (earlier.#first === 0) {
      return;
    }
    const later = this.#entries;
    const laterHeld = Array.from(this.#held.values());
    this.#entries = earlier.#entries;
    this.#places = earlier.#places;
    this.#held.clear();
    for (const [id, followUp] of earlier.#held) {
      this.#held.set(id, followUp);
    }
    this.#first = earlier.#first;
    this.#last ||= earlier.#last;
    this.#facts = {
      ...{ ...earlier.#facts, ...this.#facts },
      turn: Math.max(earlier.#facts.turn, this.#facts.turn),
      lastEnd: Math.max(earlier.#facts.lastEnd, this.#facts.lastEnd),
    };
    for (const key of earlier.#openCalls) {
      this.#openCalls.add(key);
    }
    const open = new Map(earlier.#steps);
    for (const [index, entry] of later.entries()) {
      // Only the first step of an id can continue an open one of the earlier part.
      const known = entry.kind === "step" ? open.get(entry.stepId) : undefined;
      if (entry.kind === "step") {
        open.delete(entry.stepId);
      }
      if (known !== undefined || index === 0 || this.#places.has(entry.key) || entry.kind === "followup") {
        this.#put(known === undefined ? entry : { ...entry, key: known });
      } else {
        this.#add(entry);
      }
      if (entry.kind === "question") {
        this.#noteQuestion(entry.key);
      }
    }
    for (const followUp of laterHeld) {
      this.#put(followUp);
    }
    this.#endCalls();
    this.#changedFrom = 0;
  }

  #put(entry: Entry): void {
    if (entry.kind === "followup") {
      this.#putFollowUp(entry);
      return;
    }
    const key = entry.kind === "step" ? this.#stepKey(entry) : entry.key;
    const place = continues(this.#entries.at(-1), entry) ? this.#entries.length - 1 : this.#places.get(key);
    const known = place === undefined ? undefined : this.#entries[place];
    if (place === undefined || known === undefined) {
      this.#add(key === entry.key ? entry : { ...entry, key });
    } else {
      const whole = joined(known, entry);
      this.#note(whole);
      this.#replace(place, whole);
    }
    if (entry.kind === "question") {
      this.#noteQuestion(entry.key);
    }
  }

  #putFollowUp(part: FollowUpEntry): void {
    const place = this.#places.get(part.key);
    const known = place === undefined ? this.#held.get(part.followUpId) : this.#entries[place];
    const followUp = (known === undefined ? part : joined(known, part)) as FollowUpEntry;
    if (place !== undefined) {
      // A page before the one that places it: the place stays.
      this.#replace(place, { ...followUp, ...placeOf(this.#entries[place] ?? followUp) });
    } else if (followUp.state === "held") {
      this.#held.set(part.followUpId, followUp);
    } else {
      this.#held.delete(part.followUpId);
      this.#add(followUp);
    }
  }

  /** A running step continues; a step that has ended and starts again is another entry. */
  #stepKey(step: StepEntry): string {
    const key = this.#steps.get(step.stepId) ?? step.key;
    if (step.status === "running") {
      this.#steps.set(step.stepId, key);
    } else {
      this.#steps.delete(step.stepId);
    }
    return key;
  }

  /** Notes at the call what became of the question about it. An agent reports a refused call as failed. */
  #noteQuestion(questionKey: string): void {
    const question = this.find(questionKey);
    if (question?.kind !== "question" || question.callId === undefined) {
      return;
    }
    const place = this.#places.get(toolKey(question.turn, question.callId));
    const call = place === undefined ? undefined : this.#entries[place];
    const permission = permissionOf(question);
    if (place !== undefined && call?.kind === "tool" && call.permission !== permission) {
      this.#replace(place, { ...call, permission });
    }
  }

  #endCalls(): void {
    for (const key of this.#openCalls) {
      const place = this.#places.get(key) ?? -1;
      const call = this.#entries[place];
      if (call?.kind === "tool" && call.lastSeq <= this.#facts.lastEnd) {
        this.#openCalls.delete(key);
        this.#replace(place, { ...call, isOver: true });
      }
    }
  }

  #note(entry: Entry): void {
    if (entry.kind !== "tool") {
      return;
    }
    if (entry.status === "completed" || entry.status === "failed") {
      this.#openCalls.delete(entry.key);
    } else {
      this.#openCalls.add(entry.key);
    }
  }

  #add(entry: Entry): void {
    this.#note(entry);
    this.#places.set(entry.key, this.#entries.length);
    this.#changedFrom = Math.min(this.#changedFrom, this.#entries.length);
    this.#entries.push(entry);
  }

  #replace(place: number, entry: Entry): void {
    this.#entries[place] = entry;
    this.#changedFrom = Math.min(this.#changedFrom, place);
  }
}

function permissionOf({ answer, options }: QuestionEntry): NonNullable<ToolEntry["permission"]> {
  if (answer === undefined) {
    return "asked";
  }
  const chosen = options?.find(({ option_id: id }) => id === answer);
  const isRejected = chosen === undefined ? answer === null : chosen.kind.startsWith("reject");
  return isRejected ? "denied" : "allowed";
}

function placeOf({ key, turn, seq, at }: Entry) {
  return { key, turn, seq, at };
}

const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

function factsAfter(facts: Facts, event: RunEvent): Facts {
  const turn = Math.max(facts.turn, event.turn);
  switch (event.kind) {
    case "run.created":
      return { ...facts, turn, state: event.state, stateAt: event.at };
    case "run.state":
      return {
        ...facts,
        turn,
        state: event.to,
        stateAt: event.at,
        lastEnd: ENDED.has(event.to) ? event.seq : facts.lastEnd,
      };
    case "turn.ended":
    case "attempt.ended":
      return { ...facts, turn, lastEnd: event.seq };
    case "agent.plan":
      return { ...facts, turn, plan: event.entries };
    case "agent.usage":
      return {
        ...facts,
        turn,
        context: { used: event.used, size: event.size },
        ...(event.cost_usd === undefined ? {} : { costUsd: event.cost_usd }),
      };
    default:
      return turn === facts.turn ? facts : { ...facts, turn };
  }
}
