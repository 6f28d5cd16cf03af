import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { AgentConnection } from "../../src/agents/acp/agent-connection.ts";
import { AgentProcess } from "../../src/agents/acp/agent-process.ts";
import { demoAgent } from "../../src/agents/demo-agent.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import type { Bench, Figure } from "../bench.ts";
import { type Goal, type Row, ratioRow } from "../report.ts";
import { type Service, startService } from "../setup/service.ts";
import { ratioOf, spreadOf } from "../statistics.ts";

const SAMPLES_PER_ROUND = 5;
/** Long enough that the next agent waits, also while the machine is loaded. A run that takes none ends the measurement. */
const BETWEEN_MS = 3_000;
const PROMPT = "say hello";
const SECRET = "BENCHMARK";
/** A run that names only this one gets no secret. */
const NO_SECRET = "NO_BENCHMARK";
const GOAL: Goal = { reach: 0.6, aim: 0.4, wants: "less" };
type Kind = "warm" | "cold" | "floor";

/**
 * P23: the time from sending the request to create a run until its event stream has the agent's first text, with an
 * agent that waited and with one that starts for the run, because it has a secret. The floor is the same agent without
 * Errand, already initialized: from `session/new` to its first text.
 */
export const firstText: Figure = {
  names: ["P23"],
  measure: async (bench) => {
    bench.log("P23: create to the first text");
    const service = await startService(bench.folder, await bench.postgres.database("first_text"), {
      ERRAND_ROLE: "all",
      ERRAND_SANDBOX: "bubblewrap",
      ERRAND_WARM_AGENTS: "1",
    });
    bench.cleanup.defer(() => service.child.stop());
    await putSecret(service);
    const times: Record<Kind, number[]> = { warm: [], cold: [], floor: [] };
    // The first sample of each kind fills caches.
    for (let left = bench.options.rounds * SAMPLES_PER_ROUND; left >= 0; left -= 1) {
      await pause(BETWEEN_MS);
      times.warm.push(await runMs(service, { isWarm: true }));
      times.cold.push(await runMs(service, { isWarm: false }));
      times.floor.push(await floorMs(bench));
    }
    return rowsOf({ warm: times.warm.slice(1), cold: times.cold.slice(1), floor: times.floor.slice(1) });
  },
};

function rowsOf({ cold, floor, warm }: Readonly<Record<Kind, readonly number[]>>): readonly Row[] {
  const row = (what: string, other: readonly number[]) => {
    const ratio = ratioOf(warm, other);
    const spreads = { ours: spreadOf(warm), floor: spreadOf(other), ratio };
    return ratioRow({ figure: "P23", what }, spreads, GOAL, "ms");
  };
  return [
    row("create to the first text, warm agent against cold", cold),
    // The demo agent calls no model, so nearly all of this is the time of Errand.
    { ...row("the same, against the agent alone", floor), goal: "", verdict: "" },
  ];
}

async function send(
  { headers, url }: Service,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  const answer = await fetch(`${url}/api/v1/agent/${path}`, {
    method,
    headers: { ...headers, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) {
    throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
  }
  return answer;
}

async function putSecret(service: Service): Promise<void> {
  await send(service, "PUT", `secrets/${SECRET}`, { value: "a value that is long enough" });
}

/** Reads the stream to its end, so that the next sample begins on an idle machine. */
async function runMs(service: Service, { isWarm }: { readonly isWarm: boolean }): Promise<number> {
  const sentMs = performance.now();
  const config = { secrets: [{ name: isWarm ? NO_SECRET : SECRET }] };
  const { run_id: runId } = (await (
    await send(service, "POST", "runs", { prompt: PROMPT, config })
  ).json()) as { run_id: string };
  const { body } = await send(service, "GET", `runs/${runId}/events`);
  let firstMs: number | undefined;
  let log = "";
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    log += chunk;
    if (firstMs === undefined && log.includes('"kind":"agent.message"')) {
      firstMs = performance.now() - sentMs;
    }
  }
  if (firstMs === undefined || log.includes('"warm":true') !== isWarm) {
    throw new Error(`The run ${runId} had no text, or not the agent that was expected:\n${log}`);
  }
  return firstMs;
}

async function floorMs({ folder }: Bench): Promise<number> {
  const home = join(folder, `first-text-${randomUUID()}`);
  await mkdir(home);
  const { env, argv, readable } = demoAgent.launch({
    home,
    directory: "",
    address: "",
    servers: {},
    permissionPolicy: "allow",
  });
  const command = {
    argv,
    readable,
    cwd: home,
    writable: [home],
    env: { ...env, PATH: process.env.PATH ?? "", HOME: home },
  };
  const agent = new AgentConnection(
    new AgentProcess(createLocalSandbox(home).spawn(command), () => undefined),
  );
  try {
    await agent.initialize(undefined);
    return await sessionMs(agent, home);
  } finally {
    await agent.close();
  }
}

/** From `session/new` to the first text. */
async function sessionMs(agent: AgentConnection, cwd: string): Promise<number> {
  const begunMs = performance.now();
  const first = new Promise<number>((resolve) => {
    agent.listen({
      update: (update) => {
        if (JSON.stringify(update).includes('"agent_message_chunk"')) {
          resolve(performance.now() - begunMs);
        }
      },
      answered: () => undefined,
      backpressure: () => undefined,
      noise: () => undefined,
      permission: async () => ({ outcome: { outcome: "cancelled" } }),
    });
  });
  const { sessionId } = await agent.client.agent.request("session/new", { cwd, mcpServers: [] });
  await agent.client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: PROMPT }] });
  return first;
}
