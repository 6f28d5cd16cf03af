import { Cursors } from "../../src/api/http/cursors.ts";
import { structured } from "../../src/api/http/query.ts";
import { filtersOf, ListRunsQuery } from "../../src/api/schemas/list-runs.ts";
import type { RunId } from "../../src/core/basics/ids.ts";
import { deriveKey } from "../../src/secrets/secret-files.ts";
import { TEAM } from "../setup/people.ts";
import { query } from "../setup/postgres.ts";
import { SECRET_KEY } from "../setup/service.ts";

const ADMINISTRATOR = `SELECT id FROM principals WHERE administrator AND team_id = $1`;
const MIDDLE = `
  SELECT id, updated_at FROM runs WHERE team_id = $1 ORDER BY updated_at DESC, id DESC
  OFFSET (SELECT count(*) / 2 FROM runs WHERE team_id = $1) LIMIT 1`;

/**
 * Makes a cursor in the middle of all runs of the team, for a list of the administrator with the given parameters.
 * Paging to that place would take hours, so the cursor is made in the same way as the server makes it.
 */
export async function middleCursors(databaseUrl: string): Promise<(parameters: string) => string> {
  const [viewer] = await query<{ id: string }>(databaseUrl, ADMINISTRATOR, [TEAM]);
  const [middle] = await query<{ id: RunId; updated_at: Date }>(databaseUrl, MIDDLE, [TEAM]);
  if (viewer === undefined || middle === undefined) {
    throw new Error("There are no runs to stand in the middle of.");
  }
  const cursors = new Cursors(deriveKey(SECRET_KEY, "cookies"));
  const position = { value: middle.updated_at.toISOString(), id: middle.id };
  return (parameters) => {
    const query = ListRunsQuery.parse(structured(ListRunsQuery, membersOf(parameters)));
    const walk = { viewer, filters: filtersOf(query) ?? {}, sort: query.sort_by, order: query.sort_order };
    // A cursor contains only the id of the viewer.
    return cursors.encode(position, walk as Parameters<Cursors["encode"]>[1]);
  };
}

/** Gives the same values as the server's parser: a repeated parameter becomes a list. */
function membersOf(parameters: string): object {
  const members = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(parameters)) {
    const known = members.get(name);
    members.set(name, known === undefined ? value : [known, value].flat());
  }
  return Object.fromEntries(members);
}
