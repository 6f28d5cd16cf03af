import { Mark } from "./icon.tsx";

/** Two letters of a name. The name itself stands beside it. */
export function Avatar({ name, large = false }: { readonly name: string; readonly large?: boolean }) {
  const words = name.split(/[\s._@-]+/).filter((word) => word !== "");
  const letters = words.length > 1 ? `${words[0]?.[0]}${words[1]?.[0]}` : (words[0] ?? "?").slice(0, 2);
  const tone = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 3;
  return (
    <span className={`avatar tone-${tone + 1} ${large ? "large" : ""}`} aria-hidden="true">
      {letters.toUpperCase()}
    </span>
  );
}

export function AgentAvatar({ large = false }: { readonly large?: boolean }) {
  return (
    <span className={`avatar agent ${large ? "large" : ""}`} aria-hidden="true">
      <Mark />
    </span>
  );
}
