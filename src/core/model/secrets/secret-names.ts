import type { NamedAgent } from "../defaults/named-agent.ts";
import type { RunConfig } from "../runs/run.ts";

/** What limits the secrets of a run, before the run exists. */
interface SecretsRequest {
  readonly config?: Pick<RunConfig, "secrets">;
  readonly namedAgent?: Pick<NamedAgent, "secretNames">;
}

/** The only team secrets that the run of a request gets. Undefined: all. */
export function secretNamesOf({ config, namedAgent }: SecretsRequest): readonly string[] | undefined {
  const own = namesIn(config?.secrets);
  const names = own.length > 0 ? own : (namedAgent?.secretNames ?? []);
  return names.length === 0 ? undefined : [...new Set(names)];
}

export function namesIn(secrets: RunConfig["secrets"] = []): readonly string[] {
  return secrets.map(({ name }) => name);
}
