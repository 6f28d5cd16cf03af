import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PageHead } from "../frame/page-head.tsx";
import { RunForm } from "../new-run/run-form.tsx";
import { Icon } from "../parts/icon.tsx";
import { guidesQuery, installationsQuery } from "../server/queries.ts";
import { useRights } from "../server/rights.ts";

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
              Mention the bot in a channel. <Connection adapter="slack" name="Slack" />
            </p>
          </div>
          <div className="card">
            <h3>
              <Icon name="branch" /> From GitHub
            </h3>
            <p>
              Mention the app in an issue. <Connection adapter="github" name="GitHub" />
            </p>
          </div>
          <div className="card">
            <h3>
              <Icon name="terminal" /> From a terminal
            </h3>
            <p>
              <code>errand run "…"</code>, or <a href="/docs">the API</a>. <SetupLink />
            </p>
          </div>
        </div>
      </div>
    </div>
  );
}

/** Whether the platform is connected already, and the way to it for those who may go there. */
function Connection({ adapter, name }: { readonly adapter: string; readonly name: string }) {
  const has = useRights();
  const isOperator = has?.("operator") === true;
  const guides = useQuery({ ...guidesQuery, enabled: isOperator });
  const installations = useQuery({ ...installationsQuery, enabled: has?.("settings:read") === true });
  const isEnabled = guides.data?.guides.some((guide) => guide.adapter === adapter && guide.enabled);
  const isInstalled = installations.data?.installations.some(
    (each) => each.adapter === adapter && each.enabled,
  );
  if (isEnabled || isInstalled) {
    return (
      <span className="state done">
        <Icon name="check" /> {isInstalled ? "Connected" : "Set up"}
      </span>
    );
  }
  return isOperator ? (
    <Link to="/setup/$adapter" params={{ adapter }}>
      Connect {name}
    </Link>
  ) : (
    <span className="faint">An operator of this server connects {name}.</span>
  );
}

function SetupLink() {
  return useRights()?.("operator") ? (
    <>
      First time here? <Link to="/setup">Set up</Link>
    </>
  ) : null;
}
