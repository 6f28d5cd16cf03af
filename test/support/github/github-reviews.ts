import { type FrontAnswer, type FrontRequest, jsonAnswer, jsonOf } from "../front-server.ts";
import { asRecord, type JsonRecord } from "../json.ts";

const FILES = /\/pulls\/(\d+)\/files$/;
const REVIEWS = /\/pulls\/(\d+)\/reviews$/;
const REVIEW = /\/pulls\/\d+\/reviews\/(\d+)$/;
const PAGE_LENGTH = 30;

export interface ChangedFile {
  readonly filename: string;
  /** Absent: it is binary or too large. */
  readonly patch?: string;
}

/** The files of pull requests, and reviews with comments on their lines. emulate checks no lines. */
export class GithubReviews {
  readonly files = new Map<number, readonly ChangedFile[]>();
  /** GitHub keeps a review whose comments it refuses, and answers with the refusal. */
  keepsRefused = false;
  readonly #bodies = new Map<number, unknown>();

  /** Undefined: emulate answers. */
  async answer(
    request: FrontRequest,
    forward: (request: FrontRequest) => Promise<FrontAnswer>,
  ): Promise<FrontAnswer | undefined> {
    const { method, path, search } = request;
    const files = method === "GET" && this.files.get(Number(FILES.exec(path)?.[1]));
    if (files) {
      const query = new URLSearchParams(search);
      const length = Number(query.get("per_page") ?? PAGE_LENGTH);
      const start = (Number(query.get("page") ?? 1) - 1) * length;
      return jsonAnswer(200, files.slice(start, start + length));
    }
    const number = REVIEWS.exec(path)?.[1];
    if (method === "GET" && number !== undefined) {
      const answer = await forward(request);
      const reviews = jsonOf(answer) as readonly JsonRecord[];
      return { ...answer, body: JSON.stringify(reviews.map((review) => this.#withBody(review))) };
    }
    if (method === "POST" && number !== undefined) {
      return this.#create(request, Number(number), forward);
    }
    const edited = method === "PUT" && REVIEW.exec(path)?.[1];
    if (!edited) {
      return undefined;
    }
    this.#bodies.set(Number(edited), asRecord(JSON.parse(request.body.toString())).body);
    const shown = await forward({ ...request, method: "GET", body: Buffer.alloc(0) });
    return { ...shown, body: JSON.stringify(this.#withBody(asRecord(jsonOf(shown)))) };
  }

  async #create(
    request: FrontRequest,
    number: number,
    forward: (request: FrontRequest) => Promise<FrontAnswer>,
  ): Promise<FrontAnswer> {
    const { comments = [], ...review } = asRecord(JSON.parse(request.body.toString()));
    const all = comments as readonly JsonRecord[];
    const send = (shown: readonly JsonRecord[]) =>
      forward({ ...request, body: Buffer.from(JSON.stringify({ ...review, comments: shown })) });
    if (all.every((comment) => this.#isInDiff(number, comment))) {
      // emulate takes positions only.
      return send(all.map(({ body, path }) => ({ body, path, position: 1 })));
    }
    if (this.keepsRefused) {
      await send([]);
    }
    const message = "Pull request review thread line must be part of the diff";
    return jsonAnswer(422, { message: "Unprocessable Entity", errors: [message] });
  }

  #isInDiff(
    number: number,
    { line, path, side, start_line: start = line, start_side: startSide = side }: JsonRecord,
  ) {
    const patch = this.files.get(number)?.find(({ filename }) => filename === path)?.patch ?? "";
    const hunks = [...patch.matchAll(/^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm)].map(
      ([, first, length = "1"]) => [Number(first), Number(first) + Number(length) - 1] as const,
    );
    const isRight = side === "RIGHT" && startSide === "RIGHT";
    return isRight && hunks.some(([first, last]) => first <= Number(start) && Number(line) <= last);
  }

  #withBody(review: JsonRecord): JsonRecord {
    const body = this.#bodies.get(Number(review.id));
    return body === undefined ? review : { ...review, body };
  }
}
