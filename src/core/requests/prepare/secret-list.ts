import { AppError } from "../../basics/errors.ts";
import type { ConfigLayer } from "../../model/runs/run.ts";
import { namesIn } from "../../model/secrets/secret-names.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { NewRun } from "./new-run.ts";

/**
 * Adds the list of secrets that counts: that of the request, otherwise that of the named agent, that of what the request
 * inherits, and that of the environment. The list of a named agent is also a limit, because administrators set it.
 */
export function withSecretList({
  environment,
  request,
}: {
  readonly request: NewRun;
  readonly environment?: Environment;
}): NewRun {
  const { config = {}, namedAgent, provenance } = request;
  const isRequested = provenance?.config_layers?.secrets === "request";
  const ofAgent = namedAgent?.secretNames ?? [];
  if (ofAgent.length > 0 && isRequested) {
    requireAmong(ofAgent, request, "config");
    return request;
  }
  if (ofAgent.length > 0) {
    return having(request, ofAgent, "agent");
  }
  const ofEnvironment = environment?.config.secretNames ?? [];
  return config.secrets === undefined && ofEnvironment.length > 0
    ? having(request, ofEnvironment, "default")
    : request;
}

/** Throws `not_authorized` if the configuration names a secret that the named agent may not use. */
export function requireAmong(
  ofAgent: readonly string[],
  { config }: Pick<NewRun, "config">,
  member: string,
): void {
  const names = namesIn(config?.secrets);
  const index = names.findIndex((name) => !ofAgent.includes(name));
  if (ofAgent.length === 0 || index === -1) {
    return;
  }
  const name = names[index] ?? "";
  throw new AppError("not_authorized", `The agent of this run may not use the secret ${name}.`, {
    remedy: "Leave it out, or let an administrator add it to the secrets of the named agent.",
    issues: [{ path: `${member}.secrets.${index}.name`, message: "is not a secret of the named agent" }],
  });
}

function having(request: NewRun, names: readonly string[], layer: ConfigLayer): NewRun {
  const { config = {}, ownConfig = config, provenance = {} } = request;
  const config_layers = { ...provenance.config_layers, secrets: layer };
  return {
    ...request,
    ownConfig,
    config: { ...config, secrets: names.map((name) => ({ name })) },
    provenance: { ...provenance, config_layers },
  };
}
