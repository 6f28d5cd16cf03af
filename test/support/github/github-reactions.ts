import { type FrontAnswer, jsonAnswer } from "../front-server.ts";
import type { JsonRecord } from "../json.ts";

export interface Reaction {
  readonly id: number;
  readonly content: string;
  readonly user: { readonly login: string };
  readonly created_at: string;
}

const CONTENTS = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

/** Reactions by the API path of their subject: an issue, an issue comment, a review comment. */
export class GithubReactions {
  readonly #bySubject = new Map<string, Reaction[]>();
  #lastId = 0;

  on(subject: string): readonly Reaction[] {
    return this.#bySubject.get(subject) ?? [];
  }

  /** As on GitHub, a repeated reaction is answered with 200 and the first one. */
  create(subject: string, content: unknown, user: Reaction["user"]): FrontAnswer {
    if (typeof content !== "string" || !CONTENTS.includes(content)) {
      return jsonAnswer(422, {
        message: "Validation Failed",
        errors: [{ field: "content", code: "invalid" }],
      });
    }
    const earlier = this.on(subject).find(
      (other) => other.content === content && other.user.login === user.login,
    );
    if (earlier) {
      return jsonAnswer(200, earlier);
    }
    this.#lastId += 1;
    const reaction = { id: this.#lastId, content, user, created_at: new Date().toISOString() };
    this.#bySubject.set(subject, [...this.on(subject), reaction]);
    return jsonAnswer(201, reaction);
  }

  delete(subject: string, id: number): FrontAnswer {
    const rest = this.on(subject).filter((reaction) => reaction.id !== id);
    if (rest.length === this.on(subject).length) {
      return jsonAnswer(404, { message: "Not Found" });
    }
    this.#bySubject.set(subject, rest);
    return { status: 204, headers: {}, body: "" };
  }

  /** The `reactions` member of an issue or comment. */
  rollup(subject: string, url: string): JsonRecord {
    const reactions = this.on(subject);
    const counts = CONTENTS.map((content) => [
      content,
      reactions.filter((one) => one.content === content).length,
    ]);
    return { url: `${url}/reactions`, total_count: reactions.length, ...Object.fromEntries(counts) };
  }
}
