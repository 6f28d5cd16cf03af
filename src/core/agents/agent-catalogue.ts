/** The agents that runs can be done by, as far as people choose among them. */
export interface AgentCatalogueView {
  /** Of the agent that does a run which names none. */
  readonly defaultName: string;
  /** As they are on this machine now; the default one first. */
  list(): Promise<readonly CatalogueEntry[]>;
}

export interface CatalogueEntry {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly installed: boolean;
  /** Whether a run can be done by it now: it has a model, and is installed or can be. */
  readonly usable: boolean;
  readonly version?: string;
  readonly license?: string;
  /** What is missing, or is yet to be done when it is first used, each as a sentence. */
  readonly needs: readonly string[];
  /** The first is what it takes when none is named. Any other may be named all the same. */
  readonly models: readonly AgentModel[];
}

export interface AgentModel {
  readonly id: string;
  readonly displayName: string;
  readonly provider: string;
  readonly seesImages: boolean;
  readonly description?: string;
}
