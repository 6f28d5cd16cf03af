import type { WorkspaceBase } from "./base-manifest.ts";

/** Forgets the oldest beyond this number. */
const KNOWN_MAX = 1_000;

/**
 * The repositories and setups whose workspaces were too large to be stored as a whole. Those of later runs are too large as
 * well, whatever the commit, and packing them only to throw the archive away takes seconds at the end of a turn.
 */
export class LargeBases {
  readonly #known = new Set<string>();

  has(base: WorkspaceBase): boolean {
    return this.#known.has(keyOf(base));
  }

  add(base: WorkspaceBase): void {
    this.#known.add(keyOf(base));
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size > KNOWN_MAX) {
      this.#known.delete(oldest);
    }
  }
}

function keyOf({ image, repositories, setupCommands }: WorkspaceBase): string {
  const names = repositories.map(({ folder, name, owner }) => [owner, name, folder]);
  return JSON.stringify([image ?? null, names, setupCommands]);
}
