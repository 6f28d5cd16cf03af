/** The agents that users can choose for their runs. */
export interface AgentCatalogueView {
  /** The agent for runs that name none. */
  readonly defaultName: string;
  /** The agents on this machine at this moment. The default agent comes first. */
  list(): Promise<readonly CatalogueEntry[]>;
}

export interface CatalogueEntry {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly installed: boolean;
  /** Whether the agent can do a run now: it has a model, and it is installed or can be installed. */
  readonly usable: boolean;
  readonly version?: string;
  readonly license?: string;
  /** What is missing, or will be done on first use, one sentence each. */
  readonly needs: readonly string[];
  /** The first is the default. Users may name any other model too. */
  readonly models: readonly AgentModel[];
}

export interface AgentModel {
  readonly id: string;
  readonly displayName: string;
  readonly provider: string;
  readonly seesImages: boolean;
  readonly description?: string;
}
