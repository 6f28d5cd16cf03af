import type { RunWorkspace } from "../../core/ports/workspace-provider.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { ClonedRepository } from "../workspace-record.ts";
import { GIVEN_BYTES, LIST_BYTES, PRINT_GIVEN } from "./change-scripts.ts";
import { runScript, type ScriptEnd } from "./sandboxed-script.ts";

const HEAD = /^(\d{1,12}) (\d{1,8}) (\d{1,7}) (\d{1,6})\n/;
const HEAD_BYTES = 40;
const LOOK_MS = 120_000;

export type GivenState = NonNullable<ClonedRepository["given"]>;

/**
 * What differs from the commit before the agent starts: line endings and filters make files differ, and so do setup
 * commands. Undefined: it is unknown, for example because the image has no git. Then all of it counts as changes of the run.
 */
export async function findGivenState(
  sandbox: Sandbox,
  runWorkspace: RunWorkspace,
  { commit, folder }: Pick<ClonedRepository, "commit" | "folder">,
  runPath: string,
): Promise<GivenState | undefined> {
  const end = await runScript(
    {
      sandbox,
      runWorkspace,
      script: PRINT_GIVEN,
      args: [folder, commit],
      timeoutMs: LOOK_MS,
      env: {},
      hasPortForward: false,
      writable: [],
      maxOutputBytes: HEAD_BYTES + GIVEN_BYTES + 2 * LIST_BYTES,
    },
    runPath,
  );
  return readGivenState(end);
}

function readGivenState({ exit, output }: ScriptEnd): GivenState | undefined {
  const head = HEAD.exec(output.subarray(0, HEAD_BYTES).toString("latin1"));
  if (head === null || typeof exit !== "object" || exit.code !== 0) {
    return undefined;
  }
  const [line, at, filesLength, repositoriesLength, leftLength] = head;
  const repositoriesAt = line.length + Number(filesLength);
  const leftAt = repositoriesAt + Number(repositoriesLength);
  const text = (from: number, to: number) => output.subarray(from, to).toString("utf8");
  return {
    at: Number(at),
    files: wholeLines(text(line.length, repositoriesAt)),
    repositories: wholeLines(text(repositoriesAt, leftAt)),
    leftOut: text(leftAt, leftAt + Number(leftLength))
      .split("\0")
      .slice(0, -1),
  };
}

/** What follows the last line end was cut. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/** The files that the scripts read. */
export function inputsOf({ given }: Pick<ClonedRepository, "given">): Readonly<Record<string, string>> {
  return given === undefined
    ? {}
    : { given: given.files, "given-repositories": given.repositories, "given-at": String(given.at) };
}
