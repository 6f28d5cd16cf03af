import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";

/** The value of an input, or undefined if the workflow gives none. */
export function input(name: string): string | undefined {
  const value = process.env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`]?.trim();
  return value === "" ? undefined : value;
}

export function requiredInput(name: string): string {
  const value = input(name);
  if (value === undefined) {
    throw new Error(`The input "${name}" is missing. Add it to the step, below "with:".`);
  }
  return value;
}

/** Sets an output of the step. The mark around the value is random, so that no value can end it. */
export async function setOutput(name: string, value: string): Promise<void> {
  const mark = randomUUID();
  await append("GITHUB_OUTPUT", `${name}<<${mark}\n${value}\n${mark}\n`);
}

const SUMMARY_LENGTH = 500_000;

/** Adds Markdown to the summary of the job. */
export async function addSummary(markdown: string): Promise<void> {
  const cut = markdown.length > SUMMARY_LENGTH ? `${markdown.slice(0, SUMMARY_LENGTH)}…` : markdown;
  await append("GITHUB_STEP_SUMMARY", `${cut}\n`);
}

async function append(variable: string, text: string): Promise<void> {
  const file = process.env[variable];
  if (file !== undefined && file !== "") {
    await appendFile(file, text);
  }
}

/** The runner replaces the value in its log. */
export function mask(secret: string): void {
  process.stdout.write(`::add-mask::${escaped(secret)}\n`);
}

export function fail(message: string): void {
  process.exitCode = 1;
  process.stdout.write(`::error::${escaped(message)}\n`);
}

/** Writes text of the agent to the log. The runner would obey lines that begin with `::`. */
export function writeUntrusted(text: string): void {
  const mark = randomUUID();
  process.stdout.write(`::stop-commands::${mark}\n${text}\n::${mark}::\n`);
}

function escaped(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** The OpenID Connect token of the job. Undefined: the job may not request one. */
export async function idToken(audience: string): Promise<string | undefined> {
  const { ACTIONS_ID_TOKEN_REQUEST_TOKEN: key, ACTIONS_ID_TOKEN_REQUEST_URL: address } = process.env;
  if (!key || !address) {
    return undefined;
  }
  const url = new URL(address);
  url.searchParams.set("audience", audience);
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}`, accept: "application/json" },
  });
  if (!response.ok) {
    throw new Error(`The runner gave no token for this job: its answer has the status ${response.status}.`);
  }
  const { value } = (await response.json()) as { readonly value?: unknown };
  if (typeof value !== "string") {
    throw new Error("The runner gave no token for this job.");
  }
  return value;
}
