import { continued } from "../models/model-call.ts";
import { Refusal } from "../refusal.ts";
import { PktLines } from "./pkt-lines.ts";

export interface PushCommand {
  readonly ref: string;
  /** The new commit of the branch; undefined: the branch is deleted. */
  readonly commit: string | undefined;
}

export interface PushRequest {
  readonly commands: readonly PushCommand[];
  /** The capabilities that the client sent. */
  readonly capabilities: ReadonlySet<string>;
  /** The whole body from its beginning. */
  readonly body: AsyncIterable<Buffer>;
}

const COMMANDS_BYTES_MAX = 2 ** 20;
const COMMAND =
  /^[\da-f]{40,64} (?<commit>[\da-f]{40,64}) (?<ref>[^\0\n]+)(?:\0(?<capabilities>[^\n]*))?\n?$/;
const NO_COMMIT = /^0+$/;
const NOT_UNDERSTOOD = new Refusal(400, "This is not a push that the gateway understands.");

/** Reads the commands of a push, which precede the commits: https://git-scm.com/docs/gitprotocol-pack */
export async function readPush(body: AsyncIterable<Buffer>): Promise<PushRequest> {
  const chunks = body[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  const lines = new PktLines();
  const commands: PushCommand[] = [];
  const capabilities = new Set<string>();
  for (let bytes = 0; bytes <= COMMANDS_BYTES_MAX; ) {
    const chunk = await chunks.next();
    if (chunk.done === true) {
      throw NOT_UNDERSTOOD;
    }
    begun.push(chunk.value);
    bytes += chunk.value.length;
    for (const line of lines.push(chunk.value)) {
      if (line === "flush") {
        return { commands, capabilities, body: continued(begun, chunks) };
      }
      readLine(line, commands, capabilities);
    }
  }
  throw new Refusal(413, "The push names too many branches.");
}

function readLine(line: Buffer, commands: PushCommand[], capabilities: Set<string>): void {
  const text = line.toString("utf8");
  if (/^shallow [\da-f]{40,64}\n?$/.test(text)) {
    return;
  }
  // A signed push has its commands elsewhere.
  const { capabilities: given = "", commit = "", ref = "" } = COMMAND.exec(text)?.groups ?? {};
  if (ref === "") {
    throw NOT_UNDERSTOOD;
  }
  commands.push({ ref, commit: NO_COMMIT.test(commit) ? undefined : commit });
  for (const name of given.split(" ")) {
    capabilities.add(name);
  }
}
