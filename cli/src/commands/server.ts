import type { DoctorCheck } from "@errand/client";
import type { Command } from "commander";
import { handle } from "../cli.ts";
import { EXIT, Exit } from "../failure.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { type Column, oneLine } from "../output.ts";
import { addMachineAgents } from "./machine-agents.ts";
import { addAdminResources } from "./resources.ts";

const CHECK_STYLES = { ok: "green", warn: "yellow", fail: "red" } as const;

export function addServerCommands(program: Command): void {
  const status = program
    .command("status")
    .summary("show the server and what needs you")
    .description("Shows the server, who you are, and what needs you.");
  handle(status, async (cli) => {
    const { origin, url } = await cli.connection();
    const client = await cli.client();
    const [who, { workers }, { runs: active }] = await Promise.all([
      client.whoami(),
      client.workers.list(),
      client.runs.list({ state: ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"], limit: 500 }),
    ]);
    const count = (...states: readonly string[]) =>
      active.filter(({ state }) => states.includes(state)).length;
    const mine = active.filter(
      ({ creator, state }) => state === "BLOCKED" && creator.uid === who.principal.uid,
    );
    const counts = {
      working: count("PENDING", "CLAIMED", "INPROGRESS"),
      queued: count("QUEUED"),
      waiting_for_people: count("BLOCKED"),
      waiting_for_you: mine.length,
      workers: workers.reduce((sum, { connection_count }) => sum + connection_count, 0),
    };
    cli.output.details(
      { url, key_from: origin, principal: who.principal, team: who.team, ...counts },
      {
        server: url,
        "key from": origin,
        you: `${who.principal.display_name ?? who.principal.uid}, team ${who.team.name}`,
        workers: counts.workers || undefined,
        working: counts.working,
        queued: counts.queued,
        "waiting for people": counts.waiting_for_people,
        "waiting for you": mine.map(({ run_id, title }) => `${run_id.slice(0, 13)} ${title}`).join("; "),
      },
    );
  });

  addDoctor(program);
  const admin = program
    .command("admin")
    .summary("check the server, and list what it received, sent and changed");
  addDoctor(admin);
  addMachineAgents(admin);
  addAdminResources(admin);
}

function addDoctor(parent: Command): void {
  const doctor = parent
    .command("doctor")
    .summary("check the server")
    .description("Lets the server check itself. The exit code is 1 if a check fails.");
  handle(setMembers(doctor, MEMBERS.DoctorResponse), async (cli) => {
    const { checks, ...report } = await (await cli.client()).doctor.retrieve();
    const columns: readonly Column<DoctorCheck>[] = [
      { title: "CHECK", value: ({ name }) => name },
      { title: "IS", value: ({ status }) => status, style: ({ status }) => CHECK_STYLES[status] },
      { title: "FINDING", value: ({ message }) => message, isWhole: true },
    ];
    if (cli.output.isJson) {
      cli.output.json({ ...report, checks });
    } else {
      cli.output.table(checks, columns, "No checks.");
      for (const { name, remedy } of checks.filter(({ status }) => status !== "ok")) {
        cli.output.note(remedy === undefined ? "" : `${name} → ${oneLine(remedy)}`);
      }
    }
    if (report.status === "fail") {
      throw new Exit(EXIT.failed);
    }
  });
}
