import { AppError } from "../../core/basics/errors.ts";
import type { ParametersOf } from "./routes.ts";

/** GitHub's tokens live an hour. What begins with a token, such as a long clone, takes the rest of the hour. */
const TOKEN_LIFE_MS = 30 * 60_000;
const PAUSE_MIN_MS = 5_000;
const PAUSE_MAX_MS = 2 * 60_000;

/** What a token may do, in the words of the API. */
export type TokenScope = Omit<
  ParametersOf<"POST /app/installations/{installation_id}/access_tokens">,
  "installation_id"
>;

export interface InstallationTokensDeps {
  /** Asks GitHub for a token. Without a scope, it may do everything that the installation allows. */
  create(installation: string, scope?: TokenScope): Promise<string>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Pause {
  readonly error: AppError;
  readonly lengthMs: number;
  readonly untilMs: number;
}

interface TokensOfInstallation {
  /** By scope. */
  tokens: ReadonlyMap<string, { readonly token: string; readonly untilMs: number }>;
  pause?: Pause | undefined;
  /** The last request for a token. It does not reject. */
  lastRequest: Promise<unknown>;
}

/**
 * The tokens of installations. For each installation one token is requested at a time, so that all callers share its
 * result. When GitHub gives none, nobody asks again before a pause that grows with each failure.
 */
export class InstallationTokens {
  readonly #deps: InstallationTokensDeps;
  readonly #installations = new Map<string, TokensOfInstallation>();

  constructor(deps: InstallationTokensDeps) {
    this.#deps = deps;
  }

  /** During a pause, throws the error of the last request. */
  async get(installation: string, scope?: TokenScope): Promise<string> {
    const state = this.#stateOf(installation);
    const known = this.#known(state, scope);
    if (known !== undefined) {
      return known;
    }
    const request = state.lastRequest.then(
      () => this.#known(state, scope) ?? this.#request(state, installation, scope),
    );
    state.lastRequest = request.catch(() => undefined);
    return request;
  }

  /** GitHub refuses these tokens: the installation was suspended, or its tokens were revoked. */
  drop(installation: string): void {
    this.#stateOf(installation).tokens = new Map();
  }

  /** Nobody uses the tokens of the installation, or asks for one, before a pause. */
  pause(installation: string, error: AppError): void {
    this.drop(installation);
    this.#lengthenPause(this.#stateOf(installation), error);
  }

  /** The installation changed on GitHub: the next caller asks at once. */
  forget(installation: string): void {
    this.#installations.delete(installation);
  }

  #known({ tokens }: TokensOfInstallation, scope: TokenScope | undefined): string | undefined {
    const known = tokens.get(keyOf(scope));
    return known !== undefined && known.untilMs > this.#deps.now() ? known.token : undefined;
  }

  async #request(
    state: TokensOfInstallation,
    installation: string,
    scope: TokenScope | undefined,
  ): Promise<string> {
    if (state.pause !== undefined && state.pause.untilMs > this.#deps.now()) {
      throw state.pause.error;
    }
    try {
      const token = await this.#deps.create(installation, scope);
      state.pause = undefined;
      const now = this.#deps.now();
      const valid = [...state.tokens].filter(([, { untilMs }]) => untilMs > now);
      state.tokens = new Map([...valid, [keyOf(scope), { token, untilMs: now + TOKEN_LIFE_MS }]]);
      return token;
    } catch (error) {
      // GitHub refuses the scope, not the installation.
      if (error instanceof AppError && error.code !== "invalid_request") {
        this.#lengthenPause(state, error);
      }
      throw error;
    }
  }

  #lengthenPause(state: TokensOfInstallation, error: AppError): void {
    const lengthMs = Math.min(PAUSE_MAX_MS, (state.pause?.lengthMs ?? PAUSE_MIN_MS / 2) * 2);
    const waitMs = Math.max(lengthMs, error.options.retryAfterMs ?? 0);
    state.pause = { error, lengthMs, untilMs: this.#deps.now() + waitMs };
  }

  #stateOf(installation: string): TokensOfInstallation {
    const known = this.#installations.get(installation);
    if (known !== undefined) {
      return known;
    }
    const state: TokensOfInstallation = { tokens: new Map(), lastRequest: Promise.resolve() };
    this.#installations.set(installation, state);
    return state;
  }
}

function keyOf(scope: TokenScope | undefined): string {
  return JSON.stringify(scope ?? null);
}
