import { Link } from "@tanstack/react-router";
import { PageHead } from "../frame/page-head.tsx";
import { RunForm } from "../new-run/run-form.tsx";
import { Icon } from "../parts/icon.tsx";

/** The page of a team that has no run yet: the first run can be started in place. */
export function FirstRun() {
  return (
    <div className="page">
      <div className="first-run">
        <header>
          <svg className="route" viewBox="0 0 168 56" aria-hidden="true">
            <path d="M8 40C40 8 70 8 84 28s40 20 68 4" />
            <circle cx="154" cy="31" r="4" />
          </svg>
          <PageHead
            title="Send an agent on its first errand"
            text="Say what you want done. An agent works on it in a sandbox, and you can watch it, answer it and stop it."
          />
        </header>
        <RunForm compact />
        <div className="ways">
          <div className="card">
            <h3>
              <Icon name="hash" /> From Slack
            </h3>
            <p>
              Mention the bot in a channel.{" "}
              <Link to="/setup/$adapter" params={{ adapter: "slack" }}>
                Connect Slack
              </Link>
            </p>
          </div>
          <div className="card">
            <h3>
              <Icon name="branch" /> From GitHub
            </h3>
            <p>
              Mention the app in an issue.{" "}
              <Link to="/setup/$adapter" params={{ adapter: "github" }}>
                Connect GitHub
              </Link>
            </p>
          </div>
          <div className="card">
            <h3>
              <Icon name="terminal" /> From a terminal
            </h3>
            <p>
              <code>errand run "…"</code>, or <a href="/docs">the API</a>. First time here?{" "}
              <Link to="/setup">Set up</Link>
            </p>
          </div>
        </div>
      </div>
    </div>
  );
}
