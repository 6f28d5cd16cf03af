import type { ModelProviders } from "../../config/models.ts";
import type { Call, CallHandler } from "../call.ts";
import type { GatewayLimits } from "../gateway-options.ts";
import { Refusal, sendWhole } from "../refusal.ts";
import type { Upstream, UpstreamResponse } from "../upstream.ts";
import { DIALECTS, type Dialect, type Provider } from "./dialects.ts";
import { type CallBody, type ModelCall, readCallBody, upstreamRequestOf } from "./model-call.ts";
import { ModelResponses, type ModelResponsesOptions } from "./model-responses.ts";
import { isPriced } from "./prices.ts";

export interface ModelGatewayOptions extends ModelResponsesOptions {
  readonly models: ModelProviders;
  readonly upstream: Upstream;
  readonly limits: Pick<GatewayLimits, "modelCalls" | "bodyBytes">;
  /** Models without a known price are refused. */
  readonly limitsCost: boolean;
}

const PATH = /^\/(?<provider>[a-z]+)(?<rest>\/.*)$/;
const JSON_TYPE = { "content-type": "application/json" };

/** `/models/<provider>/…`: adds the operator's key, and counts the usage that the models report. */
export class ModelGateway {
  readonly #options: ModelGatewayOptions;
  readonly #responses: ModelResponses;
  readonly #shutting = new AbortController();
  #calls = 0;

  constructor(options: ModelGatewayOptions) {
    this.#options = options;
    this.#responses = new ModelResponses(options);
  }

  readonly serve: CallHandler = async (call) => {
    const { provider = "", rest = "" } = PATH.exec(call.path)?.groups ?? {};
    if (!isProvider(provider)) {
      throw new Refusal(404, "The providers are /models/openai, /models/anthropic and /models/gemini.");
    }
    const dialect = DIALECTS[provider];
    try {
      await this.#admit({ ...call, path: rest }, provider, dialect);
    } catch (error) {
      const refusal = this.#shutRefusal() ?? error;
      if (!(refusal instanceof Refusal)) {
        throw error;
      }
      const body = JSON.stringify(dialect.errorOf(refusal.status, refusal.message));
      sendWhole(call.response, refusal.status, { ...refusal.headers, ...JSON_TYPE }, body);
    }
  };

  shut(reason: string): void {
    if (!this.#shutting.signal.aborted) {
      this.#shutting.abort(reason);
    }
  }

  async #admit(call: Call, provider: Provider, dialect: Dialect): Promise<void> {
    const refusal = this.#shutRefusal();
    if (refusal !== undefined) {
      throw refusal;
    }
    const route = dialect.routeOf(call.request.method ?? "", call.path);
    if (route === undefined) {
      throw new Refusal(404, "Agents may not use this address of the model's server.");
    }
    const server = this.#options.models[provider];
    const missing = `No ${dialect.title} model is configured here: ${dialect.variables} is missing.`;
    if (server === undefined) {
      throw new Refusal(403, missing);
    }
    const signal = AbortSignal.any([call.signal, this.#shutting.signal]);
    await this.#withinCallLimit(() => this.#pass({ ...call, signal, provider, dialect, server, route }));
  }

  async #withinCallLimit(work: () => Promise<void>): Promise<void> {
    if (this.#calls >= this.#options.limits.modelCalls) {
      throw new Refusal(429, "Too many model calls at a time.", { "retry-after": "2" });
    }
    this.#calls += 1;
    try {
      await work();
    } finally {
      this.#calls -= 1;
    }
  }

  async #pass(call: ModelCall): Promise<void> {
    const { buffers, limits, limitsCost } = this.#options;
    const needsPrice = limitsCost && call.request.method === "POST";
    const needs = { maxBytes: limits.bodyBytes, needsModel: needsPrice };
    const { body, release, ...usage } = await readCallBody(call, buffers, needs);
    try {
      if (needsPrice) {
        this.#requirePrice(call, usage.model);
      }
      const upstreamResponse = await this.#send(call, body);
      release();
      await this.#responses.send(call, upstreamResponse, usage);
    } finally {
      release();
    }
  }

  /** 403, because agents treat it as final. */
  #requirePrice(call: ModelCall, model: string | undefined): void {
    if (model !== undefined && isPriced(this.#options.prices, model)) {
      return;
    }
    const name = model === undefined ? "A call without a model" : `The model ${model.slice(0, 100)}`;
    const message = `${name} has no known price, and this run has a budget in dollars.`;
    this.#responses.noteFailure(call, { status: 403, message, isUnpriced: true });
    throw new Refusal(403, message);
  }

  async #send(call: ModelCall, body: CallBody["body"]): Promise<UpstreamResponse> {
    try {
      return await this.#options.upstream.send(upstreamRequestOf(call, body));
    } catch (error) {
      // Other refusals are caused by the sandbox, for example a body that is too large.
      const isUnavailable = error instanceof Refusal && error.status >= 500;
      if (isUnavailable) {
        this.#responses.noteFailure(call, { message: error.message });
      }
      throw error;
    }
  }

  /** 403, because agents treat it as final and retry statuses that look temporary. */
  #shutRefusal(): Refusal | undefined {
    const { aborted, reason } = this.#shutting.signal;
    return aborted ? new Refusal(403, String(reason)) : undefined;
  }
}

function isProvider(name: string): name is Provider {
  return Object.hasOwn(DIALECTS, name);
}
