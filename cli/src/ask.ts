import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { type CANCEL_SYMBOL, confirm, isCancel, password, select, text } from "@clack/prompts";
import { CliError, EXIT, Exit } from "./failure.ts";

/** Reads standard input to its end. */
export async function readInput(): Promise<string> {
  return textOf(process.stdin);
}

/** Asks for a line of text. An empty answer stands for the default. */
export async function askText(message: string, defaultValue = ""): Promise<string> {
  return answerOf(await text({ message, defaultValue, placeholder: defaultValue }));
}

/** Asks for text that is not shown. */
export async function askSecret(message: string): Promise<string> {
  return answerOf(await password({ message }));
}

export async function askConfirm(message: string): Promise<boolean> {
  return answerOf(await confirm({ message }));
}

/** Asks for one of several values. */
export async function askChoice(
  message: string,
  options: readonly { readonly value: string; readonly label: string; readonly hint?: string }[],
): Promise<string> {
  return answerOf(await select({ message, options: [...options] }));
}

function answerOf<Value extends string | boolean>(answer: Value | typeof CANCEL_SYMBOL): Value {
  if (isCancel(answer)) {
    throw new Exit(EXIT.interrupted);
  }
  return answer;
}

/** The files that the user has edited in this command. */
const edited: string[] = [];

/** Lets the user write a text in their editor. `name` is that of the file. */
export async function editText(name: string, before: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "errand-")), name);
  edited.push(file);
  await writeFile(file, before, { mode: 0o600 });
  const editor = process.env.VISUAL || process.env.EDITOR || "vi";
  // The variable may contain options, as in "code --wait".
  const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "errand", file], { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) {
    throw new CliError(`The editor ended with code ${code}: ${editor}`, "Set the variable EDITOR.");
  }
  return readFile(file, "utf8");
}

/** The files that the user has edited. After a failure they are kept, so that no text is lost. */
export function editedFiles(): readonly string[] {
  return edited;
}

export async function removeEditedFiles(): Promise<void> {
  await Promise.all(edited.map((file) => rm(dirname(file), { recursive: true, force: true })));
}

/** Opens an address in the browser: that of the variable BROWSER, or the one of the system. */
export async function openInBrowser(address: string): Promise<void> {
  const system = { darwin: "open", win32: "explorer" }[process.platform as string] ?? "xdg-open";
  const child = spawn(process.env.BROWSER || system, [address], { stdio: "ignore", detached: true });
  const failed = once(child, "error").then(() => true);
  const started = once(child, "spawn").then(() => false);
  if (await Promise.race([failed, started])) {
    throw new CliError("No browser could be opened.", `Open this address: ${address}`);
  }
  child.unref();
}
