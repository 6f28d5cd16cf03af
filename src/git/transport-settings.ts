/** How a host is talked to while it sends a repository. */
export interface FetchPatience {
  /** How long the host may send nothing, for example while it prepares the pack. */
  readonly silenceMs: number;
  readonly onProgress: (line: string) => void;
}

export interface Transport {
  readonly url: string;
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
}

/** Git settings that allow only this address and this protocol. */
export function transportSettings({ authorization, url }: Transport): Readonly<Record<string, string>> {
  const { origin, protocol } = new URL(url);
  const allowed = { [`protocol.${protocol.slice(0, -1)}.allow`]: "always" };
  if (authorization === undefined) {
    return allowed;
  }
  const header = { [`http.${origin}/.extraHeader`]: `Authorization: ${authorization}` };
  // A redirect would send the header to another host.
  return { ...allowed, ...header, "http.followRedirects": "false" };
}
