import { dirname } from "node:path";

export interface SeatbeltRules {
  readonly dataDir: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** The only port of this machine that the command may connect to. Undefined: none. */
  readonly hostPort?: number;
}

const SYSTEM_DIRECTORIES = [
  ...["/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/Library/Developer/CommandLineTools"],
  ...["/opt/homebrew", "/private/etc/ssl", "/private/var/db/timezone", "/private/var/select"],
];
const SYSTEM_FILES = ["/private/etc/localtime", "/private/etc/shells", "/private/etc/protocols"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/** A data directory or a home may be below a directory of the system. */
const HOMES = ["/Users", "/private/var/root", "/Volumes"];

/**
 * The profile of one command, in the language of `sandbox-exec`. Of several rules that match, the last one counts. All
 * paths must be real ones, because the kernel compares real paths.
 */
export function seatbeltProfile({ dataDir, hostPort, readable, writable }: SeatbeltRules): string {
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    "(allow process-exec process-fork)",
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    rule("allow file-read*", [...SYSTEM_DIRECTORIES.map(subpath), ...SYSTEM_FILES.map(literal)]),
    rule("allow file-read* file-write-data", DEVICES.map(literal)),
    rule("deny file-read* file-write*", [dataDir, ...HOMES].map(subpath)),
    // Programs look up the folders above their files, but not what else those contain.
    rule("allow file-read-metadata", ancestorsOf([...readable, ...writable]).map(literal)),
    rule("allow file-read*", readable.map(subpath)),
    rule("allow file-read* file-write*", writable.map(subpath)),
    "(deny network*)",
    ...(hostPort === undefined ? [] : [`(allow network-outbound (remote tcp "localhost:${hostPort}"))`]),
    "",
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

/** Undefined without a filter, because the rule would then match everything. */
function rule(operation: string, filters: readonly string[]): string | undefined {
  return filters.length === 0 ? undefined : `(${operation} ${filters.join(" ")})`;
}

function ancestorsOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap(above))].sort();
}

function above(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...above(parent)];
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
