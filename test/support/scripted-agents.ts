import type { AgentUpdate, TurnEnd } from "../../src/core/model/runs/agent-update.ts";
import type {
  AgentObserver,
  AgentRunner,
  AgentSession,
  AgentStart,
  PromptExtras,
} from "../../src/core/ports/agent-runner.ts";

/** What one turn of a scripted agent can do. */
export interface ScriptedTurn {
  readonly text: string;
  readonly observer: AgentObserver;
  /** Fires when the turn is to stop, or the session is closed. */
  readonly cancelled: AbortSignal;
  say(text: string): void;
}

export type Script = (turn: ScriptedTurn) => Promise<TurnEnd>;

export const END_TURN: TurnEnd = { stopReason: "end_turn" };

/** Agents in this process that do what a test says, turn by turn. Without a script a turn says "Done." */
export class ScriptedAgents implements AgentRunner {
  readonly starts: AgentStart[] = [];
  /** The words of all turns, as the agents got them. */
  readonly prompts: string[] = [];
  /** What came with them. */
  readonly extras: PromptExtras[] = [];
  /** Turns to come. */
  readonly scripts: Script[] = [];
  /** Awaited before an agent starts. */
  readonly beforeStart: (() => Promise<void> | void)[] = [];
  /** Reported by each agent before its start resolves. */
  readonly earlyUpdates: AgentUpdate[] = [];
  /** Whether a session that is named is taken up again. */
  remembers = true;
  /** What was said to a running turn, and whether it takes any. */
  readonly steered: string[] = [];
  takesSteering = false;
  /** Awaited before words for a running turn are taken. */
  readonly beforeSteer: (() => Promise<void> | void)[] = [];
  /** Closes to come fail. */
  readonly closeFaults: Error[] = [];
  skillFolder: NonNullable<AgentRunner["skillFolder"]> = () => undefined;
  /** Sessions that were started and are not closed. */
  open = 0;
  readonly journal: string[];

  constructor(journal: string[] = []) {
    this.journal = journal;
  }

  async start(request: AgentStart, observer: AgentObserver): Promise<AgentSession> {
    this.starts.push(request);
    await this.beforeStart.shift()?.();
    request.signal.throwIfAborted();
    this.open += 1;
    for (const update of this.earlyUpdates) {
      observer.update(update);
    }
    return new ScriptedSession(this, request, observer);
  }
}

class ScriptedSession implements AgentSession {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly agent = { name: "scripted", version: "1.0" };
  readonly phases = { processMs: 1, initializeMs: 2, sessionMs: 3 };
  readonly #agents: ScriptedAgents;
  readonly #observer: AgentObserver;
  #turn: AbortController | undefined;
  #isOpen = true;

  constructor(agents: ScriptedAgents, { previousSession }: AgentStart, observer: AgentObserver) {
    this.#agents = agents;
    this.#observer = observer;
    this.resumed = previousSession !== undefined && agents.remembers;
    this.sessionId = this.resumed && previousSession ? previousSession : `session-${agents.starts.length}`;
  }

  async prompt(text: string, extras: PromptExtras = {}): Promise<TurnEnd> {
    if (this.#turn !== undefined) {
      throw new Error("Two turns at a time.");
    }
    const turn = new AbortController();
    this.#turn = turn;
    this.#agents.prompts.push(text);
    this.#agents.extras.push(extras);
    const say = (words: string) => this.#observer.update({ kind: "agent.message", text: words });
    const script = this.#agents.scripts.shift() ?? sayDone;
    try {
      return await script({ text, observer: this.#observer, cancelled: turn.signal, say });
    } finally {
      this.#turn = undefined;
    }
  }

  async steer(text: string): Promise<boolean> {
    if (this.#turn === undefined) {
      return false;
    }
    await this.#agents.beforeSteer.shift()?.();
    if (this.#agents.takesSteering) {
      this.#agents.steered.push(text);
    }
    return this.#agents.takesSteering;
  }

  async cancel(): Promise<void> {
    this.#turn?.abort();
  }

  async close(): Promise<void> {
    this.#turn?.abort();
    const fault = this.#agents.closeFaults.shift();
    if (fault !== undefined) {
      throw fault;
    }
    if (this.#isOpen) {
      this.#agents.open -= 1;
      this.#agents.journal.push("agent closed");
    }
    this.#isOpen = false;
  }
}

async function sayDone({ say }: ScriptedTurn): Promise<TurnEnd> {
  say("Done.");
  return END_TURN;
}

/** A turn that goes on until it is stopped. */
export function untilCancelled({ cancelled }: ScriptedTurn): Promise<TurnEnd> {
  return new Promise((resolve) => {
    const end = () => resolve({ stopReason: "cancelled" });
    if (cancelled.aborted) {
      end();
    } else {
      cancelled.addEventListener("abort", end, { once: true });
    }
  });
}
