import type { ModelFailure } from "../../core/agents/gateway.ts";
import { ANSWERED_CREDENTIALS, contentTypeOf } from "../headers.ts";
import type { HeldBody, HeldBytes } from "../held-bytes.ts";
import { KeyMask } from "../key-mask.ts";
import { Refusal, sendWhole } from "../refusal.ts";
import { sendOn } from "../send-on.ts";
import type { Traffic } from "../traffic.ts";
import type { Answer } from "../upstream.ts";
import { AnswerMeter } from "./answer-meter.ts";
import { isUsageAlone } from "./asked-usage.ts";
import { MeteredStream } from "./metered-stream.ts";
import type { AskedBody, ModelCall } from "./model-call.ts";
import { messageIn, shortened } from "./model-failure.ts";
import type { ModelPrices } from "./prices.ts";

export interface ModelAnswersOptions {
  readonly prices: ModelPrices;
  readonly traffic: Traffic;
  readonly held: HeldBytes;
  readonly redact: (text: string) => string;
}

const BROKE_OFF = "The model's answer broke off.";
const ANSWER_BYTES_MAX = 8 * 2 ** 20;
const ERROR_BYTES_MAX = 64 * 2 ** 10;
/** The length changes when an event is left out. */
const DROPPED = [...ANSWERED_CREDENTIALS, "content-length"];
const ERROR_HEADERS =
  /^(content-type|retry-after(-ms)?|x-(should-retry|ratelimit-.+|request-id)|request-id)$/;

/** Forwards the responses of models to the sandbox, and records their usage first. */
export class ModelAnswers {
  readonly #options: ModelAnswersOptions;

  constructor(options: ModelAnswersOptions) {
    this.#options = options;
  }

  async send(
    call: ModelCall,
    answer: Answer,
    asked: Pick<AskedBody, "model" | "isAskedByUs">,
  ): Promise<void> {
    if (answer.status >= 300) {
      return this.#sendFailure(call, answer);
    }
    if (call.route.generates) {
      this.#options.traffic.noteCall();
    }
    const meter = this.#meterOf(call, asked.model);
    if (contentTypeOf(answer.headers) !== "text/event-stream") {
      return this.#sendWhole(call, answer, meter);
    }
    const events = new MeteredStream(meter, asked.isAskedByUs ? isUsageAlone : undefined);
    const through = [events, new KeyMask(keysOf(call))];
    await sendOn(answer, call.response, { drop: DROPPED, through, brokeOff: () => this.#brokeOff(call) });
  }

  /** A call that the client or we have aborted is not a failure. */
  noteFailure({ route, signal }: ModelCall, { message, ...facts }: ModelFailure): void {
    if (!route.generates || signal.aborted) {
      return;
    }
    const failure = { ...facts, message: shortened(this.#options.redact(message)) };
    this.#options.traffic.noteModelFailure(failure);
  }

  #meterOf(call: ModelCall, model: string | undefined): AnswerMeter {
    const { prices, traffic } = this.#options;
    const failed = (failure: ModelFailure): void => this.noteFailure(call, failure);
    const known = model === undefined ? {} : { model };
    return new AnswerMeter({ provider: call.provider, prices, traffic, failed, ...known });
  }

  async #sendWhole(call: ModelCall, answer: Answer, meter: AnswerMeter): Promise<void> {
    const { passing, release, whole } = await this.#read(call, answer, ANSWER_BYTES_MAX);
    try {
      if (whole !== undefined) {
        meter.read(whole.toString());
      }
      const through = [new KeyMask(keysOf(call))];
      const options = { drop: DROPPED, through, brokeOff: () => this.#brokeOff(call) };
      await sendOn({ ...answer, body: passing ?? [whole] }, call.response, options);
    } finally {
      release();
    }
  }

  async #sendFailure(call: ModelCall, answer: Answer): Promise<void> {
    const { headers, status } = answer;
    const { release, whole = "" } = await this.#read(call, answer, ERROR_BYTES_MAX);
    release();
    answer.body.on("error", () => undefined).destroy();
    const text = this.#options.redact(whole.toString());
    const isElsewhere = status < 400;
    const problem = isElsewhere ? `The model's server leads elsewhere (${status}).` : messageIn(text);
    const failure = { status: isElsewhere ? 502 : status, message: problem.trim() || `HTTP ${status}` };
    this.noteFailure(call, failure);
    if (isElsewhere || text === "") {
      throw new Refusal(failure.status, failure.message);
    }
    sendWhole(call.response, status, errorHeaders(headers), text);
  }

  async #read(call: ModelCall, { body }: Answer, maxBytes: number): Promise<HeldBody> {
    try {
      return await this.#options.held.read(body, maxBytes);
    } catch {
      this.#brokeOff(call);
      throw new Refusal(502, BROKE_OFF);
    }
  }

  #brokeOff(call: ModelCall): void {
    this.noteFailure(call, { message: BROKE_OFF });
  }
}

function keysOf({ server: { key } }: ModelCall): readonly string[] {
  return key === undefined ? [] : [key];
}

function errorHeaders(headers: Answer["headers"]): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => ERROR_HEADERS.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
