import { type Check, ok } from "../ports/check.ts";

export interface InstalledAgent {
  readonly name: string;
  readonly version: string;
  /** Undefined: the registry did not answer. */
  readonly newer: string | "none" | undefined;
}

/** `listInstalled`: the agents of this machine. A newer version is no fault, so the check never warns. */
export function agentVersionsCheck(listInstalled: () => Promise<readonly InstalledAgent[]>): Check {
  return {
    name: "agent_versions",
    async run() {
      const installed = await listInstalled();
      const unknown = installed.filter(({ newer }) => newer === undefined).map(({ name }) => name);
      const outdated = installed.filter(({ newer }) => newer !== undefined && newer !== "none");
      const words = outdated.map(({ name, newer, version }) => `${name} ${newer} is newer than ${version}`);
      if (installed.length === 0) {
        return ok("No agent is installed on the machine of this process.");
      }
      const texts = [
        ...(outdated.length === 0 ? [] : [`${words.join(", ")}: errand admin agents update NAME.`]),
        ...(unknown.length === 0
          ? []
          : [`npm's registry did not say the newest versions of ${unknown.join(", ")}.`]),
      ];
      return ok(texts.join(" ") || "The installed agents have their newest versions.");
    },
  };
}
