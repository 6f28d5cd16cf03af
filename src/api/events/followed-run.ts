import type { RunId } from "../../core/ids.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { eventText } from "./event-text.ts";
import type { EventPage, FollowedSource, Follower } from "./follower.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type Audience, visibleLog } from "./visible-log.ts";

export type FollowDeps = Pick<ApiDeps, "runs" | "storage" | "pubsub">;

const PAGE = 200;
/** So much goes in one piece, if it is not a single event: between two pieces a reader may turn out not to read. */
const PIECE_LENGTH = 2 ** 16;

/**
 * A run and all who follow it in this process. A thousand viewers want to know the same thing at the same time: one look
 * at the run, one page of events and one text of it are for all of them, and nobody else is woken than who is to be told.
 */
export class FollowedRun implements FollowedSource {
  readonly #deps: FollowDeps;
  readonly #id: RunId;
  readonly #followers = new Set<Follower>();
  /** Those that are being read, by their audience and where they begin. */
  readonly #pages = new Map<string, Promise<EventPage>>();
  readonly #silence: () => void;
  readonly #poll: NodeJS.Timeout;
  #latest: Run | undefined;

  /** Looks at once, after each news, which may be lost, and every `pollMs`. */
  constructor(deps: FollowDeps, found: Run, pollMs: number) {
    this.#deps = deps;
    this.#id = found.id;
    this.#latest = found;
    const look = oneAtATime(() => this.#look());
    this.#silence = deps.pubsub.subscribe(CHANNELS.run(found.id), look);
    this.#poll = setInterval(look, pollMs);
    look();
  }

  get latest(): Run | undefined {
    return this.#latest;
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** `found` may be newer than what was found here, or older. */
  join(follower: Follower, found: Run): void {
    this.#followers.add(follower);
    follower.consider(found, this);
    follower.consider(this.#latest, this);
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
  }

  readBehind(seen: number, audience: Audience): Promise<EventPage> {
    const key = `${audience} ${seen}`;
    const joined = this.#pages.get(key);
    if (joined !== undefined) return joined;
    const page = this.#read(seen, audience).finally(() => this.#pages.delete(key));
    this.#pages.set(key, page);
    return page;
  }

  close(): void {
    clearInterval(this.#poll);
    this.#silence();
  }

  async #look(): Promise<void> {
    try {
      this.#latest = await this.#deps.storage.runs.find({ id: this.#id });
      for (const follower of this.#followers) follower.consider(this.#latest, this);
    } catch (error) {
      for (const follower of this.#followers) follower.stream.fail(error);
    }
  }

  async #read(seen: number, audience: Audience): Promise<EventPage> {
    const events = await visibleLog(this.#deps.runs, audience).readEvents(this.#id, seen, PAGE);
    return { pieces: piecesOf(events.map(eventText)), lastSeq: events.at(-1)?.seq };
  }
}

function piecesOf(texts: readonly string[]): readonly Uint8Array[] {
  const pieces: string[] = [];
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + text.length <= PIECE_LENGTH)
      pieces[pieces.length - 1] = last + text;
    else pieces.push(text);
  }
  return pieces.map((piece) => Buffer.from(piece));
}
