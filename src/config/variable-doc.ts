/** The sections of docs/configuration.md, in their order. */
export const VARIABLE_GROUPS = [
  "Server",
  "Database",
  "Keys",
  "Signing in",
  "Agents",
  "Models",
  "Sandbox",
  "Limits",
  "Disk",
  "Slack",
  "GitHub",
  "Networks",
  "TLS and proxy",
  "Logging",
] as const;

/** Documents one variable. Its place is beside the schema that reads the variable. */
export interface VariableDoc {
  readonly group: (typeof VARIABLE_GROUPS)[number];
  readonly description: string;
  /** The value as written in an environment, or words in parentheses if there is no fixed value. */
  readonly default: string;
  /** Default: false. */
  readonly secret?: boolean;
  /**
   * Whether docker-compose.yml passes the variable to both containers, sets it itself, or does neither. Default:
   * passed.
   */
  readonly compose?: "passed" | "set" | "no";
}
