import { GitHttpServer } from "./git-http-server.ts";
import { GitRepositories } from "./git-repositories.ts";

/** Where the repositories of the emulated GitHub can be cloned from and pushed to. */
export class GitHost {
  readonly repositories: GitRepositories;
  readonly #server: GitHttpServer;

  private constructor(repositories: GitRepositories, server: GitHttpServer) {
    this.repositories = repositories;
    this.#server = server;
  }

  /** With one repository, which has one commit. */
  static async start(repository: string): Promise<GitHost> {
    const repositories = await GitRepositories.create();
    await repositories.commit(repository, { "README.md": `# ${repository}\n` });
    return new GitHost(repositories, await GitHttpServer.start(repositories.root));
  }

  get environment(): Record<string, string> {
    return { ERRAND_GIT_URL: this.#server.url };
  }

  /** From now on the repository has this name, and its former address redirects. */
  async rename(former: string, present: string): Promise<void> {
    await this.repositories.rename(former, present);
    this.#server.renames.set(former, present);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.repositories.remove();
  }
}
