import { InvalidResponseError } from "../errors.ts";
import { REQUIRED_MEMBERS } from "../generated/required-members.ts";
import { VERSION } from "../version.ts";

/** Another server may answer with JSON, too. Without this check, its reader fails at a member that is missing. */
export function requireMembers(name: string, body: unknown, response: Response): void {
  // A server of another version may not have a newer member yet.
  if ((response.headers.get("errand-version") ?? VERSION) !== VERSION) {
    return;
  }
  const found: Readonly<Record<string, unknown>> = Object(body);
  const missing = membersOf(name).find((member) => found[member] === undefined);
  if (missing !== undefined) {
    throw new InvalidResponseError(`has no member "${missing}"`, { name, response });
  }
}

/** The members that the response to an operation must have. An unknown one, and one that is deprecated, has none. */
function membersOf(name: string): readonly string[] {
  const segments = name.split("/");
  const [, members = ""] =
    REQUIRED_MEMBERS.find(([operation]) => {
      const expected = operation.split("/");
      return (
        expected.length === segments.length &&
        expected.every((segment, index) => segment === "*" || segment === segments[index])
      );
    }) ?? [];
  return members === "" ? [] : members.split(" ");
}
