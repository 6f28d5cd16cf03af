import type { Issue } from "../edit/issues.ts";

/** The members that policies and routing rules share. Texts are as typed. */
export interface RuleDraft {
  readonly name: string;
  readonly priority: string;
  readonly enabled: boolean;
}

const DEFAULT_PRIORITY = 100;

export function ruleDraftOf(
  rule: { readonly name: string; readonly priority: number; readonly enabled: boolean } | undefined,
): RuleDraft {
  const { name = "", priority = DEFAULT_PRIORITY, enabled = true } = rule ?? {};
  return { name, priority: String(priority), enabled };
}

export function ruleIssuesOf({ name, priority }: RuleDraft): readonly Issue[] {
  return [
    ...(name.trim() === "" ? [{ path: "name", message: "Write a name" }] : []),
    ...(/^-?\d+$/.test(priority.trim()) ? [] : [{ path: "priority", message: "Write a whole number" }]),
  ];
}

export function ruleRequestOf({ name, priority, enabled }: RuleDraft) {
  return { name: name.trim(), priority: Number(priority), enabled };
}
