import {
  type ClientContext,
  RequestError,
  type SessionConfigOption,
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
