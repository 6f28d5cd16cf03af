/** Lines on a grid of 16, and filled shapes on top of them. `cut` is drawn in the colour of the ground. */
interface Shape {
  readonly line?: string;
  readonly fill?: string;
  readonly cut?: string;
  /** A faint line below the others. */
  readonly ring?: string;
}

const DISC = "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z";

const SHAPES = {
  agents: {
    line: "M3.5 6.5h9v6.5h-9zM8 6.5V3.5M6 9.2v.6M10 9.2v.6M1.5 9v2M14.5 9v2",
    fill: "M8 2a1 1 0 1 1 0 2 1 1 0 0 1 0-2z",
  },
  all: { line: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01" },
  archive: { line: "M2 3h12v3H2zM3 6v7h10V6M6.5 9h3" },
  arrowLeft: { line: "M13 8H3m0 0 4-4M3 8l4 4" },
  arrowUp: { line: "M8 13V3m0 0L4 7m4-4 4 4" },
  attach: {
    line: "m13.5 7.5-5.6 5.6a3.4 3.4 0 0 1-4.8-4.8l6-6a2.3 2.3 0 0 1 3.2 3.2l-5.9 6a1.1 1.1 0 0 1-1.6-1.6l5.2-5.2",
  },
  audit: { line: "M8 1.8 2.8 3.7v4c0 3.2 2.1 5.5 5.2 6.6 3.1-1.1 5.2-3.4 5.2-6.6v-4z" },
  branch: {
    line: "M4.5 5.5v5M11.5 5.5c0 3-3 2.5-7 5",
    fill: "M4.5 2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6zm7 0a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6zm-7 8.4a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z",
  },
  check: { line: "m3 8.5 3.3 3.3L13 5" },
  chevron: { line: "m6 3.5 4.5 4.5L6 12.5" },
  chevronUp: { line: "m3.5 10 4.5-4.5 4.5 4.5" },
  chevronDown: { line: "m3.5 6 4.5 4.5L12.5 6" },
  clock: { line: `${DISC}M8 4.5V8l2.3 1.6` },
  close: { line: "m4 4 8 8m0-8-8 8" },
  code: { line: "m5 4.5-3.5 3.5L5 11.5m6-7 3.5 3.5-3.5 3.5M9.2 3 6.8 13" },
  copy: { line: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" },
  edit: { line: "m10.5 2.8 2.7 2.7L5.7 13H3v-2.7z" },
  environments: { line: "m8 1.7 5.7 3v6.6L8 14.3l-5.7-3V4.7zM2.3 4.7 8 7.8l5.7-3.1M8 7.8v6.5" },
  external: { line: "M9 2.5h4.5V7M13.5 2.5 7.5 8.5M11.5 9.5v4h-9v-9h4" },
  file: { line: "M3.5 1.8h5.7l3.3 3.4v9h-9zM9 2v3.4h3.4" },
  globe: { line: `${DISC}M1.7 8h12.6M8 1.5c2.2 2 3 4 3 6.5s-.8 4.5-3 6.5c-2.2-2-3-4-3-6.5s.8-4.5 3-6.5z` },
  hash: { line: "M6.2 2 4.8 14M11.2 2 9.8 14M2.5 5.5h11M2.5 10.5h11" },
  help: { line: `${DISC}M6.2 6.2a1.9 1.9 0 1 1 2.6 1.9c-.5.2-.8.6-.8 1.2M8 11.4v.1` },
  integrations: { line: "M6 1.8v3M10 1.8v3M4 4.8h8v2.7a4 4 0 0 1-8 0zM8 11.5v2.7" },
  link: {
    line: "M6.5 9.5a3 3 0 0 0 4.3 0l2-2a3 3 0 0 0-4.3-4.3l-.8.8M9.5 6.5a3 3 0 0 0-4.3 0l-2 2a3 3 0 0 0 4.3 4.3l.8-.8",
  },
  menu: { line: "M2.5 4h11M2.5 8h11M2.5 12h11" },
  mcp: { line: "M3 13V9.5h3.5V6H10V2.5h3M3 9.5H1.5M13 6v7.5H6.5" },
  more: {
    fill: "M3.2 6.8a1.2 1.2 0 1 1 0 2.4 1.2 1.2 0 0 1 0-2.4zm4.8 0a1.2 1.2 0 1 1 0 2.4 1.2 1.2 0 0 1 0-2.4zm4.8 0a1.2 1.2 0 1 1 0 2.4 1.2 1.2 0 0 1 0-2.4z",
  },
  needs: {
    line: "M13.5 7.3c0 3-2.5 5.2-5.5 5.2-.8 0-1.6-.1-2.3-.4L2.5 13l.9-2.6a5 5 0 0 1-.9-3c0-3 2.5-5.3 5.5-5.3s5.5 2.2 5.5 5.2z",
  },
  people: {
    line: "M1.8 13.2c.3-2.5 1.8-3.9 4-3.9s3.7 1.4 4 3.9M10.5 3a2.4 2.4 0 0 1 .2 4.7M11.6 9.6c1.6.4 2.5 1.6 2.7 3.6M5.8 7.4a2.4 2.4 0 1 1 0-4.8 2.4 2.4 0 0 1 0 4.8z",
  },
  person: {
    line: "M2.8 13.8c.4-2.9 2.3-4.6 5.2-4.6s4.8 1.7 5.2 4.6M8 7.2a2.7 2.7 0 1 1 0-5.4 2.7 2.7 0 0 1 0 5.4z",
  },
  play: { line: "M4.5 2.8v10.4L13 8z" },
  plus: { line: "M8 2.8v10.4M2.8 8h10.4" },
  pullRequest: {
    line: "M4 5.8v4.5M12 10.3V6.5a2 2 0 0 0-2-2H8m0 0 1.8-1.8M8 4.5l1.8 1.8M4 5.8a1.8 1.8 0 1 1 0-3.6 1.8 1.8 0 0 1 0 3.6zm0 8a1.8 1.8 0 1 1 0-3.6 1.8 1.8 0 0 1 0 3.6zm8 0a1.8 1.8 0 1 1 0-3.6 1.8 1.8 0 0 1 0 3.6z",
  },
  repository: {
    line: "M3 12.5V3.3c0-.8.6-1.3 1.3-1.3H13v9.5H4.3A1.3 1.3 0 0 0 3 12.8c0 .7.6 1.2 1.3 1.2H13M6 5.5h4",
  },
  retry: { line: "M13.5 8A5.5 5.5 0 1 1 11.7 4M13.5 2v3h-3" },
  rules: { line: "M2.5 4h11M2.5 8h6M2.5 12h4M10 9.5l4 4m0-4-4 4" },
  search: { line: "M7 12a5 5 0 1 1 0-10 5 5 0 0 1 0 10zm3.7-1.3 3.3 3.3" },
  secrets: { line: "M5 13a2.8 2.8 0 1 1 0-5.6A2.8 2.8 0 0 1 5 13zm2-4.8L13.5 2M11 4.5l2 2" },
  share: { line: "M8 9.5V2m0 0L5 5m3-3 3 3M3 8.5v5h10v-5" },
  skills: { line: "M8 1.8 9.7 6.3 14.2 8 9.7 9.7 8 14.2 6.3 9.7 1.8 8l4.5-1.7z" },
  stop: { line: "M4 4h8v8H4z" },
  system: { line: "M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.01M5 11.2h.01" },
  terminal: { line: "M1.8 2.8h12.4v10.4H1.8zM4.5 6l2 2-2 2M8.5 10.5h3" },
  thought: { line: "M3.5 10.8a3 3 0 0 1-.3-5.5A4.3 4.3 0 0 1 11.3 4.2a3.3 3.3 0 0 1 .5 6.6zM5 13.8h.01" },
  trash: { line: "M2.5 4.2h11M6 4V2.3h4V4M4 4.3l.7 9.4h6.6l.7-9.4" },
  usage: { line: "M2 14h12M4 11.5V8M8 11.5V3.5M12 11.5v-5.5" },
  warning: { line: "M8 2 1.5 13.5h13zM8 6.5v3.3M8 11.7v.1" },
  window: { line: "M1.8 2.8h12.4v10.4H1.8zM1.8 6h12.4" },

  stateWaiting: {
    line: "M8 1.5a6.5 6.5 0 0 1 2.3.4M12.6 3.4a6.5 6.5 0 0 1 1.6 2.7M14.3 9.4a6.5 6.5 0 0 1-1.4 2.9M11 13.8a6.5 6.5 0 0 1-3 .7M5.2 13.9a6.5 6.5 0 0 1-2.5-2M1.6 9a6.5 6.5 0 0 1 .3-3M3.4 3.4a6.5 6.5 0 0 1 2-1.4",
  },
  statePreparing: { line: DISC, fill: "M8 4v4h4a4 4 0 0 0-4-4z" },
  stateStarting: { line: DISC, fill: "M8 4v8a4 4 0 0 0 0-8z" },
  stateWorking: { ring: DISC, line: "M8 1.5A6.5 6.5 0 0 1 14.5 8" },
  stateNeeds: {
    fill: "M8 1.5c3.7 0 6.5 2.5 6.5 5.8S11.7 13 8 13c-.9 0-1.8-.2-2.6-.5L2 13.8l1-2.9a5.4 5.4 0 0 1-1.5-3.6C1.5 4 4.3 1.5 8 1.5z",
    cut: "M6.3 5.8a1.7 1.7 0 1 1 2.4 1.6c-.5.2-.7.5-.7 1M8 10.3v.1",
  },
  stateDone: { fill: DISC, cut: "m5.2 8.2 2 2 3.7-4" },
  stateFailed: { fill: DISC, cut: "m5.7 5.7 4.6 4.6m0-4.6-4.6 4.6" },
  stateError: { fill: "M8 1.2 15.3 14H.7z", cut: "M8 6v3.5M8 11.7v.1" },
  stateStopped: { fill: DISC, cut: "M5.8 5.8h4.4v4.4H5.8z" },
} as const satisfies Record<string, Shape>;

export type IconName = keyof typeof SHAPES;

/** An icon. It is never the only name of something, so screen readers do not read it. */
export function Icon({ name, className = "" }: { readonly name: IconName; readonly className?: string }) {
  const { line, fill, cut, ring }: Shape = SHAPES[name];
  return (
    <svg className={`icon ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      {ring && <path className="ring" d={ring} />}
      {fill && <path className="fill" d={fill} />}
      {line && <path d={line} />}
      {cut && <path className="cut" d={cut} />}
    </svg>
  );
}

/** The sign of Errand: a route that goes out, turns round and ends at a dot. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M5 12.4h14a7 7 0 1 0-3.6 6.1" />
      <circle className="dot" cx="19.4" cy="18.6" r="2.4" />
    </svg>
  );
}
