export interface Transport {
  readonly url: string;
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
}

/** Git's settings with which it may talk to this one address, and in this one way. */
export function transportSettings({ authorization, url }: Transport): Readonly<Record<string, string>> {
  const { origin, protocol } = new URL(url);
  const allowed = { [`protocol.${protocol.slice(0, -1)}.allow`]: "always" };
  if (authorization === undefined) return allowed;
  const header = { [`http.${origin}/.extraHeader`]: `Authorization: ${authorization}` };
  // Whoever we are sent on to would be told as well, even another host.
  return { ...allowed, ...header, "http.followRedirects": "false" };
}
