import type { UsageGroup, UsageRow } from "@errand/client";
import type { Command } from "commander";
import { handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { type Column, parseDuration, safeText } from "../output.ts";

const GROUP_MEMBERS: Readonly<Record<UsageGroup, keyof UsageRow>> = {
  day: "day",
  source: "source",
  creator: "creator_uid",
  environment: "environment_id",
  repository: "repository",
  agent: "agent",
  model: "model_id",
};

export function addUsageCommand(program: Command): void {
  const usage = program
    .command("usage")
    .summary("show runs, tokens and cost")
    .description(
      `Shows runs, success rate, time, tokens and cost. Groups: ${Object.keys(GROUP_MEMBERS).join(", ")}.`,
    )
    .option("--by <groups>", "one or more groups, separated by commas", "day")
    .option("--since <duration>", "only runs of this time", "30d")
    .option("--csv", "write CSV");
  handle(
    setMembers(usage, MEMBERS.UsageRow),
    async (cli, options: { readonly by: string; readonly since: string; readonly csv?: boolean }) => {
      const groups = options.by.split(",").map((name) => name.trim());
      const unknown = groups.find((name) => !(name in GROUP_MEMBERS));
      if (unknown !== undefined) {
        throw new UsageError(
          `"${unknown}" is not a group.`,
          `Groups: ${Object.keys(GROUP_MEMBERS).join(", ")}`,
        );
      }
      const from = new Date(Date.now() - parseDuration(options.since)).toISOString().slice(0, 10);
      const { usage: rows } = await (await cli.client()).usage.retrieve({
        from,
        group_by: groups as UsageGroup[],
      });
      const columns: readonly Column<UsageRow>[] = [
        ...groups.map((name): Column<UsageRow> => {
          const value = (row: UsageRow) => row[GROUP_MEMBERS[name as UsageGroup]];
          return { title: name.toUpperCase(), value };
        }),
        { title: "RUNS", value: ({ runs }) => runs },
        {
          title: "SUCCEEDED",
          value: ({ success_rate: rate }) => (rate === undefined ? undefined : `${Math.round(rate * 100)}%`),
        },
        { title: "MEDIAN S", value: ({ median_seconds_to_result: seconds }) => rounded(seconds) },
        { title: "P95 S", value: ({ p95_seconds_to_result: seconds }) => rounded(seconds) },
        { title: "TOKENS", value: ({ total_tokens }) => total_tokens },
        { title: "USD", value: ({ inference_cost_usd: cost }) => cost.toFixed(2) },
      ];
      if (options.csv === true) {
        cli.output.line(csvLine(columns.map(({ title }) => title.toLowerCase().replaceAll(" ", "_"))));
        for (const row of rows) {
          cli.output.line(csvLine(columns.map(({ value }) => String(value(row) ?? ""))));
        }
        return;
      }
      cli.output.table(rows, columns, "No runs in this time.");
    },
  );
}

function rounded(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds);
}

/** A spreadsheet would take a cell that begins with such a character for a formula. */
function csvLine(cells: readonly string[]): string {
  return cells
    .map((cell) => safeText(cell))
    .map((cell) => (/^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell))
    .map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(",");
}
