import type { GithubComment, Written } from "../support/emulated-github.ts";
import type { GithubCall } from "../support/github/github-api.ts";
import { asRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Fixture, WAIT_LIMIT_MS } from "./service-fixture.ts";

const END = /^(?:@[\w-]+ )?\*\*(?:The agent's answer|How it ended):\*\*$/m;
const QUESTION = /^(?:@[\w-]+ )?\*\*The agent asks:\*\*$/m;
const CARD = /^<!-- errand:message-key=card:(\S+) -->/;

/** One issue on GitHub: comments of users, and the comments of the bot. */
export class GithubIssue {
  readonly number: number;
  readonly #fixture: Fixture;

  /** Opens an issue by a user without a mention of the bot. */
  static async open(fixture: Fixture): Promise<GithubIssue> {
    const content = { title: "The parser is slow", body: "It takes minutes." };
    const { number } = await fixture.github.openIssue(fixture.github.owner.login, content);
    return new GithubIssue(fixture, number);
  }

  constructor(fixture: Fixture, number: number) {
    this.#fixture = fixture;
    this.number = number;
  }

  /** Writes a comment, which is delivered and acknowledged. */
  async comment(text: string, login = this.#fixture.github.writer.login): Promise<Written> {
    const written = await this.#fixture.github.commentAs(login, this.number, text);
    await this.#deliver(written);
    return written;
  }

  /** Writes review comments with a review thread each. They are delivered and acknowledged at the same time. */
  async reviewComments(texts: readonly string[]): Promise<readonly Written[]> {
    const { github } = this.#fixture;
    const { login } = github.writer;
    const written: Written[] = [];
    for (const text of texts) {
      written.push(await github.reviewCommentAs(login, this.number, text));
    }
    await Promise.all(written.map((one) => this.#deliver(one)));
    return written;
  }

  async #deliver(written: Written): Promise<void> {
    const { status } = await this.#fixture.sendGithub(written);
    if (status !== 202) {
      throw new Error(`GitHub's delivery was answered ${status}`);
    }
  }

  /** The part of a URL that the permalinks of its comments contain. */
  get address(): string {
    return `/issues/${this.number}#`;
  }

  /** The bot's comments, oldest first. */
  get comments(): GithubComment[] {
    const { github } = this.#fixture;
    const all = github.comments(github.repo.fullName, this.number);
    return all.filter(({ author }) => author === github.app.botLogin);
  }

  get cards(): GithubComment[] {
    return this.comments.filter(({ body }) => CARD.test(body));
  }

  /** The comments with the closing words of a turn or a run. */
  get answers(): string[] {
    return this.#bodies((body) => END.test(body));
  }

  /** Those of them in review threads. */
  get reviewAnswers(): string[] {
    const shown = this.comments.filter(({ body, kind }) => kind === "review" && END.test(body));
    return shown.map(({ body }) => body.replace(/^<!--.*?-->/, ""));
  }

  get questions(): string[] {
    return this.#bodies((body) => QUESTION.test(body));
  }

  get replies(): string[] {
    return this.#bodies((body) => !CARD.test(body) && !END.test(body) && !QUESTION.test(body));
  }

  /** The bot's calls about this thread: its comments and their edits. */
  get calls(): GithubCall[] {
    const { github } = this.#fixture;
    const own = this.comments.map(({ id }) => `comments/${id}`);
    const about = new RegExp(`/issues/(${[this.number, ...own].join("|")})(/|$)`);
    return github.calls(undefined, about).filter(({ actor }) => actor === github.app.botLogin);
  }

  #bodies(isShown: (body: string) => boolean): string[] {
    return this.comments.map(({ body }) => body).filter(isShown);
  }

  get runId(): string {
    return CARD.exec(this.cards.at(-1)?.body ?? "")?.[1] ?? "";
  }

  /** The state texts that the newest card has shown, in order. */
  get history(): string[] {
    const places = [`/issues/${this.number}/comments`, ...this.cards.map(({ id }) => `/comments/${id}`)];
    const writes = this.#fixture.github.calls(undefined, /\/comments(\/\d+)?$/);
    const bodies = writes
      .filter(({ path }) => places.some((place) => path.endsWith(place)))
      .filter(({ method, outcome }) => /^(POST|PATCH)$/.test(method) && /^20/.test(outcome))
      .map(({ body }) => String(asRecord(body).body));
    return bodies.filter((body) => CARD.exec(body)?.[1] === this.runId).map(stateIn);
  }

  async untilCard(state: string, words = /(?:)/): Promise<GithubComment> {
    const shows = () => this.cards.find(({ body }) => stateIn(body) === state && words.test(body));
    return waitFor(shows, { what: `the comment to say ${state}, ${words}`, timeoutMs: WAIT_LIMIT_MS });
  }

  /** Reactions give way to messages. */
  async untilReactions(comment: Written, count: number): Promise<GithubComment["reactions"]> {
    const shown = () => {
      const reactions = this.#reactionsTo(comment);
      return reactions.length >= count ? reactions : undefined;
    };
    return waitFor(shown, { what: `${count} reactions`, timeoutMs: WAIT_LIMIT_MS });
  }

  async untilReaction(comment: Written, content: string): Promise<void> {
    const isShown = () => this.#reactionsTo(comment).some((each) => each.content === content);
    await waitFor(isShown, { what: `the reaction ${content}`, timeoutMs: WAIT_LIMIT_MS });
  }

  #reactionsTo({ id }: Written): GithubComment["reactions"] {
    const { github } = this.#fixture;
    const all = github.comments(github.repo.fullName, this.number);
    return all.find((comment) => comment.id === id)?.reactions ?? [];
  }

  async untilAnswers(count: number): Promise<string[]> {
    const shows = () => (this.answers.length >= count ? this.answers : undefined);
    return waitFor(shows, { what: `${count} answers`, timeoutMs: WAIT_LIMIT_MS });
  }

  async untilReply(words: RegExp): Promise<string> {
    const shows = () => this.replies.find((body) => words.test(body));
    return waitFor(shows, { what: `a comment that says ${words}`, timeoutMs: WAIT_LIMIT_MS });
  }
}

function stateIn(body: string): string {
  return /^\*\*([^*]+)\*\*/m.exec(body)?.[1] ?? "";
}
