import "./setup.css";
import type { InstallationGuide } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, useId, useState } from "react";
import { NotFound } from "../frame/not-found.tsx";
import { PageHead } from "../frame/page-head.tsx";
import { copy } from "../parts/copy.ts";
import { DoctorChecks } from "../parts/doctor-checks.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { ScrollBox } from "../parts/scroll-box.tsx";
import { doctorQuery, guidesQuery, whoamiQuery } from "../server/queries.ts";
import { checksOf, commonChecks } from "./checks-of.ts";
import { Creation } from "./creation.tsx";
import { ManagedApp } from "./managed-app.tsx";
import { OperatorsOnly } from "./operators-only.tsx";
import { Step } from "./step.tsx";
import { StoredSettings } from "./stored-settings.tsx";

type Way = InstallationGuide["ways"][number];
type GuideStep = Way["steps"][number];
type GuideLink = NonNullable<GuideStep["links"]>[number];

/** The server starts again when a setting was stored or removed, and no event says when it is done. */
const GUIDES_INTERVAL_MS = 5_000;

/** `/setup/{adapter}`: the steps that connect a platform, and whether the connection works. */
export function GuidePage({ adapter }: { readonly adapter: string }) {
  const { data: whoami } = useQuery(whoamiQuery);
  const guides = useQuery({
    ...guidesQuery,
    enabled: whoami?.is_operator === true,
    refetchInterval: GUIDES_INTERVAL_MS,
  });
  const guide = guides.data?.guides.find((each) => each.adapter === adapter);
  if (guides.data !== undefined && guide === undefined) {
    return <NotFound />;
  }
  return (
    <div className="page">
      <PageHead
        title={guide === undefined ? "Set up" : `Connect ${guide.title}`}
        text={<Link to="/setup">All steps of the set-up</Link>}
      />
      {whoami?.is_operator === false && <OperatorsOnly />}
      {guides.error && <Problem error={guides.error} onRetry={() => void guides.refetch()} />}
      {guides.isLoading && <Loading what="the steps" />}
      {guide && <Guide guide={guide} />}
    </div>
  );
}

function Guide({ guide }: { readonly guide: InstallationGuide }) {
  const { create, managed_app: managed, enabled, install_url: installUrl, needs, title, ways } = guide;
  const usable = Math.max(
    ways.findIndex(({ obstacle }) => obstacle === undefined),
    0,
  );
  const [chosen, setChosen] = useState(usable);
  const way = ways[chosen];
  return (
    <div className="guide">
      {enabled && <LiveChecks guide={guide} />}
      <StoredSettings guide={guide} />
      {installUrl && (
        <p className="row wrap">
          <a className="btn" href={installUrl}>
            Install in a workspace
          </a>
          <span className="muted sm">
            {title} asks which one. An administrator of a team connects it with that team.
          </span>
        </p>
      )}
      {create && <Creation create={create} />}
      {managed && <ManagedApp guide={{ ...guide, managed_app: managed }} />}
      {ways.length > 1 && (
        <fieldset className="segments" aria-label="Way to connect">
          {ways.map(({ title }, index) => (
            <button
              type="button"
              key={title}
              aria-pressed={index === chosen}
              onClick={() => setChosen(index)}
            >
              {title}
            </button>
          ))}
        </fieldset>
      )}
      {enabled && (
        <p className="row sm">
          <span className="state done">
            <Icon name="check" /> Done
          </span>
          <span className="muted">
            The server has the settings of {title}. Repeat steps only to change them.
          </span>
        </p>
      )}
      {way && <WaySteps key={way.title} way={way} stored={guide.stored_settings ?? []} />}
      {!enabled && <p className="muted sm">After the restart, this page shows whether each part works.</p>}
      <Needs needs={needs} />
    </div>
  );
}

/** The checks of the doctor that are about this platform. */
function LiveChecks({ guide }: { readonly guide: InstallationGuide }) {
  const doctor = useQuery(doctorQuery);
  return (
    <section className="card" aria-labelledby="checks">
      <div className="row checks-head">
        <h2 className="sm" id="checks">
          Checks
        </h2>
        <button
          type="button"
          className="btn ghost end"
          disabled={doctor.isFetching}
          onClick={() => void doctor.refetch()}
        >
          <Icon name="retry" /> {doctor.isFetching ? "Checking…" : "Check again"}
        </button>
      </div>
      {doctor.error && <Problem error={doctor.error} />}
      {doctor.isPending && <Loading what="the checks" />}
      {doctor.data && (
        <DoctorChecks
          checks={[...checksOf(doctor.data.checks, guide.adapter), ...commonChecks(doctor.data.checks)]}
        />
      )}
    </section>
  );
}

function WaySteps({
  way,
  stored,
}: {
  readonly way: Way;
  readonly stored: NonNullable<InstallationGuide["stored_settings"]>;
}) {
  const isStored = (variable: string) => stored.some(({ name }) => name === variable);
  const { obstacle, steps, summary } = way;
  return (
    <>
      <p className="muted sm">{summary}</p>
      {obstacle && (
        <div className="note needs">
          <Icon name="warning" />
          <p className="grow">{obstacle}</p>
        </div>
      )}
      {steps.map((step, index) => (
        <Step
          key={step.title}
          number={index + 1}
          title={step.title}
          isDone={
            (step.variables ?? []).length > 0 && step.variables?.every(({ name }) => isStored(name)) === true
          }
        >
          <StepBody step={step} isFirst={index === 0} />
        </Step>
      ))}
    </>
  );
}

function StepBody({ isFirst, step }: { readonly isFirst: boolean; readonly step: GuideStep }) {
  const { links = [], snippets = [], text, variables = [] } = step;
  const names = variables.map(({ name }) => `${name}=`).join("\n");
  return (
    <>
      <p className="sm">{text}</p>
      {links.map((link, index) => (
        <PlatformLink key={link.title} link={link} isPrimary={isFirst && index === 0} />
      ))}
      {variables.length > 0 && (
        <>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Variable</th>
                <th scope="col">Where its value is</th>
              </tr>
            </thead>
            <tbody>
              {variables.map(({ name, source }) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td className="muted">{source}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <Snippet title="Lines for your environment" text={names} />
        </>
      )}
      {snippets.map((snippet) => (
        <Snippet key={snippet.title} {...snippet} />
      ))}
    </>
  );
}

function PlatformLink({ isPrimary, link }: { readonly isPrimary: boolean; readonly link: GuideLink }) {
  const id = useId();
  const [value, setValue] = useState("");
  const { input, title, url } = link;
  if (input === undefined) {
    return (
      <p>
        <OutsideLink className={isPrimary ? "btn primary" : "btn"} url={url}>
          {title}
        </OutsideLink>
      </p>
    );
  }
  const name = value.trim();
  return (
    <div className="field">
      <label htmlFor={id}>{input}</label>
      <input className="input" id={id} value={value} onChange={(event) => setValue(event.target.value)} />
      <p>
        {name === "" ? (
          <button type="button" className="btn" disabled>
            {title}
          </button>
        ) : (
          <OutsideLink className="btn" url={url.replace("{input}", encodeURIComponent(name))}>
            {title}
          </OutsideLink>
        )}
      </p>
    </div>
  );
}

function OutsideLink({
  children,
  className,
  url,
}: {
  readonly children: ReactNode;
  readonly className: string;
  readonly url: string;
}) {
  return (
    <a className={className} href={url} target="_blank" rel="noreferrer">
      {children} <Icon name="external" />
    </a>
  );
}

function Snippet({ text, title }: { readonly text: string; readonly title: string }) {
  return (
    <div className="snippet">
      <div className="row">
        <span className="grow">{title}</span>
        <button type="button" className="btn ghost" onClick={() => void copy(text, title)}>
          <Icon name="copy" /> Copy<span className="sr"> {title}</span>
        </button>
      </div>
      <ScrollBox className="text" label={title}>
        <pre>{text}</pre>
      </ScrollBox>
    </div>
  );
}

const KINDS = { scope: "Scopes", permission: "Permissions", event: "Events" } as const;

function Needs({ needs }: Pick<InstallationGuide, "needs">) {
  const kinds = Object.entries(KINDS).map(([kind, title]) => ({
    title,
    rows: needs.filter((need) => need.kind === kind),
  }));
  return (
    <section>
      <h2>What Errand asks for, and why</h2>
      {kinds.map(({ rows, title }) =>
        rows.length === 0 ? null : (
          <Fragment key={title}>
            <h3>{title}</h3>
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  {rows.some(({ access }) => access) && <th scope="col">Access</th>}
                  <th scope="col">For</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ access, name, use }) => (
                  <tr key={name}>
                    <td>
                      <code>{name}</code>
                    </td>
                    {access && <td>{access === "write" ? "read and write" : access}</td>}
                    <td className="muted">{use}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Fragment>
        ),
      )}
    </section>
  );
}
