import type { Policy, PolicyMatch, PolicyRequest } from "@errand/client";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { MEMBERS } from "../generated/members.ts";
import { collect, definedMembers, pairOf, parseCount } from "../options.ts";
import { addRecordKind } from "./record-kind.ts";

interface PolicyOptions {
  readonly name?: string;
  readonly effect?: PolicyRequest["effect"];
  readonly priority?: number;
  readonly match?: readonly string[];
  readonly reason?: string;
  readonly refusal?: PolicyRequest["refusal"];
}

export function addPolicyCommands(program: Command): void {
  const policies = async (cli: Cli) => (await cli.client()).policies;
  addRecordKind<Policy, PolicyRequest>(program, {
    name: "policies",
    one: "policy",
    members: MEMBERS.Policy,
    columns: [
      { title: "PRIORITY", value: ({ priority }) => priority, isWhole: true },
      { title: "NAME", value: ({ name }) => name },
      { title: "ID", value: ({ id }) => id, isWhole: true },
      { title: "EFFECT", value: ({ effect }) => effect.replaceAll("_", " ") },
      { title: "IS", value: stateOf },
      { title: "MATCH", value: ({ match }) => matchText(match) },
      { title: "REASON", value: ({ reason }) => reason },
    ],
    idOf: ({ id }) => id,
    nameOf: ({ name }) => name,
    list: async (cli) => (await (await policies(cli)).list()).policies,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .addOption(
          new Option("--effect <effect>", "what it does").choices(["allow", "deny", "require_approval"]),
        )
        .addOption(new Option("--priority <number>", "the lowest is evaluated first").argParser(parseCount))
        .option(
          "--match <condition=values>",
          "when it applies, for example sources=CLI,API or roles=guest (repeatable)",
          collect,
        )
        .option("--reason <text>", "shown to callers that are refused or must wait")
        .addOption(
          new Option("--refusal <way>", "how a refused message is answered in its thread").choices([
            "comment",
            "reaction",
            "silent",
          ]),
        ),
    editOf: async (_, { effect, match, name, priority, reason, refusal }: PolicyOptions) =>
      definedMembers({ name, effect, priority, match: match && matchOf(match), reason, refusal }),
    create: async (cli, edit) => (await policies(cli)).create(edit),
    editable: ({ effect, enabled, match, name, priority, reason, refusal }) => ({
      name,
      effect,
      priority,
      enabled,
      match,
      ...definedMembers({ reason, refusal }),
    }),
    path: "/agent/policies",
    replace: async (cli, id, edit, version) => (await policies(cli)).replace(id, edit, version),
    remove: async (cli, id) => (await policies(cli)).delete(id),
  });
}

function stateOf({ builtin, enabled }: Policy): string {
  return builtin === true ? "built-in" : enabled ? "active" : "off";
}

function matchText(match: PolicyMatch): string {
  return Object.entries(match)
    .map(([condition, values]) => `${condition}=${values}`)
    .join(" ");
}

/** Every condition has a list of values, except `relation`. */
function matchOf(entries: readonly string[]): PolicyMatch {
  const conditions = entries.map(pairOf);
  return Object.fromEntries(
    conditions.map(([name, values]) => [name, name === "relation" ? values : values.split(",")]),
  );
}
