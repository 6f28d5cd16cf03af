import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemCallNumber } from "./system-call-probe.ts";

const run = promisify(execFile);

/** The description of the key in the session keyring. */
export const KEY_NAME = "errand-test";

/**
 * Below the number up to which Node itself closes what it inherits, above it, and beyond a gap. From each number on:
 * a directory, a file, a pipe and a socket.
 */
const OPEN = `
cd "$1" && port=$2 && shift 2
for first in 12 200 900; do
  eval "exec $first<. $((first + 1))<>file $((first + 2))<>pipe $((first + 3))<>/dev/tcp/127.0.0.1/$port"
done
stat -L -c %d:%i /proc/self/fd/{12..15} /proc/self/fd/{200..203} /proc/self/fd/{900..903} > ../identities
exec "$@"`;

const JOIN_KEYRING = 1;
/** Of a process, whatever its number is. */
export const SESSION_KEYRING = -3;
/** systemd gives each service a session keyring. A key in it stands for one of the operator. */
const withKeyring = () => `
syscall(${systemCallNumber("keyctl")}, ${JOIN_KEYRING}, 0) > 0 or die "keyctl: $!";
my ($type, $name, $value) = ("user", "${KEY_NAME}", "secret");
syscall(${systemCallNumber("add_key")}, $type, $name, $value, 6, ${SESSION_KEYRING}) > 0 or die "add_key: $!";
exec @ARGV or die $!;`;

/**
 * Runs a program that inherits descriptors and a session keyring, as a server may. Returns its output and the identities
 * of the descriptors ("device:inode"). Needs bash and perl.
 */
export async function runWithInherited(
  argv: readonly string[],
): Promise<{ readonly stdout: string; readonly identities: readonly string[] }> {
  const root = await mkdtemp(join(tmpdir(), "errand-inherited-"));
  const server = createServer((socket) => socket.on("error", () => undefined));
  try {
    await mkdir(join(root, "directory"));
    await writeFile(join(root, "directory/file"), "");
    await run("mkfifo", [join(root, "directory/pipe")]);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const program = ["perl", "-e", withKeyring(), ...argv];
    const { stdout } = await run("bash", [
      "-c",
      OPEN,
      "bash",
      join(root, "directory"),
      String(port),
      ...program,
    ]);
    const identities = (await readFile(join(root, "identities"), "utf8")).trim().split("\n");
    return { stdout, identities };
  } finally {
    server.close();
    await rm(root, { recursive: true });
  }
}
