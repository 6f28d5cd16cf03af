import { AppError, invalidMember } from "../../basics/errors.ts";
import { type PrincipalId, parseId } from "../../basics/ids.ts";
import type { Principal, Viewer } from "../../model/people/principal.ts";
import type { Storage } from "../../ports/stores/storage.ts";

/**
 * The active member in whose name the caller requests a run, by uid or email address. Allowed to administrators and to
 * named agents that have it enabled. The run gets nothing from the member's right to administer.
 */
export async function requireOnBehalfOf(
  storage: Pick<Storage, "namedAgents" | "people">,
  caller: Viewer,
  member: string,
): Promise<Viewer> {
  if (!(await mayActForOthers(storage, caller))) {
    throw new AppError("not_authorized", "This key may not start runs in the name of another principal.", {
      remedy: "Use a key of an administrator, or of a named agent that has on_behalf_of_enabled.",
    });
  }
  const people = await storage.people.list(caller.teamId);
  const found = people.filter((person) => isActiveUser(person) && isNamed(person, member));
  const [person, ...others] = found;
  if (person === undefined) {
    throw new AppError("resource_not_found", "There is no such active member.");
  }
  if (others.length > 0) {
    throw invalidMember("on_behalf_of", "several members have this email address: name one by uid");
  }
  return { ...person, administrator: false };
}

async function mayActForOthers(
  { namedAgents }: Pick<Storage, "namedAgents">,
  caller: Viewer,
): Promise<boolean> {
  if (caller.administrator) {
    return true;
  }
  return (await namedAgents.find(caller.teamId, caller.id))?.onBehalfOfEnabled === true;
}

function isActiveUser({ disabled, type }: Principal): boolean {
  return type === "user" && !disabled;
}

function isNamed({ email, id }: Principal, member: string): boolean {
  return id === parseId<PrincipalId>(member) || email?.toLowerCase() === member.toLowerCase();
}
