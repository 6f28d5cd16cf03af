import { invalidMember } from "../../basics/errors.ts";

/** A container image's registry and its path there, as docker resolves the name. Tag and digest are left out. */
export interface ImageName {
  /** A host name or an address, in lower case, with the port that the name contains. */
  readonly registry: string;
  readonly path: string;
}

/** The registry of names without one. */
export const DEFAULT_REGISTRY = "docker.io";

const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const DOMAIN = String.raw`(?:${LABEL}(?:\.${LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const PATH = `${COMPONENT}(?:/${COMPONENT})*`;
const TAG = ":[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}";
const DIGEST = "@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})";

const WHOLE_DOMAIN = new RegExp(`^${DOMAIN}$`);
const WHOLE_PATH = new RegExp(`^${PATH}$`);
const REMAINDER = new RegExp(`^(${PATH})(?:${TAG})?(?:${DIGEST})?$`);

/** The longest name with its registry, without tag and digest. */
const NAME_LENGTH_MAX = 255;
/** The longest name, tag and digest together. A longer text is not examined. */
const TEXT_LENGTH_MAX = 255 + 129 + 136;

/**
 * Reads the name of an image by the grammar of https://github.com/distribution/reference, which docker and podman use.
 * Undefined for every other text: no such name begins with `-` or contains `..`, a scheme, a user or a query.
 */
export function parseImageName(text: string): ImageName | undefined {
  if (text.length > TEXT_LENGTH_MAX) {
    return undefined;
  }
  const { domain, rest } = splitDomain(text);
  const remainder = REMAINDER.exec(rest)?.[1];
  if (remainder === undefined || !WHOLE_DOMAIN.test(domain)) {
    return undefined;
  }
  const registry = registryOf(domain);
  const path = registry === DEFAULT_REGISTRY && !remainder.includes("/") ? `library/${remainder}` : remainder;
  return registry.length + 1 + path.length > NAME_LENGTH_MAX ? undefined : { registry, path };
}

/**
 * Reads a registry of the operator's list: a host name or an address, with a port or without, and optionally the
 * beginning of the path of its images. Undefined when it is none.
 */
export function parseRegistry(text: string): string | undefined {
  const slash = text.indexOf("/");
  const [domain, path] = slash < 0 ? [text, undefined] : [text.slice(0, slash), text.slice(slash + 1)];
  if (!WHOLE_DOMAIN.test(domain) || !isDomain(domain) || (path !== undefined && !WHOLE_PATH.test(path))) {
    return undefined;
  }
  return [registryOf(domain), ...(path === undefined ? [] : [path])].join("/");
}

/** `registries` are texts of `parseRegistry`. A port counts, so `host` does not contain `host:443`. */
export function isListed({ registry, path }: ImageName, registries: readonly string[]): boolean {
  const name = `${registry}/${path}`;
  return registries.some((listed) => name === listed || name.startsWith(`${listed}/`));
}

/** Fails with `invalid_request` unless workers may pull the image. */
export function requireImage(text: string, registries: readonly string[], member: string): void {
  const name = parseImageName(text);
  if (name === undefined) {
    throw invalidMember(
      member,
      "must be the name of an image, such as node:24 or registry.example.com/team/app:1",
    );
  }
  if (!isListed(name, registries)) {
    throw invalidMember(
      member,
      `is in the registry ${name.registry}, and images may come only from ${registries.join(", ")}. ` +
        "Ask the operator to add it to ERRAND_IMAGE_REGISTRIES.",
    );
  }
}

/** The text before the first slash is a path, and not a registry, unless it looks like a host. */
function splitDomain(text: string): { readonly domain: string; readonly rest: string } {
  const slash = text.indexOf("/");
  const first = text.slice(0, Math.max(0, slash));
  return isDomain(first)
    ? { domain: first, rest: text.slice(slash + 1) }
    : { domain: DEFAULT_REGISTRY, rest: text };
}

function isDomain(text: string): boolean {
  return /[.:A-Z]/.test(text) || text === "localhost";
}

/** Registries have one spelling. docker.io has an old second name. */
function registryOf(domain: string): string {
  const registry = domain.toLowerCase();
  return registry === "index.docker.io" ? DEFAULT_REGISTRY : registry;
}
