import type { ModelFailure } from "../../core/ports/gateway.ts";
import { forwardResponse } from "../forward-response.ts";
import { contentTypeOf, RESPONSE_CREDENTIALS } from "../headers.ts";
import { KeyMask } from "../key-mask.ts";
import { Refusal, sendWhole } from "../refusal.ts";
import type { Traffic } from "../traffic.ts";
import type { UpstreamResponse } from "../upstream.ts";
import type { BufferedBody, BufferLimit, CallBody, ModelCall } from "./model-call.ts";
import { messageIn, shortened } from "./model-failure.ts";
import type { ModelPrices } from "./prices.ts";
import { isUsageOnly } from "./requested-usage.ts";
import { MeteredStream, ResponseMeter } from "./response-meter.ts";

export interface ModelResponsesOptions {
  readonly prices: ModelPrices;
  readonly traffic: Traffic;
  readonly buffers: BufferLimit;
  readonly redact: (text: string) => string;
}

const BROKE_OFF = "The model's response broke off.";
const RESPONSE_BYTES_MAX = 8 * 2 ** 20;
const ERROR_BYTES_MAX = 64 * 2 ** 10;
/** The length changes when an event is left out. */
const DROPPED = [...RESPONSE_CREDENTIALS, "content-length"];
const ERROR_HEADERS =
  /^(content-type|retry-after(-ms)?|x-(should-retry|ratelimit-.+|request-id)|request-id)$/;

/** Forwards the responses of models to the sandbox, and records their usage first. */
export class ModelResponses {
  readonly #options: ModelResponsesOptions;

  constructor(options: ModelResponsesOptions) {
    this.#options = options;
  }

  async send(
    call: ModelCall,
    upstreamResponse: UpstreamResponse,
    usage: Pick<CallBody, "model" | "isUsageAdded">,
  ): Promise<void> {
    if (upstreamResponse.status >= 300) {
      return this.#sendFailure(call, upstreamResponse);
    }
    if (call.route.generates) {
      this.#options.traffic.noteCall();
    }
    const meter = this.#meterOf(call, usage.model);
    if (contentTypeOf(upstreamResponse.headers) !== "text/event-stream") {
      return this.#sendWhole(call, upstreamResponse, meter);
    }
    const events = new MeteredStream(meter, usage.isUsageAdded ? isUsageOnly : undefined);
    const through = [events, new KeyMask(keysOf(call))];
    await forwardResponse(upstreamResponse, call.response, {
      drop: DROPPED,
      through,
      onBroken: () => this.#noteBroken(call),
    });
  }

  /** A call that the client or we have aborted is not a failure. */
  noteFailure({ route, signal }: ModelCall, { message, ...facts }: ModelFailure): void {
    if (!route.generates || signal.aborted) {
      return;
    }
    const failure = { ...facts, message: shortened(this.#options.redact(message)) };
    this.#options.traffic.noteModelFailure(failure);
  }

  #meterOf(call: ModelCall, model: string | undefined): ResponseMeter {
    const { prices, traffic } = this.#options;
    const failed = (failure: ModelFailure): void => this.noteFailure(call, failure);
    const known = model === undefined ? {} : { model };
    return new ResponseMeter({ provider: call.provider, prices, traffic, failed, ...known });
  }

  async #sendWhole(call: ModelCall, upstreamResponse: UpstreamResponse, meter: ResponseMeter): Promise<void> {
    const { passing, release, whole } = await this.#read(call, upstreamResponse, RESPONSE_BYTES_MAX);
    try {
      if (whole !== undefined) {
        meter.read(whole.toString());
      }
      const through = [new KeyMask(keysOf(call))];
      const options = { drop: DROPPED, through, onBroken: () => this.#noteBroken(call) };
      await forwardResponse({ ...upstreamResponse, body: passing ?? [whole] }, call.response, options);
    } finally {
      release();
    }
  }

  async #sendFailure(call: ModelCall, upstreamResponse: UpstreamResponse): Promise<void> {
    const { headers, status } = upstreamResponse;
    const { release, whole = "" } = await this.#read(call, upstreamResponse, ERROR_BYTES_MAX);
    release();
    upstreamResponse.body.on("error", () => undefined).destroy();
    const text = this.#options.redact(whole.toString());
    const isRedirect = status < 400;
    const problem = isRedirect
      ? `The model's server redirects (HTTP ${status}). Redirects are not followed.`
      : messageIn(text);
    const failure = { status: isRedirect ? 502 : status, message: problem.trim() || `HTTP ${status}` };
    this.noteFailure(call, failure);
    if (isRedirect || text === "") {
      throw new Refusal(failure.status, failure.message);
    }
    sendWhole(call.response, status, errorHeaders(headers), text);
  }

  async #read(call: ModelCall, { body }: UpstreamResponse, maxBytes: number): Promise<BufferedBody> {
    try {
      return await this.#options.buffers.read(body, maxBytes);
    } catch {
      this.#noteBroken(call);
      throw new Refusal(502, BROKE_OFF);
    }
  }

  #noteBroken(call: ModelCall): void {
    this.noteFailure(call, { message: BROKE_OFF });
  }
}

function keysOf({ server: { key } }: ModelCall): readonly string[] {
  return key === undefined ? [] : [key];
}

function errorHeaders(headers: UpstreamResponse["headers"]): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => ERROR_HEADERS.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
