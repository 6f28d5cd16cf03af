import { Transform, type TransformCallback } from "node:stream";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { ModelFailure } from "../../core/ports/gateway.ts";
import type { Traffic } from "../traffic.ts";
import type { Provider } from "./dialects.ts";
import { failureWithin } from "./model-failure.ts";
import { costUsd, isPriced, type ModelPrices } from "./prices.ts";
import { type SseEvent, SseEvents } from "./sse-events.ts";
import { grown, NO_TOKENS, READERS, type Tokens } from "./tokens.ts";

export interface MeterOptions {
  readonly provider: Provider;
  /** The requested model, if it is known. */
  readonly model?: string;
  readonly prices: ModelPrices;
  readonly traffic: Traffic;
  /** Undefined: its errors do not count. */
  readonly failed?: (failure: ModelFailure) => void;
}

/** Most events contain a few words of text and none of these. */
const USAGE_OR_ERROR = /"(usage|usageMetadata|error)"|"type"\s*:\s*"error"/;

/** Records the usage that one response of a model reports, as soon as it is reported. */
export class ResponseMeter {
  readonly #options: MeterOptions;
  #tokens = NO_TOKENS;
  #costUsd = 0;
  #model: string;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#model = options.model ?? "";
  }

  /** A whole response, or one event of it. Text that is not JSON is ignored. */
  read(text: string): void {
    if (!USAGE_OR_ERROR.test(text)) {
      return;
    }
    const value = parseJson(text);
    for (const part of Array.isArray(value) ? value : [value]) {
      this.#readPart(part);
    }
  }

  #readPart(value: unknown): void {
    const usage = READERS[this.#options.provider](value);
    if (usage !== undefined) {
      this.#note(usage.tokens, usage.model);
    }
    const failure = failureWithin(value);
    if (failure !== undefined) {
      this.#options.failed?.(failure);
    }
  }

  #note(usage: Tokens, model: string | undefined): void {
    const { prices, traffic } = this.#options;
    const [before, costBefore] = [this.#tokens, this.#costUsd];
    if (model !== undefined) {
      this.#model = model;
    }
    this.#tokens = grown(before, usage);
    this.#costUsd = Math.max(costBefore, costUsd(prices, this.#priced(), this.#tokens));
    traffic.noteUsage({
      inputTokens: this.#tokens.input - before.input,
      outputTokens: this.#tokens.output - before.output,
      totalTokens: this.#tokens.total - before.total,
      costUsd: this.#costUsd - costBefore,
    });
  }

  /** Servers answer a request for an alias with the full name. The operator may have set the price for either. */
  #priced(): string {
    const { model, prices } = this.#options;
    return isPriced(prices, this.#model) ? this.#model : (model ?? this.#model);
  }
}

/** Reads a stream of events while it passes, so that usage is recorded before the sandbox sees it. */
export class MeteredStream extends Transform {
  readonly #meter: ResponseMeter;
  readonly #isDropped: ((event: SseEvent) => boolean) | undefined;
  readonly #events = new SseEvents();

  /** Without `isDropped` bytes pass unchanged, otherwise event by event. */
  constructor(meter: ResponseMeter, isDropped?: (event: SseEvent) => boolean) {
    super();
    this.#meter = meter;
    this.#isDropped = isDropped;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const kept = this.#read(this.#events.push(chunk));
    done(null, this.#isDropped === undefined ? chunk : kept);
  }

  override _flush(done: TransformCallback): void {
    const kept = this.#read(this.#events.rest());
    done(null, this.#isDropped === undefined ? null : kept);
  }

  #read(events: readonly SseEvent[]): Buffer {
    for (const { data } of events) {
      this.#meter.read(data);
    }
    return Buffer.concat(events.filter((event) => this.#isDropped?.(event) !== true).map(({ raw }) => raw));
  }
}
