import { withHiddenShown } from "@errand/client";

/** So much of the end of a long path is always shown: a name and its extension say more than the folders before them. */
const END = 18;

/** A path of a repository. Where there is no room for all of it, it is cut in the middle. */
export function PathName({ path, faint = 0 }: { readonly path: string; readonly faint?: number }) {
  const folder = shown(path.slice(0, faint));
  const name = shown(path.slice(faint));
  const letters = Array.from(name);
  if (letters.length <= END && folder === "") {
    return (
      <bdi className="one" title={path}>
        {name}
      </bdi>
    );
  }
  return (
    <bdi className="path-name" title={path}>
      <span aria-hidden="true">
        <span className="faint">{folder}</span>
        {letters.slice(0, -END).join("")}
      </span>
      <span aria-hidden="true">{letters.slice(-END).join("")}</span>
      <span className="sr">{folder + name}</span>
    </bdi>
  );
}

/** A name may contain line ends and tabs, which would be shown as spaces. */
function shown(path: string): string {
  return withHiddenShown(path.replaceAll("\n", "⟨U+000A⟩").replaceAll("\t", "⟨U+0009⟩"));
}
