import type { Config } from "../config/config.ts";
import type { App } from "./start.ts";

/** What the user sees at the start: the address, the key, a command to try, and what is missing. */
export function startupMessage(
  { agentName, agentProblem, keyFile, modelNote, pagesProblem, sandboxName, sandboxProblem, url }: App,
  config: Config,
): string {
  const lines = [`Errand is ready at ${url}`, ""];
  if (keyFile !== undefined) {
    const command = config.databaseUrl === undefined ? TRY_IT : curlCommand(url, keyFile);
    lines.push(`Your API key is in ${keyFile}. Try:`, "", command, "");
  }
  if (pagesProblem !== undefined) {
    lines.push(`WARNING: ${pagesProblem}`);
  } else if (keyFile !== undefined) {
    lines.push(`To watch runs, open ${url} and sign in with the key.`);
  }
  if (keyFile === undefined && config.apiKey === undefined) {
    lines.push(ELSEWHERE);
  }
  lines.push(...config.notes);
  if (agentName === "demo") {
    lines.push(DEMO);
  }
  if (agentProblem !== undefined) {
    lines.push(`WARNING: ${agentProblem}`);
  }
  if (modelNote !== undefined) {
    lines.push(modelNote);
  }
  if (sandboxName === "local") {
    lines.push(LOCAL);
  }
  if (sandboxProblem !== undefined) {
    lines.push(
      `${agentName === "demo" ? NO_SANDBOX : `${NO_SANDBOX} Runs of ${agentName} are refused.`} ${sandboxProblem}`,
    );
  }
  if (config.databaseUrl === undefined) {
    lines.push(`Everything is kept in ${config.dataDir}. Stop with Ctrl-C.`);
  }
  return `${lines.join("\n")}\n`;
}

/** The command line finds a server of its own machine that has its database in its data directory. */
const TRY_IT = 'npx errand run "Look around and write a report" --no-repo --follow';

/** For a server in a container, which has no command line. */
function curlCommand(url: string, keyFile: string): string {
  const header = `-H "Authorization: Bearer $(cat '${keyFile}')" -H 'Content-Type: application/json'`;
  return `curl -s ${url}/api/v1/agent/runs ${header} -d '{"prompt": "Look around and write a report"}'`;
}

const ELSEWHERE =
  "The API key was made by the process that started first on this database: it is in the file api-key in that one's data directory.";
const DEMO =
  "Runs are done by the built-in demo agent, which needs no model. ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENAI_BASE_URL gives them a real one.";
const LOCAL =
  "WARNING: ERRAND_SANDBOX=local protects nothing: every run can read and change this user's files, including the API key, the secret key and the database.";
const NO_SANDBOX = "WARNING: there is no sandbox, so only the demo agent runs.";
