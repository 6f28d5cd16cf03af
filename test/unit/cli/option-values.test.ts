import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { buildProgram } from "../../../cli/src/program.ts";

type Command = ReturnType<typeof buildProgram>;

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const DOCUMENT = resolve(import.meta.dirname, "../../../docs/openapi.json");
const { schemas }: { schemas: Record<string, Schema> } = JSON.parse(
  await readFile(DOCUMENT, "utf8"),
).components;

/** The members whose values the options have, and values that an option leaves out on purpose. */
const VALUES: Readonly<Record<string, readonly [member: string, ...without: string[]]>> = {
  // Without --pr, the environment or the repository decides.
  "run --pr": ["AmbientAgentConfig.pull_request", "off"],
  "run --mode": ["RunAgentRequest.mode"],
  "run --priority": ["AmbientAgentConfig.priority"],
  "send --mode": ["RunFollowupRequest.mode"],
  "environments create --network": ["EnvironmentConfig.network"],
  "environments edit --network": ["EnvironmentConfig.network"],
  "environments create --pr": ["EnvironmentConfig.pull_request"],
  "environments edit --pr": ["EnvironmentConfig.pull_request"],
  "policies create --effect": ["PolicyRequest.effect"],
  "policies edit --effect": ["PolicyRequest.effect"],
  "policies create --refusal": ["PolicyRequest.refusal"],
  "policies edit --refusal": ["PolicyRequest.refusal"],
  "people create --type": ["CreatePrincipalRequest.type"],
  "teams edit --sharing": ["Team.sharing"],
  "admin notices list --state": ["Notice.state"],
};

test("an option offers the values that the OpenAPI document names", () => {
  const expected = Object.entries(VALUES).map(([option, [member, ...without]]) => [
    option,
    valuesOf(member)
      .filter((value) => !without.includes(value))
      .toSorted(),
  ]);

  expect(Object.fromEntries(choicesOf(buildProgram()))).toEqual(Object.fromEntries(expected));
});

/** The sorted choices of the options of all commands. */
function choicesOf(command: Command, path: readonly string[] = []): [option: string, choices: string[]][] {
  return [
    ...command.options.flatMap(({ argChoices, long }): [string, string[]][] =>
      argChoices === undefined ? [] : [[[...path, long].join(" "), argChoices.toSorted()]],
    ),
    ...command.commands.flatMap((child) => choicesOf(child, [...path, child.name()])),
  ];
}

function valuesOf(path: string): readonly string[] {
  const [schema = "", member = ""] = path.split(".");
  const found = schemas[schema]?.properties?.[member];
  const values = found?.$ref === undefined ? found?.enum : schemas[found.$ref.split("/").at(-1) ?? ""]?.enum;
  expect(values, path).toBeDefined();
  return values ?? [];
}
