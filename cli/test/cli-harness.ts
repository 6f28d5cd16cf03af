import { join } from "node:path";
import { makeFolder, removeFolder } from "../../test/support/data-dir.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../test/support/emulated-github.ts";
import { GitHttpServer } from "../../test/support/git-http-server.ts";
import { GitRepositories } from "../../test/support/git-repositories.ts";
import { type Service, startService } from "../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { type CliCall, type CliResult, InstalledCli } from "./installed-cli.ts";

interface CliHarnessParts {
  readonly cli: InstalledCli;
  readonly database: TestDatabase;
  /** For the files of the tests. */
  readonly folder: string;
  readonly github: EmulatedGithub;
  readonly gitServer: GitHttpServer;
  readonly repositories: GitRepositories;
  readonly service: Service;
}

/** The installed program, and a service with an emulated GitHub whose repository `acme/widgets` has one commit. */
export class CliHarness {
  readonly parts: CliHarnessParts;

  private constructor(parts: CliHarnessParts) {
    this.parts = parts;
  }

  static async start(): Promise<CliHarness> {
    const cli = await InstalledCli.create();
    const database = await createTestDatabase();
    const folder = await makeFolder();
    const repositories = await GitRepositories.create();
    await repositories.commit("acme/widgets", { "README.md": "# Widgets\n" });
    const github = await startEmulatedGithub();
    const gitServer = await GitHttpServer.start(repositories.root);
    const service = await startService(join(folder, "data"), {
      DATABASE_URL: database.url,
      ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
      ERRAND_GIT_URL: gitServer.url,
      GITHUB_API_URL: github.apiUrl,
    });
    return new CliHarness({ cli, database, folder, github, gitServer, repositories, service });
  }

  async stop(): Promise<void> {
    const { cli, database, folder, github, gitServer, repositories, service } = this.parts;
    await service.end("SIGTERM");
    await gitServer.stop();
    await github.stop();
    await repositories.remove();
    await database.drop();
    await removeFolder(folder);
    await cli.remove();
  }

  /** The address and the key of the service. */
  get env(): Record<string, string> {
    const { apiKey, url } = this.parts.service;
    return { ERRAND_URL: url, ERRAND_API_KEY: apiKey };
  }

  /** Calls the program with the address and the key of the service. */
  errand = async (args: readonly string[], call: CliCall = {}): Promise<CliResult> =>
    this.parts.cli.call(args, { ...call, env: { ...this.env, ...call.env } });

  /** The output of a call that succeeds. */
  output = async (args: readonly string[], call: CliCall = {}): Promise<string> => {
    const { code, stderr, stdout } = await this.errand(args, call);
    if (code !== 0 || stderr.includes("errand: ")) {
      throw new Error(`errand ${args.join(" ")} ended with ${code}: ${stderr}`);
    }
    return stdout;
  };

  json = async (args: readonly string[], call: CliCall = {}) =>
    JSON.parse(await this.output([...args, "--json"], call));

  /** The id of a new run that has ended. */
  endedRun = async (prompt: string, ...options: readonly string[]): Promise<string> => {
    await this.errand(["run", prompt, "--wait", "--quiet", ...options]);
    return (await this.json(["runs", "get", "@last"])).run_id;
  };
}
