import type { Issue } from "../edit/issues.ts";
import type { Option } from "../parts/options.ts";

/** What conditions can name and only the page knows. */
export type OptionList = "agents" | "environments" | "principals" | "sources";

/** A condition of a policy or a routing rule, as people read it. */
export interface Condition {
  /** The member of `match`. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** What can be chosen. Absent: texts, one on each line. */
  readonly options?: readonly Option[] | OptionList;
  /** Only one value is possible. */
  readonly isSingle?: true;
  /** The value is one object, which is edited as JSON. */
  readonly isJson?: true;
}

/** The values of the conditions that are in use, by their names. Texts are as typed. */
export type MatchDraft = Readonly<Record<string, readonly string[]>>;

const SOURCES: Condition = {
  name: "sources",
  label: "Source of the request",
  options: "sources",
};

const PLACES: readonly Condition[] = [
  { name: "integrations", label: "Integration", hint: "For example slack or github." },
  {
    name: "installations",
    label: "Workspace or organization",
    hint: "The ids of the platform, for example T024BE7LD.",
  },
  {
    name: "places",
    label: "Channel or repository of the request",
    hint: "For example C024BE91L or acme/web. * matches any characters.",
  },
];

export const POLICY_CONDITIONS: readonly Condition[] = [
  {
    name: "actions",
    label: "Action",
    options: [
      { value: "create", name: "Start a run" },
      { value: "follow_up", name: "Send a follow-up" },
      { value: "steer", name: "Interrupt or steer a turn" },
      { value: "cancel", name: "Stop a run" },
      { value: "answer", name: "Answer a question" },
      { value: "approve", name: "Approve" },
    ],
  },
  {
    name: "roles",
    label: "Role of the caller",
    hint: "One is enough. Outsiders are admitted only by a policy that names their role.",
    options: [
      { value: "administrator", name: "Administrator of the team" },
      { value: "write", name: "May push to the repository (GitHub)" },
      { value: "read", name: "May only read the repository (GitHub, outsider)" },
      { value: "outside", name: "No permission on the repository (GitHub, outsider)" },
      { value: "member", name: "Full member of the workspace (Slack)" },
      { value: "participant", name: "Mentioned in the thread by the author of the run (Slack)" },
      { value: "guest", name: "Guest of the workspace or of a share link (outsider)" },
      { value: "external", name: "Member of another workspace (Slack, outsider)" },
      { value: "bot", name: "Bot (outsider)" },
    ],
  },
  {
    name: "bots",
    label: "Bot",
    hint: "The ids of Slack, for example B024BE7LD. With the role Bot, a workflow or an incoming webhook may ask.",
  },
  { name: "principals", label: "Person or program", options: "principals" },
  {
    name: "principal_types",
    label: "Kind of caller",
    options: [
      { value: "user", name: "People" },
      { value: "service_account", name: "Programs" },
    ],
  },
  { name: "groups", label: "Group of the caller", hint: "As the identity provider names it." },
  {
    name: "relation",
    label: "Whose run",
    isSingle: true,
    options: [
      { value: "own", name: "The caller's own runs" },
      { value: "others", name: "Runs of others" },
    ],
  },
  SOURCES,
  ...PLACES,
  {
    name: "request_kinds",
    label: "Way of asking",
    options: [
      { value: "mention", name: "A mention of the bot" },
      { value: "command", name: "A line that begins with /errand" },
      { value: "description", name: "A new issue or pull request that mentions the bot" },
      { value: "review", name: "A review that mentions the bot" },
      { value: "review_requested", name: "A request to the bot to review a pull request" },
      { value: "label", name: "The label of the bot on an issue or pull request" },
      { value: "changes_requested", name: "A review that requests changes of a run's pull request" },
      { value: "failing_checks", name: "Failing checks of a run's pull request" },
      { value: "merge_conflict", name: "A merge conflict of a run's pull request" },
      { value: "pull_request_opened", name: "An opened pull request, which is reviewed" },
      { value: "new_commits", name: "New commits of a pull request that is reviewed" },
    ],
  },
  { name: "environments", label: "Environment", options: "environments" },
  {
    name: "repositories",
    label: "Repository of the run",
    hint: "As owner/name. * matches any characters.",
  },
  { name: "agents", label: "Agent", options: "agents" },
  { name: "models", label: "Model", hint: "The ids that the configuration of the run names." },
  {
    name: "priorities",
    label: "Priority",
    options: ["high", "normal", "low"].map((value) => ({ value, name: value })),
  },
  {
    name: "workflow",
    label: "CI workflow that may get a key",
    hint: 'As JSON: {"issuer": "https://token.actions.githubusercontent.com", "repository_ids": ["812345678"], "refs": ["refs/heads/main"], "events": ["push"]}. The policy then also names one person or program, and nothing else.',
    isJson: true,
  },
];

export const ROUTING_CONDITIONS: readonly Condition[] = [
  SOURCES,
  ...PLACES,
  { name: "text", label: "Words of the request", hint: "Words or phrases. Case is ignored." },
];

export function matchDraftOf(match: object): MatchDraft {
  return Object.fromEntries(
    Object.entries(match).map(([name, values]: [string, string | readonly string[] | object]) => [
      name,
      typeof values === "object" && !Array.isArray(values)
        ? JSON.stringify(values, null, 2).split("\n")
        : [values].flat(),
    ]),
  );
}

/** A condition without a value would match nothing, and leaving it out would match more than the user sees. */
export function emptyConditions(match: MatchDraft): readonly Issue[] {
  return Object.entries(match)
    .filter(([, values]) => valuesOf(values).length === 0)
    .map(([name]) => ({
      path: `match.${name}`,
      message: "Name at least one value, or remove the condition",
    }));
}

/** The `match` of the request. */
export function matchOf(match: MatchDraft, conditions: readonly Condition[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(match).map(([name, values]) => {
      const { isJson, isSingle } = conditions.find((condition) => condition.name === name) ?? {};
      if (isJson) {
        return [name, jsonOf(values.join("\n"))];
      }
      return [name, isSingle ? valuesOf(values)[0] : valuesOf(values)];
    }),
  );
}

/** A text that is no JSON stays a text: the server then says at this field what it needs. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function valuesOf(values: readonly string[]): readonly string[] {
  return values.map((value) => value.trim()).filter((value) => value !== "");
}

/** `Action: Start a run; Environment: Web`, or undefined without conditions. `names` has the names of what the server has. */
export function matchText(
  match: object,
  conditions: readonly Condition[],
  names: ReadonlyMap<string, string>,
): string | undefined {
  const texts = Object.entries(matchDraftOf(match)).map(([name, values]) => {
    const condition = conditions.find((each) => each.name === name);
    const options = typeof condition?.options === "object" ? condition.options : [];
    const known = new Map(options.map((option) => [option.value, option.name]));
    const words = values.map((value) => known.get(value) ?? names.get(value) ?? value);
    const text = condition?.isJson ? words.map((line) => line.trim()).join(" ") : words.join(", ");
    return `${condition?.label ?? name}: ${text}`;
  });
  return texts.length === 0 ? undefined : texts.join("; ");
}
