export const CHECK_STATUSES = ["ok", "warn", "fail"] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** The result of a check. */
export interface Finding {
  readonly status: CheckStatus;
  readonly message: string;
  /** What the operator can do about it. */
  readonly remedy?: string;
}

/** Something that must be right for the server to work. The folder that knows about it provides the check. */
export interface Check {
  readonly name: string;
  run(): Promise<Finding>;
}

export interface NamedFinding extends Finding {
  readonly name: string;
}

export function ok(message: string): Finding {
  return { status: "ok", message };
}

export function warn(message: string, remedy: string): Finding {
  return { status: "warn", message, remedy };
}

export function fail(message: string, remedy: string): Finding {
  return { status: "fail", message, remedy };
}

/** The worst status. */
export function statusOf(findings: readonly Finding[]): CheckStatus {
  const statuses = new Set(findings.map(({ status }) => status));
  return CHECK_STATUSES.findLast((status) => statuses.has(status)) ?? "ok";
}
