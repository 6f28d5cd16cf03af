import { type Command, Option } from "commander";
import { askChoice, askSecret, askText, readInput } from "../ask.ts";
import { keyFromBrowser } from "../browser-login.ts";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { oneLine } from "../output.ts";
import { LOCAL_URL } from "../settings.ts";

interface LoginOptions {
  readonly web?: boolean;
  readonly withToken?: boolean;
  readonly name?: string;
}

const WAYS = [
  { value: "browser", label: "In the browser" },
  { value: "key", label: "With an API key" },
] as const;

export function addAccountCommands(program: Command): void {
  const login = program
    .command("login")
    .summary("sign in to a server")
    .description(
      "Keeps the address of a server and an API key for it, as a context. Signing in with the browser makes the key.",
    )
    .option("--web", "sign in with the browser")
    .addOption(new Option("--with-token", "read the key from standard input").conflicts("web"))
    .option("--name <name>", "the name of the context; default: the host of the server");
  handle(login, async (cli, options: LoginOptions) => {
    if (options.withToken !== true && options.web !== true && !cli.isInteractive) {
      throw new UsageError(
        "The key cannot be asked for.",
        "Write it to standard input: errand login --with-token",
      );
    }
    const before = cli.options.url ?? process.env.ERRAND_URL;
    const isAsked = options.withToken !== true && cli.isInteractive;
    const url = addressOf(
      before ?? (isAsked ? await askText("Address of the server", LOCAL_URL) : LOCAL_URL),
    );
    const apiKey = await keyFor(cli, url, options);
    if (apiKey === "") {
      throw new UsageError("The key is empty.");
    }
    const { principal, team } = await cli.clientOf(url, apiKey).whoami();
    const name = options.name ?? cli.options.context ?? new URL(url).host;
    await cli.settings.change((stored) => ({
      ...stored,
      current: name,
      contexts: { ...stored.contexts, [name]: { url, apiKey } },
    }));
    cli.output.line(
      `Signed in to ${url} as ${oneLine(principal.display_name ?? principal.uid)}, team ${oneLine(team.name)}.`,
    );
  });

  const logout = program
    .command("logout")
    .description(
      "Forgets the key of the current context. The key stays valid: delete it on the server if it has leaked.",
    );
  handle(logout, async (cli) => {
    const { contexts, current } = await cli.settings.read();
    const name = cli.options.context ?? current;
    if (name === undefined || contexts[name] === undefined) {
      throw new UsageError(name === undefined ? "You are not signed in." : `There is no context "${name}".`);
    }
    await cli.settings.change(({ contexts: { [name]: _, ...others }, current: chosen, ...stored }) => ({
      ...stored,
      contexts: others,
      ...(chosen === undefined || chosen === name ? {} : { current: chosen }),
    }));
    cli.output.line(`Signed out of ${name}.`);
  });

  const whoami = program.command("whoami").description("Shows whose key is used, and what it may do.");
  handle(whoami, async (cli) => {
    const { origin, url } = await cli.connection();
    const who = await (await cli.client()).whoami();
    cli.output.details(who, {
      name: who.principal.display_name,
      uid: who.principal.uid,
      team: who.team.name,
      scopes: who.scopes.join(", "),
      "key ends": who.key?.expires_at,
      server: url,
      "key from": origin,
    });
  });
}

async function keyFor(cli: Cli, url: string, { web, withToken }: LoginOptions): Promise<string> {
  if (withToken === true) {
    return (await readInput()).trim();
  }
  if (web === true || (await askChoice("How do you sign in?", WAYS)) === "browser") {
    return keyFromBrowser(cli, url);
  }
  return (await askSecret("API key")).trim();
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `"${text}" is not the address of a server.`,
      "For example: https://errand.example.com",
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}
