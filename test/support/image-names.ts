import fc from "fast-check";

const oneOf = (characters: string) => fc.constantFrom(...characters);
const text = (characters: string, minLength: number, maxLength: number) =>
  fc.array(oneOf(characters), { minLength, maxLength }).map((all) => all.join(""));

const LOWER = "abcxyz";
const DIGITS = "0179";
const HEX = "0123456789abcdef";

const word = text(LOWER + DIGITS, 1, 4);
const separator = fc.constantFrom(".", "_", "__", "-", "---");
const component = fc
  .tuple(word, fc.array(fc.tuple(separator, word), { maxLength: 2 }))
  .map(([first, more]) => first + more.flat().join(""));
const path = fc.array(component, { minLength: 1, maxLength: 3 }).map((all) => all.join("/"));

const label = fc
  .tuple(text(LOWER + DIGITS, 1, 2), text(`${LOWER}-`, 0, 3), text(LOWER + DIGITS, 1, 2))
  .map((all) => all.join(""));
const dotted = fc.array(label, { minLength: 2, maxLength: 3 }).map((all) => all.join("."));
const address = fc.constantFrom("127.0.0.1", "0x7f.1", "127.1", "[::1]", "[2001:db8::7]", "localhost");
const port = text(DIGITS, 1, 5).map((digits) => `:${digits}`);
const domain = fc.oneof(
  fc.tuple(fc.oneof(dotted, address), fc.option(port, { nil: "" })).map((all) => all.join("")),
  fc.tuple(label, port).map((all) => all.join("")),
);

const tag = fc
  .tuple(oneOf(`${LOWER}${DIGITS}_AZ`), text(`${LOWER}${DIGITS}_AZ.-`, 0, 8))
  .map((all) => `:${all.join("")}`);
const digest = text(HEX, 64, 64).map((hex) => `@sha256:${hex}`);

/** Names of images that the grammar of docker produces, with what they consist of. */
export const imageNames = fc
  .record({
    domain: fc.option(domain, { nil: undefined }),
    path,
    tag: fc.option(tag, { nil: "" }),
    digest: fc.option(digest, { nil: "" }),
  })
  // A dot before the first slash would make it a registry.
  .filter(({ domain: host, path: names }) => host !== undefined || !/^[^/]*\..*\//.test(names))
  .map((parts) => ({ ...parts, name: nameOf(parts) }));

/** Names of the grammar with one character replaced, added or removed: some are names again, and most are not. */
export const nearlyImageNames = fc
  .tuple(imageNames, fc.nat(), fc.nat(2), oneOf("aZ0-_.:/@[]# \t\né\u0000"))
  .map(([{ name }, place, removed, character]) => {
    const at = place % (name.length + 1);
    return name.slice(0, at) + (removed === 2 ? "" : character) + name.slice(at + (removed === 0 ? 0 : 1));
  });

function nameOf(parts: {
  readonly domain: string | undefined;
  readonly path: string;
  readonly tag: string;
  readonly digest: string;
}): string {
  const host = parts.domain === undefined ? "" : `${parts.domain}/`;
  return host + parts.path + parts.tag + parts.digest;
}
