import {
  type ClientContext,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk/unstable";

/** What an agent lets its client choose. ACP has no separate requests for model and effort: they are options. */
export class SessionOptions {
  readonly #agent: ClientContext;
  readonly #sessionId: string;
  #options: readonly SessionConfigOption[];

  constructor(
    agent: ClientContext,
    opened: { readonly sessionId: string; readonly configOptions?: readonly SessionConfigOption[] | null },
  ) {
    this.#agent = agent;
    this.#sessionId = opened.sessionId;
    this.#options = opened.configOptions ?? [];
  }

  /** Returns what the agent does not offer: nothing, or the requested value. */
  async choose(category: string, name: string | undefined): Promise<readonly string[]> {
    if (name === undefined) {
      return [];
    }
    const option = this.#options.find((each) => each.category === category && each.type === "select");
    const value = valuesOf(option).find((each) => each.toLowerCase() === name.toLowerCase());
    if (option === undefined || value === undefined) {
      return [name];
    }
    if (option.currentValue === value) {
      return [];
    }
    return (await this.#set(option.id, value)) ? [] : [name];
  }

  /** Each model has its own options. */
  async #set(configId: string, value: string): Promise<boolean> {
    const sessionId = this.#sessionId;
    try {
      const answer = await this.#agent.request("session/set_config_option", { sessionId, configId, value });
      this.#options = answer.configOptions ?? [];
      return true;
    } catch (error) {
      if (error instanceof RequestError) {
        return false;
      }
      throw error;
    }
  }
}

function valuesOf(option: SessionConfigOption | undefined): readonly string[] {
  if (option?.type !== "select") {
    return [];
  }
  const entries = option.options.flatMap((entry) => ("options" in entry ? entry.options : [entry]));
  return entries.map(({ value }) => value);
}

/** What an agent reports about a session when it opens it. */
export interface OpenedModes {
  readonly configOptions?: readonly SessionConfigOption[] | null;
  readonly modes?: SessionModeState | null;
}

interface Offer {
  readonly ids: readonly string[];
  readonly current: string;
  /** The configuration option for the mode. Without it, the older request sets the mode. */
  readonly configId?: string;
}

const NORMAL = "normal";
/** Modes that Errand sets. A resumed session may still be in one of them. */
const OURS = ["plan", "orchestrate"];

/** The mode of an agent's session. It is set for one turn and reset afterwards. */
export class SessionMode {
  readonly #agent: ClientContext;
  readonly #sessionId: string;
  readonly #offer: Offer | undefined;
  /** The agent's own mode. */
  readonly #ownMode: string | undefined;
  #isOwnMode: boolean;

  constructor(agent: ClientContext, sessionId: string, opened: OpenedModes) {
    this.#agent = agent;
    this.#sessionId = sessionId;
    this.#offer = offerOf(opened);
    const isOurs = (id: string) => OURS.some((name) => isNamed(id, name));
    this.#isOwnMode = this.#offer === undefined || !isOurs(this.#offer.current);
    this.#ownMode = this.#isOwnMode ? this.#offer?.current : this.#offer?.ids.find((id) => !isOurs(id));
  }

  /** Whether the agent works in that mode now. An agent without such a mode stays in its own. */
  async enter(name: string): Promise<boolean> {
    const wanted = name === NORMAL ? undefined : this.#offer?.ids.find((id) => isNamed(id, name));
    const target = wanted ?? this.#ownMode;
    // An agent may also leave such a mode by itself, so it is set again for each turn.
    const isThere = wanted === undefined && this.#isOwnMode;
    if (target !== undefined && !isThere && !(await this.#set(target))) {
      return name === NORMAL;
    }
    this.#isOwnMode = wanted === undefined;
    return wanted !== undefined || name === NORMAL;
  }

  /** False when the agent refused. */
  async #set(id: string): Promise<boolean> {
    const sessionId = this.#sessionId;
    const configId = this.#offer?.configId;
    try {
      if (configId === undefined) {
        await this.#agent.request("session/set_mode", { sessionId, modeId: id });
      } else {
        await this.#agent.request("session/set_config_option", { sessionId, configId, value: id });
      }
      return true;
    } catch (error) {
      if (error instanceof RequestError) {
        return false;
      }
      throw error;
    }
  }
}

/** The next version of the protocol has only options, so options are preferred. */
function offerOf({ configOptions, modes }: OpenedModes): Offer | undefined {
  const option = configOptions?.find(({ category, type }) => category === "mode" && type === "select");
  if (option?.type === "select") {
    const ids = option.options.flatMap((entry) => ("options" in entry ? entry.options : [entry]));
    return { ids: ids.map(({ value }) => value), current: option.currentValue, configId: option.id };
  }
  if (!modes) {
    return undefined;
  }
  return { ids: modes.availableModes.map(({ id }) => id), current: modes.currentModeId };
}

/** Some agents name their modes by URL: `https://…/session-modes#plan`. */
function isNamed(id: string, name: string): boolean {
  return id.toLowerCase() === name || id.toLowerCase().endsWith(`#${name}`);
}
