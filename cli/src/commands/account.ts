import { type Command, Option } from "commander";
import { askChoice, askSecret, askText, readInput } from "../ask.ts";
import { keyFromBrowser } from "../browser-login.ts";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { oneLine } from "../output.ts";
import { LOCAL_URL, serverAddress } from "../settings.ts";

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
    .option("--name <name>", "the name of the context; default: the one of this server, or its host");
  handle(login, async (cli, options: LoginOptions) => {
    if (options.withToken !== true && options.web !== true && !cli.isInteractive) {
      throw new UsageError(
        "The key cannot be asked for.",
        "Write it to standard input: errand login --with-token. Or sign in with a browser: errand login --web",
      );
    }
    const isAsked = options.withToken !== true && cli.isInteractive;
    const { contexts, current = "" } = await cli.settings.read();
    const url = serverAddress(
      await chooseAddress(cli, isAsked, contexts[cli.options.context ?? current]?.url),
    );
    const apiKey = await keyFor(cli, url, options);
    if (apiKey === "") {
      throw new UsageError("The key is empty.");
    }
    const { principal, team } = await cli.clientOf(url, apiKey).whoami();
    // A new key for a known server replaces the old one.
    const names = [current, ...Object.keys(contexts)];
    const same = names.find((context) => contexts[context]?.url === url);
    const name = options.name ?? cli.options.context ?? same ?? new URL(url).host;
    await cli.settings.change((stored) => ({
      ...stored,
      current: name,
      contexts: { ...stored.contexts, [name]: { url, apiKey } },
    }));
    cli.output.line(
      `Signed in to ${url} as ${oneLine(principal.display_name ?? principal.uid)}, team ${oneLine(team.name)}.`,
    );
    noteVariable(cli);
  });

  const logout = program
    .command("logout")
    .summary("forget the key of a server")
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
    noteVariable(cli);
  });

  const whoami = program
    .command("whoami")
    .summary("show whose key is used")
    .description("Shows whose key is used, and what it may do.");
  handle(setMembers(whoami, MEMBERS.Whoami), async (cli) => {
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

async function chooseAddress(cli: Cli, isAsked: boolean, usual: string | undefined): Promise<string> {
  const known = cli.options.url || process.env.ERRAND_URL;
  if (known) {
    return known;
  }
  if (isAsked) {
    return askText("Address of the server", usual ?? LOCAL_URL);
  }
  const address = usual ?? (await cli.settings.localUrl());
  if (address === undefined) {
    throw new UsageError("The server is not named.", `For example: errand login --url ${LOCAL_URL}`);
  }
  return address;
}

function noteVariable({ output }: Cli): void {
  if (process.env.ERRAND_API_KEY) {
    output.note("! The variable ERRAND_API_KEY is set. Its key is used instead of the keys of contexts.");
  }
}

async function keyFor(cli: Cli, url: string, { web, withToken }: LoginOptions): Promise<string> {
  if (withToken === true) {
    return (cli.isInteractive ? await askSecret("API key") : await readInput()).trim();
  }
  if (web === true || (await askChoice("How do you sign in?", WAYS)) === "browser") {
    return keyFromBrowser(cli, url);
  }
  return (await askSecret("API key")).trim();
}
