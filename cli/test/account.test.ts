import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { CliHarness } from "./cli-harness.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const harness = await CliHarness.start();
afterAll(() => harness.stop());
const { errand, json, output } = harness;
const { cli, folder, service } = harness.parts;

describe("signing in", () => {
  test("without a key, the program says what to do and exits with 4", async () => {
    const { code, stderr } = await cli.call(["whoami"]);

    expect([code, stderr]).toEqual([4, "errand: You are not signed in.\n→ Run: errand login\n"]);
  });

  test("a key is read from standard input, checked, and kept in a file that only the user can read", async () => {
    const config = join(folder, "config-of-login");
    const env = { ERRAND_CONFIG_DIR: config, ERRAND_API_KEY: "" };
    const login = (input: string, ...more: readonly string[]) =>
      errand(["login", "--with-token", ...more], { env, input });

    const wrong = await login("err_wrong");
    const wrongVariable = await errand(["whoami"], { env: { ERRAND_API_KEY: "err_wrong" } });
    const right = await login(`${service.apiKey}\n`);
    const other = await login(service.apiKey, "--name", "second");

    expect([wrong.code, right.code, other.code]).toEqual([4, 0, 0]);
    expect(wrong.stderr).toMatch(
      /^errand: The server does not accept the key\. It is .+\n→ Run: errand login\nrequest id: .+\n$/,
    );
    expect([wrongVariable.code, wrongVariable.stderr]).toEqual([
      4,
      expect.stringMatching(/the key of ERRAND_API_KEY\. .+\n→ Set ERRAND_API_KEY to another key\.\n/),
    ]);
    expect(right.stdout).toBe(`Signed in to ${service.url} as Administrator, team Team.\n`);
    expect((await stat(config)).mode & 0o777).toBe(0o700);
    expect((await stat(join(config, "config.json"))).mode & 0o777).toBe(0o600);
    const contexts = await errand(["config", "contexts"], { env });
    const [{ host }] = [new URL(service.url)];
    expect(contexts.stdout).toBe(`${host}\t\t${service.url}\nsecond\tcurrent\t${service.url}\n`);
    await output(["config", "set", "context", host], { env });
    expect(await output(["config", "get", "context"], { env })).toBe(`${host}\n`);
    expect(await output(["whoami", "--context", "second"], { env })).toContain("key from\tcontext second");
    await output(["logout"], { env });
    expect(await output(["config", "contexts"], { env })).toBe(`second\t\t${service.url}\n`);
  });

  test("a key that cannot be sent is not shown", async () => {
    const { code, stderr } = await errand(["whoami"], { env: { ERRAND_API_KEY: "secret\nkey" } });

    expect([code, stderr]).toEqual([1, "errand: The API key has characters that cannot be sent.\n"]);
  });

  test("a server that cannot be reached without the proxy names the variable that is missing", async () => {
    const env = {
      ERRAND_URL: "http://127.0.0.1:9",
      ERRAND_API_KEY: "any",
      https_proxy: "http://127.0.0.1:9",
    };
    const unused = await errand(["whoami"], { env });
    const used = await errand(["whoami"], { env: { ...env, NODE_USE_ENV_PROXY: "1" } });

    expect(unused.stderr).toContain("→ https_proxy is used only with NODE_USE_ENV_PROXY=1.");
    expect(used.stderr).toContain("→ Check the address http://127.0.0.1:9");
  });

  test("the address of a server may end with a slash or the path of the API", async () => {
    const env = { ERRAND_CONFIG_DIR: join(folder, "config-of-addresses"), ERRAND_API_KEY: "" };
    await output(["login", "--with-token", "--url", `${service.url}/api/v1/`], {
      env,
      input: service.apiKey,
    });

    await output(["login", "--with-token", "--name", "mine"], {
      env: { ...env, ERRAND_URL: service.url },
      input: service.apiKey,
    });
    await output(["login", "--with-token"], { env: { ...env, ERRAND_URL: "" }, input: service.apiKey });
    const known = await output(["whoami"], { env: { ...env, ERRAND_URL: `${service.url}/` } });
    const other = await errand(["whoami", "--url", "https://other.invalid"], { env });

    expect(known).toMatch(new RegExp(`^server\t${service.url}\nkey from\tcontext`, "m"));
    expect(await output(["config", "get", "context"], { env })).toBe("mine\n");
    expect([other.code, other.stderr]).toEqual([
      4,
      "errand: You are not signed in to https://other.invalid.\n→ Run: errand login --url https://other.invalid\n",
    ]);
  });

  test("after a sign-in and a sign-out, the program says that the key of the variable is used", async () => {
    const env = { ERRAND_CONFIG_DIR: join(folder, "config-of-variable") };

    const login = await errand(["login", "--with-token"], { env, input: service.apiKey });
    const logout = await errand(["logout"], { env });

    const note = "! The variable ERRAND_API_KEY is set. Its key is used instead of the keys of contexts.\n";
    expect([login.stderr, logout.stderr]).toEqual([note, note]);
  });

  test("defaults of the user are used by runs", async () => {
    const env = { ERRAND_CONFIG_DIR: join(folder, "config-of-defaults") };
    await output(["config", "set", "agent", "demo"], { env });

    const { run_id } = await json(["run", "say hello"], { env });

    expect((await json(["runs", "get", run_id])).agent_config.harness).toEqual({ type: "demo" });
    expect((await errand(["config", "set", "agent", ""], { env })).code).toBe(0);
    expect(await output(["config", "get", "agent"], { env })).toBe("");
  });
});
