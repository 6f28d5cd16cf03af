import { type PermissionRequestedEvent, withHiddenShown } from "@errand/client";

type Question = Omit<PermissionRequestedEvent["request"], "permission_id">;

/** What a call would do, and the agent's own words. A person reads it before they answer. */
export function questionText({
  command,
  diff,
  input,
  paths = [],
  reason,
  title,
  truncated,
}: Question): string {
  const facts: readonly [label: string, text: string | undefined][] = [
    ["It wants to run:", command],
    ["It wants to change:", diff],
    ["Arguments of the call:", input],
    ["Files and directories:", paths.length === 0 ? undefined : paths.join("\n")],
  ];
  const shown = facts.flatMap(([label, text]) => (text === undefined ? [] : [`${label}\n${indented(text)}`]));
  if (shown.length === 0) {
    return withHiddenShown(reason ?? title);
  }
  const cut =
    truncated === true ? ["A part is cut. `errand logs` and the page of the run have more of it."] : [];
  return [...shown, ...cut, withHiddenShown(`The agent's own words: ${reason ?? title}`)].join("\n");
}

function indented(text: string): string {
  return withHiddenShown(text).replaceAll(/^/gm, "    ");
}
