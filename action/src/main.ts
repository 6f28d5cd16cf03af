import {
  type AmbientAgentConfig,
  APIError,
  AuthenticationError,
  Errand,
  type RunAgentRequest,
  type RunItem,
  type RunState,
} from "@errand/client";
import {
  addSummary,
  fail,
  idToken,
  input,
  mask,
  requiredInput,
  setOutput,
  writeUntrusted,
} from "./runner.ts";

const UID = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^[1-9A-HJ-NP-Za-km-z]{20,24}$/i;
const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);
const PULL_REQUESTS = ["off", "draft", "ready"] as const;
const MINUTE_MS = 60_000;

const server = () => requiredInput("server").replace(/\/+$/, "");

/** A client with the key of the step, or with a new key for the token of the job. */
async function connect(): Promise<Errand> {
  const options = { baseUrl: server(), defaultHeaders: { "X-Run-Source": "GITHUB_ACTION" } };
  const given = input("api-key");
  if (given !== undefined) {
    mask(given);
    return new Errand({ ...options, apiKey: given });
  }
  const token = await idToken(input("audience") ?? server());
  if (token === undefined) {
    throw new Error(
      'Give the job the permission "id-token: write", or the step an input "api-key" from a secret.',
    );
  }
  const team = input("team");
  const anonymous = new Errand({ ...options, apiKey: null });
  const { key } = await anonymous.keys.exchange({ token, ...(team === undefined ? {} : { team_uid: team }) });
  mask(key);
  return new Errand({ ...options, apiKey: key });
}

async function requestOf(client: Errand): Promise<RunAgentRequest> {
  const repository = input("repository") ?? process.env.GITHUB_REPOSITORY;
  const [agent, environment, url] = [input("agent"), input("environment"), workflowUrl()];
  const config: AmbientAgentConfig = withoutUndefined({
    repository: repository === "none" ? undefined : repository,
    ref: input("ref"),
    pull_request: pullRequest(),
    environment_id: environment === undefined ? undefined : await environmentUid(client, environment),
    harness: agent === undefined ? undefined : { type: agent },
    model_id: input("model"),
    base_prompt: input("base-prompt"),
    name: input("name"),
  });
  const metadata = url === undefined ? undefined : { workflow_run: url };
  return {
    ...withoutUndefined({ skill: input("skill"), metadata }),
    prompt: requiredInput("prompt"),
    config,
  };
}

function pullRequest(): (typeof PULL_REQUESTS)[number] | undefined {
  const given = input("pull-request");
  const known = PULL_REQUESTS.find((each) => each === given);
  if (given !== undefined && known === undefined) {
    throw new Error(`The input "pull-request" must be off, draft or ready, and is ${given}.`);
  }
  return known;
}

async function environmentUid(client: Errand, name: string): Promise<string> {
  if (UID.test(name)) {
    return name;
  }
  const { environments } = await client.environments.list();
  const found = environments.find(({ config }) => config.name === name);
  if (found === undefined) {
    throw new Error(`The server has no environment "${name}".`);
  }
  return found.uid;
}

/** The page of this workflow's run. */
function workflowUrl(): string | undefined {
  const { GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id, GITHUB_SERVER_URL: url } = process.env;
  return url && repository && id ? `${url}/${repository}/actions/runs/${id}` : undefined;
}

/** Follows the run to its end. Its key ends within the hour, and then a new one is requested. */
async function follow(first: Errand, runId: string, signal: AbortSignal): Promise<RunItem> {
  for (let [client, after] = [first, 0]; ; ) {
    try {
      for await (const event of client.runs.events(runId, { after }, { signal })) {
        if (event.kind === "reset") {
          continue;
        }
        after = event.seq;
        if (event.kind === "run.state") {
          process.stdout.write(`Run is ${event.to}.\n`);
        } else if (event.kind === "agent.tool_call" && event.status === "pending") {
          writeUntrusted(`› ${event.title}`);
        }
      }
      return await client.runs.retrieve(runId);
    } catch (error) {
      if (!(error instanceof AuthenticationError) || input("api-key") !== undefined) {
        throw error;
      }
      client = await connect();
    }
  }
}

async function report(run: RunItem): Promise<void> {
  const { outcome, result, run_id, session_link = "", state, status_message } = run;
  const pull = outcome?.pull_request?.url ?? "";
  const answer = result?.text ?? "";
  await setOutput("run-id", run_id);
  await setOutput("session-link", session_link);
  await setOutput("state", state);
  await setOutput("answer", answer);
  await setOutput("pull-request", pull);
  const refused = (outcome?.refused ?? []).map(({ by, message }) => `⚠️ ${by}: ${message}`);
  const links = [`[The run](${session_link})`, ...(pull === "" ? [] : [`[the pull request](${pull})`])];
  const lines = [
    `### Errand: ${outcome?.summary ?? status_message?.message ?? state}`,
    links.join(" · "),
    ...refused,
    answer,
  ];
  await addSummary(lines.filter((line) => line !== "").join("\n\n"));
  if (answer !== "") {
    writeUntrusted(answer);
  }
  if (!ENDED.has(state)) {
    return;
  }
  if (state !== "SUCCEEDED" || refused.length > 0) {
    fail([`The run is ${state}.`, status_message?.message, ...refused].filter(Boolean).join(" "));
  }
}

/** Cancels the run when the workflow is cancelled or the time is over. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => stop.abort(new Error("The workflow was cancelled, and the run with it.")));
  }
  const minutes = Number(input("timeout-minutes") ?? 0);
  if (minutes > 0) {
    const reason = new Error(`The run did not end within ${minutes} minutes and was cancelled.`);
    setTimeout(() => stop.abort(reason), minutes * MINUTE_MS).unref();
  }
  return stop.signal;
}

async function main(): Promise<void> {
  const client = await connect();
  const created = await client.runs.create(await requestOf(client));
  const { session_link = "" } = await client.runs.retrieve(created.run_id);
  process.stdout.write(`Run ${created.run_id}: ${session_link}\n`);
  for (const member of created.ignored ?? []) {
    process.stdout.write(`::warning::${member} has no effect on this server.\n`);
  }
  if (input("wait") === "false") {
    await report(await client.runs.retrieve(created.run_id));
    return;
  }
  const signal = stopSignal();
  try {
    await report(await follow(client, created.run_id, signal));
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
    await (await connect()).runs.cancel(created.run_id);
    throw signal.reason;
  }
}

function withoutUndefined<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

function messageOf(error: unknown): string {
  if (error instanceof APIError) {
    const { detail, remedy, title } = error.problem ?? {};
    return [detail ?? title ?? error.message, remedy].filter(Boolean).join(" ");
  }
  return error instanceof Error ? error.message : String(error);
}

await main().catch((error: unknown) => fail(messageOf(error)));
