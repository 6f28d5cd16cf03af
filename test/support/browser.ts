/** A browser without scripts: it keeps cookies per host and follows redirects. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Where an address of the public URL really is. */
  readonly #moved: (url: URL) => URL;

  constructor(moved: (url: URL) => URL = (url) => url) {
    this.#moved = moved;
  }

  /** Opens the address, and follows redirects until there is none or `until` says to stop. */
  async open(address: string, until: (url: URL) => boolean = () => false): Promise<Page> {
    let url = new URL(address);
    for (let hops = 0; hops < 20; hops += 1) {
      if (until(url)) {
        return { url, status: 0, text: "", headers: new Headers() };
      }
      const response = await fetch(this.#moved(url), {
        redirect: "manual",
        headers: { cookie: this.#cookieHeader(url) },
      });
      this.#keep(url, response);
      const text = await response.text();
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) {
        return { url, status: response.status, text, headers: response.headers };
      }
      url = new URL(location, url);
    }
    throw new Error(`Too many redirects, the last to ${url.href}`);
  }

  /** The cookies that the browser sends there. Paths are ignored, as are expiries. */
  cookiesFor(address: string): string {
    return this.#cookieHeader(new URL(address));
  }

  /** Deletes the cookies of the host of the address. */
  forget(address: string): void {
    this.#cookies.delete(new URL(address).host);
  }

  #cookieHeader({ host }: URL): string {
    return Array.from(this.#cookies.get(host) ?? [], ([name, value]) => `${name}=${value}`).join("; ");
  }

  #keep({ host }: URL, { headers }: Response): void {
    const cookies = this.#cookies.get(host) ?? new Map<string, string>();
    for (const line of headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === "") {
        cookies.delete(name);
      } else {
        cookies.set(name, value);
      }
    }
    this.#cookies.set(host, cookies);
  }
}

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}
