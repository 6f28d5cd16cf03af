import type { Run } from "../runs/run.ts";
import { isEnded } from "../runs/states.ts";
import type { Notice, RunCard } from "./notice.ts";
import type { AdapterTraits } from "./thread-adapter.ts";

/** Describes runs for threads as plain data. The adapter renders it. */
export class NoticeWriter {
  readonly #publicUrl: () => string;
  readonly #traits: ReadonlyMap<string, AdapterTraits>;

  /** `publicUrl` is a function, because a server on a free port learns its address late. */
  constructor(publicUrl: () => string, traits: ReadonlyMap<string, AdapterTraits>) {
    this.#publicUrl = publicUrl;
    this.#traits = traits;
  }

  sessionLink(run: Pick<Run, "sessionId">): string {
    return `${this.#publicUrl()}/sessions/${run.sessionId}`;
  }

  card(run: Run): RunCard {
    const question = run.state === "BLOCKED" ? run.permission : undefined;
    // A question already says what the run waits for.
    const message = question === undefined ? run.statusMessage?.message : undefined;
    const answer = isEnded(run.state) ? run.answer : undefined;
    return {
      runId: run.id,
      title: run.title,
      state: run.state,
      turn: run.turn,
      sessionLink: this.sessionLink(run),
      ...(message === undefined ? {} : { message }),
      ...(question === undefined ? {} : { question }),
      ...(answer === undefined ? {} : { answer }),
    };
  }

  /** Whether the adapter shows the final answer and the question inside the card. */
  isShownInCard(notice: Notice, adapter: string): boolean {
    if (notice.kind !== "message" || notice.purpose === "reply") {
      return false;
    }
    return this.#traits.get(adapter)?.closingWords === "card";
  }
}
